// Blocks, 2 of 4: enters the blocks that each particle reaches into the hash table, one to eight. The first one has the particle: its place in the table and
// the cell within it are kept for the sort.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let p = id.x + id.y * groups.x * 128u;
    if p >= P.n_particles {
        return;
    }
    let first = cell_of(p) >> vec3<u32>(2u);
    let last = (cell_of(p) + 2) >> vec3<u32>(2u);
    atomicStore(&lists[P.lists_at + home_at(p)], 64u * enter(block_key(first)) + node_within(cell_of(p) & vec3<i32>(3)));
    for (var x = first.x; x <= last.x; x++) {
        for (var y = first.y; y <= last.y; y++) {
            for (var z = first.z; z <= last.z; z++) {
                if any(vec3<i32>(x, y, z) != first) {
                    _ = enter(block_key(vec3<i32>(x, y, z)));
                }
            }
        }
    }
}

// Returns the place of a block in the table.
fn enter(key: u32) -> u32 {
    var place = first_place(key);
    for (var tries = 0u; tries < PROBES_MAX; tries++) {
        var found = atomicLoad(&lists[P.lists_at + table_key_at(place)]);
        if found == NONE {
            found = atomicCompareExchangeWeak(&lists[P.lists_at + table_key_at(place)], NONE, key).old_value;
        }
        // Free before: now it has the key, or the exchange failed for no reason and is tried again.
        if found == NONE {
            continue;
        }
        if found == key {
            return place;
        }
        place = (place + 1u) & (P.table_size - 1u);
    }
    atomicOr(&lists[P.lists_at + STATUS], TOO_MANY_BLOCKS);
    return 0u;
}
