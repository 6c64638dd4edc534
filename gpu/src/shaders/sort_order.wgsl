// Sort, 4 of 4: orders the particles of a cell by their index, so that sums over them have the same bits in every run.
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
    if count < 2u {
        return;
    }
    let first = order_at(atomicLoad(&lists[P.lists_at + start_at(cell)]));
    for (var i = 1u; i < count; i++) {
        let inserted = atomicLoad(&lists[P.lists_at + first + i]);
        var j = i;
        while j > 0u {
            let other = atomicLoad(&lists[P.lists_at + first + j - 1u]);
            if other <= inserted {
                break;
            }
            atomicStore(&lists[P.lists_at + first + j], other);
            j--;
        }
        atomicStore(&lists[P.lists_at + first + j], inserted);
    }
}
