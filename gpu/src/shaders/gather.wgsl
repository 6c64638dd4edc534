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
    let at = P.particles_at + p;
    let before = particles[at].fraction;
    let first = home(p);
    let wx = weights(before.x);
    let wy = weights(before.y);
    let wz = weights(before.z);
    let sx = slopes(before.x);
    let sy = slopes(before.y);
    let sz = slopes(before.z);
    var v = vec3<f32>(0.0);
    var c = mat3x3<f32>();
    var g = mat3x3<f32>();
    for (var n = 0; n < 27; n++) {
        let k = vec3<i32>(n / 9, (n / 3) % 3, n % 3);
        let velocity = nodes[P.nodes_at + n_nodes_max() + shifted(first, k)].xyz;
        let w = vec3<f32>(wx[k.x], wy[k.y], wz[k.z]);
        let s = vec3<f32>(sx[k.x], sy[k.y], sz[k.z]);
        let weighted = velocity * (w.x * w.y * w.z);
        let arm = vec3<f32>(k) - before;
        v += weighted;
        c += mat3x3<f32>(weighted * arm.x, weighted * arm.y, weighted * arm.z);
        g += mat3x3<f32>(velocity * (s.x * w.y * w.z), velocity * (w.x * s.y * w.z), velocity * (w.x * w.y * s.z));
    }
    c = c * (4.0 * P.inverse_spacing);
    let object = particles[at].object;
    let of_cloth = is_cloth(object);
    if of_cloth {
        let kept = scene[P.scene_at + OBJECT * object + 2u].x;
        c = c * (0.5 * (1.0 + kept)) + transpose(c) * (0.5 * (kept - 1.0));
        v = held_velocity(particles[at].held, v);
    }
    let fraction = before + v * (P.dt * P.inverse_spacing);
    let shift = floor(fraction - 0.5);
    let cell = cell_of(p) + vec3<i32>(clamp(shift, vec3<f32>(-8.0), vec3<f32>(8.0)));
    if !(dot(v, v) < 1e30) {
        atomicOr(&lists[P.lists_at + STATUS], NOT_FINITE);
        return;
    }
    if any(abs(shift) > vec3<f32>(8.0)) || any(cell < vec3<i32>(0)) || any(cell + 3 > vec3<i32>(P.dims)) {
        atomicOr(&lists[P.lists_at + STATUS], LEFT_GRID);
        return;
    }
    // What is written now takes no registers during the flow.
    particles[at].v = v;
    particles[at].fraction = fraction - shift;
    particles[at].cell = cell + P.origin;
    let f = mat3x3<f32>(particles[at].f0, particles[at].f1.xyz, particles[at].f2.xyz);
    var next = State(f, vec2<f32>(particles[at].c0.w, particles[at].c1.w), false);
    particles[at].c0 = vec4<f32>(c[0], next.internal.x);
    particles[at].c1 = vec4<f32>(c[1], next.internal.y);
    particles[at].c2 = vec4<f32>(c[2], 0.0);
    var stress = mat3x3<f32>();
    var rate = vec3<f32>(0.0);
    if of_cloth {
        rate = g * particles[at].f2.xyz;
    } else {
        next = advanced(object, f, next.internal, g * P.dt);
        let size = norm_squared(next.f) + dot(next.internal, next.internal);
        if !(size < 1e30) {
            atomicOr(&lists[P.lists_at + STATUS], NOT_FINITE);
            return;
        }
        if next.is_crushed {
            atomicAdd(&lists[P.lists_at + CRUSHED], 1u);
            atomicMin(&lists[P.lists_at + CRUSHED_FIRST], p);
        }
        particles[at].f0 = next.f[0];
        particles[at].f1 = vec4<f32>(next.f[1], 0.0);
        particles[at].f2 = vec4<f32>(next.f[2], 0.0);
        particles[at].c0.w = next.internal.x;
        particles[at].c1.w = next.internal.y;
        let rates = mat3x3<f32>(particles[at].c0.xyz, particles[at].c1.xyz, particles[at].c2.xyz);
        stress = kirchhoff(object, next.f, next.internal, rates);
        particles[at].c2.w = sqrt(norm_squared(stress));
        stress = stress * (-P.dt * particles[at].volume);
    }
    nodes[stress_at(p)] = vec4<f32>(stress[0], rate.x);
    nodes[stress_at(p) + 1u] = vec4<f32>(stress[1], rate.y);
    nodes[stress_at(p) + 2u] = vec4<f32>(stress[2], rate.z);
    nodes[applied_impulse_at(p)] = vec4<f32>(0.0);
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
