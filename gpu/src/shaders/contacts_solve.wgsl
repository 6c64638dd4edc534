// The contact problem of a substep, with the velocities of the links as unknowns, by one workgroup:
//
//   min over gamma of  1/2 gamma^T W gamma + gamma^T v_c* + l*(gamma),   W = J M^-1 J^T + J_r Lambda J_r^T
//
// Accelerated proximal gradient in the impulses (Beck and Teboulle 2009) with the diagonal majoriser D >= W and restarts (O'Donoghue and
// Candes 2015). A step is the local solution of every contact with D for its response, all at once. D_c = sum_d |W_cd|: along nodes
// sum_i w_i (sum_d w_di)/m_i; through links sqrt(q_c) sum_d sqrt(q_d) with q the norm of J_r Lambda J_r^T, by Cauchy's inequality.
//
// v = v* + M^-1 J^T gamma and V = V* - Lambda J_r^T gamma hold for the impulses it ends with, converged or not, so that momentum is exact
// to round-off. It ends, as the solvers of pliant-mpm do, when the local solution of every contact alone changes the impulses by less
// than the tolerance; in f32 the round-off of velocities counts, too.
#include "common.wgsl"
#include "blocks.wgsl"
#include "contact_law.wgsl"
#include "loops.wgsl"

const LANES = 128u;
const LINKS_MAX = 256u;
// Relative error of velocities that is round-off.
const VELOCITY_ERROR = 1e-6;

var<workgroup> sums: array<vec4<f32>, 128>;
var<workgroup> moments: array<vec4<f32>, 128>;
var<workgroup> is_used: array<u32, 256>;
var<workgroup> n_contacts: u32;
var<workgroup> n_links: u32;
var<workgroup> n_slots: u32;
var<workgroup> total: vec4<f32>;

fn reduce(t: u32) {
    workgroupBarrier();
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
        if t < step {
            sums[t] += sums[t + step];
            moments[t] += moments[t + step];
        }
        workgroupBarrier();
    }
}

fn corner_shift(corner: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(corner / 9u, (corner / 3u) % 3u, corner % 3u));
}

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

// (v_c, |interpolated velocity|) from the present velocities.
fn relative_velocity(c: u32) -> vec4<f32> {
    var v = vec3<f32>(0.0);
    for (var corner = 0u; corner < 27u; corner++) {
        let node = shifted(contacts[P.contacts_at + c].home, corner_shift(corner));
        // Light nodes have no velocity to speak of, and no weight.
        if nodes[P.nodes_at + node].w > P.light_mass {
            v += weight(c, corner) * nodes[P.nodes_at + n_nodes_max() + node].xyz;
        }
    }
    let of_surface = contacts[P.contacts_at + c].surface + point_velocity(contacts[P.contacts_at + c].link, contacts[P.contacts_at + c].arm);
    return vec4<f32>(v - of_surface, max(length(v), length(of_surface)));
}

