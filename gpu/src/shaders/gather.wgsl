// A particle takes its velocity from the nodes, moves, and flows:
//
//   v = sum w v_i,   C = (4/h^2) sum w v_i (x_i - x)^T,   F <- return mapping of (I + dt sum v_i grad w^T) F
//
// and its stress for the next substep. Particles of cloth keep F; they take the part of C that goes to the grid, leave grad v d_3 beside S for their
// normals, and have the velocity of the held sets that they belong to. A particle that leaves the box, or is not finite, sets the status word: the processor keeps nothing of this time step.
#include "common.wgsl"
#include "blocks.wgsl"
#include "tensor.wgsl"
#include "material.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 64u;
    if i >= P.n_particles || !have_room() {
        return;
    }
    // By cell, so that the invocations of a workgroup load the same nodes.
    let p = atomicLoad(&lists[P.lists_at + order_at(i)]);
    var own = particles[P.particles_at + p];
    let place = cell_of(p);
    let first = home(p);
    let wx = weights(own.fraction.x);
    let wy = weights(own.fraction.y);
    let wz = weights(own.fraction.z);
    let sx = slopes(own.fraction.x);
    let sy = slopes(own.fraction.y);
    let sz = slopes(own.fraction.z);
    var v = vec3<f32>(0.0);
    var c = mat3x3<f32>();
    var g = mat3x3<f32>();
    for (var n = 0; n < 27; n++) {
        let k = vec3<i32>(n / 9, (n / 3) % 3, n % 3);
        let velocity = nodes[P.nodes_at + n_nodes_max() + shifted(first, k)].xyz;
        let w = vec3<f32>(wx[k.x], wy[k.y], wz[k.z]);
        let s = vec3<f32>(sx[k.x], sy[k.y], sz[k.z]);
        let weighted = velocity * (w.x * w.y * w.z);
        let arm = vec3<f32>(k) - own.fraction;
        v += weighted;
        c += mat3x3<f32>(weighted * arm.x, weighted * arm.y, weighted * arm.z);
        g += mat3x3<f32>(velocity * (s.x * w.y * w.z), velocity * (w.x * s.y * w.z), velocity * (w.x * w.y * s.z));
    }
    c = c * (4.0 * P.inverse_spacing);
    let f = mat3x3<f32>(own.f0.xyz, own.f1.xyz, own.f2.xyz);
    var next = State(f, vec2<f32>(own.c0.w, own.c1.w), false);
    var stress = mat3x3<f32>();
    var rate = vec3<f32>(0.0);
    if is_cloth(own.object) {
        let kept = scene[P.scene_at + OBJECT * own.object + 2u].x;
        c = c * (0.5 * (1.0 + kept)) + transpose(c) * (0.5 * (kept - 1.0));
        rate = g * own.f2.xyz;
        v = held_velocity(own.held, v);
    } else {
        next = advanced(own.object, f, next.internal, g * P.dt);
        stress = kirchhoff(own.object, next.f, next.internal, c) * (-P.dt * own.volume);
    }
    let fraction = own.fraction + v * (P.dt * P.inverse_spacing);
    let shift = floor(fraction - 0.5);
    let cell = place + vec3<i32>(clamp(shift, vec3<f32>(-8.0), vec3<f32>(8.0)));
    let size = dot(v, v) + norm_squared(next.f) + dot(next.internal, next.internal);
    if !(size < 1e30) {
        atomicOr(&lists[P.lists_at + STATUS], NOT_FINITE);
        return;
    }
    if any(abs(shift) > vec3<f32>(8.0)) || any(cell < vec3<i32>(0)) || any(cell + 3 > vec3<i32>(P.dims)) {
        atomicOr(&lists[P.lists_at + STATUS], LEFT_GRID);
        return;
    }
    if next.is_crushed {
        atomicAdd(&lists[P.lists_at + CRUSHED], 1u);
        atomicMin(&lists[P.lists_at + CRUSHED_FIRST], p);
    }
    nodes[stress_at(p)] = vec4<f32>(stress[0], rate.x);
    nodes[stress_at(p) + 1u] = vec4<f32>(stress[1], rate.y);
    nodes[stress_at(p) + 2u] = vec4<f32>(stress[2], rate.z);
    nodes[applied_impulse_at(p)] = vec4<f32>(0.0);
    own.v = v;
    own.fraction = fraction - shift;
    own.cell = cell + P.origin;
    own.c0 = vec4<f32>(c[0], next.internal.x);
    own.c1 = vec4<f32>(c[1], next.internal.y);
    own.c2 = vec4<f32>(c[2], 0.0);
    own.f0 = next.f[0];
    own.f1 = vec4<f32>(next.f[1], 0.0);
    own.f2 = vec4<f32>(next.f[2], 0.0);
    particles[P.particles_at + p] = own;
}

fn held_velocity(sets: u32, free: vec3<f32>) -> vec3<f32> {
    var v = free;
    for (var k = 0u; k < P.n_held_sets; k++) {
        if (sets & (1u << k)) != 0u {
            let held = scene[P.scene_at + P.held_sets_at + k];
            v = select(v, held.xyz, (vec3<u32>(u32(held.w)) & vec3<u32>(1u, 2u, 4u)) != vec3<u32>(0u));
        }
    }
    return v;
}
