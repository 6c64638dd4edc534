use super::*;
use crate::mesh::generate::cuboid;
use crate::test_support::{random_pose, random_unit};
use crate::{SelfExclusion, Twist};
use nalgebra::{Point3, UnitQuaternion};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn query() -> Query {
    Query::new(0.01, 9.81).unwrap()
}

fn rigid(
    shape: &Shape,
    X_WG: Isometry3<f64>,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
) -> RigidShape<'_> {
    RigidShape {
        shape,
        X_WG,
        V_WG: Twist { angular, linear },
        patch: None,
    }
}

fn collide(a: RigidShape<'_>, b: RigidShape<'_>, q: &Query) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    PointContact
        .collide(
            Posed::Rigid(a),
            Posed::Rigid(b),
            q,
            &mut ContactWorkspace::default(),
            &mut out,
        )
        .expect("a rigid pair")
        .expect("finite poses");
    out
}

#[test]
fn box_on_the_floor_has_four_contacts_with_the_right_frames() {
    let (cube, floor) = (
        Shape::cuboid(Vector3::repeat(0.2)).unwrap(),
        Shape::half_space(),
    );
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::z() * 0.3);
    let X_WA = Isometry3::from_parts(Vector3::new(1.0, 2.0, 0.1 - 1e-5).into(), rotation);
    let contacts = collide(
        rigid(&cube, X_WA, Vector3::zeros(), Vector3::zeros()),
        rigid(
            &floor,
            Isometry3::identity(),
            Vector3::zeros(),
            Vector3::zeros(),
        ),
        &query(),
    );
    assert_eq!(contacts.len(), 4);
    for c in &contacts {
        assert!((c.signed_distance + 1e-5).abs() < 1e-15 && c.entry == 0.0);
        assert!((c.normal_W - Vector3::z()).norm() < 1e-15);
        assert!((c.p_WC.z + 0.5e-5).abs() < 1e-15);
        let p_WA = X_WA * Point3::from(c.a.offset);
        assert!((p_WA.z + 1e-5).abs() < 1e-14 && (c.b.offset.z).abs() < 1e-15);
        assert!((p_WA - c.p_WC).norm() < 1e-5);
    }
    let swapped = collide(
        rigid(
            &floor,
            Isometry3::identity(),
            Vector3::zeros(),
            Vector3::zeros(),
        ),
        rigid(&cube, X_WA, Vector3::zeros(), Vector3::zeros()),
        &query(),
    );
    let back: Vec<_> = swapped.iter().map(ContactPoint::swapped).collect();
    for (c, d) in contacts.iter().zip(&back) {
        assert!((c.p_WC - d.p_WC).norm() < 1e-14 && (c.normal_W - d.normal_W).norm() < 1e-14);
        assert!(c.key == d.key && (c.a.offset - d.a.offset).norm() < 1e-14);
    }
}

#[test]
fn resting_pair_beyond_the_margin_has_no_contact() {
    let (ball, plate) = (
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).unwrap(),
    );
    let q = query();
    for (height, n) in [(0.9, 1), (1.1, 0)] {
        let X_WA = Isometry3::translation(0.0, 0.0, 0.15 + q.margin * height);
        let still = collide(
            rigid(&ball, X_WA, Vector3::zeros(), Vector3::zeros()),
            rigid(
                &plate,
                Isometry3::identity(),
                Vector3::zeros(),
                Vector3::zeros(),
            ),
            &q,
        );
        assert_eq!(still.len(), n);
    }
}

