// Contacts, 4 of 6: lists the nodes in contact, each with room for its contacts.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let node = id.x + id.y * groups.x * 128u;
    if node >= n_nodes() {
        return;
    }
    let count = atomicLoad(&lists[P.lists_at + touched_at(node)]);
    if count > 0u {
        let slot = 4u * atomicAdd(&lists[P.lists_at + N_SLOTS], 1u);
        let first = atomicAdd(&lists[P.lists_at + N_ENTRIES], count);
        work[P.work_at + slot] = node;
        work[P.work_at + slot + 1u] = first;
        work[P.work_at + slot + 2u] = count;
        atomicStore(&lists[P.lists_at + touching_at(node)], first);
    }
}
