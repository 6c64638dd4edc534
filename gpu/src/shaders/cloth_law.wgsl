// Stress and return mapping of a cloth, F = [d1 d2 d3] = QR, as in pliant-mpm (docs/theory/yu-2025.md; Jiang, Gast, Teran 2017):
//
//   psi = psi_2(R_2) + phi(J) (gamma/2 |s|^2 + k/3 (-ln r33)^3),   s = (r13, r23)
//
// An object is (law, mu, lambda, radius), (k, gamma, c_F, damping time), (b of the affine velocity, -, -, -) in `scene`. The law is 7 for fixed
// corotated, 8 for St. Venant-Kirchhoff elasticity in the plane. 2x2 matrices are in columns.

// Least r33 after the return mapping.
const LEAST_NORMAL = 0.1;
// phi is 1 for areas above this part of that at rest.
const FADES_BELOW = 0.1;
// Sine of an angle between d1 and d2 that is round-off: 16 of the precision.
const ROUNDING = 1.9e-6;

struct Frame {
    q: mat3x3<f32>,
    r: mat2x2<f32>,
    shear: vec2<f32>,
    normal: f32,
    // J; zero where the triangle has no normal.
    area_ratio: f32,
}

fn axis_of_least(v: vec3<f32>) -> vec3<f32> {
    let a = abs(v);
    if a.x <= a.y && a.x <= a.z {
        return vec3<f32>(1.0, 0.0, 0.0);
    }
    if a.y <= a.z {
        return vec3<f32>(0.0, 1.0, 0.0);
    }
    return vec3<f32>(0.0, 0.0, 1.0);
}

// The unit vector across `axis`, a unit vector or zero, that is nearest to d; any one across if d does not tell.
fn across(axis: vec3<f32>, d: vec3<f32>) -> vec3<f32> {
    let size = length(d);
    if size > 0.0 {
        let direction = d / size - axis * dot(axis, d / size);
        if length(direction) > ROUNDING {
            return normalize(direction);
        }
    }
    let least = axis_of_least(axis);
    return normalize(least - axis * dot(axis, least));
}

fn collapsed_frame(f: mat3x3<f32>) -> Frame {
    let l1 = length(f[0]);
    var frame: Frame;
    frame.area_ratio = 0.0;
    if l1 > 0.0 {
        let q1 = f[0] / l1;
        let q3 = across(q1, f[2]);
        frame.q = mat3x3<f32>(q1, cross(q3, q1), q3);
        frame.r = mat2x2<f32>(l1, 0.0, dot(q1, f[1]), 0.0);
    } else {
        let q2 = across(vec3<f32>(0.0), f[1]);
        let q3 = across(q2, f[2]);
        frame.q = mat3x3<f32>(cross(q2, q3), q2, q3);
        frame.r = mat2x2<f32>(l1, 0.0, 0.0, length(f[1]));
    }
    frame.shear = vec2<f32>(dot(frame.q[0], f[2]), dot(frame.q[1], f[2]));
    frame.normal = dot(frame.q[2], f[2]);
    return frame;
}

fn frame_of(f: mat3x3<f32>) -> Frame {
    let area = cross(f[0], f[1]);
    let square = dot(area, area);
    if !(square > ROUNDING * ROUNDING * dot(f[0], f[0]) * dot(f[1], f[1])) {
        return collapsed_frame(f);
    }
    var frame: Frame;
    let r11 = length(f[0]);
    frame.area_ratio = sqrt(square);
    let q1 = f[0] / r11;
    let q3 = area / frame.area_ratio;
    let q2 = cross(q3, q1);
    frame.q = mat3x3<f32>(q1, q2, q3);
    frame.r = mat2x2<f32>(r11, 0.0, dot(q1, f[1]), frame.area_ratio / r11);
    frame.shear = vec2<f32>(dot(q1, f[2]), dot(q2, f[2]));
    frame.normal = dot(q3, f[2]);
    return frame;
}

// (energy, pressure) of layers at r33.
fn of_layers(k: f32, r33: f32) -> vec2<f32> {
    if r33 >= 1.0 {
        return vec2<f32>(0.0);
    }
    let r = max(r33, LEAST_NORMAL);
    let excess = max(LEAST_NORMAL - r33, 0.0);
    let strain = -log(r);
    let pressure = k * strain * strain / r;
    let stiffness = k * strain * (2.0 + strain) / (r * r);
    return vec2<f32>(
        k * strain * strain * strain / 3.0 + excess * (pressure + 0.5 * stiffness * excess),
        pressure + stiffness * excess,
    );
}