#[test]
fn approaching_ball_has_the_normal_and_gap_at_its_time_of_impact() {
    let (ball, plate) = (
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).unwrap(),
    );
    let X_WA = Isometry3::translation(-0.1, 0.0, 0.25);
    let v = Vector3::new(20.0, 0.0, -20.0);
    let contacts = collide(
        rigid(&ball, X_WA, v, Vector3::zeros()),
        rigid(
            &plate,
            Isometry3::identity(),
            Vector3::zeros(),
            Vector3::zeros(),
        ),
        &query(),
    );
    assert_eq!(contacts.len(), 1);
    let c = &contacts[0];
    assert!((c.normal_W - Vector3::z()).norm() < 1e-12);
    // 0.1 m of gap at 20 m/s takes half of the step; the ball's lowest point is the one that touches.
    assert!((c.signed_distance - 0.1).abs() < 1e-6 && (c.entry - 0.5).abs() < 1e-5);
    assert!((c.a.offset - Vector3::new(0.0, 0.0, -0.1)).norm() < 1e-6);
    assert!((c.b.offset - Vector3::new(0.0, 0.0, 0.05)).norm() < 1e-5);
}

#[test]
fn spinning_bar_is_found_before_its_end_passes_a_post() {
    // The end of the bar moves at 30 m/s on a circle of 1 m; its centre is at rest.
    let bar = Shape::cuboid(Vector3::new(2.0, 0.05, 0.05)).unwrap();
    let post = Shape::cylinder(0.01, 1.0).unwrap();
    let position =
        UnitQuaternion::from_scaled_axis(Vector3::z() * 0.2) * Vector3::new(0.95, 0.0, 0.0);
    let X_WB = Isometry3::translation(position.x, position.y, position.z);
    let spin = Vector3::z() * 30.0;
    let contacts = collide(
        rigid(&bar, Isometry3::identity(), Vector3::zeros(), spin),
        rigid(&post, X_WB, Vector3::zeros(), Vector3::zeros()),
        &query(),
    );
    assert!(!contacts.is_empty());
    // Rotated by 0.2 rad minus the half widths, of 0.3 rad in the step.
    assert!(
        (contacts[0].entry - (0.2 - 0.035 / 0.95) / 0.3).abs() < 0.01,
        "{}",
        contacts[0].entry
    );
    let away = collide(
        rigid(&bar, Isometry3::identity(), Vector3::zeros(), -spin),
        rigid(&post, X_WB, Vector3::zeros(), Vector3::zeros()),
        &query(),
    );
    assert!(away.is_empty());
}

#[test]
fn contacts_do_not_depend_on_the_world_frame() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let shapes = narrow_phase::tests::convex_shapes();
    for a in &shapes {
        for b in &shapes {
            let (X_WA, X_WB) = (random_pose(&mut rng, 0.4), random_pose(&mut rng, 0.4));
            let v = random_unit(&mut rng) * 10.0;
            let moved = random_pose(&mut rng, 3.0);
            let here = collide(
                rigid(a, X_WA, v, Vector3::zeros()),
                rigid(b, X_WB, -v, Vector3::zeros()),
                &query(),
            );
            let there = collide(
                rigid(a, moved * X_WA, moved * v, Vector3::zeros()),
                rigid(b, moved * X_WB, moved * -v, Vector3::zeros()),
                &query(),
            );
            let deep = here.iter().any(|c| c.signed_distance < -0.02);
            if deep {
                continue;
            }
            assert_eq!(here.len(), there.len(), "{a:?} {b:?}");
            for (c, d) in here.iter().zip(&there) {
                assert!(
                    (c.signed_distance - d.signed_distance).abs() < 1e-6,
                    "{a:?} {b:?} {c:?} {d:?}"
                );
                assert!(
                    (moved * c.normal_W - d.normal_W).norm() < 1e-4,
                    "{a:?} {b:?} {c:?} {d:?}"
                );
            }
        }
    }
}

