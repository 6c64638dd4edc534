//! Equal meshes in positions where their vertices, edges and faces coincide: what a user's first scene looks like.

use super::*;

/// Positions in which a body overlaps a copy of itself, or of its mirror image, by 12 mm along an axis. Flat sides are not
/// flush with each other: equal pressures would fill the space next to them, and their limits differ.
fn aligned(shape: &Shape) -> Vec<Isometry3<f64>> {
    let half = shape.local_aabb().half_extents();
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut poses = Vec::new();
    for k in 0..3 {
        let axis = Vector3::ith(k, 1.0);
        let aside = match shape {
            Shape::Sphere(_) | Shape::Ellipsoid(_) | Shape::Capsule(_) => 0.0,
            _ => 0.5 * half[(k + 1) % 3],
        };
        let shift = axis * (2.0 * half[k] - 0.012)
            + Vector3::ith((k + 1) % 3, aside)
            + Vector3::ith((k + 2) % 3, 0.7 * aside);
        for turn in [
            Vector3::zeros(),
            axis * (2.0 * quarter),
            Vector3::ith((k + 1) % 3, 2.0 * quarter),
        ] {
            poses.push(Isometry3::new(shift, turn));
            poses.push(Isometry3::new(-shift, turn));
        }
        if (half[(k + 1) % 3] - half[(k + 2) % 3]).abs() < 1e-12 {
            poses.push(Isometry3::new(shift, axis * quarter));
        }
    }
    poses
}

fn solids() -> Vec<Shape> {
    let mut solids = bounded();
    solids.push(Shape::cuboid(Vector3::repeat(0.1)).unwrap());
    let corners: Vec<Point3<f64>> = [-0.05, 0.05]
        .into_iter()
        .flat_map(|x| [-0.05, 0.05].map(|y| (x, y)))
        .flat_map(|(x, y)| [-0.05, 0.05].map(|z| Point3::new(x, y, z)))
        .collect();
    solids.push(Shape::convex_hull(&corners).unwrap());
    solids
}

/// Area, force and moment about the world's origin.
fn sums(a: Posed<'_>, b: Posed<'_>) -> [f64; 7] {
    let s = *patch(a, b).summary();
    let moment = s.moment_W + s.center_of_pressure.coords.cross(&s.force_W);
    let (f, m) = (s.force_W, moment);
    [s.area, f.x, f.y, f.z, m.x, m.y, m.z]
}

#[track_caller]
fn check_close(found: &[f64; 7], expected: &[f64; 7], what: &str) {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let load = norm(&expected[1..4]).max(1e-3);
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let scale = if i == 0 { expected[0] } else { load };
        assert!(
            (f - e).abs() <= 2e-6 * scale,
            "{what}, sum {i}: {f}, next to it {e}"
        );
    }
}

#[test]
fn area_force_and_moment_are_continuous_where_meshes_coincide() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let distances = [0.0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9];
    let mut loaded = 0;
    for shape in solids() {
        let soft = Body::compliant(shape.clone(), 0.0);
        let hollow = is_hollow(&soft);
        for partner in [soft.clone(), Body::rigid(shape.clone())] {
            for (n, X) in aligned(&shape).into_iter().enumerate() {
                if hollow && n % 5 != 0 {
                    continue;
                }
                let by = crate::test_support::random_point(&mut rng);
                let turn = crate::test_support::random_point(&mut rng);
                let at = |distance: f64| {
                    let moved = Isometry3::new(by * distance, turn * (10.0 * distance));
                    sums(soft.at(moved * X), partner.at(Isometry3::identity()))
                };
                let (ahead, behind) = (at(1e-8), at(-1e-8));
                let mean: Vec<f64> = ahead
                    .iter()
                    .zip(&behind)
                    .map(|(a, b)| 0.5 * (a + b))
                    .collect();
                let mean: [f64; 7] = mean.try_into().unwrap();
                loaded += usize::from(mean[0] > 0.0);
                for distance in distances.into_iter().flat_map(|d| [d, -d]) {
                    let what = format!("{} at {X} moved by {distance}", shape.name());
                    check_close(&at(distance), &mean, &what);
                }
            }
        }
    }
    assert!(loaded > 150, "{loaded}");
}