// The normal after layers have separated or slipped: friction as plasticity.
fn returned_normal(object: u32, f: mat3x3<f32>) -> vec3<f32> {
    let more = scene[P.scene_at + OBJECT * object + 1u];
    let frame = frame_of(f);
    if !(frame.area_ratio > 0.0) {
        return f[2];
    }
    let normal = clamp(frame.normal, LEAST_NORMAL, 1.0);
    var shear = frame.shear;
    if !(more.y > 0.0) {
        shear = vec2<f32>(0.0);
    } else {
        let bound = more.z * of_layers(more.x, normal).y;
        let traction = more.y * length(shear);
        if traction > bound {
            shear *= bound / traction;
        }
    }
    return frame.q * vec3<f32>(shear, normal);
}

// (phi, phi/a, phi') of an area a.
fn fading(ratio: f32) -> vec3<f32> {
    if ratio >= FADES_BELOW {
        return vec3<f32>(1.0, 1.0 / ratio, 0.0);
    }
    let t = ratio / FADES_BELOW;
    let by_t = t * (3.0 - 2.0 * t);
    return vec3<f32>(by_t * t, by_t / FADES_BELOW, 6.0 * t * (1.0 - t) / FADES_BELOW);
}

// 2 mu e + lambda tr(e).
fn plane_stress(mu: f32, lambda: f32, e: mat2x2<f32>) -> mat2x2<f32> {
    let p = lambda * (e[0].x + e[1].y);
    return e * (2.0 * mu) + mat2x2<f32>(p, 0.0, 0.0, p);
}

// d psi_2/dR_2 at an upper triangular R_2.
fn in_plane_stress(law: vec4<f32>, r: mat2x2<f32>) -> mat2x2<f32> {
    let r11 = r[0].x;
    let r12 = r[1].x;
    let r22 = r[1].y;
    if law.x == 8.0 {
        let shear = 0.5 * r11 * r12;
        let strain = mat2x2<f32>(
            0.5 * (r11 - 1.0) * (r11 + 1.0), shear,
            shear, 0.5 * (r12 * r12 + (r22 - 1.0) * (r22 + 1.0)),
        );
        return r * plane_stress(law.y, law.z, strain);
    }
    let size = length(vec2<f32>(r11 + r22, r12));
    var turn = vec2<f32>(1.0, 0.0);
    if size > 0.0 {
        turn = vec2<f32>(r11 + r22, -r12) / size;
    }
    let rotation = mat2x2<f32>(turn.x, turn.y, -turn.y, turn.x);
    let cofactor = mat2x2<f32>(r22, -r12, 0.0, r11);
    return (r - rotation) * (2.0 * law.y) + cofactor * (law.z * (r11 * r22 - 1.0));
}

// First Piola stress P; its first two columns act on the vertices, the third on the normal.
fn cloth_stress(object: u32, f: mat3x3<f32>) -> mat3x3<f32> {
    let more = scene[P.scene_at + OBJECT * object + 1u];
    let frame = frame_of(f);
    let layers = of_layers(more.x, frame.normal);
    let phi = fading(frame.area_ratio);
    let length_of_shear = length(frame.shear);
    let energy = layers.x + 0.5 * more.y * length_of_shear * length_of_shear;
    let tilt = more.y * frame.normal + layers.y;
    let r = frame.r;
    let cofactor = mat2x2<f32>(r[1].y, -r[1].x, 0.0, r[0].x);
    let in_plane = in_plane_stress(scene[P.scene_at + OBJECT * object], r) + cofactor * (energy * phi.z);
    let across_plane = (frame.shear * cofactor) * (tilt * phi.y);
    let on_normal = vec3<f32>(frame.shear * more.y, -layers.y) * phi.x;
    return frame.q * mat3x3<f32>(
        vec3<f32>(in_plane[0], across_plane.x),
        vec3<f32>(in_plane[1], across_plane.y),
        on_normal,
    );
}

// P of the first two columns from damping, F_12 S with S = beta (2 mu E' + lambda tr E'), E' = sym(F_12^T F_12').
fn viscous_stress(object: u32, f: mat3x3<f32>, rate: mat2x3<f32>) -> mat2x3<f32> {
    let law = scene[P.scene_at + OBJECT * object];
    let damping = scene[P.scene_at + OBJECT * object + 1u].w;
    let edges = mat2x3<f32>(f[0], f[1]);
    let gradient = transpose(edges) * rate;
    let strain_rate = (gradient + transpose(gradient)) * 0.5;
    return edges * (plane_stress(law.y, law.z, strain_rate) * damping);
}
