// Blocks, 1 of 4: empties the hash table and the counters of a substep.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 128u;
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
