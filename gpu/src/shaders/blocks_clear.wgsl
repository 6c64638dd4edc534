// Blocks, 1 of 4: empties the hash table, the counters of a substep, and the sizes of its dispatches.
#include "common.wgsl"
#include "blocks.wgsl"
#include "dispatch_sizes.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let is_open = open_world(id.z);
    let i = id.x + id.y * groups.x * 128u;
    if i == 0u && id.z == 0u {
        clear_size(OF_BLOCKS, groups.z);
        clear_size(OF_CONTACTS, groups.z);
    }
    if !is_open {
        return;
    }
    if i == 0u {
        atomicStore(&lists[P.lists_at + N_BLOCKS], 0u);
        atomicStore(&lists[P.lists_at + N_CONTACTS], 0u);
        atomicStore(&lists[P.lists_at + N_SLOTS], 0u);
        atomicStore(&lists[P.lists_at + N_ENTRIES], 0u);
        atomicStore(&lists[P.lists_at + N_LISTED], 0u);
        atomicStore(&lists[P.lists_at + CURSOR], 0u);
    }
    if i < P.table_size {
        atomicStore(&lists[P.lists_at + table_key_at(i)], NONE);
    }
}
