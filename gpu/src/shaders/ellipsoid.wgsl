// Ellipsoid and elliptic cylinder: the nearest point of an ellipsoid with semi-axes a is q_i = a_i^2 p_i/(t + a_i^2) with the largest root t of
//
//   F(t) = sum (a_i p_i/(t + a_i^2))^2 - 1 = 0,   t > -min a^2
//
// F is decreasing and convex there: Newton's method from the left. An ellipse is the ellipsoid with p_z = 0. As in pliant-hydroelastic, after
// Eberly (2013).

fn ellipsoid_nearest(p: vec3<f32>, a: vec3<f32>) -> vec3<f32> {
    let squares = a * a;
    var shortest = 0u;
    for (var i = 1u; i < 3u; i++) {
        if a[i] < a[shortest] {
            shortest = i;
        }
    }
    // s = t + min a^2 keeps its digits where t itself would cancel against the square.
    let gap = squares - squares[shortest];
    let weighted = abs(a * p);
    var s = max(0.0, max(weighted.x - gap.x, max(weighted.y - gap.y, weighted.z - gap.z)));
    for (var round = 0; round < 200; round++) {
        var f = -1.0;
        var slope = 0.0;
        for (var i = 0u; i < 3u; i++) {
            if weighted[i] > 0.0 {
                let x = weighted[i] / (s + gap[i]);
                f += x * x;
                slope -= 2.0 * x * x / (s + gap[i]);
            }
        }
        if !(f > 0.0 && slope < 0.0) {
            break;
        }
        let next = s - f / slope;
        if next <= s {
            break;
        }
        s = next;
    }
    var q = vec3<f32>(0.0);
    var rest = 1.0;
    for (var i = 0u; i < 3u; i++) {
        let denominator = s + gap[i];
        if denominator > 0.0 {
            q[i] = squares[i] * (p[i] / denominator);
            if i != shortest {
                rest -= q[i] * q[i] / squares[i];
            }
        }
    }
    if s <= 0.0 {
        // On the plane of the longer axes, near the centre, two mirrored points are nearest.
        q[shortest] = a[shortest] * sqrt(max(rest, 0.0));
    }
    return q;
}

fn ellipsoid_distance(p: vec3<f32>, a: vec3<f32>) -> vec4<f32> {
    let q = ellipsoid_nearest(p, a);
    let scaled = p / a;
    let distance = length(p - q);
    return vec4<f32>(normalize(q / (a * a)), select(distance, -distance, dot(scaled, scaled) < 1.0));
}

fn elliptic_cylinder_distance(p: vec3<f32>, a: vec2<f32>, half_length: f32) -> vec4<f32> {
    let beside = ellipsoid_distance(vec3<f32>(p.xy, 0.0), vec3<f32>(a, max(a.x, a.y)));
    let sign = select(1.0, -1.0, p.z < 0.0);
    let up = abs(p.z) - half_length;
    if beside.w > 0.0 && up > 0.0 {
        let distance = length(vec2<f32>(beside.w, up));
        return vec4<f32>((beside.xyz * beside.w + vec3<f32>(0.0, 0.0, sign * up)) / distance, distance);
    }
    if beside.w < up {
        return vec4<f32>(0.0, 0.0, sign, up);
    }
    return beside;
}
