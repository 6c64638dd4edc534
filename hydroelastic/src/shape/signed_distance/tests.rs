use super::*;
use crate::test_support::{l_shape, random_unit, surface_points};
use nalgebra::{Matrix3, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn shapes() -> Vec<Shape> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let cloud: Vec<Point3<f64>> = (0..30)
        .map(|_| Point3::from(random_unit(&mut rng) * rng.random_range(0.2..0.5)))
        .collect();
    let (vertices, triangles) = l_shape();
    vec![
        Shape::sphere(0.3).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.5, 0.7)).unwrap(),
        Shape::cylinder(0.2, 0.7).unwrap(),
        Shape::cylinder(0.5, 0.1).unwrap(),
        Shape::elliptic_cylinder(Vector2::new(0.4, 0.1), 0.5).unwrap(),
        Shape::elliptic_cylinder(Vector2::new(0.2, 0.3), 0.2).unwrap(),
        Shape::capsule(0.15, 0.4).unwrap(),
        Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.4)).unwrap(),
        Shape::ellipsoid(Vector3::new(0.03, 0.5, 0.5)).unwrap(),
        Shape::cone(0.25, 0.6).unwrap(),
        Shape::cone(0.6, 0.2).unwrap(),
        Shape::convex_hull(&cloud).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ]
}

fn random_point(rng: &mut ChaCha8Rng) -> Point3<f64> {
    Point3::from(Vector3::from_fn(|_, _| rng.random_range(-0.8..0.8)))
}

#[test]
fn distance_agrees_with_the_nearest_of_many_surface_points() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for shape in shapes() {
        let n = 160;
        let surface = surface_points(&shape, n);
        for _ in 0..40 {
            let p = random_point(&mut rng);
            let phi = shape.signed_distance(&p);
            let brute = surface
                .iter()
                .map(|q| (p - q).norm())
                .fold(f64::MAX, f64::min);
            // The samples are at most about π·size/(2n) apart; the error of the distance is of second order except near
            // the surface.
            let spacing = 2.0 * shape.size() / n as f64 * 1.6;
            assert!(
                phi.value.abs() <= brute + 1e-12,
                "{shape:?} at {p}: {} > {brute}",
                phi.value
            );
            assert!(
                phi.value.abs() >= (brute * brute - spacing * spacing).max(0.0).sqrt() - 1e-12,
                "{shape:?} at {p}"
            );
            // The foot of the perpendicular lies on the surface.
            let foot = p - phi.gradient * phi.value;
            assert!(
                shape.signed_distance(&foot).value.abs() < 1e-12,
                "{shape:?} at {p}"
            );
            assert!((phi.gradient.norm() - 1.0).abs() < 1e-14);
        }
    }
}

#[test]
fn sign_is_negative_exactly_inside() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for shape in shapes() {
        for _ in 0..200 {
            let p = random_point(&mut rng);
            // Crossing number of a ray through the triangles, or the implicit function of the primitive.
            let inside = match &shape {
                Shape::Sphere(s) => p.coords.norm() < s.radius(),
                Shape::Box(s) => (0..3).all(|i| p[i].abs() < s.half_extents()[i]),
                Shape::Cylinder(s) => p.x.hypot(p.y) < s.radius() && p.z.abs() < s.half_length(),
                Shape::EllipticCylinder(s) => {
                    let axes = s.semi_axes();
                    (p.x / axes.x).hypot(p.y / axes.y) < 1.0 && p.z.abs() < s.half_length()
                }
                Shape::Capsule(s) => {
                    let z = p.z - p.z.clamp(-s.half_length(), s.half_length());
                    Vector3::new(p.x, p.y, z).norm() < s.radius()
                }
                Shape::Ellipsoid(s) => p.coords.component_div(&s.semi_axes()).norm() < 1.0,
                Shape::Cone(s) => {
                    let left = (s.half_height() - p.z) / (2.0 * s.half_height());
                    (0.0..1.0).contains(&left) && p.x.hypot(p.y) < s.radius() * left
                }
                Shape::ConvexHull(h) => {
                    h.faces().iter().all(|f| f.normal.dot(&p.coords) < f.offset)
                }
                Shape::Mesh(_) => {
                    let thick = (0.0..0.3).contains(&p.y);
                    let foot = (0.0..0.6).contains(&p.x) && (0.0..0.2).contains(&p.z);
                    let leg = (0.0..0.2).contains(&p.x) && (0.0..0.5).contains(&p.z);
                    thick && (foot || leg)
                }
                Shape::HalfSpace | Shape::Custom(_) => p.z < 0.0,
            };
            assert_eq!(
                shape.signed_distance(&p).value < 0.0,
                inside,
                "{shape:?} at {p}"
            );
        }
    }
}

