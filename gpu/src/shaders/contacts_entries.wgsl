// Contacts, 5 of 6: lists the contacts of each node.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = 27u * atomicLoad(&lists[N_CONTACTS]);
    let stride = groups.x * 128u;
    for (var i = id.x; i < n; i += stride) {
        let corner = i32(i % 27u);
        let node = shifted(contacts[i / 27u].home, vec3<i32>(corner / 9, (corner / 3) % 3, corner % 3));
        let entry = atomicAdd(&lists[touching_at(node)], 1u);
        work[entry_at(entry)] = i;
    }
}
