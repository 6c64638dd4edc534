//! Elliptic sections and flat tips: contact positions, and distances against brute force.

use std::f64::consts::TAU;

use nalgebra::{UnitQuaternion, Vector2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::test_support::{random_pose, random_unit, support, surface_points};
use crate::{ContactChoice, GeometryError, Tips};

const HALVES: [f64; 2] = [0.01, 0.002];

fn oval(m_1: Vector3<f64>) -> FlatSection {
    FlatSection {
        m_1,
        half_1: HALVES[0],
        half_2: HALVES[1],
        outline: Outline::Ellipse,
    }
}

/// A chain through `points` with elliptic sections.
fn ribbon(id: u64, points: &[Point3<f64>], m_1: Vector3<f64>) -> Filament {
    let mut f = filament(id, points, Vector3::zeros());
    let still = vec![Vector3::zeros(); points.len()];
    let sections = vec![oval(m_1); points.len() - 1];
    f.move_to(points, &still, &sections, DT).unwrap();
    f
}

/// A chain through `points` that is round and cut at its ends.
fn cut(id: u64, points: &[Point3<f64>]) -> Filament {
    filament(id, points, Vector3::zeros()).with_tips(Tips::Flat)
}

fn on_floor(f: &Filament) -> Vec<ContactPoint> {
    let floor = Shape::half_space();
    contacts(
        Posed::Filament(f),
        Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity())),
    )
}

#[test]
fn an_ellipse_lies_at_its_support_however_it_is_turned_about_its_axis() {
    let depth = 1e-5;
    for (k, expected) in [(0, HALVES[1]), (90, HALVES[0])]
        .into_iter()
        .chain((1..90).map(|k| {
            let (s, c) = f64::from(k).to_radians().sin_cos();
            (k, (HALVES[0] * s).hypot(HALVES[1] * c))
        }))
    {
        let (s, c) = f64::from(k).to_radians().sin_cos();
        let points = along([0.0, 0.0, expected - depth], Vector3::x(), 6);
        let f = ribbon(0, &points, Vector3::new(0.0, c, s));
        let found = on_floor(&f);
        assert_eq!(found.len(), 7, "at {k} degrees");
        for c in &found {
            assert!((c.signed_distance + depth).abs() < 1e-12, "{k}: {c:?}");
            assert!((share(c) - 1.0).abs() < 1e-12);
            let p = p_WA(&f, c);
            assert!((p.z + depth).abs() < 1e-12, "{p}");
        }
    }
}

#[test]
fn a_flat_tip_stands_on_its_rim_and_a_round_one_on_its_pole() {
    let depth = 1e-5;
    let upright = along([0.02, 0.03, -depth], Vector3::z(), 3);
    let oval_rim = |p: Vector3<f64>| (p.x / HALVES[0]).hypot(p.y / HALVES[1]);
    let disc_rim = |p: Vector3<f64>| p.x.hypot(p.y) / RADIUS;
    let oval = ribbon(0, &upright, Vector3::x());
    let disc = cut(0, &upright);
    for (f, rim) in [
        (&oval, &oval_rim as &dyn Fn(Vector3<f64>) -> f64),
        (&disc, &disc_rim),
    ] {
        let found = on_floor(f);
        assert_eq!(found.len(), 8);
        let (mut total, mut centroid) = (0.0, Vector3::zeros());
        for c in &found {
            assert!((c.signed_distance + depth).abs() < 1e-15);
            let p = p_WA(f, c) - upright[0];
            assert!((rim(p) - 1.0).abs() < 1e-9 && p.z.abs() < 1e-15, "{p}");
            total += share(c);
            centroid += p * share(c);
        }
        assert!((total - 4.0).abs() < 1e-12, "as a box of four corners");
        assert!(centroid.norm() < 1e-12, "balanced on its axis");
    }
    let round = filament(0, &upright, Vector3::zeros());
    let found = on_floor(&round);
    assert_eq!(found.len(), 1);
    assert!((found[0].signed_distance + depth + RADIUS).abs() < 1e-15);
}

#[test]
fn a_ball_under_a_chain_stays_one_contact_over_joints_of_either_kind() {
    let sphere = Shape::sphere(0.03).unwrap();
    let points = along([0.0; 3], Vector3::x(), 4);
    for (f, below) in [
        (ribbon(0, &points, Vector3::y()), HALVES[1]),
        (ribbon(0, &points, Vector3::z()), HALVES[0]),
        (cut(0, &points), RADIUS),
    ] {
        for k in 1..200 {
            let x = 0.001 * f64::from(k);
            let at = Isometry3::translation(x, 0.0, 5e-4 - 0.03 - below);
            let found = contacts(
                Posed::Filament(&f),
                Posed::Rigid(RigidShape::at_rest(&sphere, at)),
            );
            assert_eq!(found.len(), 1, "at {x}: {found:?}");
            let c = &found[0];
            assert!((c.signed_distance + 5e-4).abs() < 1e-9, "at {x}: {c:?}");
            assert!((c.normal_W - Vector3::z()).norm() < 1e-6, "at {x}: {c:?}");
        }
    }
}

#[test]
fn a_crossing_that_slides_from_a_cut_segment_to_a_capsule_stays_one_contact() {
    let f = cut(0, &along([0.0; 3], Vector3::x(), 3));
    for k in 1..150 {
        let x = 0.001 * f64::from(k);
        let g = straight(1, [x, -0.07, 0.0195], Vector3::y(), 3);
        let found = contacts(Posed::Filament(&f), Posed::Filament(&g));
        assert_eq!(found.len(), 1, "at {x}: {found:?}");
        assert!((found[0].signed_distance + 5e-4).abs() < 1e-9);
    }
}

