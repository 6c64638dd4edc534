use nalgebra::{Matrix3, Point3, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::friction::FrictionAxis;
use super::*;
use crate::Shape;
use crate::test_support::{box_mesh, random_rotation, random_unit};

const EPS: f64 = f64::EPSILON;

/// A torus about z: φ = √((ρ − R)² + z²) − a, with its second derivative from the two principal curvatures.
fn torus(p: &Point3<f64>) -> SignedDistance<f64> {
    let (major, minor) = (0.5, 0.2);
    let rho = p.x.hypot(p.y);
    let radial = Vector3::new(p.x / rho, p.y / rho, 0.0);
    let around = Vector3::new(-p.y / rho, p.x / rho, 0.0);
    let q = rho - major;
    let to_circle = q.hypot(p.z);
    let gradient = (radial * q + Vector3::z() * p.z) / to_circle;
    let tangent = (Vector3::z() * q - radial * p.z) / to_circle;
    SignedDistance {
        value: to_circle - minor,
        gradient,
        hessian: tangent * tangent.transpose() / to_circle
            + around * around.transpose() * (q / (to_circle * rho)),
    }
}

/// Central differences of fourth order of P by one of its arguments.
fn difference(f: impl Fn(&Point3<f64>) -> Relaxed<f64>, at: &Point3<f64>, h: f64) -> Matrix3<f64> {
    let mut out = Matrix3::zeros();
    for j in 0..3 {
        let moved = |steps: f64| f(&(at + Vector3::ith(j, h * steps))).attachment;
        let near = moved(1.0) - moved(-1.0);
        let far = moved(2.0) - moved(-2.0);
        out.set_column(j, &((near * 8.0 - far) / (12.0 * h)));
    }
    out
}

/// Compares both derivatives with differences wherever these are well defined: the same with half the step.
struct Comparison {
    compared: [usize; 3],
    worst: f64,
}

impl Comparison {
    fn new() -> Self {
        Self {
            compared: [0; 3],
            worst: 0.0,
        }
    }

    fn add(
        &mut self,
        distance: impl Fn(&Point3<f64>) -> SignedDistance<f64>,
        friction: SlidingFriction<f64>,
        slide: Slide,
        old: &Point3<f64>,
        particle: &Point3<f64>,
    ) {
        let relax =
            |x: &Point3<f64>, z: &Point3<f64>| relax_on_level_set(&distance, friction, slide, x, z);
        let relaxed = relax(old, particle);
        let scale = -distance(particle).value;
        let pairs = [
            (relaxed.by_particle, particle, true),
            (relaxed.by_attachment, old, false),
        ];
        for (analytic, at, of_particle) in pairs {
            let along = |p: &Point3<f64>| {
                if of_particle {
                    relax(old, p)
                } else {
                    relax(p, particle)
                }
            };
            let coarse = difference(along, at, 4e-4 * scale);
            let fine = difference(along, at, 2e-4 * scale);
            if (coarse - fine).norm() > 1e-6 {
                continue; // a kink is within reach
            }
            self.compared[relaxed.branch as usize] += 1;
            self.worst = self.worst.max((analytic - fine).norm());
        }
    }
}

fn shapes() -> Vec<Shape> {
    let (vertices, triangles) = box_mesh(Vector3::new(0.3, 0.35, 0.4));
    vec![
        Shape::half_space(),
        Shape::sphere(0.4).unwrap(),
        Shape::cuboid(Vector3::new(0.6, 0.7, 0.8)).unwrap(),
        Shape::cylinder(0.3, 0.9).unwrap(),
        Shape::elliptic_cylinder(Vector2::new(0.4, 0.3), 0.8).unwrap(),
        Shape::capsule(0.3, 0.5).unwrap(),
        Shape::ellipsoid(Vector3::new(0.4, 0.5, 0.6)).unwrap(),
        Shape::cone(0.5, 0.9).unwrap(),
        Shape::convex_hull(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ]
}

/// A particle at `depth` below a random place of the surface of `distance`, and an attachment within about twice the cone.
fn configuration(
    rng: &mut ChaCha8Rng,
    distance: &impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    depth: f64,
    mu: f64,
) -> Option<(Point3<f64>, Point3<f64>)> {
    let outside = Point3::from(random_unit(rng) * rng.random_range(0.3..0.8));
    let mut surface = outside;
    for _ in 0..3 {
        surface = closest(distance, &surface);
    }
    let at = distance(&surface);
    let particle = surface - at.gradient * depth;
    if at.value.abs() > 1e-12 || distance(&particle).value > -0.5 * depth {
        return None; // near the edge of a box
    }
    let across = random_unit(rng).cross(&at.gradient);
    let old = surface + across * (depth * mu.max(0.1) * rng.random_range(0.0..2.5));
    Some((closest(distance, &closest(distance, &old)), particle))
}

fn closest(
    distance: &impl Fn(&Point3<f64>) -> SignedDistance<f64>,
    p: &Point3<f64>,
) -> Point3<f64> {
    super::super::closest_attachment(distance, p)
}

#[test]
fn derivatives_on_every_shape_are_those_of_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for slide in [Slide::Planar, Slide::Exact] {
        for shape in shapes() {
            let distance = |p: &Point3<f64>| shape.signed_distance(p);
            let mut comparison = Comparison::new();
            for k in 0..400 {
                let mu = [0.0, 0.1, 0.5, 1.2][k % 4];
                let depth = rng.random_range(0.001..0.02);
                if let Some((old, particle)) = configuration(&mut rng, &distance, depth, mu) {
                    let friction = SlidingFriction::coulomb(mu);
                    comparison.add(distance, friction, slide, &old, &particle);
                }
            }
            let Comparison { compared, worst } = comparison;
            let name = shape.name();
            assert!(worst < 1e-6, "{name}, {slide:?}: {worst:e}");
            assert!(
                compared[Branch::Stick as usize] > 80,
                "{name}: {compared:?}"
            );
            assert!(
                compared[Branch::Slip as usize] > 150,
                "{name}: {compared:?}"
            );
        }
    }
}

#[test]
fn derivatives_on_a_torus_are_those_of_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for slide in [Slide::Planar, Slide::Exact] {
        let mut comparison = Comparison::new();
        for _ in 0..2000 {
            let mu = rng.random_range(0.05..1.5);
            let depth = rng.random_range(0.001..0.04);
            if let Some((old, particle)) = configuration(&mut rng, &torus, depth, mu) {
                let friction = SlidingFriction {
                    sticking: mu * 1.2,
                    sliding: mu,
                    axis: None,
                };
                comparison.add(torus, friction, slide, &old, &particle);
            }
        }
        let Comparison { compared, worst } = comparison;
        assert!(worst < 1e-6, "{slide:?}: {worst:e}");
        assert!(compared[1] > 1000 && compared[2] > 1000, "{compared:?}");
    }
}