#[test]
fn poses_that_are_not_finite_are_refused() {
    let ball = Shape::sphere(0.1).unwrap();
    let good = rigid(
        &ball,
        Isometry3::identity(),
        Vector3::zeros(),
        Vector3::zeros(),
    );
    let bad = rigid(
        &ball,
        Isometry3::identity(),
        Vector3::x() * f64::NAN,
        Vector3::zeros(),
    );
    let mut out = Vec::new();
    let found = PointContact.collide(
        Posed::Rigid(good),
        Posed::Rigid(bad),
        &query(),
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert!(matches!(
        found,
        Some(Err(GeometryError::NotFinite {
            quantity: "twist",
            side: 'b',
            ..
        }))
    ));
    assert!(out.is_empty());
}

#[test]
fn a_deforming_surface_is_not_handled() {
    let exclusion = SelfExclusion::default();
    let surface = crate::DeformingSurface {
        id: 0,
        points: &[],
        radii: &[],
        velocities: &[],
        exclusion: &exclusion,
        field: None,
        mesh: None,
    };
    let mut out = Vec::new();
    assert!(
        PointContact
            .collide(
                Posed::Deforming(surface),
                Posed::Deforming(surface),
                &query(),
                &mut ContactWorkspace::default(),
                &mut out
            )
            .is_none()
    );
}

/// The true outcome of a throw, from its path in many small steps, and the contacts found by steps of 10 ms.
struct Throws {
    hits: u32,
    tunnelled: u32,
    misses: u32,
    ghosts: u32,
}

const PLATE: [f64; 3] = [0.2, 0.2, 0.005];

/// Throws at a 200 × 200 × 5 mm plate from random sides. A hit without a contact in the step of its impact tunnels; a
/// miss with an active contact (φ₀ + Δt v_n < 0) is a ghost contact.
fn throw(shape: &Shape, plate: &Shape, speed: f64, seed: u64) -> Throws {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let solid = Shape::cuboid(PLATE.into()).unwrap();
    let q = query();
    let size = shape.size();
    let mut count = Throws {
        hits: 0,
        tunnelled: 0,
        misses: 0,
        ghosts: 0,
    };
    for _ in 0..400 {
        let direction = random_unit(&mut rng);
        let aim = Vector3::new(
            rng.random_range(-0.2..0.2),
            rng.random_range(-0.2..0.2),
            0.0,
        );
        let rotation = crate::test_support::random_rotation(&mut rng);
        // Starts at a random distance of up to one step before the aim, so that the phase is random too.
        let start =
            aim - direction * (speed * q.time_step_s * rng.random_range(0.0..1.0) + 0.5 + size);
        let pose = |t: f64| Isometry3::from_parts((start + direction * speed * t).into(), rotation);
        let gap = |t: f64| {
            let at = rigid(shape, pose(t), Vector3::zeros(), Vector3::zeros());
            narrow_phase::convex_separation(at.shape, &solid, &at.X_WG, f64::INFINITY)
                .map_or(f64::INFINITY, |s| s.distance)
        };
        let duration = (1.0 + 2.0 * size) / speed + q.time_step_s;
        // Reference: conservative advancement.
        let (mut t, mut hit) = (0.0, None);
        while t < duration {
            let g = gap(t);
            if g < 1e-7 {
                hit = Some(t);
                break;
            }
            t += (g / speed).max(1e-9);
        }
        let act = |step: u32| {
            let velocity = direction * speed;
            let contacts = collide(
                rigid(
                    shape,
                    pose(f64::from(step) * q.time_step_s),
                    velocity,
                    Vector3::zeros(),
                ),
                rigid(
                    plate,
                    Isometry3::identity(),
                    Vector3::zeros(),
                    Vector3::zeros(),
                ),
                &q,
            );
            contacts
                .iter()
                .any(|c| c.signed_distance + q.time_step_s * c.normal_W.dot(&velocity) < -1e-9)
        };
        let steps = (duration / q.time_step_s) as u32;
        match hit {
            Some(t) => {
                count.hits += 1;
                // Early contacts count: a contact within the margin may act in the previous step.
                let entry = (t / q.time_step_s) as u32;
                if !(0..=entry).any(act) {
                    count.tunnelled += 1;
                }
            }
            None => {
                count.misses += 1;
                if (0..=steps).any(act) {
                    count.ghosts += 1;
                }
            }
        }
    }
    count
}

#[track_caller]
fn check_throws(name: &str, shape: &Shape, plate: &Shape, speed: f64) {
    let c = throw(shape, plate, speed, 77);
    eprintln!(
        "{name} at {speed} m/s: {} of {} hits tunnelled, {} of {} misses were ghosts",
        c.tunnelled, c.hits, c.ghosts, c.misses
    );
    assert_eq!(c.tunnelled, 0, "{name} at {speed} m/s");
    assert!(
        c.hits > 60 && c.misses > 60,
        "{name}: {} hits, {} misses",
        c.hits,
        c.misses
    );
    assert!(
        f64::from(c.ghosts) <= 0.02 * f64::from(c.misses),
        "{name} at {speed} m/s"
    );
}

#[test]
fn throws_at_a_thin_plate_neither_tunnel_nor_hit_ghosts() {
    let plate = Shape::cuboid(PLATE.into()).unwrap();
    for (name, shape) in [
        ("point", Shape::sphere(1e-4)),
        ("ball", Shape::sphere(0.01)),
        ("box", Shape::cuboid(Vector3::repeat(0.02))),
        ("cylinder", Shape::cylinder(0.01, 0.02)),
    ] {
        for speed in [1.0, 10.0, 30.0] {
            check_throws(name, shape.as_ref().unwrap(), &plate, speed);
        }
    }
}

#[test]
fn throws_at_a_plate_that_is_a_mesh_neither_tunnel_nor_hit_ghosts() {
    let (vertices, triangles) = crate::test_support::box_mesh(Vector3::from(PLATE) * 0.5);
    let plate = Shape::mesh(&vertices, &triangles).unwrap();
    for (name, shape) in [
        ("ball", Shape::sphere(0.01)),
        ("box", Shape::cuboid(Vector3::repeat(0.02))),
    ] {
        for speed in [1.0, 30.0] {
            check_throws(name, shape.as_ref().unwrap(), &plate, speed);
        }
    }
}

#[test]
fn two_approaching_meshes_get_speculative_contacts() {
    let (vertices, triangles) = crate::test_support::l_shape();
    let l = Shape::mesh(&vertices, &triangles).unwrap();
    let v = Vector3::x() * 15.0;
    // The foot of the L is 0.6 long: its end starts 0.1 m before the other one's back and closes at 30 m/s.
    let contacts = collide(
        rigid(&l, Isometry3::identity(), v, Vector3::zeros()),
        rigid(
            &l,
            Isometry3::translation(0.7, 0.01, 0.02),
            -v,
            Vector3::zeros(),
        ),
        &query(),
    );
    assert!(!contacts.is_empty());
    for c in &contacts {
        assert!((c.normal_W + Vector3::x()).norm() < 1e-6, "{c:?}");
        assert!((c.signed_distance - 0.1).abs() < 1e-4 && (c.entry - 1.0 / 3.0).abs() < 1e-3);
    }
}

#[test]
fn a_ball_on_a_mesh_touches_an_edge_beside_it_only_within_its_normal_cone() {
    let cube = cuboid(Vector3::repeat(0.05)).expect("a size");
    let corners: Vec<Point3<f64>> = cube.vertices().iter().map(|v| (*v).into()).collect();
    let triangles: Vec<[u32; 3]> = cube.raw_triangles().collect();
    let cube = Shape::mesh(&corners, &triangles).expect("a solid");
    let ball = Shape::sphere(0.04).expect("a radius");
    let at = |p: Vector3<f64>| Isometry3::translation(p.x, p.y, p.z);
    for beside in [-0.002, -0.0012, -0.0005, -0.0001, 0.0003, 0.0009] {
        // The top is at z = 0 and ends at x = 0.05.
        let X_WB = at(Vector3::new(0.05 + beside, 0.013, 0.03998));
        let contacts = collide(
            rigid(
                &cube,
                at(-Vector3::z() * 0.05),
                Vector3::zeros(),
                Vector3::zeros(),
            ),
            rigid(&ball, X_WB, Vector3::x(), Vector3::zeros()),
            &Query::new(1e-3, 9.81).expect("a query"),
        );
        assert_eq!(contacts.len(), 1, "{beside}: {contacts:?}");
        let from = Vector3::new(beside.max(0.0), 0.0, 0.03998).normalize();
        assert!((contacts[0].normal_W + from).norm() < 1e-9, "{beside}");
    }
}
