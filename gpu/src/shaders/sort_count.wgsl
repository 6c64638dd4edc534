// Sort, 2 of 5: finds the cell of each particle, and counts the particles of each cell.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let p = id.x + id.y * groups.x * 128u;
    if p < P.n_particles && have_room() {
        let place = cell_of(p);
        let cell = 64u * block_of(block_key(place >> vec3<u32>(2u))) + node_within(place & vec3<i32>(3));
        atomicStore(&lists[P.lists_at + home_at(p)], cell);
        atomicAdd(&lists[P.lists_at + count_at(cell)], 1u);
    }
}
