// Nodes that have more than half of their mass from the particles of a held set get its velocity; where two sets hold a component the later one
// counts. Vertices of cloth hold no nodes, they are held themselves.
#include "common.wgsl"
#include "blocks.wgsl"
#include "cells.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let index = id.x + id.y * groups.x * 64u;
    if index >= n_nodes() {
        return;
    }
    var bits = 0u;
    if held_mass(index, 0xffffffffu) > 0.5 * nodes[P.nodes_at + index].w {
        for (var number = 0u; number < P.n_held_sets; number++) {
            if held_mass(index, 1u << number) > 0.5 * nodes[P.nodes_at + index].w {
                let velocity = scene[P.scene_at + P.held_sets_at + number];
                for (var k = 0u; k < 3u; k++) {
                    if (u32(velocity.w) & (1u << k)) != 0u {
                        bits |= 1u << k;
                        nodes[P.nodes_at + index][k] = velocity[k];
                        nodes[P.nodes_at + n_nodes_max() + index][k] = velocity[k];
                    }
                }
            }
        }
    }
    atomicStore(&lists[P.lists_at + held_bits_at(index)], bits);
}

// Mass at a node of the particles of some sets.
fn held_mass(index: u32, sets: u32) -> f32 {
    var mass = 0.0;
    for (var n = 0; n < 27; n++) {
        let k = below(n);
        let places = places_of(shifted(index, -k));
        for (var i = places.x; i < places.y; i++) {
            let p = atomicLoad(&lists[P.lists_at + i]);
            if (particles[P.particles_at + p].held & sets) != 0u && !is_cloth(particles[P.particles_at + p].object) {
                let f = particles[P.particles_at + p].fraction;
                mass += particles[P.particles_at + p].mass * weights(f.x)[k.x] * weights(f.y)[k.y] * weights(f.z)[k.z];
            }
        }
    }
    return mass;
}
