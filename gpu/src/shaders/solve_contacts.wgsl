// Contact solve, 3 of 5: the second half of an iteration, by many workgroups.
#include "common.wgsl"
#include "blocks.wgsl"
#include "solve.wgsl"
#include "solve_local.wgsl"

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let now = open_solve(group.z, t, AFTER_NODES).progress;
    if group.x >= n_chunks() {
        return;
    }
    if group.x == 0u && t == 0u {
        set_progress(AFTER_CONTACTS, now);
    }
    if !is_over(now) {
        solve_locally(group.x, groups.x, now, t);
    }
}
