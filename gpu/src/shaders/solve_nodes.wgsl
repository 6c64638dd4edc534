// Contact solve, 2 of 5: the first half of an iteration, by many workgroups.
#include "common.wgsl"
#include "blocks.wgsl"
#include "solve.wgsl"
#include "solve_move.wgsl"

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let opened = open_solve(group.z, t, AFTER_CONTACTS);
    if opened.n_contacts == 0u {
        return;
    }
    let now = progress(opened.progress, t);
    if group.x == 0u && t == 0u {
        set_progress(AFTER_NODES, now);
    }
    if !is_over(now) {
        move_all(group.x, groups.x, now.momentum, t);
    }
}
