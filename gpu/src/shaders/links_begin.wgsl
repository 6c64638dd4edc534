// Links at the start of a substep: v += drive - decay v, V* = prescribed + J_r v (docs/theory/yu-2025.md). Without rigid velocities V* is
// the present velocity.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let is_open = open_world(group.z);
    let n = select(0u, 6u * P.n_links, is_open);
    let n_rigid = select(0u, P.n_rigid, is_open);
    let changed_at = P.rigid_at + P.n_rigid;
    for (var i = t; i < n_rigid; i += 64u) {
        var change = number(P.drive_at + i);
        for (var j = 0u; j < P.n_rigid; j++) {
            change -= number(P.decay_at + i * P.n_rigid + j) * out[P.out_at + P.rigid_at + j];
        }
        out[P.out_at + changed_at + i] = out[P.out_at + P.rigid_at + i] + change;
    }
    storageBarrier();
    for (var i = t; i < n_rigid; i += 64u) {
        out[P.out_at + P.rigid_at + i] = out[P.out_at + changed_at + i];
    }
    storageBarrier();
    for (var i = t; i < n; i += 64u) {
        let at = LINK * (i / 6u) + i % 6u;
        if P.n_rigid > 0u {
            var v = number(P.prescribed_at + i);
            for (var j = 0u; j < P.n_rigid; j++) {
                v += number(P.rows_at + i * P.n_rigid + j) * out[P.out_at + P.rigid_at + j];
            }
            out[P.out_at + at + 8u] = v;
        }
        out[P.out_at + at + 14u] = out[P.out_at + at + 8u];
        out[P.out_at + at + 20u] = 0.0;
    }
}
