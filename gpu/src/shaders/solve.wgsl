// What the stages of the contact solve share. The problem of a substep, with the velocities of the links as unknowns:
//
//   min over gamma of  1/2 gamma^T W gamma + gamma^T v_c* + l*(gamma),   W = J M^-1 J^T + J_r Lambda J_r^T
//
// Accelerated proximal gradient in the impulses (Beck and Teboulle 2009) with the diagonal majoriser D >= W and restarts (O'Donoghue and
// Candes 2015). A step is the local solution of every contact with D for its response, all at once. D_c = sum_d |W_cd|: along nodes
// sum_i w_i (sum_d w_di)/m_i; through links sqrt(q_c) sum_d sqrt(q_d) with q the norm of J_r Lambda J_r^T, by Cauchy's inequality.
//
// An iteration has two halves: velocities of nodes and links from the impulses (`solve_move.wgsl`), then the local solutions (`solve_local.wgsl`). The first
// iterations run on many workgroups, each half as a stage of its own that ends at once if the problem is solved; one workgroup runs the others. Sums over
// contacts are sums over chunks of 128, added in their order. The bits therefore depend neither on the number of workgroups nor on how many iterations
// run on many.

const LANES = 128u;
// So few chunks are added by every invocation for itself.
const FEW = 4u;

// The state of the iterations. At BEGUN only the sums of `solve_begin.wgsl` are known.
struct Progress {
    phase: f32,
    iterations: f32,
    // t of Nesterov's method, and the weight of the last change of gamma in y.
    inertia: f32,
    momentum: f32,
    // The round-off of the velocities, in the norm of the impulses.
    round_off: f32,
    // The sum of sqrt(q) over all contacts.
    of_links: f32,
}

struct Problem {
    n_contacts: u32,
    n_slots: u32,
    progress: Progress,
}

const BEGUN = 0.0;
const GOES_ON = 1.0;
const SOLVED = 2.0;
// Not solved after iterations_max.
const UNFINISHED = 3.0;

// Relative error of velocities that is round-off.
const VELOCITY_ERROR = 1e-6;
// By so much less than the tolerance the local solution of every contact alone has to change the impulses: contacts that share nodes have a common error, of which
// each alone sees a part. With 0.2 scenes are at most 2.3 times as far from their solution as with pliant-mpm's own solver at the same tolerance, mostly nearer, with 1 up
// to eight times (docs/gpu.md).
const LOCAL_SHARE = 0.2;

var<workgroup> sums: array<vec4<f32>, 128>;
var<workgroup> moments: array<vec4<f32>, 128>;
var<workgroup> problem: Problem;
var<workgroup> next_key: atomic<u32>;
var<workgroup> key: u32;

// Loads the numbers of a world, with its progress from AFTER_NODES or AFTER_CONTACTS. A world without a substep left has no contacts.
fn open_solve(world: u32, t: u32, progress: u32) -> Problem {
    let is_open = open_world(world);
    if t == 0u {
        let n_contacts = select(0u, atomicLoad(&lists[P.lists_at + N_CONTACTS]), is_open);
        problem = Problem(n_contacts, atomicLoad(&lists[P.lists_at + N_SLOTS]), progress_at(progress));
    }
    return workgroupUniformLoad(&problem);
}

fn n_contacts() -> u32 { return problem.n_contacts; }
fn n_chunks() -> u32 { return (problem.n_contacts + LANES - 1u) / LANES; }

// In `out` from `solve_at`: the progress after `solve_nodes.wgsl` and after `solve_contacts.wgsl`; then of each chunk four sums, its impulses on each link at
// two iterates, and its sums for each pair of obstacle and object.
const AFTER_NODES = 0u;
const AFTER_CONTACTS = 8u;
fn n_chunks_max() -> u32 { return (P.contacts_max + LANES - 1u) / LANES; }
fn chunk_at(chunk: u32) -> u32 { return P.solve_at + 16u + 4u * chunk; }
fn wrench_at(chunk: u32, link: u32) -> u32 { return chunk_at(n_chunks_max()) + 12u * (chunk * P.n_links + link); }
fn pair_at(chunk: u32, pair: u32) -> u32 {
    return wrench_at(n_chunks_max(), 0u) + PAIR * (chunk * P.n_obstacles * P.n_objects + pair);
}

fn progress_at(at: u32) -> Progress {
    let i = P.out_at + P.solve_at + at;
    return Progress(out[i], out[i + 1u], out[i + 2u], out[i + 3u], out[i + 4u], out[i + 5u]);
}

fn set_progress(at: u32, progress: Progress) {
    let i = P.out_at + P.solve_at + at;
    out[i] = progress.phase;
    out[i + 1u] = progress.iterations;
    out[i + 2u] = progress.inertia;
    out[i + 3u] = progress.momentum;
    out[i + 4u] = progress.round_off;
    out[i + 5u] = progress.of_links;
}

