// What all stages share: numbers of a time step, buffers, and the quadratic B-spline.
//
// Lengths on the grid are in cells: a particle is at (cell + fraction) h with a fraction in [1/2, 3/2), so that f32 resolves its position
// to 1e-7 of a cell wherever it is. Poses and contact points are relative to the corner of the box of nodes, as are cells but those in `particles`.

struct Params {
    dims: vec3<u32>,
    n_particles: u32,
    gravity: vec3<f32>,
    dt: f32,
    spacing: f32,
    inverse_spacing: f32,
    is_mls: u32,
    n_nodes: u32,
    n_obstacles: u32,
    n_objects: u32,
    n_links: u32,
    n_rigid: u32,
    n_walls: u32,
    contacts_max: u32,
    iterations_max: u32,
    substeps: u32,
    tolerance: f32,
    stiction_speed: f32,
    near_rigid: f32,
    light_mass: f32,
    // Where each table of `scene` begins, in vectors.
    obstacles_at: u32,
    pairs_at: u32,
    walls_at: u32,
    // The same in numbers.
    response_at: u32,
    rows_at: u32,
    columns_at: u32,
    decay_at: u32,
    drive_at: u32,
    prescribed_at: u32,
    // Where each part of `out` begins.
    rigid_at: u32,
    sums_at: u32,
    records_at: u32,
    // Cloth and sets and loads; the corners in `out`, all else in `scene`, `corner_list_at` in numbers.
    triangles_at: u32,
    hinges_at: u32,
    vertices_at: u32,
    corner_list_at: u32,
    corners_at: u32,
    n_triangles: u32,
    n_hinges: u32,
    n_vertices: u32,
    held_sets_at: u32,
    n_held_sets: u32,
    holds_nodes: u32,
    loads_at: u32,
    // The cell of the corner of the box.
    origin: vec3<i32>,
    n_loads: u32,
}

struct Particle {
    fraction: vec3<f32>,
    mass: f32,
    cell: vec3<i32>,
    object: u32,
    v: vec3<f32>,
    volume: f32,
    // C, in columns; the last numbers are the two internal variables and the number of contacts.
    c0: vec4<f32>,
    c1: vec4<f32>,
    c2: vec4<f32>,
    // F.
    f0: vec4<f32>,
    f1: vec4<f32>,
    f2: vec4<f32>,
    // S = -dt V tau; the last number of the first is the first contact.
    s0: vec4<f32>,
    s1: vec4<f32>,
    s2: vec4<f32>,
    // dt times the force of cloth and loads.
    impulse: vec3<f32>,
    // A bit for each held set that it belongs to.
    held: u32,
}

struct Contact {
    particle: u32,
    obstacle: u32,
    pair: u32,
    link: i32,
    base: vec3<i32>,
    gap: f32,
    wx: vec3<f32>,
    start_velocity: f32,
    wy: vec3<f32>,
    response: f32,
    wz: vec3<f32>,
    // An upper bound of the row sum of the response of all contacts.
    bound: f32,
    normal: vec3<f32>,
    friction_limit: f32,
    arm: vec3<f32>,
    softening: f32,
    surface: vec3<f32>,
    link_response: f32,
    point: vec3<f32>,
    dissipation: f32,
    // Release velocity, preload, slope, damping at release.
    force: vec4<f32>,
    gamma: vec3<f32>,
    padding0: f32,
    y: vec3<f32>,
    padding1: f32,
    next: vec3<f32>,
    padding2: f32,
}

@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> scene: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> particles: array<Particle>;
// Counters, then cells, then the order of particles, then the components of each node that a held set prescribes.
@group(0) @binding(3) var<storage, read_write> lists: array<atomic<u32>>;
// (v*, m) of all nodes, then (v, sum of contact weights).
@group(0) @binding(4) var<storage, read_write> nodes: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> contacts: array<Contact>;
// Nodes in contact (node, first entry, entries, -), then entries: 27 contact + corner.
@group(0) @binding(6) var<storage, read_write> work: array<u32>;
// Contact force of each particle on each obstacle in the last substep.
@group(0) @binding(7) var<storage, read_write> forces: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

const STATUS = 0u;
const N_CONTACTS = 1u;
const N_SLOTS = 2u;
const N_ENTRIES = 3u;
const CONTACTS_TOTAL = 4u;
const CONTACTS_MAX = 5u;
const ITERATIONS = 6u;
const UNSOLVED = 7u;
const CURSOR = 8u;
const CRUSHED = 9u;
const CRUSHED_FIRST = 10u;
const SUBSTEP = 11u;
const CONTACTS_NEEDED = 12u;
const CELLS = 16u;

const LEFT_GRID = 1u;
const NOT_FINITE = 2u;
const TOO_MANY_CONTACTS = 4u;
const LOOP_CUT = 8u;

const LINK = 32u;
// Vectors of an object in `scene`.
const OBJECT = 3u;