/// One segment of 3 cm at a random pose, and its shape.
fn random_segment(rng: &mut ChaCha8Rng, kind: u32) -> (Filament, Shape, Isometry3<f64>) {
    let length = 0.03;
    let X_WS = random_pose(rng, 0.03);
    let points = [-0.5, 0.5].map(|s| X_WS * Point3::new(0.0, 0.0, s * length));
    if kind == 0 {
        let shape = Shape::elliptic_cylinder(Vector2::from(HALVES), length).unwrap();
        (ribbon(0, &points, X_WS * Vector3::x()), shape, X_WS)
    } else {
        let shape = Shape::cylinder(RADIUS, length).unwrap();
        (cut(0, &points), shape, X_WS)
    }
}

/// The nearest contact at any distance.
fn nearest_contact(a: Posed<'_>, b: Posed<'_>) -> ContactPoint {
    let q = Query {
        time_step_s: DT,
        margin: 1.0,
        choice: ContactChoice::Point,
    };
    let mut out = Vec::new();
    FilamentContact
        .collide(a, b, &q, &mut ContactWorkspace::default(), &mut out)
        .unwrap()
        .unwrap();
    out.into_iter()
        .min_by(|c, d| c.signed_distance.total_cmp(&d.signed_distance))
        .expect("within a metre")
}

#[test]
fn distances_to_balls_and_planes_agree_with_brute_force_in_thousands_of_poses() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let ball_radius = 0.004;
    let ball = Shape::sphere(ball_radius).unwrap();
    let floor = Shape::half_space();
    let samples: Vec<Vec<Point3<f64>>> = (0..2)
        .map(|kind| surface_points(&random_segment(&mut rng, kind).1, 48))
        .collect();
    // Half of the widest spacing of the samples (2 × 48 around and 48 along), and the sagitta of the surface over it.
    let turn = 0.5 * TAU / 96.0;
    let spacing = (0.5 * 0.03 / 48.0_f64).hypot(RADIUS * turn);
    let dip = 0.5 * RADIUS * turn * turn;
    let mut compared = 0;
    for round in 0..3000 {
        let kind = round % 2;
        let (f, shape, X_WS) = random_segment(&mut rng, kind);
        let center = Point3::from(Vector3::from_fn(|_, _| rng.random_range(-0.04..0.04)));
        let local = X_WS.inverse_transform_point(&center);
        let brute = samples[kind as usize]
            .iter()
            .map(|q| (q - local).norm())
            .fold(f64::INFINITY, f64::min);
        if shape.signed_distance(&local).value > 2e-3 {
            compared += 1;
            let X_WB = Isometry3::from_parts(center.coords.into(), UnitQuaternion::identity());
            let c = nearest_contact(
                Posed::Filament(&f),
                Posed::Rigid(RigidShape::at_rest(&ball, X_WB)),
            );
            let distance = c.signed_distance + ball_radius;
            let least = (brute * brute - spacing * spacing).max(0.0).sqrt() - dip;
            assert!(
                (least - 1e-9..=brute + 1e-9).contains(&distance),
                "{round}: {distance} for {least} to {brute}"
            );
        }
        let c = nearest_contact(
            Posed::Filament(&f),
            Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity())),
        );
        let down = X_WS.inverse_transform_vector(&-Vector3::z());
        let lowest = (X_WS * support(&shape, &down)).z;
        assert!(
            (c.signed_distance - lowest).abs() < 1e-12,
            "{round}: {} for {lowest}",
            c.signed_distance
        );
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn distances_of_segments_are_their_widest_slabs_in_thousands_of_poses() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut compared = 0;
    for round in 0..3000 {
        let (f, a, X_WA) = random_segment(&mut rng, round % 2);
        let (g, b, X_WB) = random_segment(&mut rng, round / 2 % 2);
        let shift = random_unit(&mut rng) * rng.random_range(0.01..0.05);
        let (points, m_1) = (g.points().to_vec(), X_WB * Vector3::x());
        let moved: Vec<_> = points.iter().map(|p| p + shift).collect();
        let g = match round / 2 % 2 {
            0 => ribbon(1, &moved, m_1),
            _ => cut(1, &moved),
        };
        let X_WB = nalgebra::Translation3::from(shift) * X_WB;
        let slab = |n: &Vector3<f64>| {
            let p = X_WA * support(&a, &X_WA.inverse_transform_vector(&-n));
            let q = X_WB * support(&b, &X_WB.inverse_transform_vector(n));
            n.dot(&(p - q))
        };
        let c = nearest_contact(Posed::Filament(&f), Posed::Filament(&g));
        if c.signed_distance <= 0.0 {
            continue;
        }
        compared += 1;
        // Of disjoint convex bodies the distance is the width of the widest slab between them.
        assert!(
            (slab(&c.normal_W) - c.signed_distance).abs() < 1e-9,
            "{round}: {} for {}",
            c.signed_distance,
            slab(&c.normal_W)
        );
        for _ in 0..300 {
            let n = (c.normal_W + random_unit(&mut rng) * 10_f64.powf(rng.random_range(-4.0..0.3)))
                .normalize();
            assert!(slab(&n) <= c.signed_distance + 1e-9, "{round}");
        }
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn a_flat_tip_needs_a_segment_over_which_its_field_can_fall() {
    let short = [0.0, 0.005, 0.05].map(|x| Point3::new(x, 0.0, 0.0));
    let f = cut(0, &short);
    let refused = f
        .with_field(&crate::Compliance::default(), &[])
        .unwrap_err();
    let GeometryError::ShortTip { segment: 0, .. } = refused else {
        panic!("{refused}");
    };
    assert!(refused.to_string().contains("0.005 m"), "{refused}");
}
