// The materials of pliant-mpm: Kirchhoff stress of a particle, and its strain after a substep with plastic flow.
//
// An object is (law, mu, lambda, radius), (a, b, c, d) in `scene`:
//
//   0 linear corotated     a: bound of |dev| of the strain, negative without; b: 1 for the additive return
//   1 Hencky von Mises     a: bound of |dev log|, negative without
//   2 sand                 a..d: hardening; the law is 6 for a friction angle of plane strain
//   3 liquid               mu: bulk modulus, lambda: exponent; a: viscosity; b: 1 for full tension
//   4 neo-Hookean
//   5 fixed corotated
//
// 7 and 8 are cloths (`cloth_law.wgsl`), whose particles have no stress of their own.

const STRETCH_MIN = 0.05;
const ROOT_2_3 = 0.81649658;

struct State {
    f: mat3x3<f32>,
    internal: vec2<f32>,
    is_crushed: bool,
}

fn plus_diagonal(a: mat3x3<f32>, x: f32) -> mat3x3<f32> {
    return mat3x3<f32>(a[0] + vec3<f32>(x, 0.0, 0.0), a[1] + vec3<f32>(0.0, x, 0.0), a[2] + vec3<f32>(0.0, 0.0, x));
}

fn symmetric(a: mat3x3<f32>) -> mat3x3<f32> { return (a + transpose(a)) * 0.5; }

fn hencky(f: mat3x3<f32>, mu: f32, lambda: f32) -> mat3x3<f32> {
    let svd = signed_svd(f);
    let e = log(max(svd.stretches, vec3<f32>(1e-6)));
    let tau = 2.0 * mu * e + lambda * (e.x + e.y + e.z);
    return mat3x3<f32>(svd.u[0] * tau.x, svd.u[1] * tau.y, svd.u[2] * tau.z) * transpose(svd.u);
}

fn parts(ratio: f32, tension: f32) -> bool { return tension == 0.0 && ratio >= 1.0; }

// p(J) = kappa (J^-gamma - 1), continued by its tangent below J = 1/2.
fn pressure(ratio: f32, kappa: f32, gamma: f32, tension: f32) -> f32 {
    if parts(ratio, tension) {
        return 0.0;
    }
    let held = max(ratio, 0.5);
    return kappa * (pow(held, -gamma) - 1.0) - kappa * gamma * pow(held, -gamma - 1.0) * (ratio - held);
}

fn kirchhoff(object: u32, f: mat3x3<f32>, internal: vec2<f32>, c: mat3x3<f32>) -> mat3x3<f32> {
    let law = scene[P.scene_at + OBJECT * object];
    let more = scene[P.scene_at + OBJECT * object + 1u];
    let mu = law.y;
    let lambda = law.z;
    switch u32(law.x) {
        case 0u: {
            let r = polar_rotation(f);
            let e = plus_diagonal(symmetric(transpose(r) * f), -1.0);
            return r * plus_diagonal(e * (2.0 * mu), lambda * trace(e)) * transpose(f);
        }
        case 1u, 2u, 6u: {
            return hencky(f, mu, lambda);
        }
        case 3u: {
            let j = internal.x;
            return plus_diagonal(symmetric(c) * (2.0 * more.x * j), -j * pressure(j, mu, lambda, more.y));
        }
        case 4u: {
            return plus_diagonal(f * transpose(f) * mu, lambda * log(determinant(f)) - mu);
        }
        default: {
            let j = determinant(f);
            return plus_diagonal((f - polar_rotation(f)) * transpose(f) * (2.0 * mu), lambda * j * (j - 1.0));
        }
    }
}

fn with_least_stretches(f: mat3x3<f32>) -> mat3x3<f32> {
    if determinant(f) >= norm_squared(f) * (STRETCH_MIN * 0.5) {
        return f;
    }
    let svd = signed_svd(f);
    if svd.stretches.z >= STRETCH_MIN {
        return f;
    }
    return rebuilt(svd, max(svd.stretches, vec3<f32>(STRETCH_MIN)));
}

// The symmetric stretch of R0 S after the rotation Q more: sym(Q^T (S + [x])) with the x that leaves no skew part.
fn rotated_stretch(q: mat3x3<f32>, s: mat3x3<f32>) -> mat3x3<f32> {
    let l = plus_diagonal(q * -1.0, trace(q));
    let a = transpose(q) * s;
    let skew = vec3<f32>(a[1].z - a[2].y, a[2].x - a[0].z, a[0].y - a[1].x);
    let x = (transpose(cofactor(l)) * skew) * (-1.0 / determinant(l));
    let turned = mat3x3<f32>(vec3<f32>(0.0, x.z, -x.y), vec3<f32>(-x.z, 0.0, x.x), vec3<f32>(x.y, -x.x, 0.0));
    return symmetric(transpose(q) * (s + turned));
}