/// The axis that the tests of anisotropic friction use: along it a third of the friction across.
fn skewed(mu: f64) -> SlidingFriction<f64> {
    SlidingFriction {
        axis: Some(FrictionAxis {
            direction: nalgebra::Unit::new_normalize(Vector3::new(0.8, -0.3, 0.5)),
            ratio: 1.0 / 3.0,
        }),
        ..SlidingFriction::coulomb(mu)
    }
}

#[test]
fn derivatives_of_anisotropic_friction_are_those_of_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut comparison = Comparison::new();
    for _ in 0..3000 {
        let mu = rng.random_range(0.05..1.5);
        let depth = rng.random_range(0.001..0.04);
        if let Some((old, particle)) = configuration(&mut rng, &torus, depth, mu) {
            comparison.add(torus, skewed(mu), Slide::Planar, &old, &particle);
        }
    }
    let Comparison { compared, worst } = comparison;
    assert!(worst < 1e-6, "{worst:e}");
    assert!(compared[1] > 300 && compared[2] > 1000, "{compared:?}");
}

#[test]
fn an_anisotropic_cone_on_a_plane_has_both_coefficients() {
    let distance = |p: &Point3<f64>| SignedDistance::flat(p.z, Vector3::z());
    let (mu, depth) = (0.6, 0.01);
    let friction = SlidingFriction {
        axis: Some(FrictionAxis {
            direction: Vector3::x_axis(),
            ratio: 0.25,
        }),
        ..SlidingFriction::coulomb(mu)
    };
    let particle = Point3::new(0.0, 0.0, -depth);
    for k in 0..360 {
        let (sin, cos) = f64::from(k).to_radians().sin_cos();
        let old = Point3::new(cos, sin, 0.0) * 0.02;
        let found = relax_on_level_set(distance, friction, Slide::Exact, &old, &particle);
        assert_eq!(found.branch, Branch::Slip);
        // The ellipse with half axes 0.25 μ d and μ d, met on the way from X to W.
        let Point3 { coords: r } = found.attachment;
        let ellipse = (r.x / (0.25 * mu * depth)).hypot(r.y / (mu * depth));
        assert!((ellipse - 1.0).abs() < 1e-12, "{ellipse}");
        assert!((r.x * sin - r.y * cos).abs() < 1e-16);
        let inside = Point3::from(r * 0.999);
        let held = relax_on_level_set(distance, friction, Slide::Planar, &inside, &particle);
        assert_eq!(held.branch, Branch::Stick);
    }
}

