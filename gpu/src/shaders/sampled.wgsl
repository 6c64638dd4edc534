// A shape given by samples on a grid: the natural cubic B-spline through them, and beyond the grid the distance to it in addition. Its table in `scene`
// begins at `at`: (origin, spacing), (samples along each axis, -), then the coefficients of the B-splines, x fastest, with one more beyond each
// end of each axis. As in pliant-hydroelastic.

fn spline_weights(t: f32) -> vec4<f32> {
    let s = 1.0 - t;
    return vec4<f32>(
        s * s * s, 3.0 * t * t * t - 6.0 * t * t + 4.0, 3.0 * s * s * s - 6.0 * s * s + 4.0, t * t * t,
    ) / 6.0;
}

fn spline_slopes(t: f32) -> vec4<f32> {
    let s = 1.0 - t;
    return vec4<f32>(-0.5 * s * s, 1.5 * t * t - 2.0 * t, 2.0 * s - 1.5 * s * s, 0.5 * t * t);
}

fn sampled_distance(at: u32, p: vec3<f32>) -> vec4<f32> {
    let origin = scene[P.scene_at + at].xyz;
    let spacing = scene[P.scene_at + at].w;
    let size = vec3<u32>(scene[P.scene_at + at + 1u].xyz);
    let nearest = clamp(p, origin, origin + vec3<f32>(size - 1u) * spacing);
    let u = (nearest - origin) / spacing;
    let cell = min(vec3<u32>(max(u, vec3<f32>(0.0))), size - 2u);
    let t = u - vec3<f32>(cell);
    let wx = spline_weights(t.x);
    let wy = spline_weights(t.y);
    let wz = spline_weights(t.z);
    let sx = spline_slopes(t.x);
    let sy = spline_slopes(t.y);
    let sz = spline_slopes(t.z);
    let row = size.x + 2u;
    let layer = row * (size.y + 2u);
    var value = 0.0;
    var gradient = vec3<f32>(0.0);
    for (var k = 0u; k < 4u; k++) {
        for (var j = 0u; j < 4u; j++) {
            let start = cell.x + row * (cell.y + j) + layer * (cell.z + k);
            var along = vec4<f32>(0.0);
            for (var i = 0u; i < 4u; i++) {
                along[i] = scene[P.scene_at + at + 2u + (start + i) / 4u][(start + i) % 4u];
            }
            let weighted = dot(along, wx);
            value += wz[k] * wy[j] * weighted;
            gradient += vec3<f32>(wz[k] * wy[j] * dot(along, sx), wz[k] * sy[j] * weighted, sz[k] * wy[j] * weighted);
        }
    }
    let beyond = p - nearest;
    let distance = length(beyond);
    if distance > 0.0 {
        return vec4<f32>(beyond / distance, value + distance);
    }
    return vec4<f32>(gradient / spacing, value);
}
