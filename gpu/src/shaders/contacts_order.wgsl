// Contacts, 6 of 6: orders the contacts of each node, so that sums over them have the same bits in every run, and sums their weights.
#include "common.wgsl"
#include "loops.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n_slots = atomicLoad(&lists[N_SLOTS]);
    for (var slot = id.x; slot < n_slots; slot += groups.x * 128u) {
        let node = work[4u * slot];
        let first = entry_at(work[4u * slot + 1u]);
        let count = work[4u * slot + 2u];
        for (var i = 0u; i < count; i++) {
            let inserted = work[first + i];
            var j = i;
            while j > 0u && work[first + j - 1u] > inserted {
                work[first + j] = work[first + j - 1u];
                j--;
            }
            work[first + j] = inserted;
        }
        var sum = 0.0;
        for (var i = 0u; i < count; i++) {
            sum += weight(work[first + i] / 27u, work[first + i] % 27u);
        }
        nodes[n_nodes_max() + node].w = sum;
    }
    check_loops();
}
