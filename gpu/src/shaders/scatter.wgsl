// Mass and momentum of a node, its free motion, and walls:
//
//   m = sum w m_p,   m v* = sum w m_p (v + C (x_i - x)) + S grad w + w j + m dt g,   S = -dt V tau
//
// j: impulse of cloth and loads. Every node gathers from the particles of the 27 cells that reach it, in the order of the sort: no atomic additions of floats, the same bits
// in every run. Source: docs/theory/yu-2025.md; APIC of Jiang et al. (2015).
#include "common.wgsl"
#include "blocks.wgsl"
#include "cells.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let index = id.x + id.y * groups.x * 128u;
    if index >= n_nodes() {
        return;
    }
    var mass = 0.0;
    var momentum = vec3<f32>(0.0);
    for (var n = 0; n < 27; n++) {
        let k = below(n);
        let places = places_of(shifted(index, -k));
        for (var i = places.x; i < places.y; i++) {
            let p = particles[P.particles_at + atomicLoad(&lists[P.lists_at + i])];
            let w = vec3<f32>(weights(p.fraction.x)[k.x], weights(p.fraction.y)[k.y], weights(p.fraction.z)[k.z]);
            let s = vec3<f32>(slopes(p.fraction.x)[k.x], slopes(p.fraction.y)[k.y], slopes(p.fraction.z)[k.z]);
            let weight = w.x * w.y * w.z;
            let gradient = vec3<f32>(s.x * w.y * w.z, w.x * s.y * w.z, w.x * w.y * s.z);
            let arm = (vec3<f32>(k) - p.fraction) * P.spacing;
            let affine = p.c0.xyz * arm.x + p.c1.xyz * arm.y + p.c2.xyz * arm.z;
            let stress = p.s0.xyz * gradient.x + p.s1.xyz * gradient.y + p.s2.xyz * gradient.z;
            mass += weight * p.mass;
            momentum += weight * (p.mass * (p.v + affine) + p.impulse) + stress;
        }
    }
    var velocity = vec3<f32>(0.0);
    if mass > 1e-30 {
        velocity = (momentum / mass + P.gravity * P.dt) * freedom(node_place(index));
    } else {
        mass = 0.0;
    }
    nodes[P.nodes_at + index] = vec4<f32>(velocity, mass);
    nodes[P.nodes_at + n_nodes_max() + index] = vec4<f32>(velocity, 0.0);
}
