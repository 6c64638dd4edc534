//! The points of a soft body are fixed in its material, and what they carry is continuous in its configuration.

use std::collections::BTreeMap;

use super::*;

/// k(−φ)₊ of every point by its key, with k of share one 1 N/m.
fn loads(points: &[ContactPoint]) -> BTreeMap<crate::ContactKey, f64> {
    let load = |c: &ContactPoint| c.stiffness.of_pair(1.0) * (-c.signed_distance).max(0.0);
    points.iter().map(|c| (c.key, load(c))).collect()
}

/// The largest change of a point's load between two configurations.
fn jump(from: &[ContactPoint], to: &[ContactPoint]) -> f64 {
    let (from, to) = (loads(from), loads(to));
    let keys = from.keys().chain(to.keys());
    let of = |loads: &BTreeMap<_, f64>, key| loads.get(key).copied().unwrap_or(0.0);
    keys.map(|key| (of(&from, key) - of(&to, key)).abs())
        .fold(0.0, f64::max)
}

#[test]
fn points_keep_their_keys_places_and_stiffness_while_the_gap_changes() {
    let shapes = [
        (Shape::half_space(), 0.0),
        (Shape::cuboid(Vector3::new(1.0, 1.0, 0.2)).unwrap(), -0.1),
        (Shape::cuboid(Vector3::new(0.07, 0.03, 0.2)).unwrap(), -0.1),
        (Shape::sphere(0.03).unwrap(), -0.03),
        (Shape::cylinder(0.02, 0.1).unwrap(), -0.05),
    ];
    for (shape, z) in &shapes {
        let at = |height: f64| {
            let X = Isometry3::new(
                Vector3::new(0.003, 0.001, 0.05 + height),
                Vector3::new(3e-5, 4e-5, 0.0),
            );
            let soft = Soft::cuboid(Vector3::repeat(0.05), [4, 4, 4], &X, Vector3::zeros());
            collide(
                soft.posed(),
                still(shape, Isometry3::translation(0.0, 0.0, *z)),
            )
        };
        let mut last = at(-2e-5);
        let mut least = f64::INFINITY;
        for k in 1..80 {
            let now = at(-2e-5 + 5e-7 * f64::from(k));
            // No point moves by more than this, so none may change its load by more than its stiffness times this.
            let stiffest = now.iter().map(|c| c.stiffness.of_pair(1.0));
            let most = stiffest.fold(0.0, f64::max) * 5.1e-7;
            assert!(
                jump(&last, &now) <= most,
                "{}: {}",
                shape.name(),
                jump(&last, &now)
            );
            let places: BTreeMap<_, _> = last.iter().map(|c| (c.key, c)).collect();
            for c in now.iter().filter(|c| c.signed_distance < 5e-5) {
                let before = places[&c.key];
                assert_eq!(before.a, c.a);
                let k = [before, c].map(|c| c.stiffness.of_pair(1.0));
                assert!((k[0] / k[1] - 1.0).abs() < 0.05, "{}: {k:?}", shape.name());
            }
            let (force, _) = wrench(&now);
            least = least.min(force.norm());
            last = now;
        }
        assert!(least < 1e-6, "it lifts off: {least}");
    }
}

#[test]
fn the_force_of_a_soft_body_that_slides_over_an_edge_does_not_jump() {
    let table = Shape::cuboid(Vector3::new(0.2, 0.2, 0.1)).unwrap();
    let force = |k: u32| {
        let at = Vector3::new(0.029 + 2e-5 * f64::from(k), 0.0131, 0.0999);
        let X = Isometry3::new(at, 0.4 * Vector3::z());
        let soft = Soft::cuboid(Vector3::repeat(0.05), [2, 2, 2], &X, Vector3::zeros());
        wrench(&collide(soft.posed(), still(&table, Isometry3::identity()))).0
    };
    let forces: Vec<Vector3<f64>> = (0..7200).map(force).collect();
    let largest = forces.iter().map(Vector3::norm).fold(0.0, f64::max);
    let steps = forces.windows(2).map(|w| (w[1] - w[0]).norm());
    let jump = steps.fold(0.0, f64::max);
    let (first, weight) = (
        forces[0].norm(),
        0.01 * 1e-4 / Soft::cube(0.0).mesh.vertex_area(),
    );
    assert!((first / weight - 1.0).abs() < 1e-6, "{first} {weight}");
    assert!(forces[7199].norm() < 1e-3 * largest);
    // A point inside the table leaves its upper side where its side is nearer: within its depth, 0.1 mm.
    assert!(jump < 0.02 * largest, "{}", jump / largest);
}

#[test]
fn two_soft_bodies_press_continuously_in_their_distance() {
    let lower = Soft::cube(0.0);
    let at = |height: f64| {
        let X = Isometry3::new(
            Vector3::new(0.013, 0.007, 0.1 + height),
            Vector3::new(3e-5, 4e-5, 0.0),
        );
        let mut upper = Soft::cuboid(Vector3::repeat(0.05), [3, 3, 3], &X, Vector3::zeros());
        upper.id = 2;
        collide(upper.posed(), lower.posed())
    };
    let mut last = at(-2e-5);
    for k in 1..80 {
        let now = at(-2e-5 + 5e-7 * f64::from(k));
        let stiffest = now.iter().map(|c| c.stiffness.of_pair(1.0));
        let most = stiffest.fold(0.0, f64::max) * 5.1e-7;
        assert!(jump(&last, &now) <= most, "{}", jump(&last, &now));
        last = now;
    }
    assert!(wrench(&last).0.norm() < 1e-6);
}

#[test]
fn the_rule_is_exact_for_polynomials_of_second_degree() {
    // One cell on a plane: ∫ φ, and moments ∫ φ x, of a linear gap over both triangles of its side.
    let (tilt, depth) = (0.01, 1e-3);
    let X = Isometry3::new(
        Vector3::new(0.0, 0.0, 0.05 * f64::cos(tilt) - depth),
        Vector3::y() * tilt,
    );
    let soft = Soft::cuboid(Vector3::repeat(0.05), [1, 1, 1], &X, Vector3::zeros());
    let plane = Isometry3::identity();
    let floor = Shape::half_space();
    let points = collide(soft.posed(), still(&floor, plane));
    let side = X.rotation * -Vector3::z();
    let under = |c: &&ContactPoint| match c.a.primitive {
        Primitive::Triangle(t) => soft.mesh.normal(t).dot(&side) > 0.999,
        _ => true,
    };
    let (mut force, mut moment) = (0.0, 0.0);
    for c in points.iter().filter(under) {
        let load = c.stiffness.of_pair(1.0) * -c.signed_distance;
        let x = (X.inverse() * c.p_WC).x;
        force += load;
        moment += load * x;
    }
    let of_area = f64::cos(tilt) / soft.mesh.vertex_area();
    let (exact, second) = (
        0.01 * depth * of_area,
        0.01 * 0.01 / 12.0 * f64::sin(tilt) * of_area,
    );
    assert!((force / exact - 1.0).abs() < 2e-3, "{force} {exact}");
    assert!((moment / second - 1.0).abs() < 2e-2, "{moment} {second}");
}