#[test]
fn on_a_plane_the_derivatives_are_the_closed_form() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for _ in 0..2000 {
        let turn = random_rotation(&mut rng);
        let n = turn * Vector3::z();
        let offset = rng.random_range(-1.0..1.0);
        let distance = |p: &Point3<f64>| SignedDistance {
            value: n.dot(&p.coords) - offset,
            gradient: n,
            hessian: Matrix3::zeros(),
        };
        let depth = rng.random_range(1e-4..1e-2);
        let mu = rng.random_range(0.01..1.0);
        let foot = Point3::from(n * offset + turn * Vector3::new(0.3, -0.2, 0.0));
        let tau = (turn * Vector3::new(rng.random_range(-1.0..1.0), 0.7, 0.0)).normalize();
        let s = rng.random_range(0.1..0.95);
        let old = foot + tau * (mu * depth / s);
        let particle = foot - n * depth;
        for slide in [Slide::Planar, Slide::Exact] {
            let friction = SlidingFriction::coulomb(mu);
            let found = relax_on_level_set(distance, friction, slide, &old, &particle);
            let b = n.cross(&tau);
            let by_particle =
                tau * tau.transpose() + b * b.transpose() * (1.0 - s) - tau * n.transpose() * mu;
            assert_eq!(found.branch, Branch::Slip);
            assert!((found.by_particle - by_particle).norm() < 1e-9 / s);
            assert!((found.by_attachment - b * b.transpose() * s).norm() < 1e-9);
            // In the cone, idempotent, and no slide at all once there.
            let pull = found.attachment - particle;
            let normal = pull.dot(&n);
            assert!((pull - n * normal).norm() <= mu * normal * (1.0 + 1e-9));
            let again = relax_on_level_set(distance, friction, slide, &found.attachment, &particle);
            let size = found.attachment.coords.norm() + 1.0;
            assert!((again.attachment - found.attachment).norm() <= 4.0 * EPS * size);
        }
    }
}

#[test]
fn an_attachment_in_the_cone_stays_bit_for_bit() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for slide in [Slide::Planar, Slide::Exact] {
        let mut sticking = 0;
        for _ in 0..2000 {
            let mu = rng.random_range(0.1..1.5);
            let (old, particle) = configuration(&mut rng, &torus, 0.01, mu).unwrap();
            let found =
                relax_on_level_set(torus, SlidingFriction::coulomb(mu), slide, &old, &particle);
            if found.branch == Branch::Stick {
                sticking += 1;
                assert_eq!(found.attachment, old);
                assert_eq!(found.by_particle, Matrix3::zeros());
            }
        }
        assert!(sticking > 500);
    }
}

#[test]
fn without_friction_the_derivative_is_the_tangential_projector_also_at_the_foot() {
    let floor = Shape::half_space();
    let particle = Point3::new(0.2, 0.1, -0.01);
    for old in [Point3::new(0.2, 0.1, 0.0), Point3::new(0.5, 0.0, 0.0)] {
        let found = relax_on_level_set(
            |p| floor.signed_distance(p),
            SlidingFriction::coulomb(0.0),
            Slide::Planar,
            &old,
            &particle,
        );
        assert_eq!(found.attachment, Point3::new(0.2, 0.1, 0.0));
        let projector = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 0.0));
        assert_eq!(found.by_particle, projector);
        assert_eq!(found.by_attachment, Matrix3::zeros());
    }
}

