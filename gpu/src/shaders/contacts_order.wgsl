// Contacts, 6 of 6: orders the contacts of each node, so that sums over them have the same bits in every run, and sums their weights.
#include "common.wgsl"
#include "loops.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let n_slots = atomicLoad(&lists[P.lists_at + N_SLOTS]);
    for (var slot = id.x; slot < n_slots; slot += groups.x * 128u) {
        let node = work[P.work_at + 4u * slot];
        let first = entry_at(work[P.work_at + 4u * slot + 1u]);
        let count = work[P.work_at + 4u * slot + 2u];
        for (var i = 0u; i < count; i++) {
            let inserted = work[P.work_at + first + i];
            var j = i;
            while j > 0u && work[P.work_at + first + j - 1u] > inserted {
                work[P.work_at + first + j] = work[P.work_at + first + j - 1u];
                j--;
            }
            work[P.work_at + first + j] = inserted;
        }
        var sum = 0.0;
        for (var i = 0u; i < count; i++) {
            sum += weight(work[P.work_at + first + i] / 27u, work[P.work_at + first + i] % 27u);
        }
        nodes[P.nodes_at + n_nodes_max() + node].w = sum;
    }
    check_loops();
}
