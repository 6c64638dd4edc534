// Sort, 2 of 4: gives each cell its range of the order. Which range it gets makes no difference to any result.
#include "common.wgsl"
#include "blocks.wgsl"

const LANES = 64u;
#include "prefix_sum.wgsl"

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let is_open = open_world(group.z);
    let block = group.x + group.y * groups.x;
    if !is_open || block >= n_blocks() {
        return;
    }
    let cell = 64u * block + t;
    let start = take_places(CURSOR, t, atomicLoad(&lists[P.lists_at + count_at(cell)]));
    atomicStore(&lists[P.lists_at + start_at(cell)], start);
    atomicStore(&lists[P.lists_at + fill_at(cell)], start);
}
