// Contacts, 2 of 5: numbers them by particle: the first number of each workgroup of particles, by one workgroup. Too many for the buffer: none of
// this substep is kept, and the processor repeats the time step with more room.
#include "common.wgsl"
#include "particle_groups.wgsl"
#include "dispatch_sizes.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    _ = open_world(group.z);
    let share = (n_groups() + LANES - 1u) / LANES;
    let first = min(t * share, n_groups());
    let last = min(first + share, n_groups());
    var own = 0u;
    for (var g = first; g < last; g++) {
        own += atomicLoad(&lists[P.lists_at + group_at(g)]);
    }
    let sum = sum_to(t, own);
    var next = sum - own;
    for (var g = first; g < last; g++) {
        let count = atomicLoad(&lists[P.lists_at + group_at(g)]);
        atomicStore(&lists[P.lists_at + group_at(g)], next);
        next += count;
    }
    if t == LANES - 1u {
        if sum > P.contacts_max {
            atomicOr(&lists[P.lists_at + STATUS], TOO_MANY_CONTACTS);
            atomicMax(&lists[P.lists_at + CONTACTS_NEEDED], sum);
        } else {
            atomicStore(&lists[P.lists_at + N_CONTACTS], sum);
            atomicAdd(&lists[P.lists_at + CONTACTS_TOTAL], sum);
            atomicMax(&lists[P.lists_at + CONTACTS_MAX], sum);
            if sum > 0u {
                // A workgroup of the solve takes 128 contacts at a time, or a link.
                let groups = max((sum + 127u) / 128u, P.n_links);
                extend_size(OF_CONTACTS, min(groups, SHARING_MAX));
            }
        }
    }
}
