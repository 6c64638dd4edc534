// Contacts, 3 of 6: writes them, with the impulse of the last substep as a start, and counts them on every node that they reach.
#include "common.wgsl"
#include "signed_distance.wgsl"
#include "detection.wgsl"
#include "loops.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let p = id.x + id.y * groups.x * 128u;
    if p >= P.n_particles || (atomicLoad(&lists[STATUS]) & TOO_MANY_CONTACTS) != 0u {
        return;
    }
    var c = u32(particles[p].s0.w);
    for (var o = 0u; o < P.n_obstacles; o++) {
        let place = p * P.n_obstacles + o;
        let start = forces[place].xyz * P.dt;
        forces[place] = vec4<f32>(0.0);
        let found = touch(p, o);
        if !found.is_near {
            continue;
        }
        let own = particles[p];
        let cell = cell_of(p);
        var contact: Contact;
        contact.particle = p;
        contact.obstacle = o;
        contact.pair = o * P.n_objects + own.object;
        contact.link = found.link;
        contact.base = cell;
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
        contacts[c] = contact;
        c++;
        for (var n = 0; n < 27; n++) {
            let node = node_index(cell + vec3<i32>(n / 9, (n / 3) % 3, n % 3));
            atomicAdd(&lists[touched_at(node)], 1u);
        }
    }
    check_loops();
}
