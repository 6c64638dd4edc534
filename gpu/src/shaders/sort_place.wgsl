// Sort, 3 of 4: puts each particle into the range of its cell.
#include "common.wgsl"
#include "blocks.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !open_world(id.z) {
        return;
    }
    let p = id.x + id.y * groups.x * 128u;
    if p < P.n_particles && have_room() {
        let place = atomicAdd(&lists[P.lists_at + fill_at(home(p))], 1u);
        atomicStore(&lists[P.lists_at + order_at(place)], p);
    }
}
