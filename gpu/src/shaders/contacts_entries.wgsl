// Contacts, 5 of 6: lists the contacts of each node.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let n = 27u * atomicLoad(&lists[P.lists_at + N_CONTACTS]);
    let stride = groups.x * 128u;
    for (var i = id.x; i < n; i += stride) {
        let corner = i32(i % 27u);
        let node = shifted(contacts[P.contacts_at + i / 27u].home, vec3<i32>(corner / 9, (corner / 3) % 3, corner % 3));
        let entry = atomicAdd(&lists[P.lists_at + touching_at(node)], 1u);
        work[P.work_at + entry_at(entry)] = i;
    }
}
