// Sort, 1 of 5: empties all cells.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let cell = id.x + id.y * groups.x * 64u;
    if cell < n_nodes() {
        atomicStore(&lists[P.lists_at + count_at(cell)], 0u);
        atomicStore(&lists[P.lists_at + reached_at(cell)], 0u);
    }
}
