// Cloth, 2 of 3: the impulse of the elastic forces on each vertex, summed over its corners in their order. What holds a held vertex balances them.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 64u;
    if i >= P.n_vertices {
        return;
    }
    let row = indices_of(scene[P.scene_at + P.vertices_at + i]);
    if particles[P.particles_at + row.x].held != 0u {
        return;
    }
    var force = vec3<f32>(0.0);
    for (var k = row.y; k < row.y + row.z; k++) {
        force += out3(P.corners_at + 3u * index_of(number(P.corner_list_at + k)));
    }
    nodes[applied_impulse_at(row.x)] = vec4<f32>(force * P.dt, 0.0);
}
