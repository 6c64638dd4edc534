// What all stages share: numbers of a time step, buffers, and the quadratic B-spline.
//
// A dispatch takes a stage of many worlds, one for each workgroup along z. Worlds share the buffers, and each has its own part of every one.
//
// Lengths on the grid are in cells: a particle is at (cell + fraction) h with a fraction in [1/2, 3/2), so that f32 resolves its position
// to 1e-7 of a cell wherever it is. Poses and contact points are relative to the corner of the box, as are cells but those in `particles`.

struct Params {
    dims: vec3<u32>,
    n_particles: u32,
    gravity: vec3<f32>,
    dt: f32,
    spacing: f32,
    inverse_spacing: f32,
    is_mls: u32,
    // Blocks of nodes that there is room for.
    blocks_max: u32,
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
    // Places of the hash table of blocks, a power of two.
    table_size: u32,
    // Where the parts of the world begin in each buffer, in its elements.
    scene_at: u32,
    particles_at: u32,
    lists_at: u32,
    nodes_at: u32,
    contacts_at: u32,
    work_at: u32,
    forces_at: u32,
    out_at: u32,
    // In `out`: what the stages of the contact solve share.
    solve_at: u32,
    padding0: u32,
    padding1: u32,
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
    // C, in columns; the last numbers are the two internal variables, and the norm of the stress, Pa.
    c0: vec4<f32>,
    c1: vec4<f32>,
    c2: vec4<f32>,
    // F; the last number of its second column is that of the first contact, less than 2^24: a buffer of 4 GiB holds half as many.
    f0: vec3<f32>,
    // A bit for each held set that it belongs to.
    held: u32,
    f1: vec4<f32>,
    f2: vec4<f32>,
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
    friction: f32,
    arm: vec3<f32>,
    softening_per_impulse: f32,
    surface: vec3<f32>,
    link_response: f32,
    point: vec3<f32>,
    dissipation: f32,
    // Release velocity, preload, slope, damping at release.
    force: vec4<f32>,
    gamma: vec3<f32>,
    padding0: f32,
    y: vec3<f32>,
    // The node of `base`.
    home: u32,
    next: vec3<f32>,
    padding2: f32,
}

@group(0) @binding(0) var<storage, read> worlds: array<Params>;
@group(0) @binding(1) var<storage, read> scene: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> particles: array<Particle>;
// Counters, then numbers of nodes, of blocks, of the hash table, and of particles.
@group(0) @binding(3) var<storage, read_write> lists: array<atomic<u32>>;
// (v*, m) of all nodes, then (v, sum of contact weights), then stress and impulse of each particle.
@group(0) @binding(4) var<storage, read_write> nodes: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> contacts: array<Contact>;
// Nodes in contact (node, first entry, entries), then entries (contact, weight), then the contacts of each cell.
@group(0) @binding(6) var<storage, read_write> work: array<u32>;
// Contact force of each particle on each obstacle in the last substep.
@group(0) @binding(7) var<storage, read_write> forces: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> out: array<f32>;

// The numbers of the world of this invocation.
var<private> P: Params;

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
const N_BLOCKS = 13u;
const BLOCKS_NEEDED = 14u;
const ITERATIONS_MOST = 15u;
const N_LISTED = 16u;
const CELLS = 32u;

const LEFT_GRID = 1u;
const NOT_FINITE = 2u;
const TOO_MANY_CONTACTS = 4u;
const LOOP_CUT = 8u;
const TOO_MANY_BLOCKS = 16u;

const LINK = 32u;
// Numbers of a pair of obstacle and object in `out`.
const PAIR = 13u;
// Numbers of a node in contact in `work`.
const SLOT = 3u;
// Vectors of an object in `scene`.
const OBJECT = 3u;

// Takes the numbers of a world. Returns whether it has a substep left.
fn open_world(world: u32) -> bool {
    P = worlds[world];
    return atomicLoad(&lists[P.lists_at + SUBSTEP]) < P.substeps;
}

