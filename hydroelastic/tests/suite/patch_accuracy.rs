//! Patches against closed forms and against quadrature of the exact pressure of a shape.
//!
//! The quadrature uses level sets. The points of a box deeper than t form the box shrunk by t; with A(t) the area of
//! the contact plane inside the shrunk body
//!
//! ```text
//! ∫ p dA = E/H ∫ A(t) dt
//! ```

use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_hydroelastic::{
    Compliance, ContactGeometry, ContactPatch, ContactPoint, ContactWorkspace, PatchContact,
    PatchGeometry, PatchSummary, Posed, Query, RigidShape, Shape, Twist,
};

const E: f64 = 1.0e6;

fn compliance(edge: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: E,
        margin: 0.0,
        mesh_resolution_hint: edge,
        slab_thickness: Some(0.05),
    }
}

struct Body {
    shape: Shape,
    patch: PatchGeometry,
}

impl Body {
    fn compliant(shape: Shape, c: &Compliance) -> Self {
        let patch = PatchGeometry::compliant(&shape, c).unwrap();
        Self { shape, patch }
    }

    fn rigid(shape: Shape) -> Self {
        let patch = PatchGeometry::rigid(&shape, 0.01).unwrap();
        Self { shape, patch }
    }

    fn at(&self, X_WG: Isometry3<f64>) -> Posed<'_> {
        Posed::Rigid(RigidShape {
            shape: &self.shape,
            X_WG,
            V_WG: Twist::zero(),
            patch: Some(&self.patch),
        })
    }
}

fn summary(a: Posed<'_>, b: Posed<'_>) -> PatchSummary {
    let mut patch = ContactPatch::default();
    PatchContact
        .patch(a, b, &mut ContactWorkspace::default(), &mut patch)
        .unwrap()
        .unwrap();
    *patch.summary()
}

fn points(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    let q = Query::new(1e-3, 9.81).unwrap();
    PatchContact
        .collide(a, b, &q, &mut ContactWorkspace::default(), &mut out)
        .unwrap()
        .unwrap();
    out
}

fn floor() -> Body {
    Body::rigid(Shape::half_space())
}

#[track_caller]
fn check(what: &str, found: f64, expected: f64, relative: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(
        error <= relative,
        "{what}: {found}, expected {expected}, relative error {error:.2e}"
    );
}

/// ∫ min(d, distance to the rim) over a rectangle.
fn rim_integral(a: f64, b: f64, d: f64) -> f64 {
    a * b * d - (a + b) * d * d + 4.0 / 3.0 * d.powi(3)
}

/// The values of `docs/reference/patches.md`: beyond half of its thickness the pressure gradient over the centre of a box points
/// the other way.
#[test]
fn force_of_a_cube_is_largest_at_half_its_thickness_and_then_decreases_continuously() {
    let half = 0.05;
    let cube = Body::compliant(
        Shape::cuboid(Vector3::repeat(2.0 * half)).unwrap(),
        &compliance(0.02),
    );
    let floor = floor();
    let force = |depth: f64| {
        let X = Isometry3::translation(0.0, 0.0, half - depth);
        summary(cube.at(X), floor.at(Isometry3::identity())).force_W
    };
    let most = 4.0 / 3.0 * E * half * half;
    for depth in [0.2, 0.6, 0.9] {
        let x = depth * half;
        let expected = E / half * rim_integral(2.0 * half, 2.0 * half, x);
        check("depth of the sides", force(x).z, expected, 1e-9);
        // The remainder above the plane: the ring nearer to its sides than to its top, 8 ∫ s (H − s) ds up to t.
        let t = x;
        let expected = E / half * 8.0 * (half * t * t / 2.0 - t.powi(3) / 3.0);
        check("beyond", force(2.0 * half - t).z, expected, 1e-9);
    }
    check("half of the most", force(1.5 * half).z, 0.5 * most, 1e-9);
    for x in [half - 1e-7, half + 1e-7] {
        check("halfway in", force(x).z, most, 1e-5);
    }
    assert!(force(2.0 * half - 1e-6).norm() < 1e-3 * most);
    // A ball half inside: the integral of E (1 - r/R) over its largest disc.
    let ball = Body::compliant(Shape::sphere(half).unwrap(), &compliance(0.005));
    let s = summary(
        ball.at(Isometry3::translation(0.0, 0.0, 1e-4)),
        floor.at(Isometry3::identity()),
    );
    check("a ball", s.force_W.z, PI * E * half * half / 3.0, 5e-3);
}

