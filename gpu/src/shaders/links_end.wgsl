// Links at the end of a substep: poses move with the velocities, rigid velocities take the impulses, v += (A + B/N)^-1 J_r^T Gamma, and the
// impulses are written down for the processor, which repeats the motion of the links in f64.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) t: u32) {
    let n = 6u * P.n_links;
    let substep = atomicLoad(&lists[SUBSTEP]);
    for (var i = t; i < n; i += 64u) {
        out[P.records_at + substep * n + i] = out[LINK * (i / 6u) + 20u + i % 6u];
    }
    for (var l = t; l < P.n_links; l += 64u) {
        let at = LINK * l;
        set_out3(at + 4u, out3(at + 4u) + P.dt * out3(at + 11u));
        let turn = P.dt * out3(at + 8u);
        let angle = length(turn);
        var q = vec4<f32>(0.5 * turn, 1.0);
        if angle > 1e-4 {
            q = vec4<f32>(turn * (sin(0.5 * angle) / angle), cos(0.5 * angle));
        }
        let next = normalize(product(q, link_rotation(l)));
        out[at] = next.x;
        out[at + 1u] = next.y;
        out[at + 2u] = next.z;
        out[at + 3u] = next.w;
    }
    for (var i = t; i < P.n_rigid; i += 64u) {
        var v = out[P.rigid_at + i];
        for (var j = 0u; j < n; j++) {
            v += number(P.columns_at + i * n + j) * out[LINK * (j / 6u) + 20u + j % 6u];
        }
        out[P.rigid_at + i] = v;
    }
    storageBarrier();
    if t == 0u {
        atomicStore(&lists[SUBSTEP], substep + 1u);
    }
}
