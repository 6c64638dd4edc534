// Blocks, 3 of 4: numbers those in the hash table. Which number a block gets makes no difference to any result. Too many: the processor repeats
// the time step with more room.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let place = id.x + id.y * groups.x * 128u;
    if place >= P.table_size {
        return;
    }
    let key = atomicLoad(&lists[P.lists_at + table_key_at(place)]);
    if key == NONE {
        return;
    }
    let block = atomicAdd(&lists[P.lists_at + N_BLOCKS], 1u);
    if block >= P.blocks_max {
        atomicOr(&lists[P.lists_at + STATUS], TOO_MANY_BLOCKS);
        atomicMax(&lists[P.lists_at + BLOCKS_NEEDED], block + 1u);
        return;
    }
    atomicStore(&lists[P.lists_at + table_block_at(place)], block);
    atomicStore(&lists[P.lists_at + key_at(block)], key);
}
