// Contacts, 1 of 5: counts the contacts of each particle, and of each workgroup of particles.
#include "common.wgsl"
#include "blocks.wgsl"
#include "signed_distance.wgsl"
#include "detection.wgsl"
#include "loops.wgsl"
#include "particle_groups.wgsl"

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let is_open = open_world(group.z);
    let g = group.x + group.y * groups.x;
    let p = LANES * g + t;
    var count = 0u;
    if p < P.n_particles && is_open && have_room() {
        for (var o = 0u; o < P.n_obstacles; o++) {
            let found = touch(p, o);
            if found.is_near && !is_covered(p, o, found) {
                count++;
            }
        }
        check_loops();
        atomicStore(&lists[P.lists_at + contacts_of_at(p)], count);
    }
    let sum = sum_to(t, count);
    if t == LANES - 1u && g < n_groups() {
        atomicStore(&lists[P.lists_at + group_at(g)], sum);
    }
}
