// Signed distance and gradient of rigid shapes in their own frame, as in pliant-hydroelastic: (gradient, distance).
// Shapes: 0 half space z <= 0, 1 sphere, 2 box, 3 cylinder along z, 4 capsule along z. `size`: radius; half edges; radius and half length.

fn from_point(d: vec3<f32>, otherwise: vec3<f32>) -> vec4<f32> {
    let distance = length(d);
    if distance <= 0.0 {
        return vec4<f32>(otherwise, 0.0);
    }
    return vec4<f32>(d / distance, distance);
}

fn box_distance(p: vec3<f32>, half: vec3<f32>) -> vec4<f32> {
    let sign = select(vec3<f32>(1.0), vec3<f32>(-1.0), p < vec3<f32>(0.0));
    let beyond = abs(p) - half;
    let outside = max(beyond, vec3<f32>(0.0));
    let n_outside = dot(select(vec3<f32>(0.0), vec3<f32>(1.0), outside > vec3<f32>(0.0)), vec3<f32>(1.0));
    if n_outside < 1.5 {
        if beyond.x >= beyond.y && beyond.x >= beyond.z {
            return vec4<f32>(sign.x, 0.0, 0.0, beyond.x);
        }
        if beyond.y >= beyond.z {
            return vec4<f32>(0.0, sign.y, 0.0, beyond.y);
        }
        return vec4<f32>(0.0, 0.0, sign.z, beyond.z);
    }
    let distance = length(outside);
    return vec4<f32>(outside * sign / distance, distance);
}

fn cylinder_distance(p: vec3<f32>, radius: f32, half_length: f32) -> vec4<f32> {
    let rho = length(p.xy);
    let sign = select(1.0, -1.0, p.z < 0.0);
    let outward = vec3<f32>(select(vec2<f32>(1.0, 0.0), p.xy / max(rho, 1e-30), rho > 0.0), 0.0);
    let beyond = rho - radius;
    let up = abs(p.z) - half_length;
    if beyond > 0.0 && up > 0.0 {
        let distance = length(vec2<f32>(beyond, up));
        return vec4<f32>((outward * beyond + vec3<f32>(0.0, 0.0, sign * up)) / distance, distance);
    }
    if beyond >= up {
        return vec4<f32>(outward, beyond);
    }
    return vec4<f32>(0.0, 0.0, sign, up);
}

fn signed_distance(shape: u32, size: vec3<f32>, p: vec3<f32>) -> vec4<f32> {
    switch shape {
        case 0u: {
            return vec4<f32>(0.0, 0.0, 1.0, p.z);
        }
        case 1u: {
            let d = from_point(p, vec3<f32>(0.0, 0.0, 1.0));
            return vec4<f32>(d.xyz, d.w - size.x);
        }
        case 2u: {
            return box_distance(p, size);
        }
        case 3u: {
            return cylinder_distance(p, size.x, size.y);
        }
        default: {
            let nearest = vec3<f32>(0.0, 0.0, clamp(p.z, -size.y, size.y));
            let d = from_point(p - nearest, vec3<f32>(1.0, 0.0, 0.0));
            return vec4<f32>(d.xyz, d.w - size.x);
        }
    }
}