// `sums` and `moments` over the invocations, into the first ones.
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

fn sums_of(chunk: u32) -> vec4<f32> {
    let i = P.out_at + chunk_at(chunk);
    return vec4<f32>(out[i], out[i + 1u], out[i + 2u], out[i + 3u]);
}

// The sums of all chunks.
fn total(t: u32) -> vec4<f32> {
    let is_few = n_chunks() <= FEW;
    var own = vec4<f32>(0.0);
    for (var chunk = select(t, 0u, is_few); chunk < n_chunks(); chunk += select(LANES, 1u, is_few)) {
        own += sums_of(chunk);
    }
    if is_few {
        return own;
    }
    sums[t] = own;
    moments[t] = vec4<f32>(0.0);
    reduce(t);
    return workgroupUniformLoad(&sums[0]);
}

fn is_over(progress: Progress) -> bool { return progress.phase == SOLVED || progress.phase == UNFINISHED; }

// What follows from the last iteration: solved where the local solution of every contact alone changes the impulses by less than LOCAL_SHARE of the tolerance;
// in f32 the round-off of velocities counts, too.
fn progress(last: Progress, t: u32) -> Progress {
    var now = last;
    if is_over(now) {
        return now;
    }
    let found = total(t);
    if now.phase == BEGUN {
        return Progress(GOES_ON, 0.0, 1.0, 0.0, VELOCITY_ERROR * sqrt(found.x), found.y);
    }
    if sqrt(found.x) <= max(LOCAL_SHARE * P.tolerance * sqrt(found.y), now.round_off) {
        now.phase = SOLVED;
        return now;
    }
    if now.iterations >= f32(P.iterations_max) {
        now.phase = UNFINISHED;
        return now;
    }
    now.iterations += 1.0;
    if found.z > 0.0 {
        now.inertia = 1.0;
        now.momentum = 0.0;
    } else {
        let inertia = 0.5 * (1.0 + sqrt(1.0 + 4.0 * now.inertia * now.inertia));
        now.momentum = (now.inertia - 1.0) / inertia;
        now.inertia = inertia;
    }
    return now;
}

// The next of the keys of a chunk after `before`, of which each invocation has one; NONE after the last.
fn key_after(before: u32, own: u32, t: u32) -> u32 {
    if t == 0u {
        atomicStore(&next_key, NONE);
    }
    workgroupBarrier();
    if own != NONE && (before == NONE || own > before) {
        atomicMin(&next_key, own);
    }
    workgroupBarrier();
    if t == 0u {
        key = atomicLoad(&next_key);
    }
    return workgroupUniformLoad(&key);
}

fn corner_shift(corner: u32) -> vec3<i32> {
    return vec3<i32>(vec3<u32>(corner / 9u, (corner / 3u) % 3u, corner % 3u));
}

// The impulse at which an iteration evaluates velocities.
fn extrapolated(c: u32, momentum: f32) -> vec3<f32> {
    let next = contacts[P.contacts_at + c].next;
    return next + momentum * (next - contacts[P.contacts_at + c].gamma);
}

// (v_c, the larger of the two velocities), from the present velocities.
fn relative_velocity(c: u32, of_link: vec3<f32>) -> vec4<f32> {
    var v = vec3<f32>(0.0);
    for (var corner = 0u; corner < 27u; corner++) {
        let node = shifted(contacts[P.contacts_at + c].home, corner_shift(corner));
        // Light nodes have no velocity to speak of, and no weight.
        if nodes[P.nodes_at + node].w > P.light_mass {
            v += weight(c, corner) * nodes[P.nodes_at + n_nodes_max() + node].xyz;
        }
    }
    let of_surface = contacts[P.contacts_at + c].surface + of_link;
    return vec4<f32>(v - of_surface, max(length(v), length(of_surface)));
}

// Writes down the impulses of a chunk on each of its links, with `own` the impulse of this contact, and keeps those of the iterate before.
fn write_wrenches(chunk: u32, c: u32, own: vec3<f32>, t: u32) {
    var link = NONE;
    var arm = vec3<f32>(0.0);
    if c < n_contacts() && contacts[P.contacts_at + c].link >= 0 {
        link = u32(contacts[P.contacts_at + c].link);
        arm = contacts[P.contacts_at + c].arm;
    }
    var l = key_after(NONE, link, t);
    while l != NONE {
        let impulse = select(vec3<f32>(0.0), own, link == l);
        sums[t] = vec4<f32>(-impulse, 0.0);
        moments[t] = vec4<f32>(-cross(arm, impulse), 0.0);
        reduce(t);
        if t == 0u {
            let at = wrench_at(chunk, l);
            set_out3(at + 6u, out3(at));
            set_out3(at + 9u, out3(at + 3u));
            set_out3(at, moments[0].xyz);
            set_out3(at + 3u, sums[0].xyz);
        }
        l = key_after(l, link, t);
    }
}