fn n_nodes_max() -> u32 { return 64u * P.blocks_max; }
// Of a node, which stands for the cell above it, too.
fn count_at(cell: u32) -> u32 { return CELLS + cell; }
fn start_at(cell: u32) -> u32 { return CELLS + n_nodes_max() + cell; }
fn fill_at(cell: u32) -> u32 { return CELLS + 2u * n_nodes_max() + cell; }
// Contacts of the particles of a cell, their first place in `work`, and contacts that reach a node.
fn touching_at(cell: u32) -> u32 { return CELLS + 3u * n_nodes_max() + cell; }
fn first_touching_at(cell: u32) -> u32 { return CELLS + 4u * n_nodes_max() + cell; }
fn reached_at(node: u32) -> u32 { return CELLS + 5u * n_nodes_max() + node; }
fn held_bits_at(node: u32) -> u32 { return CELLS + 6u * n_nodes_max() + node; }
// Of a block: its key, and its 27 neighbours.
fn blocks_at() -> u32 { return CELLS + 7u * n_nodes_max(); }
fn key_at(block: u32) -> u32 { return blocks_at() + block; }
fn neighbour_at(block: u32, neighbour: u32) -> u32 { return blocks_at() + P.blocks_max + 27u * block + neighbour; }
// Of the hash table: keys, and their blocks.
fn table_key_at(place: u32) -> u32 { return blocks_at() + 28u * P.blocks_max + place; }
fn table_block_at(place: u32) -> u32 { return table_key_at(P.table_size) + place; }
// Of particles: their order, their cell, their contacts, and the contacts of a workgroup of them.
fn order_at(place: u32) -> u32 { return table_block_at(P.table_size) + place; }
fn home_at(p: u32) -> u32 { return order_at(P.n_particles) + p; }
fn contacts_of_at(p: u32) -> u32 { return home_at(P.n_particles) + p; }
fn group_at(group: u32) -> u32 { return contacts_of_at(P.n_particles) + group; }
fn contacts_of(p: u32) -> u32 { return atomicLoad(&lists[P.lists_at + contacts_of_at(p)]); }
fn entry_at(entry: u32) -> u32 { return 27u * SLOT * P.contacts_max + 2u * entry; }
fn listed_at(place: u32) -> u32 { return entry_at(27u * P.contacts_max) + place; }

// Of a particle in `nodes`: S = -dt V tau in three columns, beside which the gather leaves grad v d_3 of cloth, and dt times the force of cloth and loads.
fn stress_at(p: u32) -> u32 { return P.nodes_at + 2u * n_nodes_max() + 4u * p; }
fn applied_impulse_at(p: u32) -> u32 { return stress_at(p) + 3u; }

// The cell of a particle in the box.
fn cell_of(p: u32) -> vec3<i32> { return particles[P.particles_at + p].cell - P.origin; }

fn weight(c: u32, corner: u32) -> f32 {
    return contacts[P.contacts_at + c].wx[corner / 9u] * contacts[P.contacts_at + c].wy[(corner / 3u) % 3u] * contacts[P.contacts_at + c].wz[corner % 3u];
}

fn number(i: u32) -> f32 { return scene[P.scene_at + i / 4u][i % 4u]; }

// Whole numbers in tables of f32: the bits of a normal number, which no device flushes to zero.
fn index_of(x: f32) -> u32 { return bitcast<u32>(x) - 0x3f800000u; }
fn indices_of(x: vec4<f32>) -> vec4<u32> { return bitcast<vec4<u32>>(x) - 0x3f800000u; }

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
        let plane = scene[P.scene_at + P.walls_at + 2u * w];
        if dot(plane.xyz, vec3<f32>(node)) <= plane.w + 1e-4 {
            free *= scene[P.scene_at + P.walls_at + 2u * w + 1u].xyz;
        }
    }
    return free;
}

// 1/m of each component of a node at `place`; zero where it is prescribed, and for nodes that are too light to have a velocity to speak of.
fn inverse_mass(node: u32, place: vec3<i32>, mass: f32) -> vec3<f32> {
    if mass <= P.light_mass {
        return vec3<f32>(0.0);
    }
    var free = freedom(place);
    if P.holds_nodes == 1u {
        let bits = vec3<u32>(atomicLoad(&lists[P.lists_at + held_bits_at(node)]));
        free *= select(vec3<f32>(0.0), vec3<f32>(1.0), (bits & vec3<u32>(1u, 2u, 4u)) == vec3<u32>(0u));
    }
    return free / mass;
}

fn is_cloth(object: u32) -> bool { return scene[P.scene_at + OBJECT * object].x >= 7.0; }

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
    return vec4<f32>(out[P.out_at + at], out[P.out_at + at + 1u], out[P.out_at + at + 2u], out[P.out_at + at + 3u]);
}

fn out3(at: u32) -> vec3<f32> { return vec3<f32>(out[P.out_at + at], out[P.out_at + at + 1u], out[P.out_at + at + 2u]); }

fn set_out3(at: u32, x: vec3<f32>) {
    out[P.out_at + at] = x.x;
    out[P.out_at + at + 1u] = x.y;
    out[P.out_at + at + 2u] = x.z;
}

fn point_velocity(link: i32, arm: vec3<f32>) -> vec3<f32> {
    if link < 0 {
        return vec3<f32>(0.0);
    }
    let at = LINK * u32(link) + 8u;
    return out3(at + 3u) + cross(out3(at), arm);
}
