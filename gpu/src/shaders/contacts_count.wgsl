// Contacts, 1 of 6: counts the contacts of each particle.
#include "common.wgsl"
#include "signed_distance.wgsl"
#include "detection.wgsl"
#include "loops.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let p = id.x + id.y * groups.x * 128u;
    if p >= P.n_particles {
        return;
    }
    var count = 0u;
    for (var o = 0u; o < P.n_obstacles; o++) {
        if touch(p, o).is_near {
            count++;
        }
    }
    particles[p].c2.w = f32(count);
    check_loops();
}
