// Cloth, 1 of 3: forces of each triangle on its vertices and the stress of its centroid, forces of each hinge. Every corner has a place of its own
// in `out`; the next stage sums them at the vertices. No float is added atomically.
//
//   triangles   f = -V P_12 D_m^-T on the second and third vertex, the opposite of their sum on the first;  S = -dt V P_3 d_3^T
//   hinges      E = 1/2 c phi_1 phi_2 (theta - theta_0)^2
//
// Source: docs/theory/yu-2025.md; Jiang, Gast, Teran (2017); Grinspun, Hirani, Desbrun, Schroeder (2003).
#include "common.wgsl"
#include "cloth_law.wgsl"
#include "cloth_mesh.wgsl"
#include "hinge.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 64u;
    if i < P.n_triangles {
        of_triangle(i);
    } else if i < P.n_triangles + P.n_hinges {
        of_hinge(i - P.n_triangles);
    }
}

fn of_triangle(i: u32) {
    let corners = indices_of(scene[P.scene_at + P.triangles_at + 2u * i]);
    let centroid = corners.w;
    let object = particles[P.particles_at + centroid].object;
    let f = deformation_of(i, particles[P.particles_at + centroid].f2.xyz);
    let volume = particles[P.particles_at + centroid].volume;
    let p = cloth_stress(object, f);
    let v = particles[P.particles_at + corners.x].v;
    let rates = mat2x3<f32>(particles[P.particles_at + corners.y].v - v, particles[P.particles_at + corners.z].v - v);
    let inverse_edges = inverse_edges_of(i);
    let in_plane = mat2x3<f32>(p[0], p[1]) + viscous_stress(object, f, rates * inverse_edges);
    let force = in_plane * transpose(inverse_edges) * -volume;
    let at = P.corners_at + 9u * i;
    set_out3(at, -(force[0] + force[1]));
    set_out3(at + 3u, force[0]);
    set_out3(at + 6u, force[1]);
    let impulse = p[2] * (-P.dt * volume);
    nodes[stress_at(centroid)] = vec4<f32>(impulse * f[2].x, 0.0);
    nodes[stress_at(centroid) + 1u] = vec4<f32>(impulse * f[2].y, 0.0);
    nodes[stress_at(centroid) + 2u] = vec4<f32>(impulse * f[2].z, 0.0);
}

fn of_hinge(i: u32) {
    let vertices = indices_of(scene[P.scene_at + P.hinges_at + 2u * i]);
    let numbers = scene[P.scene_at + P.hinges_at + 2u * i + 1u];
    let forces = hinge_forces(
        between(vertices.x, vertices.y), between(vertices.x, vertices.z), between(vertices.x, vertices.w), numbers,
    );
    let at = P.corners_at + 9u * P.n_triangles + 12u * i;
    for (var k = 0u; k < 4u; k++) {
        set_out3(at + 3u * k, forces[k]);
    }
}
