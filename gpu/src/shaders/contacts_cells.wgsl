// Contacts, 4 of 5: lists the contacts of each cell, by particle, and counts them at the 27 nodes that they reach.
#include "common.wgsl"
#include "blocks.wgsl"
#include "cells.wgsl"

const LANES = 64u;
#include "prefix_sum.wgsl"

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let has_contacts = open_world(group.z) && atomicLoad(&lists[P.lists_at + N_CONTACTS]) > 0u;
    let block = group.x + group.y * groups.x;
    if !has_contacts || block >= n_blocks() {
        return;
    }
    let cell = 64u * block + t;
    let places = places_of(cell);
    var count = 0u;
    for (var i = places.x; i < places.y; i++) {
        count += contacts_of(atomicLoad(&lists[P.lists_at + i]));
    }
    atomicStore(&lists[P.lists_at + touching_at(cell)], count);
    var next = take_places(N_LISTED, t, count);
    if count == 0u {
        return;
    }
    atomicStore(&lists[P.lists_at + first_touching_at(cell)], next);
    for (var i = places.x; i < places.y; i++) {
        let p = atomicLoad(&lists[P.lists_at + i]);
        let own = contacts_of(p);
        for (var k = 0u; k < own; k++) {
            work[P.work_at + listed_at(next)] = u32(particles[P.particles_at + p].f1.w) + k;
            next++;
        }
    }
    for (var n = 0; n < 27; n++) {
        atomicAdd(&lists[P.lists_at + reached_at(shifted(cell, below(n)))], count);
    }
}