#[test]
fn gradient_and_hessian_are_the_derivatives_of_the_distance() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for shape in shapes().into_iter().chain([Shape::half_space()]) {
        let (mut tested, mut skipped) = (0, 0);
        while tested < 60 {
            let p = random_point(&mut rng);
            let at = shape.signed_distance(&p);
            let step = 1e-5;
            let mut gradient = Vector3::zeros();
            let mut hessian = Matrix3::zeros();
            for i in 0..3 {
                let mut d = Vector3::zeros();
                d[i] = step;
                let (plus, minus) = (
                    shape.signed_distance(&(p + d)),
                    shape.signed_distance(&(p - d)),
                );
                gradient[i] = (plus.value - minus.value) / (2.0 * step);
                hessian.set_column(i, &((plus.gradient - minus.gradient) / (2.0 * step)));
            }
            // Within a step of a kink finite differences are meaningless; detected by the second difference of the
            // Hessian.
            let kink = (0..3).any(|i| {
                let mut d = Vector3::zeros();
                d[i] = step;
                [p + d, p - d].iter().any(|q| {
                    (shape.signed_distance(q).hessian - at.hessian).norm()
                        > 1e-3 * (1.0 + at.hessian.norm().powi(2))
                        || (shape.signed_distance(q).gradient - at.gradient).norm() > 0.1
                })
            });
            if kink {
                skipped += 1;
                assert!(skipped < 600, "{shape:?}: nearly every point is a kink");
                continue;
            }
            tested += 1;
            let curvature = at.hessian.norm();
            // Central differences: third derivatives are of the order of curvature².
            let tolerance = 1e-9 + 10.0 * step * step * (1.0 + curvature.powi(3));
            assert!(
                (gradient - at.gradient).norm() < tolerance,
                "{shape:?} at {p}: {gradient} {}",
                at.gradient
            );
            assert!(
                (hessian - at.hessian).norm() < 100.0 * tolerance,
                "{shape:?} at {p}: {hessian} {}",
                at.hessian
            );
            assert!((at.hessian - at.hessian.transpose()).norm() <= 1e-12 * (1.0 + curvature));
            assert!((at.hessian * at.gradient).norm() < 1e-9 * (1.0 + curvature));
        }
    }
}

#[test]
fn nothing_is_nan_on_the_medial_axis_or_on_the_surface() {
    let special = [
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.3],
        [0.0, 0.0, -0.3],
        [0.0, 0.0, 0.35],
        [0.25, 0.0, -0.3],
        [0.3, 0.0, 0.0],
        [0.0, 0.2, 0.0],
        [0.0, 0.0, 0.4],
        [0.0, 0.0, 5.0],
        [0.1, 0.25, 0.35],
        [1e-300, 0.0, 0.0],
        [0.0, 1e-12, 1e-12],
        [0.0, 0.1, 0.1],
        [1e-9, 0.1, 0.1],
    ];
    for shape in shapes() {
        for p in special.map(Point3::from) {
            let phi = shape.signed_distance(&p);
            let finite = phi.value.is_finite() && phi.hessian.iter().all(|x| x.is_finite());
            assert!(
                finite && (phi.gradient.norm() - 1.0).abs() < 1e-12,
                "{shape:?} at {p}: {phi:?}"
            );
        }
    }
}

#[test]
fn ellipsoid_is_exact_from_needle_to_disc_and_near_its_focal_surface() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for _ in 0..4000 {
        let axes = Vector3::from_fn(|_, _| 10.0_f64.powf(rng.random_range(-3.0..0.0)));
        // A surface point, moved along its normal by less than the smallest radius of curvature there.
        let u = random_unit(&mut rng);
        let q = axes.component_mul(&u);
        let normal = q.component_div(&axes.component_mul(&axes)).normalize();
        let room = axes.min().powi(2) / axes.max();
        let depth = room * rng.random_range(-0.99..3.0);
        let phi = ellipsoid(&Point3::from(q + normal * depth), &axes);
        assert!(
            (phi.value - depth).abs() < 1e-11 * axes.max(),
            "{axes} {depth} {}",
            phi.value
        );
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..200 {
        let p = random_point(&mut rng);
        let q: Point3<f32> = p.cast();
        let close = |a: SignedDistance<f64>, b: SignedDistance<f32>| {
            assert!((a.value - f64::from(b.value)).abs() < 1e-6, "{a:?} {b:?}");
        };
        close(sphere(&p, 0.3), sphere(&q, 0.3));
        close(
            cuboid(&p, &Vector3::new(0.1, 0.2, 0.3)),
            cuboid(&q, &Vector3::new(0.1, 0.2, 0.3)),
        );
        close(capsule(&p, 0.1, 0.2), capsule(&q, 0.1, 0.2));
        close(cylinder(&p, 0.1, 0.2), cylinder(&q, 0.1, 0.2));
        close(
            elliptic_cylinder(&p, &Vector2::new(0.1, 0.3), 0.2),
            elliptic_cylinder(&q, &Vector2::new(0.1, 0.3), 0.2),
        );
        close(cone(&p, 0.2, 0.3), cone(&q, 0.2, 0.3));
        close(
            ellipsoid(&p, &Vector3::new(0.1, 0.2, 0.3)),
            ellipsoid(&q, &Vector3::new(0.1, 0.2, 0.3)),
        );
    }
}

#[test]
fn world_query_rotates_gradient_and_hessian() {
    let shape = Shape::capsule(0.1, 0.4).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let X_WG = crate::test_support::random_pose(&mut rng, 1.0);
    let p_GQ = Point3::new(0.2, -0.1, 0.05);
    let local = shape.signed_distance(&p_GQ);
    let world = shape.signed_distance_in_world(&X_WG, &(X_WG * p_GQ));
    assert!((world.value - local.value).abs() < 1e-14);
    assert!((world.gradient - X_WG * local.gradient).norm() < 1e-13);
    let d = X_WG * Vector3::new(1.0, 2.0, 3.0);
    let expected = X_WG * (local.hessian * Vector3::new(1.0, 2.0, 3.0));
    assert!((world.hessian * d - expected).norm() < 1e-11);
}
