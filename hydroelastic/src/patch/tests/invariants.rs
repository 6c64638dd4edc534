//! Properties that hold for all shapes: equilibrium, symmetry, keys, continuity.

use super::*;

#[test]
fn points_have_force_and_moment_of_the_patch() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for (a, b) in pairs(1e-3) {
        for _ in 0..20 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let patch = patch(a.at(X_WA), b.at(X_WB));
            let s = patch.summary();
            let (force, moment) = wrench(&points(a.at(X_WA), b.at(X_WB)));
            let scale = patch
                .polygons()
                .iter()
                .map(|p| p.pressure * p.area)
                .sum::<f64>();
            assert!((force - s.force_W).norm() <= 1e-9 * scale);
            let expected = s.moment_W + s.center_of_pressure.coords.cross(&s.force_W);
            assert!(
                (moment - expected).norm() <= 1e-9 * scale,
                "{}",
                (moment - expected).norm() / scale
            );
        }
    }
}

#[test]
fn exchanging_the_sides_swaps_the_contact() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    for (a, b) in pairs(1e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let (there, back) = (
                points(a.at(X_WA), b.at(X_WB)),
                points(b.at(X_WB), a.at(X_WA)),
            );
            let (f, m) = wrench(&there);
            let (g, n) = wrench(&back);
            let scale = there
                .iter()
                .map(|c| c.stiffness.of_pair(0.0) * c.signed_distance.abs())
                .sum::<f64>();
            assert!((f + g).norm() <= 1e-10 * scale && (m + n).norm() <= 1e-10 * scale);
            assert_eq!(there.len(), back.len());
            // Groups may be in another order, and two points of a group may have swapped keys.
            let mut sorted: Vec<ContactPoint> = back.iter().map(ContactPoint::swapped).collect();
            for c in &there {
                let nearest = sorted
                    .iter()
                    .enumerate()
                    .map(|(i, d)| {
                        (
                            i,
                            (d.p_WC - c.p_WC).norm() + (d.normal_W - c.normal_W).norm(),
                        )
                    })
                    .min_by(|x, y| x.1.total_cmp(&y.1))
                    .unwrap();
                assert!(
                    nearest.1 < 1e-9,
                    "{} on {}: {}",
                    a.shape.name(),
                    b.shape.name(),
                    nearest.1
                );
                sorted.swap_remove(nearest.0);
            }
        }
    }
}

#[test]
fn a_common_motion_transforms_force_and_patch() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    for (a, b) in pairs(1e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB, X) = (near(&mut rng), near(&mut rng), random_pose(&mut rng, 2.0));
            let here = *patch(a.at(X_WA), b.at(X_WB)).summary();
            let there = *patch(a.at(X * X_WA), b.at(X * X_WB)).summary();
            let scale = here.force_W.norm().max(here.area * here.pressure_max);
            assert!((X.rotation * here.force_W - there.force_W).norm() <= 1e-9 * scale);
            assert!((here.area - there.area).abs() <= 1e-9 * here.area);
            assert!((X.rotation * here.moment_W - there.moment_W).norm() <= 1e-9 * scale);
            if here.area > 0.0 {
                assert!((X * here.center_of_pressure - there.center_of_pressure).norm() < 1e-8);
            }
        }
    }
}

#[test]
fn every_point_is_valid_and_its_key_unique() {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    for (a, b) in pairs(2e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let found = points(a.at(X_WA), b.at(X_WB));
            let mut keys: Vec<_> = found.iter().map(|c| c.key).collect();
            keys.sort_unstable();
            assert!(keys.windows(2).all(|w| w[0] != w[1]));
            for c in &found {
                let PointStiffness::OfPatch {
                    stiffness,
                    fraction_A,
                    ..
                } = c.stiffness
                else {
                    // One is enclosed by the other.
                    assert!(patch(a.at(X_WA), b.at(X_WB)).polygons().is_empty());
                    continue;
                };
                assert!(
                    stiffness > 0.0 && stiffness.is_finite() && (0.0..=1.0).contains(&fraction_A)
                );
                assert!(c.signed_distance.is_finite() && (c.normal_W.norm() - 1.0).abs() < 1e-12);
                assert_eq!(
                    (c.a.primitive, c.b.primitive),
                    (Primitive::Frame, Primitive::Frame)
                );
                assert!((X_WA * Point3::from(c.a.offset) - c.p_WC).norm() < 1e-12);
                assert!((X_WB * Point3::from(c.b.offset) - c.p_WC).norm() < 1e-12);
            }
            assert_eq!(
                found,
                points(a.at(X_WA), b.at(X_WB)),
                "repeated queries give the same result"
            );
        }
    }
}

#[test]
fn force_is_continuous_along_random_paths() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for (a, b) in pairs(1e-3) {
        let (paths, n) = if is_hollow(&a) || is_hollow(&b) {
            (1, 20)
        } else {
            (3, 60)
        };
        for _ in 0..paths {
            let (from, to) = (near(&mut rng), near(&mut rng));
            let force = |s: f64| {
                let shift = from.translation.vector.lerp(&to.translation.vector, s);
                let rotation = from.rotation.slerp(&to.rotation, s);
                let X = Isometry3::from_parts(Translation3::from(shift), rotation);
                patch(a.at(X), b.at(Isometry3::identity()))
                    .summary()
                    .force_W
            };
            // A jump does not shrink with the step size: bisect where it is largest and compare.
            let forces: Vec<_> = (0..=n)
                .map(|i| force(f64::from(i) / f64::from(n)))
                .collect();
            let largest = forces.iter().map(Vector3::norm).fold(0.0, f64::max);
            let worst = (0..n as usize)
                .max_by(|&i, &j| {
                    (forces[i + 1] - forces[i])
                        .norm()
                        .total_cmp(&(forces[j + 1] - forces[j]).norm())
                })
                .unwrap();
            let (mut low, mut high) = (
                worst as f64 / f64::from(n),
                (worst + 1) as f64 / f64::from(n),
            );
            for _ in 0..24 {
                let midpoint = 0.5 * (low + high);
                let (f, g, h) = (force(low), force(midpoint), force(high));
                if (g - f).norm() > (h - g).norm() {
                    high = midpoint;
                } else {
                    low = midpoint;
                }
            }
            let jump = (force(high) - force(low)).norm();
            assert!(
                jump <= 1e-4 * largest.max(1e-3),
                "{} on {}: {jump} of {largest}",
                a.shape.name(),
                b.shape.name()
            );
        }
    }
}
