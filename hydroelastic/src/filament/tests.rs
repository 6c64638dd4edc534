//! Chains, excluded pairs of segments, and moving fields.

use super::*;

/// A straight chain of unit segments along x.
fn chain(n: usize, radius: f64) -> Filament {
    let points: Vec<_> = (0..=n).map(|i| Point3::new(i as f64, 0.0, 0.0)).collect();
    let segments: Vec<_> = (0..n as u32).map(|i| [i, i + 1]).collect();
    Filament::new(0, &points, &segments, &vec![radius; n + 1]).unwrap()
}

#[test]
fn segments_touch_only_if_the_arc_between_them_is_longer_than_the_section_is_wide() {
    let thin = chain(6, 0.1);
    assert!(thin.excludes(2, 2) && thin.excludes(2, 3));
    assert!(!thin.excludes(2, 4), "one segment lies between");
    let thick = chain(6, 0.75);
    assert!(thick.excludes(1, 3), "an arc of 1 under a width of 1.5");
    assert!(!thick.excludes(0, 3));
}

#[test]
fn a_ring_is_measured_either_way_round() {
    let n = 12;
    let points: Vec<_> = (0..n)
        .map(|i| {
            let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
            Point3::new(c, s, 0.0)
        })
        .collect();
    let segments: Vec<_> = (0..n as u32).map(|i| [i, (i + 1) % n as u32]).collect();
    let ring = Filament::new(0, &points, &segments, &vec![0.3; n as usize]).unwrap();
    // A chord is 0.518 long: the arc between 0 and 10 is one chord, between 0 and 9 it is two.
    assert!(ring.excludes(0, 11) && ring.excludes(0, 10));
    assert!(!ring.excludes(0, 9) && !ring.excludes(0, 6));
    assert_eq!(ring.neighbours(0), [Some(11), Some(1)]);
}

#[test]
fn two_chains_in_a_list_do_not_exclude_each_other() {
    let points: Vec<_> = (0..6)
        .map(|i| Point3::new(f64::from(i), 0.0, 0.0))
        .collect();
    let segments = [[0, 1], [1, 2], [3, 4], [4, 5]];
    let two = Filament::new(0, &points, &segments, &[5.0; 6]).unwrap();
    assert!(two.excludes(0, 1) && !two.excludes(1, 2));
    assert_eq!(two.neighbours(1), [Some(0), None]);
}

#[test]
fn a_field_follows_its_filament_and_stays_where_only_velocities_change() {
    let filament = chain(3, 0.1);
    let mut filament = filament.with_field(&Compliance::default(), &[]).unwrap();
    let field = |f: &Filament| f.field().unwrap().vertices().to_vec();
    let (before, up) = (field(&filament), Vector3::z());
    let points: Vec<_> = filament.points().iter().map(|p| p + up).collect();
    let still = vec![Vector3::zeros(); points.len()];
    filament.move_to(&points, &still, &[], 0.1).unwrap();
    let after = field(&filament);
    let moved = before.iter().zip(&after);
    assert!(moved.fold(0.0, |most: f64, (x, y)| most.max((y - x - up).norm())) < 1e-12);
    let top = filament.swept_aabb(0.0).max.z;
    filament
        .move_to(&points, &vec![up; points.len()], &[], 0.1)
        .unwrap();
    assert_eq!(field(&filament), after);
    assert!((filament.swept_aabb(0.0).max.z - top - 0.1).abs() < 1e-12);
}

#[test]
fn a_segment_without_its_vertices_is_refused() {
    let points = [Point3::origin(), Point3::new(1.0, 0.0, 0.0)];
    for ends in [[0, 2], [1, 1]] {
        let refused = Filament::new(0, &points, &[ends], &[0.1; 2]);
        assert!(matches!(
            refused,
            Err(GeometryError::FilamentSegment { segment: 0, .. })
        ));
    }
    assert!(Filament::new(0, &points, &[[0, 1]], &[0.1]).is_err());
}