#[test]
fn flat_box_on_a_half_space_has_the_force_of_the_closed_form() {
    for lengths in [[0.1, 0.1, 0.1], [0.3, 0.2, 0.1], [0.1, 0.2, 0.4]] {
        let [a, b, c]: [f64; 3] = lengths;
        let depth = 0.5 * a.min(b).min(c);
        let body = Body::compliant(Shape::cuboid(lengths.into()).unwrap(), &compliance(0.02));
        for d in [1e-9, 1e-6, 1e-3, 0.02] {
            let X = Isometry3::translation(0.31, -0.17, 0.5 * c - d);
            let s = summary(body.at(X), floor().at(Isometry3::identity()));
            check("area", s.area, a * b, 1e-9);
            // The depth is the difference of two lengths of order one, which limits its accuracy.
            let digits = 1e-9_f64.max(4e-16 / d);
            check(
                "force",
                s.force_W.z,
                E / depth * rim_integral(a, b, d),
                digits,
            );
            assert!(s.force_W.xy().norm() <= 1e-12 * s.force_W.z);
            assert!((s.center_of_pressure - Point3::new(0.31, -0.17, 0.0)).norm() < 1e-9);
        }
    }
}

/// The plane z = 0 inside a box: its corners in the plane, by clipping a large square with the six sides.
fn section(X_WG: &Isometry3<f64>, half: &Vector3<f64>) -> Vec<[f64; 2]> {
    let mut polygon = vec![[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]];
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let n = X_WG.rotation * Vector3::ith(axis, side);
            let offset = half[axis] + n.dot(&X_WG.translation.vector);
            let inside = |p: &[f64; 2]| offset - n.x * p[0] - n.y * p[1];
            let mut next = Vec::new();
            for i in 0..polygon.len() {
                let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                let (f, g) = (inside(&p), inside(&q));
                if f >= 0.0 {
                    next.push(p);
                }
                if f * g < 0.0 {
                    let t = f / (f - g);
                    next.push([p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t]);
                }
            }
            polygon = next;
        }
    }
    polygon
}

/// Area and ∫(x, y) of a polygon.
fn area_moments(polygon: &[[f64; 2]]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for i in 1..polygon.len().saturating_sub(1) {
        let [a, b, c] = [polygon[0], polygon[i], polygon[i + 1]];
        let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
        sum[0] += area;
        for k in 0..2 {
            sum[k + 1] += area * (a[k] + b[k] + c[k]) / 3.0;
        }
    }
    sum
}

#[test]
fn tilted_boxes_on_a_half_space_agree_with_quadrature() {
    let lengths = Vector3::new(0.2, 0.14, 0.1);
    let half = 0.5 * lengths;
    let body = Body::compliant(Shape::cuboid(lengths).unwrap(), &compliance(0.02));
    let big = Body::rigid(Shape::cuboid(Vector3::new(4.0, 4.0, 1.0)).unwrap());
    let mut random = 7_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut compared = 0;
    while compared < 40 {
        // Up to 20 degrees: beyond 22.5 a polygon under the raised side starts to fade.
        let axis = Vector3::new(next() - 0.5, next() - 0.5, 0.0).normalize();
        let turn = UnitQuaternion::from_scaled_axis(axis * (0.35 * next()))
            * UnitQuaternion::from_scaled_axis(Vector3::z() * (6.0 * next()));
        let lowest = -(0..8)
            .map(|i| {
                let corner =
                    Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
                (turn * corner).z
            })
            .fold(f64::INFINITY, f64::min);
        let X = Isometry3::from_parts(
            Translation3::new(next() - 0.5, next() - 0.5, lowest - 0.04 * next()),
            turn,
        );
        let [area, ..] = area_moments(&section(&X, &half));
        if area < 1e-4 {
            continue;
        }
        let (mut force, mut first, panels) = (0.0, [0.0; 2], 20_000);
        for i in 0..panels {
            for node in [-1.0, 1.0] {
                let t =
                    0.05 * (f64::from(i) + 0.5 + node * 0.5 / 3.0_f64.sqrt()) / f64::from(panels);
                let m = area_moments(&section(&X, &half.add_scalar(-t)));
                let weight = E / 0.05 * 0.5 * 0.05 / f64::from(panels);
                force += m[0] * weight;
                first = [first[0] + m[1] * weight, first[1] + m[2] * weight];
            }
        }
        let sunk = Translation3::new(0.0, 0.0, -0.5);
        for (ground, X_WB) in [(&floor(), Isometry3::identity()), (&big, sunk.into())] {
            let s = summary(body.at(X), ground.at(X_WB));
            check("area", s.area, area, 1e-6);
            check("force", s.force_W.z, force, 1e-6);
            let apart =
                s.center_of_pressure.xy() - Point3::new(first[0], first[1], 0.0).xy() / force;
            assert!(
                apart.norm() < 1e-6 * lengths.norm(),
                "centre of pressure off by {apart:?}"
            );
            let by_points: f64 = points(body.at(X), ground.at(X_WB))
                .iter()
                .map(|c| -c.stiffness.of_pair(0.0) * c.signed_distance * c.normal_W.z)
                .sum();
            check("force of the points", by_points, force, 1e-6);
        }
        compared += 1;
    }
}

