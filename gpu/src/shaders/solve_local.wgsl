// The second half of an iteration of the contact solve: the local solution of every contact at the present velocities. The sums of a chunk are |change|^2
// and |y|^2 in the norm of the responses, and the test for a restart.
#include "contact_law.wgsl"
#include "link_velocities.wgsl"

// The share of one of some workgroups.
fn solve_locally(group: u32, groups: u32, now: Progress, t: u32) {
    find_link_velocities(t);
    for (var chunk = group; chunk < n_chunks(); chunk += groups) {
        let c = LANES * chunk + t;
        var own = vec4<f32>(0.0);
        var next = vec3<f32>(0.0);
        if c < n_contacts() && contacts[P.contacts_at + c].response > 0.0 {
            let contact = contacts[P.contacts_at + c];
            let response = contact.response;
            let bound = max(contact.bound + contact.link_response * now.of_links, response);
            let before = contact.next;
            let y = extrapolated(c, now.momentum);
            let v = relative_velocity(c, point_velocity_now(contact.link, contact.arm)).xyz;
            let alone = local_impulse(c, response, v, y) - y;
            next = local_impulse(c, bound, v, y);
            contacts[P.contacts_at + c].y = y;
            contacts[P.contacts_at + c].gamma = before;
            contacts[P.contacts_at + c].next = next;
            own = vec4<f32>(response * dot(alone, alone), response * dot(y, y), bound * dot(y - next, next - before), 0.0);
        }
        sums[t] = own;
        moments[t] = vec4<f32>(0.0);
        reduce(t);
        if t == 0u {
            let i = P.out_at + chunk_at(chunk);
            out[i] = sums[0].x;
            out[i + 1u] = sums[0].y;
            out[i + 2u] = sums[0].z;
        }
        workgroupBarrier();
        write_wrenches(chunk, c, next, t);
    }
}
