use super::*;
use crate::test_support::box_mesh;
use nalgebra::Matrix3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn all_bounded() -> Vec<Shape> {
    let (vertices, triangles) = box_mesh(Vector3::new(0.1, 0.2, 0.3));
    vec![
        Shape::sphere(0.3).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.4, 0.6)).unwrap(),
        Shape::cylinder(0.2, 0.7).unwrap(),
        Shape::elliptic_cylinder(Vector2::new(0.4, 0.1), 0.5).unwrap(),
        Shape::capsule(0.15, 0.4).unwrap(),
        Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.4)).unwrap(),
        Shape::cone(0.25, 0.6).unwrap(),
        Shape::convex_hull(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ]
}

#[test]
fn mass_properties_agree_with_random_sampling() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let n = 200_000;
    for shape in all_bounded() {
        let bounds = shape.local_aabb();
        let half = bounds.half_extents();
        let (mut inside, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for _ in 0..n {
            let p =
                bounds.center() + Vector3::from_fn(|i, _| rng.random_range(-1.0..1.0) * half[i]);
            if shape.signed_distance(&p).value < 0.0 {
                inside += 1.0;
                first += p.coords;
                second += p.coords * p.coords.transpose();
            }
        }
        let found = shape.mass_properties(1000.0).unwrap();
        let volume = 8.0 * half.product() * inside / f64::from(n);
        let center: Vector3<f64> = first / inside;
        let central = second / inside - center * center.transpose();
        let inertia = (Matrix3::identity() * central.trace() - central) * found.mass;
        // Monte Carlo: one standard deviation is about size / √n = 0.2 %.
        let size = shape.size();
        assert!((found.volume - volume).abs() < 0.01 * volume, "{shape:?}");
        assert!(
            (found.center.coords - center).norm() < 0.005 * size,
            "{shape:?}"
        );
        assert!(
            (found.inertia - inertia).norm() < 0.02 * inertia.norm(),
            "{shape:?}"
        );
    }
}

#[test]
fn box_hull_and_mesh_of_a_box_have_the_same_mass_properties() {
    let half = Vector3::new(0.1, 0.2, 0.3);
    let (mut vertices, triangles) = box_mesh(half);
    let offset = Vector3::new(10.0, -20.0, 5.0);
    for v in &mut vertices {
        *v += offset;
    }
    let exact = Shape::cuboid(half * 2.0)
        .unwrap()
        .mass_properties(700.0)
        .unwrap();
    for shape in [
        Shape::convex_hull(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ] {
        let found = shape.mass_properties(700.0).unwrap();
        // Round-off of coordinates of size 23 m relative to a size of 0.1 m.
        assert!((found.mass - exact.mass).abs() < 1e-11 * exact.mass);
        assert!((found.center.coords - offset).norm() < 1e-12);
        assert!((found.inertia - exact.inertia).norm() < 1e-11 * exact.inertia.norm());
    }
}

#[test]
fn posed_aabb_contains_the_shape_and_touches_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for shape in all_bounded() {
        for _ in 0..20 {
            let X_WG = crate::test_support::random_pose(&mut rng, 2.0);
            let bounds = shape.aabb(&X_WG);
            let tight = matches!(
                shape,
                Shape::Sphere(_)
                    | Shape::Capsule(_)
                    | Shape::Box(_)
                    | Shape::Cylinder(_)
                    | Shape::EllipticCylinder(_)
                    | Shape::Ellipsoid(_)
            );
            for axis in 0..3 {
                // The plane just outside each side must not cut the shape; for tight boxes the one just inside must.
                for (sign, side) in [(1.0, bounds.max[axis]), (-1.0, bounds.min[axis])] {
                    let mut direction = Vector3::zeros();
                    direction[axis] = sign;
                    let local = X_WG.inverse_transform_vector(&direction);
                    let top = crate::test_support::support(&shape, &local);
                    let reach = (X_WG * top)[axis] * sign;
                    assert!(reach <= side * sign + 1e-12, "{shape:?}");
                    if tight {
                        assert!(reach >= side * sign - 1e-9, "{shape:?} {reach} {side}");
                    }
                }
            }
        }
    }
}