fn count_at(cell: u32) -> u32 { return CELLS + cell; }
fn start_at(cell: u32) -> u32 { return CELLS + P.n_nodes + cell; }
fn fill_at(cell: u32) -> u32 { return CELLS + 2u * P.n_nodes + cell; }
fn touched_at(node: u32) -> u32 { return CELLS + 3u * P.n_nodes + node; }
fn touching_at(node: u32) -> u32 { return CELLS + 4u * P.n_nodes + node; }
fn order_at(place: u32) -> u32 { return CELLS + 5u * P.n_nodes + place; }
fn held_bits_at(node: u32) -> u32 { return CELLS + 5u * P.n_nodes + P.n_particles + node; }
fn entry_at(entry: u32) -> u32 { return 108u * P.contacts_max + entry; }

fn node_index(k: vec3<i32>) -> u32 {
    let u = vec3<u32>(k);
    return (u.x * P.dims.y + u.y) * P.dims.z + u.z;
}

// The cell of a particle in the box.
fn cell_of(p: u32) -> vec3<i32> { return particles[p].cell - P.origin; }

fn node_place(index: u32) -> vec3<i32> {
    let z = index % P.dims.z;
    let rest = index / P.dims.z;
    return vec3<i32>(vec3<u32>(rest / P.dims.y, rest % P.dims.y, z));
}

fn weight(c: u32, corner: u32) -> f32 {
    return contacts[c].wx[corner / 9u] * contacts[c].wy[(corner / 3u) % 3u] * contacts[c].wz[corner % 3u];
}

fn number(i: u32) -> f32 { return scene[i / 4u][i % 4u]; }

// w0 = (3/2 - f)^2/2, w1 = 3/4 - (f - 1)^2, w2 = (f - 1/2)^2/2.
fn weights(f: f32) -> vec3<f32> {
    let a = 1.5 - f;
    let b = f - 1.0;
    let c = f - 0.5;
    return vec3<f32>(0.5 * a * a, 0.75 - b * b, 0.5 * c * c);
}

// Their derivatives, 1/m; with moving least squares (4/h^2) w_k (k - f) h.
fn slopes(f: f32) -> vec3<f32> {
    if P.is_mls == 1u {
        return 4.0 * P.inverse_spacing * weights(f) * (vec3<f32>(0.0, 1.0, 2.0) - f);
    }
    return P.inverse_spacing * vec3<f32>(f - 1.5, 2.0 * (1.0 - f), f - 0.5);
}

// 1 for components of a node's velocity that are free, 0 for those that a wall prescribes.
fn freedom(node: vec3<i32>) -> vec3<f32> {
    var free = vec3<f32>(1.0);
    for (var w = 0u; w < P.n_walls; w++) {
        let plane = scene[P.walls_at + 2u * w];
        if dot(plane.xyz, vec3<f32>(node)) <= plane.w + 1e-4 {
            free *= scene[P.walls_at + 2u * w + 1u].xyz;
        }
    }
    return free;
}

// 1/m of each component; zero where it is prescribed, and for nodes that are too light to have a velocity to speak of.
fn inverse_mass(node: vec3<i32>, mass: f32) -> vec3<f32> {
    if mass <= P.light_mass {
        return vec3<f32>(0.0);
    }
    var free = freedom(node);
    if P.holds_nodes == 1u {
        let bits = vec3<u32>(atomicLoad(&lists[held_bits_at(node_index(node))]));
        free *= select(vec3<f32>(0.0), vec3<f32>(1.0), (bits & vec3<u32>(1u, 2u, 4u)) == vec3<u32>(0u));
    }
    return free / mass;
}

fn is_cloth(object: u32) -> bool { return scene[OBJECT * object].x >= 7.0; }

fn rotated(q: vec4<f32>, x: vec3<f32>) -> vec3<f32> {
    let t = 2.0 * cross(q.xyz, x);
    return x + q.w * t + cross(q.xyz, t);
}

fn conjugate(q: vec4<f32>) -> vec4<f32> { return vec4<f32>(-q.xyz, q.w); }

fn product(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn link_rotation(l: u32) -> vec4<f32> {
    let at = LINK * l;
    return vec4<f32>(out[at], out[at + 1u], out[at + 2u], out[at + 3u]);
}

fn out3(at: u32) -> vec3<f32> { return vec3<f32>(out[at], out[at + 1u], out[at + 2u]); }

fn set_out3(at: u32, x: vec3<f32>) {
    out[at] = x.x;
    out[at + 1u] = x.y;
    out[at + 2u] = x.z;
}

fn point_velocity(link: i32, arm: vec3<f32>) -> vec3<f32> {
    if link < 0 {
        return vec3<f32>(0.0);
    }
    let at = LINK * u32(link) + 8u;
    return out3(at + 3u) + cross(out3(at), arm);
}
