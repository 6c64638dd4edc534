// Blocks, 3 of 4: numbers those in the hash table. Which number a block gets makes no difference to any result. Too many: the processor repeats
// the time step with more room.
#include "common.wgsl"
#include "blocks.wgsl"
#include "dispatch_sizes.wgsl"

var<workgroup> numbered: atomic<u32>;

@compute @workgroup_size(128)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    if t == 0u {
        atomicStore(&numbered, 0u);
    }
    workgroupBarrier();
    let is_open = open_world(id.z);
    let place = id.x + id.y * groups.x * 128u;
    if is_open && place < P.table_size {
        atomicMax(&numbered, number_block(place));
    }
    workgroupBarrier();
    if t == 0u && atomicLoad(&numbered) > 0u {
        extend_size(OF_BLOCKS, atomicLoad(&numbered));
    }
}

// Numbers the block at a place of the table, if there is one. Returns how many have a number then.
fn number_block(place: u32) -> u32 {
    let key = atomicLoad(&lists[P.lists_at + table_key_at(place)]);
    if key == NONE {
        return 0u;
    }
    let block = atomicAdd(&lists[P.lists_at + N_BLOCKS], 1u);
    if block >= P.blocks_max {
        atomicOr(&lists[P.lists_at + STATUS], TOO_MANY_BLOCKS);
        atomicMax(&lists[P.lists_at + BLOCKS_NEEDED], block + 1u);
        return 0u;
    }
    atomicStore(&lists[P.lists_at + table_block_at(place)], block);
    atomicStore(&lists[P.lists_at + key_at(block)], key);
    return block + 1u;
}