#[test]
fn hull_of_a_box_merges_its_faces_and_drops_inner_points() {
    let (mut vertices, _) = box_mesh(Vector3::new(1.0, 2.0, 3.0));
    vertices.push(Point3::new(0.5, 0.5, 0.5));
    vertices.push(Point3::new(1.0, 0.5, 0.5));
    let Shape::ConvexHull(hull) = Shape::convex_hull(&vertices).unwrap() else {
        panic!("a hull was asked for")
    };
    assert_eq!((hull.faces().len(), hull.edges().len()), (6, 12));
    assert!(
        hull.faces()
            .iter()
            .all(|f| (f.normal.abs().max() - 1.0).abs() < 1e-15)
    );
}

#[test]
fn hull_of_random_points_contains_them_and_satisfies_euler() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for n in [4, 5, 10, 50, 400] {
        let points: Vec<Point3<f64>> = (0..n)
            .map(|_| Point3::from(Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))))
            .collect();
        let Shape::ConvexHull(hull) = Shape::convex_hull(&points).unwrap() else {
            panic!("a hull was asked for")
        };
        let euler = hull.vertices().len() + hull.faces().len() - hull.edges().len();
        assert_eq!(euler, 2, "{n} points");
        for p in &points {
            assert!(
                hull.faces()
                    .iter()
                    .all(|f| f.normal.dot(&p.coords) <= f.offset + 1e-9)
            );
        }
        for _ in 0..50 {
            let d = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let best = points
                .iter()
                .map(|p| d.dot(&p.coords))
                .fold(f64::MIN, f64::max);
            let found = d.dot(&hull.vertices()[hull.support_index(&d)].coords);
            assert!(
                (found - best).abs() < 1e-12,
                "hill climbing must reach the maximum"
            );
        }
    }
}

#[test]
fn bad_shapes_are_refused_with_name_and_value() {
    let message = |r: Result<Shape, GeometryError>| r.unwrap_err().to_string();
    assert!(message(Shape::sphere(-1.0)).contains("sphere: radius = -1"));
    assert!(message(Shape::capsule(0.1, 0.0)).contains("capsule: length = 0"));
    assert!(message(Shape::cuboid(Vector3::new(1.0, f64::NAN, 1.0))).contains("length y = NaN"));
    assert!(Shape::ellipsoid(Vector3::new(1.0, 1.0, f64::INFINITY)).is_err());
    assert!(Shape::cone(0.0, 1.0).is_err() && Shape::cylinder(1.0, -1.0).is_err());
    let flat = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ]
    .map(Point3::from);
    assert!(matches!(
        Shape::convex_hull(&flat),
        Err(GeometryError::FlatHull { points: 4, .. })
    ));
    assert!(matches!(
        Shape::convex_hull(&[]),
        Err(GeometryError::FlatHull { points: 0, .. })
    ));
    let same = [Point3::new(1.0, 1.0, 1.0); 9];
    assert!(matches!(
        Shape::convex_hull(&same),
        Err(GeometryError::FlatHull { .. })
    ));

    let (vertices, triangles) = box_mesh(Vector3::repeat(1.0));
    assert!(matches!(
        Shape::mesh(&vertices, &triangles[1..]),
        Err(GeometryError::OpenMesh { .. })
    ));
    let inward: Vec<_> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    assert!(matches!(
        Shape::mesh(&vertices, &inward),
        Err(GeometryError::Volume { .. })
    ));
    let mut wild = triangles.clone();
    wild[3][1] = 99;
    assert!(matches!(
        Shape::mesh(&vertices, &wild),
        Err(GeometryError::VertexIndex {
            triangle: 3,
            vertex: 99,
            vertices: 8
        })
    ));
    assert!(Shape::mesh(&[], &[]).is_err());
    assert!(Shape::half_space().mass_properties(1.0).is_err());
    assert!(Shape::sphere(1.0).unwrap().mass_properties(0.0).is_err());
}