fn flow_linear_corotated(before: mat3x3<f32>, f: mat3x3<f32>, internal: vec2<f32>, bound: f32, is_additive: bool) -> State {
    var next = State(f, internal, false);
    let r0 = polar_rotation(before);
    let s = symmetric(transpose(r0) * f);
    let deviator = plus_diagonal(s, -trace(s) / 3.0);
    let norm = sqrt(norm_squared(deviator));
    if norm <= bound {
        return next;
    }
    let excess = 1.0 - bound / norm;
    var returned = s - deviator * excess;
    returned = plus_diagonal(returned, max(0.1 - trace(returned) / 3.0, 0.0));
    let additive = f + r0 * (returned - s);
    var left = r0 * returned;
    if determinant(additive) > 0.0 {
        left = additive;
    }
    if !is_additive {
        let r = polar_rotation(f);
        let q = transpose(r0) * r;
        if trace(q) > 2.0 {
            let kept = r * rotated_stretch(q, returned);
            if determinant(kept) > 0.0 {
                left = kept;
            }
        }
    }
    next.internal.x += norm * excess * ROOT_2_3;
    let ratio = determinant(f) / determinant(left);
    if ratio > 0.0 {
        next.internal.y += log(ratio);
    }
    next.f = left;
    return next;
}

fn flow_von_mises(f: mat3x3<f32>, internal: vec2<f32>, bound: f32) -> State {
    var next = State(f, internal, determinant(f) <= 0.0);
    let svd = signed_svd(f);
    let e = log(max(svd.stretches, vec3<f32>(STRETCH_MIN)));
    let mean = (e.x + e.y + e.z) / 3.0;
    let deviator = e - mean;
    let norm = length(deviator);
    let yields = bound >= 0.0 && norm > bound;
    if yields || svd.stretches.z < STRETCH_MIN {
        let kept = select(1.0, bound / norm, yields);
        next.f = rebuilt(svd, exp(deviator * kept + mean));
        next.internal.x += select(0.0, norm * (1.0 - kept) * ROOT_2_3, yields);
    }
    return next;
}

// Drucker-Prager with hardening, Klar et al. (2016).
fn flow_sand(f: mat3x3<f32>, internal: vec2<f32>, law: vec4<f32>, h: vec4<f32>) -> State {
    var next = State(f, internal, determinant(f) <= 0.0);
    let svd = signed_svd(f);
    let logs = log(max(svd.stretches, vec3<f32>(STRETCH_MIN)));
    let e = logs + internal.x / 3.0;
    let sum = e.x + e.y + e.z;
    let deviator = e - sum / 3.0;
    let norm = length(deviator);
    let sine = sin(h.x + (h.y * internal.y - h.w) * exp(-h.z * internal.y));
    var slope = ROOT_2_3 * 2.0 * sine / (3.0 - sine);
    if law.x == 6.0 {
        slope = 1.41421356 / 3.0 * sine;
    }
    let excess = norm + slope * (3.0 * law.z + 2.0 * law.y) / (2.0 * law.y) * sum;
    let separates = sum > 0.0;
    if !separates && excess <= 0.0 {
        next.f = with_least_stretches(f);
        return next;
    }
    var left = vec3<f32>(0.0);
    var flowed = length(logs);
    if !separates {
        left = e - deviator * (excess / norm);
        flowed = excess;
    }
    next.f = rebuilt(svd, exp(left));
    next.internal += vec2<f32>(logs.x + logs.y + logs.z - (left.x + left.y + left.z), flowed);
    return next;
}

fn flow_liquid(internal: vec2<f32>, g: mat3x3<f32>, tension: f32) -> State {
    let ratio = internal.x * (1.0 + trace(g));
    var next = State(identity(), internal, ratio < 0.1);
    if parts(ratio, tension) {
        next.internal = vec2<f32>(1.0, internal.y + log(ratio));
    } else {
        next.internal.x = max(ratio, 0.1);
    }
    return next;
}

// The strain after a substep with G = dt grad v.
fn advanced(object: u32, before: mat3x3<f32>, internal: vec2<f32>, g: mat3x3<f32>) -> State {
    let law = scene[P.scene_at + OBJECT * object];
    let more = scene[P.scene_at + OBJECT * object + 1u];
    let f = before + g * before;
    switch u32(law.x) {
        case 0u: {
            if more.x < 0.0 {
                return State(f, internal, determinant(f) <= 0.0);
            }
            return flow_linear_corotated(before, f, internal, more.x, more.y == 1.0);
        }
        case 1u: {
            return flow_von_mises(f, internal, more.x);
        }
        case 2u, 6u: {
            return flow_sand(f, internal, law, more);
        }
        case 3u: {
            return flow_liquid(internal, g, more.y);
        }
        case 4u: {
            return State(with_least_stretches(f), internal, determinant(f) <= 0.0);
        }
        default: {
            return State(f, internal, determinant(f) <= 0.0);
        }
    }
}
