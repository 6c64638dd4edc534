// Contact solve, 1 of 5: the law of every contact, its response, and the start from the impulse of the last substep. Its sums are |v_c*|^2/w, which
// scales round-off, and sqrt(q).
#include "common.wgsl"
#include "blocks.wgsl"
#include "contact_law.wgsl"
#include "solve.wgsl"

// W of a contact alone by its link: columns of V_point for unit impulses.
fn link_block(link: i32, arm: vec3<f32>) -> mat3x3<f32> {
    var block = mat3x3<f32>();
    if link < 0 {
        return block;
    }
    let n = 6u * P.n_links;
    let l = 6u * u32(link);
    for (var k = 0u; k < 3u; k++) {
        var force = vec3<f32>(0.0);
        force[k] = 1.0;
        let moment = cross(arm, force);
        var v = array<f32, 6>();
        for (var i = 0u; i < 6u; i++) {
            for (var j = 0u; j < 3u; j++) {
                v[i] += number(P.response_at + (l + i) * n + l + j) * moment[j];
            }
            v[i] += number(P.response_at + (l + i) * n + l + 3u + k);
        }
        block[k] = vec3<f32>(v[3], v[4], v[5]) + cross(vec3<f32>(v[0], v[1], v[2]), arm);
    }
    return block;
}

fn eigenvalue_bound(w: mat3x3<f32>) -> f32 {
    let rows = abs(w[0]) + abs(w[1]) + abs(w[2]);
    return min(max(rows.x, max(rows.y, rows.z)), sqrt(dot(w[0], w[0]) + dot(w[1], w[1]) + dot(w[2], w[2])));
}

// The law of a contact. Returns its part of the sums.
fn begin(c: u32) -> vec2<f32> {
    let contact = contacts[P.contacts_at + c];
    var diagonal = vec3<f32>(0.0);
    var bound = 0.0;
    for (var corner = 0u; corner < 27u; corner++) {
        let shift = corner_shift(corner);
        let node = shifted(contact.home, shift);
        let inverse = inverse_mass(node, contact.base + shift, nodes[P.nodes_at + node].w);
        let w = weight(c, corner);
        let shared_weight = w * nodes[P.nodes_at + n_nodes_max() + node].w;
        diagonal += w * w * inverse;
        bound += shared_weight * max(inverse.x, max(inverse.y, inverse.z));
    }
    let block = link_block(contact.link, contact.arm);
    let w = mat3x3<f32>(
        block[0] + vec3<f32>(diagonal.x, 0.0, 0.0),
        block[1] + vec3<f32>(0.0, diagonal.y, 0.0),
        block[2] + vec3<f32>(0.0, 0.0, diagonal.z),
    );
    let response = eigenvalue_bound(w);
    let link_response = sqrt(eigenvalue_bound(block));
    contacts[P.contacts_at + c].response = response;
    contacts[P.contacts_at + c].bound = bound;
    contacts[P.contacts_at + c].link_response = link_response;
    let start = select(vec3<f32>(0.0), contact.gamma, response > 0.0);
    contacts[P.contacts_at + c].gamma = start;
    contacts[P.contacts_at + c].next = start;
    contacts[P.contacts_at + c].y = start;
    if response == 0.0 {
        return vec2<f32>(0.0, link_response);
    }
    let pair = scene[P.scene_at + P.pairs_at + contact.pair];
    let friction = scene[P.scene_at + P.pairs_at + P.n_obstacles * P.n_objects + contact.pair].x;
    let inverse_inertia = sqrt(dot(w[0], w[0]) + dot(w[1], w[1]) + dot(w[2], w[2])) / 3.0;
    let is_relaxation = pair.w == 2.0;
    let lead = P.dt + select(0.0, pair.y, is_relaxation);
    let r = P.near_rigid * P.near_rigid * inverse_inertia / 39.478418;
    let k = min(pair.x, 1.0 / (P.dt * lead * r));
    let damping = lead * k;
    // Before touching, relaxation acts on the speed of penetration alone.
    let f0 = -select(k, damping / P.dt, contact.gap > 0.0) * contact.gap;
    let d = select(pair.y, 0.0, is_relaxation);
    var force = vec4<f32>(-1e30, 0.0, 0.0, 0.0);
    if damping > 0.0 {
        let by_elasticity = f0 / damping;
        if by_elasticity * d <= 1.0 {
            force = vec4<f32>(by_elasticity, 0.0, P.dt * damping, max(1.0 - d * by_elasticity, 0.0));
        } else {
            force = vec4<f32>(1.0 / d, max(P.dt * (f0 - damping / d), 0.0), P.dt * damping, 0.0);
        }
    }
    contacts[P.contacts_at + c].force = force;
    contacts[P.contacts_at + c].dissipation = d;
    let free = relative_velocity(c, point_velocity(contact.link, contact.arm));
    contacts[P.contacts_at + c].friction = friction;
    contacts[P.contacts_at + c].softening_per_impulse = friction * 1e-3 * inverse_inertia;
    let speed = max(length(free.xyz), free.w);
    return vec2<f32>(speed * speed / response, link_response);
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    if open_solve(group.z, t, AFTER_CONTACTS).n_contacts == 0u {
        return;
    }
    if group.x == 0u && t == 0u {
        set_progress(AFTER_CONTACTS, Progress(BEGUN, 0.0, 0.0, 0.0, 0.0, 0.0));
    }
    for (var chunk = group.x; chunk < n_chunks(); chunk += groups.x) {
        let c = LANES * chunk + t;
        for (var i = t; i < 12u * P.n_links; i += LANES) {
            out[P.out_at + wrench_at(chunk, 0u) + i] = 0.0;
        }
        sums[t] = vec4<f32>(0.0);
        moments[t] = vec4<f32>(0.0);
        var start = vec3<f32>(0.0);
        if c < n_contacts() {
            sums[t] = vec4<f32>(begin(c), 0.0, 0.0);
            start = contacts[P.contacts_at + c].next;
        }
        reduce(t);
        if t == 0u {
            let i = P.out_at + chunk_at(chunk);
            out[i] = sums[0].x;
            out[i + 1u] = sums[0].y;
            out[i + 2u] = 0.0;
            out[i + 3u] = 0.0;
        }
        storageBarrier();
        write_wrenches(chunk, c, start, t);
    }
}
