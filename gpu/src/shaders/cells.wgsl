// The 27 cells from which particles reach a node, and the particles of each in the order of the sort.

// How far below the node a cell is.
fn below(n: i32) -> vec3<i32> { return vec3<i32>(n / 9, (n / 3) % 3, n % 3); }

// The particles of a cell, as places in `lists`: the first one, and the one after the last. There are none outside of the blocks.
fn places_of(cell: u32) -> vec2<u32> {
    if cell == NONE {
        return vec2<u32>(0u);
    }
    let count = atomicLoad(&lists[P.lists_at + count_at(cell)]);
    if count == 0u {
        return vec2<u32>(0u);
    }
    let first = order_at(atomicLoad(&lists[P.lists_at + start_at(cell)]));
    return vec2<u32>(first, first + count);
}
