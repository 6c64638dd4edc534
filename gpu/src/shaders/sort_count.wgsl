// Sort, 1 of 4: finds the cell of each particle by the block at its place of the table, and counts the particles of each cell.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let p = id.x + id.y * groups.x * 128u;
    if p < P.n_particles && have_room() {
        let place = home(p);
        let cell = 64u * atomicLoad(&lists[P.lists_at + table_block_at(place >> 6u)]) + (place & 63u);
        atomicStore(&lists[P.lists_at + home_at(p)], cell);
        atomicAdd(&lists[P.lists_at + count_at(cell)], 1u);
    }
}
