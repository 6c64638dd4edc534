// Cloth, 3 of 3: centroids follow the vertices, and normals are convected by the grid, d_3 <- return mapping of (I + dt grad v) d_3. The gather left
// grad v d_3 beside S.
#include "common.wgsl"
#include "cloth_law.wgsl"
#include "cloth_mesh.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 64u;
    if i >= P.n_triangles {
        return;
    }
    let corners = indices_of(scene[P.scene_at + P.triangles_at + 2u * i]);
    let c = corners.w;
    let rate = vec3<f32>(nodes[stress_at(c)].w, nodes[stress_at(c) + 1u].w, nodes[stress_at(c) + 2u].w);
    let normal = particles[P.particles_at + c].f2.xyz;
    let f = deformation_of(i, normal + rate * P.dt);
    let returned = returned_normal(particles[P.particles_at + c].object, f);
    let size = dot(f[0], f[0]) + dot(f[1], f[1]) + dot(returned, returned);
    if !(size < 1e30) {
        atomicOr(&lists[P.lists_at + STATUS], NOT_FINITE);
        return;
    }
    particles[P.particles_at + c].f0 = f[0];
    particles[P.particles_at + c].f1 = vec4<f32>(f[1], 0.0);
    particles[P.particles_at + c].f2 = vec4<f32>(returned, 0.0);
    let first = corners.x;
    let others = (between(first, corners.y) + between(first, corners.z)) * (P.inverse_spacing / 3.0);
    let fraction = particles[P.particles_at + first].fraction + others;
    let shift = floor(fraction - 0.5);
    let cell = cell_of(first) + vec3<i32>(shift);
    if any(cell < vec3<i32>(0)) || any(cell + 3 > vec3<i32>(P.dims)) {
        atomicOr(&lists[P.lists_at + STATUS], LEFT_GRID);
        return;
    }
    particles[P.particles_at + c].fraction = fraction - shift;
    particles[P.particles_at + c].cell = cell + P.origin;
}