#[test]
fn a_box_on_a_wider_box_or_slab_shares_the_depth_by_the_compliances() {
    let (w, d) = (0.1, 0.004);
    let body = Body::compliant(
        Shape::cuboid(Vector3::repeat(w)).unwrap(),
        &compliance(0.02),
    );
    let plate = Body::compliant(
        Shape::cuboid(Vector3::new(0.6, 0.6, w)).unwrap(),
        &compliance(0.02),
    );
    let X = |z: f64| Isometry3::new(Vector3::new(0.013, 0.021, z), Vector3::z() * 0.3);
    let s = summary(body.at(X(w - d)), plate.at(Isometry3::identity()));
    // Equal depths of both fields: the patch lies halfway, and follows the pressure of the upper box up its rim.
    check(
        "force of box on box",
        s.force_W.z,
        E / (0.5 * w) * rim_integral(w, w, 0.5 * d),
        1e-9,
    );
    assert!(s.force_W.xy().norm() < 1e-9 * s.force_W.z);
    let slab = Body::compliant(Shape::half_space(), &compliance(0.02));
    let s = summary(body.at(X(0.5 * w - d)), slab.at(Isometry3::identity()));
    // Slab of thickness w/2: the same stiffness as the box.
    check(
        "force of box on slab",
        s.force_W.z,
        E / (0.5 * w) * rim_integral(w, w, 0.5 * d),
        1e-9,
    );
    let stiff: f64 = points(body.at(X(0.5 * w - d)), slab.at(Isometry3::identity()))
        .iter()
        .filter(|c| c.normal_W.z > 0.999)
        .map(|c| c.stiffness.of_pair(0.0))
        .sum();
    // The flat part without its rim: in series, half as stiff as one alone.
    check(
        "stiffness",
        stiff,
        0.5 * E / (0.5 * w) * (w - d) * (w - d),
        1e-9,
    );
    let rigid = Body::rigid(Shape::cuboid(Vector3::repeat(w)).unwrap());
    let s = summary(rigid.at(X(0.5 * w - d)), slab.at(Isometry3::identity()));
    check(
        "force of rigid box on slab",
        s.force_W.z,
        E / 0.05 * w * w * d,
        1e-9,
    );
}

/// ∫ p dA of a ball of radius R whose centre is h above the plane: p = E (1 − r/R).
fn sphere_force(radius: f64, h: f64) -> f64 {
    2.0 * PI * E * (0.5 * (radius * radius - h * h) - (radius.powi(3) - h.powi(3)) / (3.0 * radius))
}

/// A cylinder on its side with its axis h above the plane, by level sets.
fn cylinder_force(radius: f64, half_length: f64, h: f64) -> f64 {
    let n = 200_000;
    let dt = (radius - h) / f64::from(n);
    (0..n)
        .map(|i| {
            let t = dt * (f64::from(i) + 0.5);
            let half_width = ((radius - t).powi(2) - h * h).max(0.0).sqrt();
            E / radius * 2.0 * half_width * 2.0 * (half_length - t) * dt
        })
        .sum()
}

