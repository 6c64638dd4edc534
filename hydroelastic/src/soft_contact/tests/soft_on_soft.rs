//! Soft bodies on each other and on themselves.

use super::*;

#[test]
fn two_soft_cubes_have_a_force_proportional_to_their_common_area() {
    let depth = 1e-3;
    let cube = |z: f64| {
        let X = Isometry3::translation(0.0, 0.0, z);
        Soft::cuboid(Vector3::repeat(0.05), [8, 8, 8], &X, Vector3::zeros())
    };
    let (lower, mut upper) = (cube(0.0), cube(0.1 - depth));
    // Shifted by a fraction of a cell, so that no features coincide.
    upper
        .points
        .iter_mut()
        .for_each(|p| *p += Vector3::new(0.013, 0.007, 0.0));
    upper.id = 2;
    upper.update();
    let points = collide(upper.posed(), lower.posed());
    let (force, _) = wrench(&points);
    let exact = (0.1 - 0.013) * (0.1 - 0.007) * depth / lower.mesh.vertex_area();
    assert!((force.z / exact - 1.0).abs() < 0.02, "{} {exact}", force.z);
    let (back, _) = wrench(&collide(lower.posed(), upper.posed()));
    assert!((force + back).norm() < 1e-9 * exact, "{force} {back}");
    for c in points.iter().filter(|c| c.signed_distance < 0.0) {
        let primitives = [c.a.primitive, c.b.primitive];
        let in_tet = |p: &Primitive| matches!(p, Primitive::Tetrahedron(_));
        assert!(primitives.iter().any(in_tet), "{primitives:?}");
        assert!(!primitives.iter().all(in_tet), "{primitives:?}");
        assert!((c.a.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn bricks_face_to_face_touch_in_their_common_triangles() {
    let (half, overlap, tilt) = (0.05, 1e-5, 1e-4);
    let lower = Soft::cuboid(
        Vector3::repeat(half),
        [1, 1, 1],
        &Isometry3::identity(),
        Vector3::zeros(),
    );
    let X = Isometry3::new(
        Vector3::new(0.0, 0.0, 2.0 * half - overlap),
        Vector3::new(0.0, tilt, 0.0),
    );
    let mut upper = Soft::cuboid(Vector3::repeat(half), [1, 1, 1], &X, Vector3::zeros());
    upper.id = 2;
    let points = collide(upper.posed(), lower.posed());
    // Two triangles on two, three points inside of each, whether the rims meet or not.
    let loaded = points.iter().filter(|c| c.signed_distance < -1e-8).count();
    assert!((12..=16).contains(&loaded), "{loaded}");
    // The gap is −δ − θx: integrated over the side. The corners have a twentieth of the weight.
    let (force, moment) = wrench(&points);
    let side = 2.0 * half;
    let of_area = 1.0 / lower.mesh.vertex_area();
    let expected = of_area * side * side * overlap;
    assert!(
        (force.z / expected - 1.0).abs() < 0.06,
        "{force} {expected}"
    );
    let expected = -of_area * tilt * side.powi(4) / 12.0;
    assert!(
        (moment.y / expected - 1.0).abs() < 0.16,
        "{moment} {expected}"
    );
}

#[test]
fn a_body_at_rest_does_not_touch_itself_and_a_folded_one_does() {
    let half = Vector3::new(0.2, 0.02, 0.005);
    let strip = Soft::cuboid(
        half,
        [40, 4, 1],
        &Isometry3::identity(),
        Vector3::x() * 30.0,
    );
    assert!(collide(strip.posed(), strip.posed()).is_empty());
    // The right half over the left one, 2 mm into it, ignoring its thickness.
    let fold = |p: &Point3<f64>| match p.x > 0.02 {
        true => Point3::new(-p.x, p.y, 0.008 - p.z),
        false => *p,
    };
    let strip = strip.moved(fold, |_| false);
    let points = collide(strip.posed(), strip.posed());
    let loaded: Vec<_> = points.iter().filter(|c| c.signed_distance < 0.0).collect();
    assert!(loaded.len() > 20, "{}", loaded.len());
    let keys: std::collections::BTreeSet<_> = points.iter().map(|c| c.key).collect();
    assert_eq!(keys.len(), points.len(), "each pair is reported once");
    // Away from the crease, whose elements are crushed, the layers overlap; the rest are slivers along the rim.
    let (mut all, mut flat) = (0.0, 0.0);
    for c in loaded.iter().filter(|c| c.p_WC.x < -0.04) {
        let share = c.stiffness.of_pair(1.0);
        all += share;
        flat += if c.normal_W.z.abs() > 0.9 { share } else { 0.0 };
    }
    assert!(flat > 0.8 * all && all > 0.0, "{flat} of {all}");
}

#[test]
fn inverted_elements_do_not_touch_soft_bodies_or_their_own() {
    let lower = Soft::cube(0.0);
    let mut upper = Soft::cube(0.099);
    upper.id = 2;
    let upright = collide(upper.posed(), lower.posed()).len();
    // The same cube rotated inside out, in position: the remaining points are separated.
    let mirror = |p: &Point3<f64>| Point3::new(p.x, p.y, 0.198 - p.z);
    let upper = upper.moved(mirror, |_| true);
    let mirrored = collide(upper.posed(), lower.posed());
    let gaps: Vec<f64> = mirrored.iter().map(|c| c.signed_distance).collect();
    assert!(
        upright > 0 && gaps.iter().all(|gap| *gap >= 0.0),
        "{gaps:?} {mirrored:?}"
    );
    // The right half of a strip in its left one, rotated or mirrored.
    let strip = || {
        let half = Vector3::new(0.2, 0.02, 0.005);
        let X = Isometry3::identity();
        Soft::cuboid(half, [40, 4, 1], &X, Vector3::zeros())
    };
    let right = |p: &Point3<f64>| p.x > 0.02;
    let fold = |tilt: f64| {
        move |p: &Point3<f64>| match p.x > 0.02 {
            true => Point3::new(-p.x, p.y, 0.008 + tilt * p.z),
            false => *p,
        }
    };
    let away = |strip: &Soft| {
        let points = collide(strip.posed(), strip.posed());
        let loaded = points.iter().filter(|c| c.signed_distance < 0.0);
        loaded.filter(|c| c.p_WC.x < -0.04).count()
    };
    let rotated = away(&strip().moved(fold(-1.0), |_| false));
    let mirrored = away(&strip().moved(fold(1.0), right));
    assert!(rotated > 20 && mirrored == 0, "{rotated} {mirrored}");
}
