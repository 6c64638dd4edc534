// Contacts, 3 of 5: writes them, with the impulse of the last substep as a start.
//
// Forces of a particle without contacts are cleared in the first substep, before which obstacles and states may have changed. In later ones it has none:
// a force ends with a gap below zero or nearly so, and detection looks twice as far as the particle and the obstacle have moved since.
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
    if p < P.n_particles {
        count = contacts_of(p);
    }
    let sum = sum_to(t, count);
    let has_room = (atomicLoad(&lists[P.lists_at + STATUS]) & (TOO_MANY_CONTACTS | TOO_MANY_BLOCKS)) == 0u;
    let is_first = atomicLoad(&lists[P.lists_at + SUBSTEP]) == 0u;
    if p >= P.n_particles || !is_open || !has_room || (count == 0u && !is_first) {
        return;
    }
    var c = atomicLoad(&lists[P.lists_at + group_at(g)]) + sum - count;
    if count > 0u {
        particles[P.particles_at + p].f1.w = f32(c);
    }
    for (var o = 0u; o < P.n_obstacles; o++) {
        let place = p * P.n_obstacles + o;
        let start = forces[P.forces_at + place].xyz * P.dt;
        forces[P.forces_at + place] = vec4<f32>(0.0);
        if count == 0u {
            continue;
        }
        let found = touch(p, o);
        if !found.is_near || is_covered(p, o, found) {
            continue;
        }
        let own = particles[P.particles_at + p];
        let cell = cell_of(p);
        var contact: Contact;
        contact.particle = p;
        contact.obstacle = o;
        contact.pair = o * P.n_objects + own.object;
        contact.link = found.link;
        contact.base = cell;
        contact.home = home(p);
        contact.gap = found.gap;
        contact.start_velocity = found.start_velocity;
        contact.wx = weights(own.fraction.x);
        contact.wy = weights(own.fraction.y);
        contact.wz = weights(own.fraction.z);
        contact.normal = found.normal;
        contact.arm = found.arm;
        contact.surface = found.surface;
        contact.point = found.point;
        contact.gamma = start;
        contact.y = start;
        contacts[P.contacts_at + c] = contact;
        c++;
    }
    check_loops();
}
