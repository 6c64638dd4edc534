use super::*;
use crate::test_support::{random_pose, random_unit, support, surface_points};
use nalgebra::{Point3, UnitQuaternion, Vector2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) fn convex_shapes() -> Vec<Shape> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let cloud: Vec<Point3<f64>> = (0..40)
        .map(|_| Point3::from(random_unit(&mut rng) * rng.random_range(0.25..0.4)))
        .collect();
    vec![
        Shape::sphere(0.3).unwrap(),
        Shape::cuboid(Vector3::new(0.4, 0.5, 0.7)).unwrap(),
        Shape::cylinder(0.2, 0.6).unwrap(),
        Shape::elliptic_cylinder(Vector2::new(0.3, 0.1), 0.6).unwrap(),
        Shape::capsule(0.15, 0.4).unwrap(),
        Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.4)).unwrap(),
        Shape::cone(0.25, 0.6).unwrap(),
        Shape::convex_hull(&cloud).unwrap(),
    ]
}

/// s(n) by independent support functions: A at X_BA, B at the origin.
fn slab_width(a: &Shape, b: &Shape, X_BA: &Isometry3<f64>, n: &Vector3<f64>) -> f64 {
    let p_A = X_BA * support(a, &X_BA.inverse_transform_vector(&-n));
    n.dot(&(p_A - support(b, n)))
}

fn contact(a: &Shape, b: &Shape, X_BA: &Isometry3<f64>, reach: f64) -> Vec<PairPoint> {
    let mut out = Vec::new();
    convex_points(a, b, X_BA, reach, &mut ManifoldBuffers::default(), &mut out);
    out
}

fn on_half_space(a: &Shape, X_BA: &Isometry3<f64>, reach: f64) -> Vec<PairPoint> {
    let mut out = Vec::new();
    half_space_points(a, X_BA, reach, &mut out);
    out
}

fn lowest(points: &[PairPoint]) -> f64 {
    points.iter().map(|p| p.phi).fold(f64::INFINITY, f64::min)
}

#[test]
fn separation_is_the_widest_slab_between_the_shapes() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    for a in convex_shapes() {
        for b in convex_shapes() {
            for _ in 0..12 {
                let X_BA = random_pose(&mut rng, 0.7);
                let s = convex_separation(&a, &b, &X_BA, f64::INFINITY).unwrap();
                let along = slab_width(&a, &b, &X_BA, &s.normal);
                // Deep overlaps of curved bodies are iterated to finite accuracy.
                let tolerance = if s.distance > -0.02 { 1e-9 } else { 1e-5 };
                assert!(
                    (along - s.distance).abs() < tolerance,
                    "{a:?} {b:?}: {along} {}",
                    s.distance
                );
                // No direction gives a larger value: globally when disjoint, locally when overlapping.
                for _ in 0..200 {
                    let n = if s.distance > 0.0 {
                        random_unit(&mut rng)
                    } else {
                        (s.normal
                            + random_unit(&mut rng) * 10.0_f64.powf(rng.random_range(-6.0..-0.5)))
                        .normalize()
                    };
                    let other = slab_width(&a, &b, &X_BA, &n);
                    assert!(
                        other <= s.distance + tolerance,
                        "{a:?} {b:?} at {X_BA}: {other} > {}",
                        s.distance
                    );
                }
            }
        }
    }
}

