// Singular values and polar decomposition of 3x3 matrices.

struct Svd {
    u: mat3x3<f32>,
    stretches: vec3<f32>,
    v: mat3x3<f32>,
}

fn identity() -> mat3x3<f32> {
    return mat3x3<f32>(vec3<f32>(1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0), vec3<f32>(0.0, 0.0, 1.0));
}

fn norm_squared(a: mat3x3<f32>) -> f32 { return dot(a[0], a[0]) + dot(a[1], a[1]) + dot(a[2], a[2]); }

fn trace(a: mat3x3<f32>) -> f32 { return a[0].x + a[1].y + a[2].z; }

fn cofactor(a: mat3x3<f32>) -> mat3x3<f32> {
    return mat3x3<f32>(cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1]));
}

// A unit vector across a unit vector.
fn across(a: vec3<f32>) -> vec3<f32> {
    let e = select(vec3<f32>(1.0, 0.0, 0.0), vec3<f32>(0.0, 1.0, 0.0), abs(a.x) > 0.7);
    return normalize(cross(a, e));
}

// The plane rotation (c, s) that makes columns a and b orthogonal.
fn jacobi(a: vec3<f32>, b: vec3<f32>) -> vec2<f32> {
    let ab = dot(a, b);
    let aa = dot(a, a);
    let bb = dot(b, b);
    if ab * ab <= 1e-16 * aa * bb {
        return vec2<f32>(1.0, 0.0);
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let t = select(-1.0, 1.0, zeta >= 0.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta));
    let c = 1.0 / sqrt(1.0 + t * t);
    return vec2<f32>(c, c * t);
}

// F = U diag(s) V^T with rotations U and V, s descending and only the last of any sign.
// One-sided Jacobi rotations (Hestenes 1958): small stretches keep their relative accuracy, which those of F^T F would lose in f32.
fn signed_svd(f: mat3x3<f32>) -> Svd {
    var b = f;
    var v = identity();
    for (var sweep = 0; sweep < 6; sweep++) {
        var r = jacobi(b[0], b[1]);
        b = mat3x3<f32>(r.x * b[0] - r.y * b[1], r.y * b[0] + r.x * b[1], b[2]);
        v = mat3x3<f32>(r.x * v[0] - r.y * v[1], r.y * v[0] + r.x * v[1], v[2]);
        r = jacobi(b[0], b[2]);
        b = mat3x3<f32>(r.x * b[0] - r.y * b[2], b[1], r.y * b[0] + r.x * b[2]);
        v = mat3x3<f32>(r.x * v[0] - r.y * v[2], v[1], r.y * v[0] + r.x * v[2]);
        r = jacobi(b[1], b[2]);
        b = mat3x3<f32>(b[0], r.x * b[1] - r.y * b[2], r.y * b[1] + r.x * b[2]);
        v = mat3x3<f32>(v[0], r.x * v[1] - r.y * v[2], r.y * v[1] + r.x * v[2]);
    }
    // Swaps of two columns with a change of sign are rotations.
    if dot(b[0], b[0]) < dot(b[1], b[1]) {
        b = mat3x3<f32>(b[1], -b[0], b[2]);
        v = mat3x3<f32>(v[1], -v[0], v[2]);
    }
    if dot(b[1], b[1]) < dot(b[2], b[2]) {
        b = mat3x3<f32>(b[0], b[2], -b[1]);
        v = mat3x3<f32>(v[0], v[2], -v[1]);
    }
    if dot(b[0], b[0]) < dot(b[1], b[1]) {
        b = mat3x3<f32>(b[1], -b[0], b[2]);
        v = mat3x3<f32>(v[1], -v[0], v[2]);
    }
    var svd: Svd;
    svd.v = v;
    let first = length(b[0]);
    let second = length(b[1]);
    let u0 = select(vec3<f32>(1.0, 0.0, 0.0), b[0] / max(first, 1e-30), first > 1e-30);
    let rest = b[1] - u0 * dot(u0, b[1]);
    let u1 = select(across(u0), normalize(rest + vec3<f32>(1e-38)), length(rest) > 1e-6 * first + 1e-30);
    let u2 = cross(u0, u1);
    svd.u = mat3x3<f32>(u0, u1, u2);
    svd.stretches = vec3<f32>(first, second, dot(u2, b[2]));
    return svd;
}

fn rebuilt(svd: Svd, stretches: vec3<f32>) -> mat3x3<f32> {
    return mat3x3<f32>(svd.u[0] * stretches.x, svd.u[1] * stretches.y, svd.u[2] * stretches.z) * transpose(svd.v);
}

// The rotation nearest to F: Newton's iteration X <- (s X + X^-T/s)/2 (Higham 1986), from singular vectors where F is nearly singular
// or a reflection.
fn polar_rotation(f: mat3x3<f32>) -> mat3x3<f32> {
    let size = norm_squared(f);
    if !(determinant(f) > 1e-3 * size * sqrt(size)) {
        let svd = signed_svd(f);
        return svd.u * transpose(svd.v);
    }
    var x = f;
    for (var i = 0; i < 12; i++) {
        let c = cofactor(x);
        let det = dot(x[0], c[0]);
        let scale = sqrt(sqrt(norm_squared(c) / norm_squared(x)) / det);
        let next = x * (0.5 * scale) + c * (0.5 / (scale * det));
        let change = norm_squared(next - x);
        x = next;
        if change < 1e-8 {
            break;
        }
    }
    // One unscaled step ends at round-off.
    let c = cofactor(x);
    return x * 0.5 + c * (0.5 / dot(x[0], c[0]));
}
