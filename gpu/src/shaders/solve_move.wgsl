// The first half of an iteration of the contact solve: v = v* + M^-1 J^T y of the nodes in contact, and the impulses on the links.

// Invocations of a node, and nodes of a workgroup.
const SHARES = 4u;
const NODES = 32u;

// The nodes from the slot `first`.
fn move_nodes(first: u32, momentum: f32, t: u32) {
    let slot = SLOT * (first + t / SHARES);
    let share = t % SHARES;
    let is_one = first + t / SHARES < problem.n_slots;
    var own = vec3<f32>(0.0);
    if is_one {
        let entries = work[P.work_at + slot + 1u];
        let count = work[P.work_at + slot + 2u];
        for (var i = share; i < count; i += SHARES) {
            let at = P.work_at + entry_at(entries + i);
            own += bitcast<f32>(work[at + 1u]) * extrapolated(work[at], momentum);
        }
    }
    sums[t] = vec4<f32>(own, 0.0);
    workgroupBarrier();
    if is_one && share == 0u {
        var impulse = own;
        for (var i = 1u; i < SHARES; i++) {
            impulse += sums[t + i].xyz;
        }
        let node = work[P.work_at + slot];
        let start = nodes[P.nodes_at + node];
        let v = start.xyz + inverse_mass(node, node_place(node), start.w) * impulse;
        nodes[P.nodes_at + n_nodes_max() + node] = vec4<f32>(v, nodes[P.nodes_at + n_nodes_max() + node].w);
    }
    workgroupBarrier();
}

fn load_link(link: u32, momentum: f32, t: u32) {
    var force = vec3<f32>(0.0);
    var moment = vec3<f32>(0.0);
    for (var chunk = t; chunk < n_chunks(); chunk += LANES) {
        let at = wrench_at(chunk, link);
        moment += out3(at) + momentum * (out3(at) - out3(at + 6u));
        force += out3(at + 3u) + momentum * (out3(at + 3u) - out3(at + 9u));
    }
    sums[t] = vec4<f32>(force, 0.0);
    moments[t] = vec4<f32>(moment, 0.0);
    reduce(t);
    if t == 0u {
        set_out3(LINK * link + 20u, moments[0].xyz);
        set_out3(LINK * link + 23u, sums[0].xyz);
    }
    workgroupBarrier();
}

// The share of one of some workgroups.
fn move_all(group: u32, groups: u32, momentum: f32, t: u32) {
    let n_nodes = (problem.n_slots + NODES - 1u) / NODES;
    for (var i = group; i < n_nodes + P.n_links; i += groups) {
        if i < n_nodes {
            move_nodes(NODES * i, momentum, t);
        } else {
            load_link(i - n_nodes, momentum, t);
        }
    }
}