// The law of a contact; returns |v_c*|^2/w, which scales round-off.
fn open(c: u32) -> f32 {
    let contact = contacts[P.contacts_at + c];
    var diagonal = vec3<f32>(0.0);
    var row_sum = 0.0;
    var bound = 0.0;
    for (var corner = 0u; corner < 27u; corner++) {
        let shift = corner_shift(corner);
        let node = shifted(contact.home, shift);
        let inverse = inverse_mass(node, contact.base + shift, nodes[P.nodes_at + node].w);
        let w = weight(c, corner);
        let shared_weight = w * nodes[P.nodes_at + n_nodes_max() + node].w;
        diagonal += w * w * inverse;
        row_sum += shared_weight * dot(inverse, contact.normal * contact.normal);
        bound += shared_weight * max(inverse.x, max(inverse.y, inverse.z));
    }
    let block = link_block(contact.link, contact.arm);
    let w = mat3x3<f32>(
        block[0] + vec3<f32>(diagonal.x, 0.0, 0.0),
        block[1] + vec3<f32>(0.0, diagonal.y, 0.0),
        block[2] + vec3<f32>(0.0, 0.0, diagonal.z),
    );
    row_sum += dot(contact.normal, block * contact.normal);
    let response = eigenvalue_bound(w);
    contacts[P.contacts_at + c].response = response;
    contacts[P.contacts_at + c].bound = bound;
    contacts[P.contacts_at + c].link_response = sqrt(eigenvalue_bound(block));
    if response == 0.0 {
        contacts[P.contacts_at + c].gamma = vec3<f32>(0.0);
        contacts[P.contacts_at + c].y = vec3<f32>(0.0);
        contacts[P.contacts_at + c].next = vec3<f32>(0.0);
        return 0.0;
    }
    let pair = scene[P.scene_at + P.pairs_at + contact.pair];
    let friction = scene[P.scene_at + P.pairs_at + P.n_obstacles * P.n_objects + contact.pair].x;
    let inverse_inertia = sqrt(dot(w[0], w[0]) + dot(w[1], w[1]) + dot(w[2], w[2])) / 3.0;
    let is_relaxation = pair.w == 2.0;
    let lead = P.dt + select(0.0, pair.y, is_relaxation);
    let r = P.near_rigid * P.near_rigid * inverse_inertia / 39.478418;
    let k = min(pair.x, 1.0 / (P.dt * lead * r));
    let f0 = -k * contact.gap;
    let damping = lead * k;
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
    let free = relative_velocity(c);
    var carried = 0.0;
    if contact.gap < P.dt * contact.start_velocity {
        let rate = select(0.0, k * pair.y * contact.start_velocity, is_relaxation);
        carried = P.dt * max(-k * contact.gap - rate, 0.0) * max(1.0 - d * contact.start_velocity, 0.0);
    }
    let v_ref = select(contact.start_velocity, dot(contact.normal, free.xyz), carried == 0.0);
    let n0 = implicit_impulse(force, d, row_sum, v_ref, carried);
    contacts[P.contacts_at + c].friction_limit = friction * n0;
    contacts[P.contacts_at + c].softening = max(P.stiction_speed, friction * 1e-3 * inverse_inertia * n0);
    let speed = max(length(free.xyz), free.w);
    return speed * speed / response;
}