fn turns(n: u32) -> impl Iterator<Item = UnitQuaternion<f64>> {
    (0..n).map(|i| {
        let x = f64::from(i);
        UnitQuaternion::from_scaled_axis(
            Vector3::new((1.3 * x).sin(), (2.1 * x).cos(), (0.7 * x).sin()) * 2.0,
        )
    })
}

/// Relative errors of the force over several rotations: mean and root mean square.
fn errors(
    body: &Body,
    h: f64,
    expected: f64,
    turns: impl Iterator<Item = UnitQuaternion<f64>>,
) -> (f64, f64) {
    let errors: Vec<f64> = turns
        .map(|turn| {
            let X = Isometry3::from_parts(Translation3::new(0.0, 0.0, h), turn);
            summary(body.at(X), floor().at(Isometry3::identity()))
                .force_W
                .z
                / expected
                - 1.0
        })
        .collect();
    let n = errors.len() as f64;
    let square = errors.iter().map(|e| e * e).sum::<f64>();
    (errors.iter().sum::<f64>() / n, (square / n).sqrt())
}

#[test]
fn sphere_on_a_plane_converges_at_second_order_and_beats_the_inscribed_mesh() {
    for radius in [0.05, 0.1, 0.15] {
        let h = 0.7 * radius;
        let expected = sphere_force(radius, h);
        let mut last: Option<f64> = None;
        for edge in [0.02, 0.01, 0.005] {
            let body = Body::compliant(Shape::sphere(radius).unwrap(), &compliance(edge));
            let (mean, rms) = errors(&body, h, expected, turns(40));
            eprintln!(
                "sphere R = {radius} m, edge {edge} m, depth 0.3 R: force {:+.3} % on average over 40 rotations, {:.3} % rms \
                 (Drake at edge 0.02 m: -4.8 %)",
                100.0 * mean,
                100.0 * rms
            );
            assert!(rms < 0.048 * (edge / 0.02));
            if let Some(coarser) = last {
                // Fourfold each time except for the random position of facets.
                assert!(rms < coarser / 2.5, "{coarser} then {rms}");
            }
            last = Some(rms);
        }
    }
}

#[test]
fn lying_cylinder_converges_at_second_order() {
    let (radius, half_length) = (0.1, 0.15);
    let h = 0.7 * radius;
    let expected = cylinder_force(radius, half_length, h);
    let mut last: Option<f64> = None;
    for edge in [0.04, 0.02, 0.01] {
        let body = Body::compliant(
            Shape::cylinder(radius, 2.0 * half_length).unwrap(),
            &compliance(edge),
        );
        let lying = UnitQuaternion::from_scaled_axis(Vector3::x() * (0.5 * PI));
        let rolled = (0..40).map(|i| {
            lying * UnitQuaternion::from_scaled_axis(Vector3::z() * (0.01 * f64::from(i)))
        });
        let (mean, rms) = errors(&body, h, expected, rolled);
        eprintln!(
            "cylinder R = {radius} m, edge {edge} m: force {:+.3} %, {:.3} % rms",
            100.0 * mean,
            100.0 * rms
        );
        if let Some(coarser) = last {
            assert!(rms < coarser / 2.5, "{coarser} then {rms}");
        }
        last = Some(rms);
    }
}

#[test]
fn two_equal_balls_touch_halfway() {
    let ball = Body::compliant(Shape::sphere(0.1).unwrap(), &compliance(0.005));
    for turn in turns(5) {
        let X = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.16), turn);
        let s = summary(ball.at(X), ball.at(Isometry3::identity()));
        check("force", s.force_W.z, sphere_force(0.1, 0.08), 2e-3);
        assert!((s.center_of_pressure.z - 0.08).abs() < 1e-4);
        assert!(s.force_W.xy().norm() < 2e-3 * s.force_W.z);
    }
}

#[test]
fn force_of_a_flat_cylinder_has_the_form_of_a_flat_box() {
    let (radius, d) = (0.05, 0.001);
    let body = Body::compliant(Shape::cylinder(radius, 0.2).unwrap(), &compliance(0.002));
    let s = summary(
        body.at(Isometry3::translation(0.0, 0.0, 0.1 - d)),
        floor().at(Isometry3::identity()),
    );
    // By level sets: discs of radius R − t.
    let expected = E / radius * PI * (radius.powi(3) - (radius - d).powi(3)) / 3.0;
    check("force", s.force_W.z, expected, 1e-4);
    check("area", s.area, PI * radius * radius, 1e-9);
}