#[test]
fn witness_points_lie_on_both_surfaces() {
    let mut rng = ChaCha8Rng::seed_from_u64(22);
    for a in convex_shapes() {
        for b in convex_shapes() {
            for _ in 0..20 {
                let mut X_BA = random_pose(&mut rng, 0.1);
                // Bring the pair to a small gap or a small overlap.
                let n = random_unit(&mut rng);
                X_BA.translation.vector += n * 1.5;
                let s = convex_separation(&a, &b, &X_BA, f64::INFINITY).unwrap();
                let gap = rng.random_range(-2e-3..2e-3);
                X_BA.translation.vector -= s.normal * (s.distance - gap);
                let points = contact(&a, &b, &X_BA, 0.01);
                assert!(!points.is_empty(), "{a:?} {b:?}");
                for p in points.iter().filter(|p| p.phi < 0.01) {
                    let on_A = a
                        .signed_distance(&X_BA.inverse_transform_point(&p.p_A.into()))
                        .value;
                    let on_B = b.signed_distance(&p.p_B.into()).value;
                    // Chords of rims, and ends of tilted capsules seen along the normal, deviate inwards by their
                    // sagitta.
                    assert!(
                        on_A.abs() < 1e-8 || has_round_side(&a) && on_A < 1e-8,
                        "{a:?} {b:?}: {on_A}"
                    );
                    assert!(
                        on_B.abs() < 1e-8 || has_round_side(&b) && on_B < 1e-8,
                        "{a:?} {b:?}: {on_B}"
                    );
                    assert!((p.normal.dot(&(p.p_A - p.p_B)) - p.phi).abs() < 1e-12);
                    let aside = (p.p_A - p.p_B - p.normal * p.phi).norm();
                    assert!(aside < 1e-7, "{a:?} {b:?} {gap}: {aside} {p:?}");
                    assert!(p.share > 0.0 && p.share <= 4.0);
                }
                assert!(
                    (lowest(&points) - gap).abs() < 1e-8 || gap < 0.0,
                    "{a:?} {b:?}: {} {gap}",
                    lowest(&points)
                );
            }
        }
    }
}

fn has_round_side(s: &Shape) -> bool {
    matches!(
        s,
        Shape::Cylinder(_) | Shape::EllipticCylinder(_) | Shape::Cone(_) | Shape::Capsule(_)
    )
}

