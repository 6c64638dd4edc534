// Contacts, 5 of 5: lists the nodes in contact, and for each its contacts with their weights, in the order of the 27 cells that reach it, so that sums
// over them have the same bits in every run. Sums the weights.
#include "common.wgsl"
#include "blocks.wgsl"
#include "cells.wgsl"

const LANES = 64u;
#include "prefix_sum.wgsl"

// How many contacts a cell has; there are none outside of the blocks.
fn touching(cell: u32) -> u32 {
    if cell == NONE {
        return 0u;
    }
    return atomicLoad(&lists[P.lists_at + touching_at(cell)]);
}

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
    let node = 64u * block + t;
    let count = atomicLoad(&lists[P.lists_at + reached_at(node)]);
    let slot = P.work_at + SLOT * take_places(N_SLOTS, t, select(0u, 1u, count > 0u));
    var entry = take_places(N_ENTRIES, t, count);
    if count == 0u {
        return;
    }
    work[slot] = node;
    work[slot + 1u] = entry;
    work[slot + 2u] = count;
    var sum = 0.0;
    for (var n = 0; n < 27; n++) {
        let cell = shifted(node, -below(n));
        let of_cell = touching(cell);
        for (var i = 0u; i < of_cell; i++) {
            let c = work[P.work_at + listed_at(atomicLoad(&lists[P.lists_at + first_touching_at(cell)]) + i)];
            let w = weight(c, u32(n));
            let at = P.work_at + entry_at(entry);
            work[at] = c;
            work[at + 1u] = bitcast<u32>(w);
            sum += w;
            entry++;
        }
    }
    nodes[P.nodes_at + n_nodes_max() + node].w = sum;
}
