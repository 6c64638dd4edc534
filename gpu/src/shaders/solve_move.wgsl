// The first half of an iteration of the contact solve: v = v* + M^-1 J^T y of the nodes in contact, and the impulses on the links.

// Entries that an invocation loads at a time: it waits for four of them as long as for one.
const AT_A_TIME = 4u;

// Weight and impulse of an entry of a node.
fn weighted(entries: u32, i: u32, count: u32, momentum: f32) -> vec3<f32> {
    let at = P.work_at + entry_at(entries + min(i, count - 1u));
    return select(0.0, bitcast<f32>(work[at + 1u]), i < count) * extrapolated(work[at], momentum);
}

fn move_node(slot: u32, momentum: f32) {
    let node = work[P.work_at + SLOT * slot];
    let entries = work[P.work_at + SLOT * slot + 1u];
    let count = work[P.work_at + SLOT * slot + 2u];
    var a = vec3<f32>(0.0);
    var b = vec3<f32>(0.0);
    var c = vec3<f32>(0.0);
    var d = vec3<f32>(0.0);
    for (var i = 0u; i < count; i += AT_A_TIME) {
        a += weighted(entries, i, count, momentum);
        b += weighted(entries, i + 1u, count, momentum);
        c += weighted(entries, i + 2u, count, momentum);
        d += weighted(entries, i + 3u, count, momentum);
    }
    let start = nodes[P.nodes_at + node];
    let v = start.xyz + inverse_mass(node, node_place(node), start.w) * ((a + b) + (c + d));
    nodes[P.nodes_at + n_nodes_max() + node] = vec4<f32>(v, nodes[P.nodes_at + n_nodes_max() + node].w);
}

// The impulse on a link, from those of all chunks.
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
    for (var slot = LANES * group + t; slot < problem.n_slots; slot += LANES * groups) {
        move_node(slot, momentum);
    }
    for (var link = group; link < P.n_links; link += groups) {
        load_link(link, momentum, t);
    }
}