#[test]
fn exchanging_the_shapes_swaps_the_contact() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    for a in convex_shapes() {
        for b in convex_shapes() {
            for _ in 0..10 {
                let X_BA = random_pose(&mut rng, 0.45);
                let (one, other) = (
                    convex_separation(&a, &b, &X_BA, f64::INFINITY).unwrap(),
                    convex_separation(&b, &a, &X_BA.inverse(), f64::INFINITY).unwrap(),
                );
                // Deep overlaps may have several equally good directions.
                if one.distance > -0.02 {
                    assert!(
                        (one.distance - other.distance).abs() < 1e-9,
                        "{a:?} {b:?}: {one:?} {other:?}"
                    );
                    let back = X_BA * -other.normal;
                    let tolerance = if one.distance.abs() > 1e-3 {
                        1e-5
                    } else {
                        1e-3
                    };
                    assert!(
                        (one.normal - back).norm() < tolerance,
                        "{a:?} {b:?}: {one:?} {back}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_capsule_deep_in_a_box_is_pushed_out_along_the_shortest_way() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let cuboid = Shape::cuboid(Vector3::new(0.4, 0.5, 0.7)).unwrap();
    let capsule = Shape::capsule(0.05, 0.4).unwrap();
    for _ in 0..200 {
        let X_BA = random_pose(&mut rng, 0.4);
        let one = convex_separation(&capsule, &cuboid, &X_BA, f64::INFINITY).unwrap();
        let other = convex_separation(&cuboid, &capsule, &X_BA.inverse(), f64::INFINITY).unwrap();
        assert!(
            (one.distance - other.distance).abs() < 1e-9,
            "{one:?} {other:?}"
        );
        for _ in 0..300 {
            let n = random_unit(&mut rng);
            assert!(slab_width(&capsule, &cuboid, &X_BA, &n) <= one.distance + 1e-9);
        }
    }
}

#[test]
fn distance_is_continuous_along_random_paths() {
    let mut rng = ChaCha8Rng::seed_from_u64(24);
    for a in convex_shapes() {
        for b in convex_shapes() {
            let (start, end) = (random_unit(&mut rng) * 1.2, random_unit(&mut rng) * 0.2);
            let rotation = random_unit(&mut rng) * 3.0;
            let steps = 400;
            let mut before: Option<f64> = None;
            for i in 0..=steps {
                let s = f64::from(i) / f64::from(steps);
                let X_BA = Isometry3::new(start + (end - start) * s, rotation * s);
                let now = convex_separation(&a, &b, &X_BA, f64::INFINITY)
                    .unwrap()
                    .distance;
                // φ changes no faster than the points move.
                let fastest =
                    ((end - start).norm() + 3.0 * a.radius_about_origin()) / f64::from(steps);
                // For deep overlaps the direction of least penetration may jump from one side to another.
                if let Some(before) = before
                    && now > -0.05
                {
                    assert!(
                        (now - before).abs() <= fastest * 1.01,
                        "{a:?} {b:?} at {s}: {before} {now}"
                    );
                }
                before = Some(now);
            }
        }
    }
}

#[test]
fn overlap_depth_is_no_larger_than_along_a_thousand_directions() {
    let mut rng = ChaCha8Rng::seed_from_u64(25);
    let (mut found, mut missed) = (0, 0);
    for a in convex_shapes() {
        for b in convex_shapes() {
            for _ in 0..6 {
                let X_BA = random_pose(&mut rng, 0.25);
                let s = convex_separation(&a, &b, &X_BA, f64::INFINITY).unwrap();
                if s.distance >= 0.0 {
                    continue;
                }
                found += 1;
                let best = (0..1000)
                    .map(|_| slab_width(&a, &b, &X_BA, &random_unit(&mut rng)))
                    .fold(f64::MIN, f64::max);
                assert!(
                    best <= 0.5 * s.distance,
                    "{a:?} {b:?}: less than half as deep elsewhere, {best} {}",
                    s.distance
                );
                if best > 0.99 * s.distance {
                    missed += 1;
                }
            }
        }
    }
    // The search is local from several starts: deep overlaps of long bodies may end in the second smallest penetration.
    assert!(missed * 20 <= found, "{missed} of {found}");
}

#[test]
fn degenerate_poses_give_no_nan() {
    let rotations = [
        Vector3::zeros(),
        Vector3::x() * std::f64::consts::FRAC_PI_2,
        Vector3::x() * std::f64::consts::PI,
    ];
    let shifts = [
        Vector3::zeros(),
        Vector3::z() * 0.3,
        Vector3::x() * 0.4,
        Vector3::new(1e-300, 0.0, 0.0),
    ];
    for a in convex_shapes() {
        for b in convex_shapes() {
            for rotation in rotations {
                for shift in shifts {
                    let X_BA = Isometry3::new(shift, rotation);
                    for p in contact(&a, &b, &X_BA, 1.0) {
                        let sum = p.p_A.sum() + p.p_B.sum() + p.normal.sum() + p.phi + p.share;
                        assert!(
                            sum.is_finite() && (p.normal.norm() - 1.0).abs() < 1e-9,
                            "{a:?} {b:?} {X_BA}: {p:?}"
                        );
                    }
                }
            }
        }
    }
}

fn cube() -> Shape {
    Shape::cuboid(Vector3::repeat(0.2)).unwrap()
}

#[track_caller]
fn check_stacked(X_BA: &Isometry3<f64>, phi: f64) -> Vec<PairPoint> {
    let points = contact(&cube(), &cube(), X_BA, 1e-3);
    for p in &points {
        assert!((p.phi - phi).abs() < 1e-12, "{p:?}");
        assert!((p.normal - Vector3::z()).norm() < 1e-12);
    }
    let total: f64 = points.iter().map(|p| p.share).sum();
    let mean = points.iter().map(|p| p.p_A * p.share).sum::<Vector3<f64>>() / total;
    assert!(
        (mean - Vector3::new(0.0, 0.0, mean.z)).norm() < 1e-12,
        "symmetric about the axis: {mean}"
    );
    points
}

#[test]
fn equal_stacked_boxes_touch_at_four_corners() {
    for depth in [-1e-5, -1e-9, 0.0, 1e-9, 1e-5] {
        let points = check_stacked(&Isometry3::translation(0.0, 0.0, 0.2 + depth), depth);
        assert_eq!(points.len(), 4);
        assert!(points.iter().all(|p| (p.share - 1.0).abs() < 1e-12));
        let mut keys: Vec<_> = points.iter().map(|p| (p.feature_A, p.feature_B)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4);
    }
}

#[test]
fn boxes_rotated_by_45_degrees_touch_at_eight_points_of_half_share() {
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::z() * std::f64::consts::FRAC_PI_4);
    let X_BA = Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.2 - 1e-5).into(), rotation);
    let points = check_stacked(&X_BA, -1e-5);
    assert_eq!(points.len(), 8);
    let share = points[0].share;
    assert!(points.iter().all(|p| (p.share - share).abs() < 1e-12));
}

/// Force and moment of springs on a manifold, to test continuity of φ, position and share together.
fn wrench(points: &[PairPoint]) -> Vector3<f64> {
    points.iter().fold(Vector3::zeros(), |w, p| {
        let f = p.share * (-p.phi).max(0.0) * 1e6;
        w + Vector3::new(f, p.p_A.x * f, p.p_A.y * f)
    })
}

#[test]
fn wrench_on_a_stacked_box_is_continuous_in_its_pose() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    for size in [1e-12, 1e-10, 1e-9, 1e-8, 1e-6] {
        let base = Isometry3::translation(0.0, 0.0, 0.2 - 1e-5);
        let reference = wrench(&contact(&cube(), &cube(), &base, 1e-3));
        for _ in 0..100 {
            let X_BA =
                Isometry3::new(random_unit(&mut rng) * size, random_unit(&mut rng) * size) * base;
            let w = wrench(&contact(&cube(), &cube(), &X_BA, 1e-3));
            // 4 points at 1e6 N/m: 4e6 N per metre of depth; shares change by 1/0.2 m of shift, with a load of 40 N.
            assert!(
                (w - reference).norm() <= 2e7 * size + 1e-9,
                "{size}: {w} {reference}"
            );
        }
    }
}

