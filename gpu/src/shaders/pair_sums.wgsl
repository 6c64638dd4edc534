// Sums over the contacts of a pair of obstacle and object, one workgroup for each pair: impulse and size, size times point of action,
// size times normal, and the least gap.
#include "common.wgsl"

const LANES = 64u;
var<workgroup> impulses: array<vec4<f32>, 64>;
var<workgroup> points: array<vec4<f32>, 64>;
var<workgroup> normals: array<vec4<f32>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
    let pair = group.x;
    let is_open = open_world(group.z) && pair < P.n_obstacles * P.n_objects;
    let n = select(0u, atomicLoad(&lists[P.lists_at + N_CONTACTS]), is_open);
    var impulse = vec4<f32>(0.0);
    var point = vec4<f32>(0.0, 0.0, 0.0, 1e30);
    var normal = vec4<f32>(0.0);
    for (var c = t; c < n; c += LANES) {
        if contacts[P.contacts_at + c].pair == pair {
            let y = contacts[P.contacts_at + c].y;
            let size = length(y);
            impulse += vec4<f32>(y, size);
            point = vec4<f32>(point.xyz + size * contacts[P.contacts_at + c].point, min(point.w, contacts[P.contacts_at + c].gap));
            normal += vec4<f32>(size * contacts[P.contacts_at + c].normal, 0.0);
        }
    }
    impulses[t] = impulse;
    points[t] = point;
    normals[t] = normal;
    workgroupBarrier();
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
        if t < step {
            impulses[t] += impulses[t + step];
            points[t] = vec4<f32>(points[t].xyz + points[t + step].xyz, min(points[t].w, points[t + step].w));
            normals[t] += normals[t + step];
        }
        workgroupBarrier();
    }
    if t == 0u && n > 0u {
        let at = P.sums_at + 12u * pair;
        set_out3(at, out3(at) + impulses[0].xyz);
        out[P.out_at + at + 3u] += impulses[0].w;
        set_out3(at + 4u, out3(at + 4u) + points[0].xyz);
        out[P.out_at + at + 7u] = min(out[P.out_at + at + 7u], points[0].w);
        set_out3(at + 8u, out3(at + 8u) + normals[0].xyz);
    }
}
