// Signed distance and gradient of rigid shapes in their own frame, as in pliant-hydroelastic: (gradient, distance).
//
//   shape                   size
//   0 half space z <= 0     -
//   1 sphere                radius
//   2 box                   half edges
//   3 cylinder along z      radius, half length
//   4 capsule along z       radius, half length of its segment
//   5 ellipsoid             semi-axes
//   6 elliptic cylinder     semi-axes along x and y, half length
//   7 cone along z          radius of the base at z = -h, h
//   8 convex hull           where its table begins, number of faces
//   9 mesh                  where its table begins, number of nodes
//   10 sampled shape        where its table begins
#include "ellipsoid.wgsl"
#include "polyhedra.wgsl"
#include "sampled.wgsl"

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

// The profile in the half plane (rho, z), revolved.
fn cone_distance(p: vec3<f32>, radius: f32, half_height: f32) -> vec4<f32> {
    let rho = length(p.xy);
    let q = vec2<f32>(rho, p.z);
    let outward = select(vec2<f32>(1.0, 0.0), p.xy / max(rho, 1e-30), rho > 0.0);
    let rim = vec2<f32>(radius, -half_height);
    let apex = vec2<f32>(0.0, half_height);
    let slant = apex - rim;
    let slant_length = length(slant);
    let normal = vec2<f32>(slant.y, -slant.x) / slant_length;
    let side = dot(normal, q - rim);
    let base = -p.z - half_height;
    let along = dot(slant, q - rim) / slant_length;
    var found = vec3<f32>(normal, side);
    let is_inside = base <= 0.0 && side <= 0.0;
    if (is_inside && side < base) || (base > 0.0 && rho <= radius) {
        found = vec3<f32>(0.0, -1.0, base);
    } else if !is_inside && (along >= slant_length || along <= 0.0) {
        let d = q - select(rim, apex, along >= slant_length);
        let distance = length(d);
        if distance > 0.0 {
            found = vec3<f32>(d / distance, distance);
        } else {
            found = vec3<f32>(select(normal, vec2<f32>(0.0, 1.0), along >= slant_length), 0.0);
        }
    }
    return vec4<f32>(outward * found.x, found.y, found.z);
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
        case 5u: {
            return ellipsoid_distance(p, size);
        }
        case 6u: {
            return elliptic_cylinder_distance(p, size.xy, size.z);
        }
        case 7u: {
            return cone_distance(p, size.x, size.y);
        }
        case 8u: {
            return hull_distance(u32(size.x), u32(size.y), p);
        }
        case 10u: {
            return sampled_distance(u32(size.x), p);
        }
        case 9u: {
            return mesh_distance(u32(size.x), u32(size.y), p);
        }
        default: {
            let nearest = vec3<f32>(0.0, 0.0, clamp(p.z, -size.y, size.y));
            let d = from_point(p - nearest, vec3<f32>(1.0, 0.0, 0.0));
            return vec4<f32>(d.xyz, d.w - size.x);
        }
    }
}