#[test]
fn small_box_rests_on_a_large_one_and_edge_crosses_edge_in_one_point() {
    let plate = Shape::cuboid(Vector3::new(2.0, 2.0, 0.1)).unwrap();
    let points = contact(
        &cube(),
        &plate,
        &Isometry3::translation(0.3, -0.4, 0.15 - 1e-6),
        1e-3,
    );
    assert_eq!(points.len(), 4);
    assert!(
        points
            .iter()
            .all(|p| (p.phi + 1e-6).abs() < 1e-12 && (p.share - 1.0).abs() < 1e-9)
    );

    // Two bars on their edges, crosswise.
    let bar = Shape::cuboid(Vector3::new(1.0, 0.2, 0.2)).unwrap();
    let half = 0.1 * std::f64::consts::SQRT_2;
    let quarter = Vector3::x() * std::f64::consts::FRAC_PI_4;
    let lower = Isometry3::new(Vector3::zeros(), quarter);
    let upper = Isometry3::new(
        Vector3::z() * (2.0 * half - 1e-4),
        Vector3::z() * std::f64::consts::FRAC_PI_2,
    ) * Isometry3::new(Vector3::zeros(), quarter);
    let points = contact(&bar, &bar, &lower.inv_mul(&upper), 1e-5);
    let deep: Vec<_> = points.iter().filter(|p| p.phi < 1e-5).collect();
    assert_eq!(deep.len(), 1);
    assert!(
        (deep[0].phi + 1e-4).abs() < 1e-12
            && (lower * deep[0].normal - Vector3::z()).norm() < 1e-12
    );
}

#[test]
fn cylinder_stands_on_eight_points_and_lies_on_three() {
    let plate = Shape::cuboid(Vector3::new(2.0, 2.0, 0.1)).unwrap();
    let can = Shape::cylinder(0.1, 0.3).unwrap();
    let standing = contact(
        &can,
        &plate,
        &Isometry3::translation(0.1, 0.2, 0.2 - 1e-5),
        1e-3,
    );
    let total: f64 = standing.iter().map(|p| p.share).sum();
    assert_eq!(standing.len(), 8);
    assert!((total - 4.0).abs() < 1e-9);
    let mean = standing
        .iter()
        .map(|p| p.p_A * p.share)
        .sum::<Vector3<f64>>()
        / total;
    assert!((mean.xy() - Vector2::new(0.1, 0.2)).norm() < 1e-12);

    let lying = Isometry3::new(
        Vector3::new(0.0, 0.0, 0.15 - 1e-5),
        Vector3::x() * std::f64::consts::FRAC_PI_2,
    );
    let points = contact(&can, &plate, &lying, 1e-3);
    assert!(points.iter().all(|p| (p.phi + 1e-5).abs() < 1e-9));
    assert_eq!(as_line(&points), (2.0, 0.25));
    assert!((points[0].p_A - points[2].p_A).norm() > 0.299);
}