/// Balls, cylinders and boxes face to face have a plane of symmetry: force along the axis, through it.
#[test]
fn mirrored_bodies_exert_no_lateral_force_and_no_torque() {
    for shape in [
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::cylinder(0.08, 0.2).unwrap(),
        Shape::capsule(0.06, 0.12).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.06, 0.14)).unwrap(),
    ] {
        let (one, other) = (
            Body::compliant(shape.clone(), 0.0),
            Body::compliant(shape.clone(), 0.0),
        );
        let reach = 2.0 * shape.local_aabb().half_extents().z;
        for deep in [0.002, 0.01, 0.02] {
            for X in [
                Isometry3::identity(),
                Isometry3::new(Vector3::new(0.3, 0.2, 0.1), Vector3::new(0.4, 1.0, 0.2)),
            ] {
                let upper = X * Isometry3::translation(0.0, 0.0, reach - deep);
                let s = *patch(one.at(upper), other.at(X)).summary();
                let back = *patch(other.at(X), one.at(upper)).summary();
                let (force, center) = (
                    X.rotation.inverse() * s.force_W,
                    X.inverse() * s.center_of_pressure,
                );
                assert!(force.z > 0.0);
                assert!(
                    force.xy().norm() < 1e-11 * force.z,
                    "{}: {force}",
                    shape.name()
                );
                assert!(
                    center.coords.xy().norm() < 1e-11,
                    "{}: {center}",
                    shape.name()
                );
                if !matches!(shape, Shape::Box(_) | Shape::Cylinder(_)) {
                    assert!((center.z - 0.5 * (reach - deep)).abs() < 1e-11);
                }
                assert!(s.moment_W.norm() < 1e-11 * force.z);
                assert!((s.force_W + back.force_W).norm() < 1e-11 * force.z);
                assert!((s.area - back.area).abs() < 1e-11 * s.area);
            }
        }
    }
}

/// Both fields are p = E/H · min(height over the face, distance from the sides), so the force is E/H times the volume of a
/// frustum of half the overlap's height.
#[test]
fn flush_equal_boxes_have_the_force_of_the_closed_form() {
    let (a, b, depth) = (0.2, 0.15, 0.05);
    let body = Body::compliant(Shape::cuboid(Vector3::new(a, b, 2.0 * depth)).unwrap(), 0.0);
    for deep in [1e-4, 0.002, 0.02] {
        let h = 0.5 * deep;
        let volume = a * b * h - (a + b) * h * h + 4.0 / 3.0 * h * h * h;
        let expected = 1.0e5 / depth * volume;
        let slope = 1.0e5 / depth * a * b;
        for turn in [0.0, std::f64::consts::PI] {
            let X = Isometry3::new(Vector3::z() * (2.0 * depth - deep), Vector3::z() * turn);
            let s = *patch(body.at(X), body.at(Isometry3::identity())).summary();
            assert!(
                (s.force_W.z - expected).abs() < 1e-9 * expected,
                "{}",
                s.force_W.z / expected
            );
            for aside in [1e-16, 1e-14, 1e-12, 1e-10, 1e-8] {
                let X = Isometry3::translation(aside, -0.3 * aside, 0.4 * aside) * X;
                let s = *patch(body.at(X), body.at(Isometry3::identity())).summary();
                let change = (s.force_W.z - expected).abs();
                assert!(
                    change < 1e-9 * expected + aside * slope,
                    "{aside}: {change}"
                );
            }
        }
    }
}

/// The plane of equal pressure is a plane of vertices and faces of both meshes.
#[test]
fn a_patch_in_faces_of_both_meshes_counts_once() {
    let mesh = crate::mesh::generate::tet_cuboid(Vector3::repeat(0.05), [4, 4, 8]).unwrap();
    let field = PressureField::of_tets(&mesh, &compliance(0.0)).unwrap();
    let body = Body {
        shape: Shape::cuboid(Vector3::repeat(0.1)).unwrap(),
        patch: PatchGeometry::Compliant(field),
    };
    let at = |z: f64| {
        let X = Isometry3::translation(0.025, 0.025, 0.075 + z);
        sums(body.at(X), body.at(Isometry3::identity()))
    };
    let near = at(1e-8);
    assert!(near[0] > 0.005, "{near:?}");
    for z in [
        0.0, 1e-16, -1e-16, 1e-14, -1e-14, 1e-12, -1e-12, 1e-10, -1e-10,
    ] {
        check_close(&at(z), &near, &format!("{z}"));
    }
}
