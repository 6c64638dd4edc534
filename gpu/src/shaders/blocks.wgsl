// The sparse grid: blocks of 4 x 4 x 4 nodes that particles reach. A hash table finds the block at a place; its 27 neighbours are listed, so that
// stages hash once for a particle at most. Nodes are numbered by block, 64 each.

const NONE = 0xffffffffu;
// Places of the table that are tried for a key. Half of them are empty.
const PROBES_MAX = 1024u;

// The number of a block among those of the box.
fn block_key(block: vec3<i32>) -> u32 {
    let k = vec3<u32>(block);
    let n = P.dims / 4u;
    return (k.x * n.y + k.y) * n.z + k.z;
}

fn block_place(key: u32) -> vec3<i32> {
    let n = P.dims / 4u;
    let rest = key / n.z;
    return vec3<i32>(vec3<u32>(rest / n.y, rest % n.y, key % n.z));
}

// The place of the table at which the search of a key begins: the last mixing of MurmurHash3.
fn first_place(key: u32) -> u32 {
    var h = key;
    h = (h ^ (h >> 16u)) * 0x85ebca6bu;
    h = (h ^ (h >> 13u)) * 0xc2b2ae35u;
    return (h ^ (h >> 16u)) & (P.table_size - 1u);
}

// The block with a key.
fn block_of(key: u32) -> u32 {
    var place = first_place(key);
    for (var tries = 0u; tries < PROBES_MAX; tries++) {
        let found = atomicLoad(&lists[P.lists_at + table_key_at(place)]);
        if found == key {
            return atomicLoad(&lists[P.lists_at + table_block_at(place)]);
        }
        if found == NONE {
            break;
        }
        place = (place + 1u) & (P.table_size - 1u);
    }
    return NONE;
}

// Whether the blocks had room. Without it nothing of this time step is kept.
fn have_room() -> bool { return (atomicLoad(&lists[P.lists_at + STATUS]) & TOO_MANY_BLOCKS) == 0u; }

fn n_blocks() -> u32 { return select(0u, atomicLoad(&lists[P.lists_at + N_BLOCKS]), have_room()); }

fn n_nodes() -> u32 { return 64u * n_blocks(); }

// Where a node is in its block.
fn within(node: u32) -> vec3<i32> { return vec3<i32>(vec3<u32>((node >> 4u) & 3u, (node >> 2u) & 3u, node & 3u)); }

fn node_within(place: vec3<i32>) -> u32 { return u32(16 * place.x + 4 * place.y + place.z); }

// Where it is in the box.
fn node_place(node: u32) -> vec3<i32> { return 4 * block_place(atomicLoad(&lists[P.lists_at + key_at(node >> 6u)])) + within(node); }

// The node at a distance of four at most, if there is one.
fn shifted(node: u32, by: vec3<i32>) -> u32 {
    let place = within(node) + by;
    let over = place >> vec3<u32>(2u);
    let block = atomicLoad(&lists[P.lists_at + neighbour_at(node >> 6u, u32(9 * over.x + 3 * over.y + over.z + 13))]);
    return select(64u * block + node_within(place & vec3<i32>(3)), NONE, block == NONE);
}

// The first of the nodes that a particle reaches.
fn home(p: u32) -> u32 { return atomicLoad(&lists[P.lists_at + home_at(p)]); }