#[test]
fn capsule_on_a_box_and_parallel_capsules_touch_along_a_line() {
    let plate = Shape::cuboid(Vector3::new(2.0, 2.0, 0.1)).unwrap();
    let capsule = Shape::capsule(0.1, 0.4).unwrap();
    let lying = Vector3::x() * std::f64::consts::FRAC_PI_2;
    let points = contact(
        &capsule,
        &plate,
        &Isometry3::new(Vector3::z() * (0.15 - 1e-5), lying),
        1e-3,
    );
    assert_eq!(as_line(&points), (2.0, 0.25));
    assert!(points.iter().all(|p| (p.phi + 1e-5).abs() < 1e-12));
    let beside = Isometry3::translation(0.2 - 1e-5, 0.0, 0.1);
    let points = contact(&capsule, &capsule, &beside, 1e-3);
    // Three quarters of the lines overlap.
    assert_eq!(as_line(&points), (1.75, 0.25));
    assert!(
        points
            .iter()
            .all(|p| (p.phi + 1e-5).abs() < 1e-12 && (p.normal - Vector3::x()).norm() < 1e-12)
    );
}

/// Share of a line of contact, and its moment of friction relative to that share and to the length of the line.
fn as_line(points: &[PairPoint]) -> (f64, f64) {
    assert_eq!(points.len(), 3);
    let center = Vector3::from(points.iter().map(|p| p.p_B).sum::<Vector3<f64>>() / 3.0);
    let arm = |p: &PairPoint| (p.p_B - center).norm();
    let total: f64 = points.iter().map(|p| p.share).sum();
    let length = 2.0 * points.iter().map(arm).fold(0.0, f64::max);
    let moment: f64 = points.iter().map(|p| p.share * arm(p)).sum();
    let rounded = |x: f64| (x * 1e9).round() / 1e9;
    (rounded(total), rounded(moment / (total * length)))
}

#[test]
fn lying_shapes_touch_a_half_space_along_a_line() {
    let lying = Vector3::x() * std::f64::consts::FRAC_PI_2;
    let at = |height: f64, turn: Vector3<f64>| {
        Isometry3::new(Vector3::new(0.3, -0.2, height - 1e-5), turn)
    };
    let eighth = std::f64::consts::FRAC_PI_4;
    let edge = 0.1 * std::f64::consts::SQRT_2;
    let elliptic = Shape::elliptic_cylinder(Vector2::new(0.1, 0.05), 0.3).unwrap();
    for (shape, pose) in [
        (Shape::cylinder(0.1, 0.3).unwrap(), at(0.1, lying)),
        (Shape::capsule(0.1, 0.4).unwrap(), at(0.1, lying)),
        (elliptic, at(0.05, lying)),
        (
            Shape::cuboid(Vector3::new(0.5, 0.2, 0.2)).unwrap(),
            at(edge, Vector3::x() * eighth),
        ),
    ] {
        let points = on_half_space(&shape, &pose, 5e-6);
        assert_eq!(as_line(&points), (2.0, 0.25), "{shape:?}");
        assert!(points.iter().all(|p| (p.phi + 1e-5).abs() < 1e-12));
    }
    // A box on its face keeps its corners, however slightly it is tilted.
    for tilt in [0.0, 1e-12, 1e-6, 1e-3] {
        let flat = at(0.1, Vector3::x() * tilt);
        let points = on_half_space(&cube(), &flat, 1e-3);
        assert!(points.len() == 4 && points.iter().all(|p| p.share == 1.0));
    }
}

