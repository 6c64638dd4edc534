// Sort, 1 of 5: empties all cells.
#include "common.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 128u;
    if i == 0u {
        atomicStore(&lists[N_CONTACTS], 0u);
        atomicStore(&lists[N_SLOTS], 0u);
        atomicStore(&lists[N_ENTRIES], 0u);
        atomicStore(&lists[CURSOR], 0u);
    }
    if i < P.n_nodes {
        atomicStore(&lists[count_at(i)], 0u);
        atomicStore(&lists[touched_at(i)], 0u);
    }
}
