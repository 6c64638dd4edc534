// Links at the start of a substep: v += drive - decay v, V* = prescribed + J_r v (docs/theory/yu-2025.md). Without rigid velocities V* is
// the present velocity.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) t: u32) {
    let n = 6u * P.n_links;
    let changed_at = P.rigid_at + P.n_rigid;
    for (var i = t; i < P.n_rigid; i += 64u) {
        var change = number(P.drive_at + i);
        for (var j = 0u; j < P.n_rigid; j++) {
            change -= number(P.decay_at + i * P.n_rigid + j) * out[P.rigid_at + j];
        }
        out[changed_at + i] = out[P.rigid_at + i] + change;
    }
    storageBarrier();
    for (var i = t; i < P.n_rigid; i += 64u) {
        out[P.rigid_at + i] = out[changed_at + i];
    }
    storageBarrier();
    for (var i = t; i < n; i += 64u) {
        let at = LINK * (i / 6u) + i % 6u;
        if P.n_rigid > 0u {
            var v = number(P.prescribed_at + i);
            for (var j = 0u; j < P.n_rigid; j++) {
                v += number(P.rows_at + i * P.n_rigid + j) * out[P.rigid_at + j];
            }
            out[at + 8u] = v;
        }
        out[at + 14u] = out[at + 8u];
        out[at + 20u] = 0.0;
    }
}
