// Contact solve, 4 of 5: the iterations that are left, by one workgroup. On a software device these are all. Then velocities of the links, and counters.
//
// v = v* + M^-1 J^T gamma and V = V* - Lambda J_r^T gamma hold for the impulses it ends with, converged or not, so that momentum is exact
// to round-off.
#include "common.wgsl"
#include "blocks.wgsl"
#include "loops.wgsl"
#include "solve.wgsl"
#include "solve_move.wgsl"
#include "solve_local.wgsl"

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let opened = open_solve(group.z, t, AFTER_CONTACTS);
    if opened.n_contacts == 0u {
        return;
    }
    var now = progress(opened.progress, t);
    while !is_over(now) {
        move_all(0u, 1u, now.momentum, t);
        storageBarrier();
        solve_locally(0u, 1u, now, t);
        storageBarrier();
        now = progress(now, t);
    }
    find_link_velocities(t);
    for (var i = t; i < 6u * P.n_links; i += LANES) {
        out[P.out_at + LINK * (i / 6u) + i % 6u + 8u] = link_velocities[i];
    }
    if t == 0u {
        let iterations = u32(now.iterations);
        atomicAdd(&lists[P.lists_at + ITERATIONS], iterations);
        atomicMax(&lists[P.lists_at + ITERATIONS_MOST], iterations);
        if now.phase == UNFINISHED {
            atomicAdd(&lists[P.lists_at + UNSOLVED], 1u);
        }
    }
    check_loops();
}
