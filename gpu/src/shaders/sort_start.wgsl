// Sort, 3 of 5: gives each cell its range of the order. Which range it gets makes no difference to any result.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let cell = id.x + id.y * groups.x * 64u;
    if cell >= n_nodes() {
        return;
    }
    let count = atomicLoad(&lists[P.lists_at + count_at(cell)]);
    if count > 0u {
        let start = atomicAdd(&lists[P.lists_at + CURSOR], count);
        atomicStore(&lists[P.lists_at + start_at(cell)], start);
        atomicStore(&lists[P.lists_at + fill_at(cell)], start);
    }
}
