// Contact solve, 5 of 5: forces, and the sums of each chunk for each pair of obstacle and object, which `pair_sums.wgsl` adds.
#include "common.wgsl"
#include "blocks.wgsl"
#include "solve.wgsl"

// Relative error of an impulse that is round-off.
const ROUND_OFF = 1e-6;

var<workgroup> gaps: array<f32, 128>;

// Impulse and size, size times point of action, the least gap, size times normal, friction, and its excess over mu gamma_n.
fn write_pairs(chunk: u32, c: u32, t: u32) {
    let n_pairs = P.n_obstacles * P.n_objects;
    for (var i = t; i < PAIR * n_pairs; i += LANES) {
        out[P.out_at + pair_at(chunk, 0u) + i] = select(0.0, 1e30, i % PAIR == 7u);
    }
    storageBarrier();
    var own = NONE;
    var y = vec3<f32>(0.0);
    if c < n_contacts() {
        own = contacts[P.contacts_at + c].pair;
        y = contacts[P.contacts_at + c].y;
    }
    let size = length(y);
    var pair = key_after(NONE, own, t);
    while pair != NONE {
        let is_of = own == pair;
        let at = pair_at(chunk, pair);
        sums[t] = select(vec4<f32>(0.0), vec4<f32>(y, size), is_of);
        moments[t] = vec4<f32>(0.0);
        gaps[t] = 1e30;
        if is_of {
            moments[t] = vec4<f32>(size * contacts[P.contacts_at + c].point, 0.0);
            gaps[t] = contacts[P.contacts_at + c].gap;
        }
        reduce(t);
        for (var step = LANES / 2u; step > 0u; step /= 2u) {
            if t < step {
                gaps[t] = min(gaps[t], gaps[t + step]);
            }
            workgroupBarrier();
        }
        if t == 0u {
            set_out3(at, sums[0].xyz);
            out[P.out_at + at + 3u] = sums[0].w;
            set_out3(at + 4u, moments[0].xyz);
            out[P.out_at + at + 7u] = gaps[0];
        }
        workgroupBarrier();
        sums[t] = vec4<f32>(0.0);
        moments[t] = vec4<f32>(0.0);
        if is_of {
            let normal = contacts[P.contacts_at + c].normal;
            let load = dot(normal, y);
            let friction = length(y - normal * load);
            sums[t] = vec4<f32>(size * normal, friction);
            moments[t].x = max(friction - contacts[P.contacts_at + c].friction * load - ROUND_OFF * size, 0.0);
        }
        reduce(t);
        if t == 0u {
            set_out3(at + 8u, sums[0].xyz);
            out[P.out_at + at + 11u] = sums[0].w;
            out[P.out_at + at + 12u] = moments[0].x;
        }
        pair = key_after(pair, own, t);
    }
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    if open_solve(group.z, t, AFTER_CONTACTS).n_contacts == 0u {
        return;
    }
    for (var chunk = group.x; chunk < n_chunks(); chunk += groups.x) {
        let c = LANES * chunk + t;
        if c < n_contacts() {
            let place = contacts[P.contacts_at + c].particle * P.n_obstacles + contacts[P.contacts_at + c].obstacle;
            forces[P.forces_at + place] = vec4<f32>(contacts[P.contacts_at + c].y / P.dt, 0.0);
        }
        write_pairs(chunk, c, t);
    }
}
