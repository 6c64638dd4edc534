// The impulse of stress of each particle in the first substep, S = -dt V tau; none yet of other forces. The next stages give cloth its own. In later
// substeps the gather has computed it.
#include "common.wgsl"
#include "tensor.wgsl"
#include "material.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let p = id.x + id.y * groups.x * 64u;
    if p >= P.n_particles {
        return;
    }
    let own = particles[P.particles_at + p];
    let f = mat3x3<f32>(own.f0.xyz, own.f1.xyz, own.f2.xyz);
    let c = mat3x3<f32>(own.c0.xyz, own.c1.xyz, own.c2.xyz);
    nodes[applied_impulse_at(p)] = vec4<f32>(0.0);
    if is_cloth(own.object) {
        nodes[stress_at(p)] = vec4<f32>(0.0);
        nodes[stress_at(p) + 1u] = vec4<f32>(0.0);
        nodes[stress_at(p) + 2u] = vec4<f32>(0.0);
        return;
    }
    let s = kirchhoff(own.object, f, vec2<f32>(own.c0.w, own.c1.w), c) * (-P.dt * own.volume);
    nodes[stress_at(p)] = vec4<f32>(s[0], 0.0);
    nodes[stress_at(p) + 1u] = vec4<f32>(s[1], 0.0);
    nodes[stress_at(p) + 2u] = vec4<f32>(s[2], 0.0);
}
