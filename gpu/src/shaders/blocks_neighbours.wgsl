// Blocks, 4 of 4: finds the 27 neighbours of each, itself among them.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let i = id.x + id.y * groups.x * 128u;
    if i >= 27u * n_blocks() {
        return;
    }
    let block = i / 27u;
    let n = vec3<i32>(vec3<u32>((i % 27u) / 9u, (i / 3u) % 3u, i % 3u));
    let place = block_place(atomicLoad(&lists[P.lists_at + key_at(block)])) + n - 1;
    var neighbour = NONE;
    if all(place >= vec3<i32>(0)) && all(place < vec3<i32>(P.dims / 4u)) {
        neighbour = block_of(block_key(place));
    }
    atomicStore(&lists[P.lists_at + neighbour_at(block, i % 27u)], neighbour);
}
