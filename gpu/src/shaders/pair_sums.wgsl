// Adds the sums of all chunks of contacts for each pair of obstacle and object, one workgroup for each pair.
#include "common.wgsl"
#include "blocks.wgsl"
#include "solve.wgsl"

// Normal and friction.
var<workgroup> normals: array<vec4<f32>, 128>;
var<workgroup> gaps: array<f32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let pair = group.x;
    if open_solve(group.z, t, AFTER_CONTACTS).n_contacts == 0u || pair >= P.n_obstacles * P.n_objects {
        return;
    }
    var impulse = vec4<f32>(0.0);
    var point = vec4<f32>(0.0);
    var normal = vec4<f32>(0.0);
    var gap = 1e30;
    for (var chunk = t; chunk < n_chunks(); chunk += LANES) {
        let at = pair_at(chunk, pair);
        impulse += vec4<f32>(out3(at), out[P.out_at + at + 3u]);
        point += vec4<f32>(out3(at + 4u), out[P.out_at + at + 12u]);
        gap = min(gap, out[P.out_at + at + 7u]);
        normal += vec4<f32>(out3(at + 8u), out[P.out_at + at + 11u]);
    }
    sums[t] = impulse;
    moments[t] = point;
    normals[t] = normal;
    gaps[t] = gap;
    reduce(t);
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
        if t < step {
            normals[t] += normals[t + step];
            gaps[t] = min(gaps[t], gaps[t + step]);
        }
        workgroupBarrier();
    }
    if t == 0u {
        let at = P.sums_at + PAIR * pair;
        set_out3(at, out3(at) + sums[0].xyz);
        out[P.out_at + at + 3u] += sums[0].w;
        set_out3(at + 4u, out3(at + 4u) + moments[0].xyz);
        out[P.out_at + at + 7u] = min(out[P.out_at + at + 7u], gaps[0]);
        set_out3(at + 8u, out3(at + 8u) + normals[0].xyz);
        out[P.out_at + at + 11u] += normals[0].w;
        out[P.out_at + at + 12u] += moments[0].w;
    }
}
