// Adds the impulses of loads to those of the particles, one invocation for each particle that has some.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 64u;
    if i < P.n_loads {
        let load = scene[P.scene_at + P.loads_at + i];
        nodes[applied_impulse_at(index_of(load.w))] += vec4<f32>(load.xyz * P.dt, 0.0);
    }
}