// All velocities from the impulses y.
fn move_all(t: u32) {
    for (var slot = t; slot < n_slots; slot += LANES) {
        let node = work[P.work_at + 4u * slot];
        let first = entry_at(work[P.work_at + 4u * slot + 1u]);
        let count = work[P.work_at + 4u * slot + 2u];
        var impulse = vec3<f32>(0.0);
        for (var i = 0u; i < count; i++) {
            let c = work[P.work_at + first + i] / 27u;
            impulse += weight(c, work[P.work_at + first + i] % 27u) * contacts[P.contacts_at + c].y;
        }
        let start = nodes[P.nodes_at + node];
        let v = start.xyz + inverse_mass(node, node_place(node), start.w) * impulse;
        nodes[P.nodes_at + n_nodes_max() + node] = vec4<f32>(v, nodes[P.nodes_at + n_nodes_max() + node].w);
    }
    for (var l = 0u; l < n_links; l++) {
        if workgroupUniformLoad(&is_used[l]) == 0u {
            continue;
        }
        var force = vec3<f32>(0.0);
        var moment = vec3<f32>(0.0);
        for (var c = t; c < n_contacts; c += LANES) {
            if contacts[P.contacts_at + c].link == i32(l) {
                force -= contacts[P.contacts_at + c].y;
                moment -= cross(contacts[P.contacts_at + c].arm, contacts[P.contacts_at + c].y);
            }
        }
        sums[t] = vec4<f32>(force, 0.0);
        moments[t] = vec4<f32>(moment, 0.0);
        reduce(t);
        if t == 0u {
            set_out3(LINK * l + 20u, moments[0].xyz);
            set_out3(LINK * l + 23u, sums[0].xyz);
        }
        workgroupBarrier();
    }
    storageBarrier();
    let n = 6u * P.n_links;
    for (var i = t; i < n; i += LANES) {
        let at = LINK * (i / 6u) + i % 6u;
        var v = out[P.out_at + at + 14u];
        for (var l = 0u; l < P.n_links; l++) {
            if is_used[l] == 1u {
                for (var k = 0u; k < 6u; k++) {
                    v += number(P.response_at + i * n + 6u * l + k) * out[P.out_at + LINK * l + 20u + k];
                }
            }
        }
        out[P.out_at + at + 8u] = v;
    }
    storageBarrier();
    workgroupBarrier();
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    _ = open_world(group.z);
    if t == 0u {
        n_links = P.n_links;
        n_contacts = atomicLoad(&lists[P.lists_at + N_CONTACTS]);
        n_slots = atomicLoad(&lists[P.lists_at + N_SLOTS]);
    }
    for (var l = t; l < LINKS_MAX; l += LANES) {
        is_used[l] = 0u;
    }
    workgroupBarrier();
    if workgroupUniformLoad(&n_contacts) == 0u {
        return;
    }
    var own = vec4<f32>(0.0);
    for (var c = t; c < n_contacts; c += LANES) {
        own.x += open(c);
        own.y += contacts[P.contacts_at + c].link_response;
        if contacts[P.contacts_at + c].link >= 0 {
            is_used[contacts[P.contacts_at + c].link] = 1u;
        }
    }
    sums[t] = own;
    moments[t] = vec4<f32>(0.0);
    reduce(t);
    let stopping = sqrt(sums[0].x);
    let of_links = sums[0].y;
    workgroupBarrier();
    for (var c = t; c < n_contacts; c += LANES) {
        contacts[P.contacts_at + c].bound += contacts[P.contacts_at + c].link_response * of_links;
        contacts[P.contacts_at + c].bound = max(contacts[P.contacts_at + c].bound, contacts[P.contacts_at + c].response);
    }
    storageBarrier();
    workgroupBarrier();
    var iterations = 0u;
    var inertia = 1.0;
    var is_solved = false;
    loop {
        move_all(t);
        // |change|^2 and |y|^2 in the norm of the responses, and the test for a restart.
        own = vec4<f32>(0.0);
        for (var c = t; c < n_contacts; c += LANES) {
            let response = contacts[P.contacts_at + c].response;
            if response == 0.0 {
                continue;
            }
            let y = contacts[P.contacts_at + c].y;
            let v = relative_velocity(c).xyz;
            let alone = local_impulse(c, response, v, y) - y;
            let next = local_impulse(c, contacts[P.contacts_at + c].bound, v, y);
            contacts[P.contacts_at + c].next = next;
            own.x += response * dot(alone, alone);
            own.y += response * dot(y, y);
            own.z += contacts[P.contacts_at + c].bound * dot(y - next, next - contacts[P.contacts_at + c].gamma);
        }
        sums[t] = own;
        moments[t] = vec4<f32>(0.0);
        reduce(t);
        if t == 0u {
            total = sums[0];
        }
        let found = workgroupUniformLoad(&total);
        is_solved = sqrt(found.x) <= max(P.tolerance * sqrt(found.y), VELOCITY_ERROR * stopping);
        if t == 0u {
            total = vec4<f32>(select(0.0, 1.0, is_solved || iterations >= P.iterations_max), 0.0, 0.0, 0.0);
        }
        if workgroupUniformLoad(&total).x == 1.0 {
            break;
        }
        var momentum = 0.0;
        if found.z > 0.0 {
            inertia = 1.0;
        } else {
            let next_inertia = 0.5 * (1.0 + sqrt(1.0 + 4.0 * inertia * inertia));
            momentum = (inertia - 1.0) / next_inertia;
            inertia = next_inertia;
        }
        for (var c = t; c < n_contacts; c += LANES) {
            let next = contacts[P.contacts_at + c].next;
            contacts[P.contacts_at + c].y = next + momentum * (next - contacts[P.contacts_at + c].gamma);
            contacts[P.contacts_at + c].gamma = next;
        }
        storageBarrier();
        workgroupBarrier();
        iterations++;
    }
    for (var c = t; c < n_contacts; c += LANES) {
        let place = contacts[P.contacts_at + c].particle * P.n_obstacles + contacts[P.contacts_at + c].obstacle;
        forces[P.forces_at + place] = vec4<f32>(contacts[P.contacts_at + c].y / P.dt, 0.0);
    }
    if t == 0u {
        atomicAdd(&lists[P.lists_at + ITERATIONS], iterations);
        if !is_solved {
            atomicAdd(&lists[P.lists_at + UNSOLVED], 1u);
        }
    }
    check_loops();
}