#[test]
fn wrench_of_a_tilting_wheel_is_continuous() {
    let wheel = Shape::cylinder(0.1, 0.05).unwrap();
    let plate = Shape::cuboid(Vector3::new(2.0, 2.0, 0.1)).unwrap();
    let pose = |tilt: f64, top: f64| {
        let turn = Vector3::x() * (std::f64::consts::FRAC_PI_2 + tilt);
        Isometry3::new(Vector3::z() * (top + 0.1), turn)
    };
    let on_plate = |tilt| wrench(&contact(&wheel, &plate, &pose(tilt, 0.05), 1e-2));
    let on_floor = |tilt| wrench(&on_half_space(&wheel, &pose(tilt, 0.0), 1e-2));
    let grounds: [&dyn Fn(f64) -> Vector3<f64>; 2] = [&on_plate, &on_floor];
    for at in grounds {
        let step = 1e-4;
        for i in -3000..3000 {
            let tilt = f64::from(i) * step;
            // A depth of 7 mm at most at 2e6 N/m, moved by 4 µm, and a share that changes by a hundredth of it in a milliradian.
            let change = (at(tilt + step) - at(tilt)).norm();
            assert!(change < 30.0, "{tilt}: {change}");
        }
    }
}

#[test]
fn the_points_of_rotating_capsules_move_together_continuously() {
    let capsule = Shape::capsule(0.1, 0.4).unwrap();
    let at = |angle: f64| {
        let X = Isometry3::new(Vector3::new(0.2 - 1e-4, 0.0, 0.1), Vector3::x() * angle);
        let points = contact(&capsule, &capsule, &X, 1e-3);
        let force: f64 = points.iter().map(|p| p.share * -p.phi).sum();
        let moment: f64 = points.iter().map(|p| p.share * -p.phi * p.p_B.z).sum();
        (points.len(), force * 1e4, moment * 1e4)
    };
    let (line, one) = (at(0.0), at(2e-3));
    assert_eq!((line.0, one.0), (3, 1));
    let mut last = line;
    for i in 1..=1000 {
        let now = at(2e-6 * f64::from(i));
        // Forces are of order one, lever arms 0.1 m.
        assert!(
            (now.1 - last.1).abs() < 0.01 && (now.2 - last.2).abs() < 0.002,
            "{i}: {last:?} {now:?}"
        );
        last = now;
    }
}

#[test]
fn every_shape_touches_a_half_space_at_its_lowest_points() {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    for a in convex_shapes() {
        for _ in 0..30 {
            let mut X_BA = random_pose(&mut rng, 1.0);
            let down = X_BA.inverse_transform_vector(&-Vector3::z());
            let height = (X_BA * support(&a, &down)).z;
            X_BA.translation.vector.z -= height + 1e-4;
            let mut points = Vec::new();
            half_space_points(&a, &X_BA, 1e-3, &mut points);
            assert!((lowest(&points) + 1e-4).abs() < 1e-12, "{a:?}");
            for p in &points {
                let on_A = a
                    .signed_distance(&X_BA.inverse_transform_point(&p.p_A.into()))
                    .value;
                assert!(on_A.abs() < 1e-12, "{a:?}: {on_A}");
            }
        }
    }
}

#[test]
fn brute_force_over_surface_points_finds_no_smaller_distance() {
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    for a in convex_shapes() {
        let samples = surface_points(&a, 60);
        for b in convex_shapes() {
            let mut X_BA = random_pose(&mut rng, 0.2);
            X_BA.translation.vector += random_unit(&mut rng);
            let s = convex_separation(&a, &b, &X_BA, f64::INFINITY).unwrap();
            let brute = samples
                .iter()
                .map(|p| b.signed_distance(&(X_BA * p)).value)
                .fold(f64::MAX, f64::min);
            if s.distance > 0.0 {
                assert!(brute >= s.distance - 1e-9, "{a:?} {b:?}");
                assert!(
                    brute <= s.distance + 0.02,
                    "{a:?} {b:?}: {brute} {}",
                    s.distance
                );
            }
        }
    }
}
