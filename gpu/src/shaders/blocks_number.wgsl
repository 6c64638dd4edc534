// Blocks, 3 of 4: numbers those in the hash table, and leaves the size of the dispatches over them. Which number a block gets makes no difference to any result. Too
// many: the processor repeats the time step with more room.
#include "common.wgsl"
#include "blocks.wgsl"
#include "dispatch_sizes.wgsl"

const LANES = 128u;
#include "prefix_sum.wgsl"

@compute @workgroup_size(128)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let is_open = open_world(id.z);
    let place = id.x + id.y * groups.x * LANES;
    var key = NONE;
    if is_open && place < P.table_size {
        key = atomicLoad(&lists[P.lists_at + table_key_at(place)]);
    }
    let own = select(1u, 0u, key == NONE);
    let block = take_places(N_BLOCKS, t, own);
    let end = block + own;
    if t == LANES - 1u && partial_sums[t] > 0u {
        extend_size(OF_BLOCKS, min(end, P.blocks_max));
        if end > P.blocks_max {
            atomicOr(&lists[P.lists_at + STATUS], TOO_MANY_BLOCKS);
            atomicMax(&lists[P.lists_at + BLOCKS_NEEDED], end);
        }
    }
    if own == 1u && block < P.blocks_max {
        atomicStore(&lists[P.lists_at + table_block_at(place)], block);
        atomicStore(&lists[P.lists_at + key_at(block)], key);
    }
}