/// Largest |f_t|/(μ f_n) of slipping attachments on a sphere.
fn largest_friction(radius: f64, depth: f64, mu: f64, slide: Slide, outside_in: f64) -> (f64, f64) {
    let distance = |p: &Point3<f64>| {
        let size = p.coords.norm();
        let gradient = p.coords / size;
        SignedDistance {
            value: (size - radius) * outside_in,
            gradient: gradient * outside_in,
            hessian: (Matrix3::identity() - gradient * gradient.transpose()) * (outside_in / size),
        }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for _ in 0..300 {
        let up = random_unit(&mut rng);
        let particle = Point3::from(up * (radius - depth * outside_in));
        let across = random_unit(&mut rng).cross(&up).normalize();
        let old = Point3::from((up * radius + across * (1.5 * mu * depth)).normalize() * radius);
        let friction = SlidingFriction::coulomb(mu);
        let found = relax_on_level_set(distance, friction, slide, &old, &particle);
        assert_eq!(found.branch, Branch::Slip);
        let n = distance(&found.attachment).gradient;
        let pull = found.attachment - particle;
        let normal = pull.dot(&n);
        let share = (pull - n * normal).norm() / (mu * normal);
        least = least.min(share);
        most = most.max(share);
    }
    (least, most)
}

#[test]
fn exact_sliding_ends_on_the_cone_and_planar_sliding_near_it() {
    for mu in [0.1, 0.5, 1.0] {
        for (depth, outside_in) in [(0.1, 1.0), (0.01, 1.0), (0.1, -1.0), (0.01, -1.0)] {
            let (least, most) = largest_friction(1.0, depth, mu, Slide::Exact, outside_in);
            assert!(least > 1.0 - 1e-9 && most < 1.0 + 1e-9, "{least} {most}");
            let (least, most) = largest_friction(1.0, depth, mu, Slide::Planar, outside_in);
            // The defect d/R (1 + μ²/2): below the cone from outside, above it from inside.
            let defect = depth * (1.0 + 0.5 * mu * mu) * outside_in;
            assert!(
                (1.0 - most - defect).abs() < 0.35 * defect.abs(),
                "{most}, {defect}"
            );
            assert!(
                (1.0 - least - defect).abs() < 0.35 * defect.abs(),
                "{least}, {defect}"
            );
        }
    }
}

#[test]
fn the_force_is_continuous_where_the_particle_leaves() {
    let floor = Shape::half_space();
    let mu = 0.3;
    for depth in [1e-3, 1e-6, 1e-9, 1e-100, 0.0] {
        let particle = Point3::new(0.0, 0.0, -depth);
        let found = relax_on_level_set(
            |p| floor.signed_distance(p),
            SlidingFriction::coulomb(mu),
            Slide::Planar,
            &Point3::new(0.01, 0.0, 0.0),
            &particle,
        );
        let pull = (found.attachment - particle).norm();
        assert!((pull - depth * 1.0_f64.hypot(mu)).abs() <= 1e-12 * depth);
    }
}

#[test]
fn a_particle_past_the_middle_of_a_plate_is_pulled_back_to_its_own_side() {
    let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.01)).unwrap();
    let distance = |p: &Point3<f64>| plate.signed_distance(p);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut comparison = Comparison::new();
    for _ in 0..400 {
        let mut along = |size: f64| rng.random_range(-size..size);
        let old = Point3::new(along(0.4), along(0.4), 0.005);
        // From just past the middle to beyond the other side.
        let depth = 0.0125 + along(0.0074);
        let particle = old + Vector3::new(along(0.01), along(0.01), -depth);
        let friction = SlidingFriction::coulomb(0.3);
        let relaxed = relax_on_level_set(distance, friction, Slide::Planar, &old, &particle);
        assert_ne!(relaxed.branch, Branch::Separate);
        let pull = relaxed.attachment - particle;
        assert!((pull.z - depth).abs() < 1e-15);
        let tangential = pull.xy().norm();
        assert!(tangential <= 0.3 * depth * (1.0 + 1e-12));
        comparison.add(distance, friction, Slide::Planar, &old, &particle);
    }
    assert!(comparison.worst < 1e-6, "{:e}", comparison.worst);
    // A particle that left over the rim has gone.
    let gone = Point3::new(0.52, 0.0, 0.004);
    let old = Point3::new(0.49, 0.0, 0.005);
    let friction = SlidingFriction::coulomb(0.3);
    let relaxed = relax_on_level_set(distance, friction, Slide::Planar, &old, &gone);
    assert_eq!(relaxed.branch, Branch::Separate);
}
