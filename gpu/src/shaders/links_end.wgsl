// Links at the end of a substep: poses move with the velocities, rigid velocities take the impulses, v += (A + B/N)^-1 J_r^T Gamma, and the
// impulses are written down for the processor, which repeats the motion of the links in f64.
#include "common.wgsl"

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let is_open = open_world(group.z);
    let n_links = select(0u, P.n_links, is_open);
    let n = 6u * n_links;
    let substep = atomicLoad(&lists[P.lists_at + SUBSTEP]);
    for (var i = t; i < n; i += 64u) {
        out[P.out_at + P.records_at + substep * n + i] = out[P.out_at + LINK * (i / 6u) + 20u + i % 6u];
    }
    for (var l = t; l < n_links; l += 64u) {
        let at = LINK * l;
        set_out3(at + 4u, out3(at + 4u) + P.dt * out3(at + 11u));
        let turn = P.dt * out3(at + 8u);
        let angle = length(turn);
        var q = vec4<f32>(0.5 * turn, 1.0);
        if angle > 1e-4 {
            q = vec4<f32>(turn * (sin(0.5 * angle) / angle), cos(0.5 * angle));
        }
        let next = normalize(product(q, link_rotation(l)));
        out[P.out_at + at] = next.x;
        out[P.out_at + at + 1u] = next.y;
        out[P.out_at + at + 2u] = next.z;
        out[P.out_at + at + 3u] = next.w;
    }
    for (var i = t; i < select(0u, P.n_rigid, is_open); i += 64u) {
        var v = out[P.out_at + P.rigid_at + i];
        for (var j = 0u; j < n; j++) {
            v += number(P.columns_at + i * n + j) * out[P.out_at + LINK * (j / 6u) + 20u + j % 6u];
        }
        out[P.out_at + P.rigid_at + i] = v;
    }
    storageBarrier();
    if t == 0u && is_open {
        atomicStore(&lists[P.lists_at + SUBSTEP], substep + 1u);
        atomicMax(&lists[P.lists_at + BLOCKS_NEEDED], atomicLoad(&lists[P.lists_at + N_BLOCKS]));
    }
}
