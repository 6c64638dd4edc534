// Blocks, 4 of 4: finds the 27 neighbours of each, itself among them, and empties its cells.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let block = group.x + group.y * groups.x;
    if !open_world(group.z) || block >= n_blocks() {
        return;
    }
    atomicStore(&lists[P.lists_at + count_at(64u * block + t)], 0u);
    atomicStore(&lists[P.lists_at + reached_at(64u * block + t)], 0u);
    if t >= 27u {
        return;
    }
    let n = vec3<i32>(vec3<u32>(t / 9u, (t / 3u) % 3u, t % 3u));
    let place = block_place(atomicLoad(&lists[P.lists_at + key_at(block)])) + n - 1;
    var neighbour = NONE;
    if all(place >= vec3<i32>(0)) && all(place < vec3<i32>(P.dims / 4u)) {
        neighbour = block_of(block_key(place));
    }
    atomicStore(&lists[P.lists_at + neighbour_at(block, t)], neighbour);
}
