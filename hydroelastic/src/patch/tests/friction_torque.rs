//! The points of a patch have the friction torque of its pressure.

use super::*;

fn soft(shape: Shape, edge: f64) -> Body {
    let compliance = Compliance {
        mesh_resolution_hint: edge,
        ..compliance(0.0)
    };
    let patch = PatchGeometry::compliant(&shape, &compliance).unwrap();
    Body { shape, patch }
}

/// ∫ p ‖x − c‖ dA / ∫ p dA about a vertical axis through `c`: the torque over μN of a body that spins about it.
fn arm(points: &[ContactPoint], c: [f64; 2]) -> f64 {
    let (mut torque, mut force) = (0.0, 0.0);
    for p in points {
        let f = p.stiffness.of_pair(f64::NAN) * -p.signed_distance;
        if f > 0.0 {
            force += f;
            torque += f * (p.p_WC.x - c[0]).hypot(p.p_WC.y - c[1]);
        }
    }
    torque / force
}

fn on_floor(body: &Body, X: Isometry3<f64>) -> Vec<ContactPoint> {
    points(
        body.at(X),
        Body::rigid(Shape::half_space()).at(Isometry3::identity()),
    )
}

#[track_caller]
fn check(found: f64, expected: f64, relative: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() < relative, "{found}, right {expected}: {error}");
}

/// Uniform pressure on a disk: 2/3 R.
#[test]
fn a_puck_of_any_mesh_has_two_thirds_of_its_radius() {
    for edge in [0.05, 0.02, 0.01, 0.003] {
        for turn in [0.0, 0.3, 1.0] {
            let puck = soft(Shape::cylinder(0.1, 0.02).unwrap(), edge);
            let X = Isometry3::new(Vector3::z() * (0.01 - 1e-5), Vector3::z() * turn);
            let found = on_floor(&puck, X);
            check(arm(&found, [0.0; 2]), 2.0 / 3.0 * 0.1, 0.01);
            // Far from the axis of the spin, the torque is that of the resultant; in between, of the integral.
            check(arm(&found, [1.0, 0.0]), 1.0 + 0.1 * 0.1 / 8.0, 1e-4);
        }
    }
}

/// Mean distance from the centre of a rectangle a × b with diagonal d: d/6 + (b²/12a) ln((a+d)/b) + (a²/12b) ln((b+d)/a).
#[test]
fn boxes_have_the_mean_distance_of_their_faces() {
    for (a, b) in [(0.2_f64, 0.2_f64), (0.2, 0.15), (0.3, 0.1), (0.3, 0.03)] {
        let body = soft(Shape::cuboid(Vector3::new(a, b, 0.1)).unwrap(), 0.05);
        let d = a.hypot(b);
        let mean = d / 6.0
            + b * b / (12.0 * a) * ((a + d) / b).ln()
            + a * a / (12.0 * b) * ((b + d) / a).ln();
        for turn in [0.0, 0.4, 1.3] {
            let X = Isometry3::new(Vector3::z() * (0.05 - 1e-6), Vector3::z() * turn);
            check(arm(&on_floor(&body, X), [0.0; 2]), mean, 2e-3);
        }
    }
}

/// The same by quadrature of the polygons, which knows nothing of points.
fn arm_of_polygons(patch: &ContactPatch, c: [f64; 2]) -> f64 {
    let (mut torque, mut force) = (0.0, 0.0);
    let n = 24;
    for polygon in patch.polygons() {
        let (x, p) = (patch.vertices_W(polygon), patch.pressures(polygon));
        for k in 1..x.len() - 1 {
            let (u, v) = (x[k] - x[0], x[k + 1] - x[0]);
            let area = u.cross(&v).norm();
            for i in 0..n {
                for j in 0..n - i {
                    let at = |m: i32| (f64::from(m) + 1.0 / 3.0) / f64::from(n);
                    let (s, t) = (at(i), at(j));
                    let y = x[0] + u * s + v * t;
                    let f = area * (p[0] + (p[k] - p[0]) * s + (p[k + 1] - p[0]) * t).max(0.0);
                    force += f;
                    torque += f * (y.x - c[0]).hypot(y.y - c[1]);
                }
            }
        }
    }
    torque / force
}

/// A narrow wheel's is near w/4; one on a facet has that of the facet.
#[test]
fn a_wheel_of_any_mesh_has_the_torque_of_its_pressure() {
    let floor = Body::rigid(Shape::half_space());
    let mut loaded = 0;
    for edge in [0.05, 0.02, 0.01, 0.005] {
        let wheel = soft(Shape::cylinder(0.1, 0.05).unwrap(), edge);
        for deep in [1e-4, 3e-4, 1e-3] {
            for roll in [0.0, 0.05, 0.1, 0.2, 0.3] {
                let upright = Vector3::x() * std::f64::consts::FRAC_PI_2;
                let spun = UnitQuaternion::new(upright) * UnitQuaternion::new(Vector3::z() * roll);
                let X = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.1 - deep), spun);
                let patch = patch(wheel.at(X), floor.at(Isometry3::identity()));
                if patch.polygons().is_empty() {
                    continue;
                }
                loaded += 1;
                let c = patch.summary().center_of_pressure;
                let c = [c.x, c.y];
                check(
                    arm(&on_floor(&wheel, X), c),
                    arm_of_polygons(&patch, c),
                    0.05,
                );
            }
        }
    }
    assert!(loaded > 40, "{loaded}");
}

/// The pressure of a ball falls parabolically: ∫(1 − s²)s² ds / ∫(1 − s²)s ds = 8/15 of the radius √(2Rh) of the patch.
#[test]
fn a_ball_of_a_fine_mesh_has_the_torque_of_its_parabola_of_pressure() {
    let (radius, deep) = (0.1, 0.02);
    let ball = soft(Shape::sphere(radius).unwrap(), 0.01);
    let found = on_floor(&ball, Isometry3::translation(0.0, 0.0, radius - deep));
    // Of the field E (1 − ‖x‖/R), integrated on the plane at height R − h.
    let n = 20_000;
    let edge = (radius * radius - (radius - deep).powi(2)).sqrt();
    let (mut torque, mut force) = (0.0, 0.0);
    for i in 0..n {
        let s = (f64::from(i) + 0.5) / f64::from(n) * edge;
        let p = 1.0 - s.hypot(radius - deep) / radius;
        (torque, force) = (torque + p * s * s, force + p * s);
    }
    check(arm(&found, [0.0; 2]), torque / force, 0.01);
}
