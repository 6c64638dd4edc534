// Sort, 2 of 5: counts the particles of each cell.
#include "common.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let p = id.x + id.y * groups.x * 128u;
    if p < P.n_particles {
        atomicAdd(&lists[count_at(node_index(cell_of(p)))], 1u);
    }
}
