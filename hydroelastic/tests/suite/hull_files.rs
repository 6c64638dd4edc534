//! The hull of a mesh file is the hull of its points, whatever its elements are.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, SurfaceOptions, SurfaceUse, hull_from_bytes, surface_from_bytes,
};
use pliant_hydroelastic::{ConvexHull, Shape};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const CORNERS: &str = "v 0 0 0\nv 0 0 1\nv 0 1 0\nv 0 1 1\nv 1 0 0\nv 1 0 1\nv 1 1 0\nv 1 1 1\n";
const SIDES: &str = "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\n\
    f 2 6 8\nf 2 8 4\n";

fn hull(bytes: &[u8], name: &str) -> Result<(ConvexHull, LoadReport), MeshError> {
    hull_from_bytes(bytes, name, &Vector3::repeat(1.0))
}

fn volume(hull: ConvexHull) -> f64 {
    let shape = Shape::ConvexHull(Arc::new(hull));
    shape.mass_properties(1.0).expect("a volume").mass
}

#[test]
fn faults_of_a_surface_do_not_change_the_hull_of_a_cube() {
    let faults = [
        ("whole", ""),
        ("a duplicate triangle", "f 1 2 4\n"),
        ("a duplicate triangle, reversed", "f 4 2 1\n"),
        ("an edge of four triangles", "f 1 5 8\nf 1 8 4\n"),
        ("a repeated corner", "f 1 1 2\n"),
        ("a needle of no area", "v 0 0 0.5\nf 1 2 9\n"),
        ("a point that no face uses", "v 7 7 7\n"),
        ("a corner written twice", "v 1 1 1\nf 9 8 1\n"),
        ("a polygon that is not plane", "f 1 8 2 7\n"),
    ];
    for (fault, lines) in faults {
        for sides in [SIDES, "f 1 2 4 3\nf 5 6 8 7\n", "f 1 2 3 4 5 6 7 8\n"] {
            let obj = format!("{CORNERS}{sides}{lines}");
            let (hull, _) =
                hull(obj.as_bytes(), "cube.obj").unwrap_or_else(|e| panic!("{fault}: {e}"));
            assert_eq!(
                (hull.vertices().len(), hull.faces().len()),
                (8, 6),
                "{fault}"
            );
            assert!((volume(hull) - 1.0).abs() < 1e-14, "{fault}");
        }
    }
}

#[test]
fn points_without_elements_and_tetrahedra_have_a_hull() {
    let (cloud, _) = hull(CORNERS.as_bytes(), "cloud.obj").expect("eight points");
    assert!((volume(cloud) - 1.0).abs() < 1e-14);
    let vtk =
        b"# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n\
        0 0 0 1 0 0 0 1 0 0 0 1 9 9 9\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";
    let (corner, _) = hull(vtk, "corner.vtk").expect("a tetrahedron");
    assert!((volume(corner) - 1.0 / 6.0).abs() < 1e-15);
    let options = SurfaceOptions::default();
    assert!(surface_from_bytes(vtk, "corner.vtk", SurfaceUse::Cloth, &options).is_err());
}

#[test]
fn random_triangles_between_random_points_have_the_hull_of_the_points() {
    for seed in 0..200 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let n = random.random_range(4..40_u32);
        let points: Vec<Point3<f64>> = (0..n)
            .map(|_| Point3::from([0, 1, 2].map(|_| f64::from(random.random_range(-4..=4_i32)))))
            .collect();
        let lines = points
            .iter()
            .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
        let mut obj: String = lines.collect();
        // Every point is used; the triangles are arbitrary.
        for corner in 1..=n {
            let [b, c] = [0, 1].map(|_| random.random_range(1..=n));
            obj += &format!("f {corner} {b} {c}\n");
        }
        let scale = Vector3::new(0.01, -0.02, 0.5);
        let read = hull_from_bytes(obj.as_bytes(), "soup.obj", &scale);
        match ConvexHull::new(&points) {
            Ok(expected) => {
                let (found, _) = read.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                let expected = 1e-4 * volume(expected);
                assert!(
                    (volume(found) - expected).abs() < 1e-9 * expected,
                    "seed {seed}"
                );
            }
            Err(_) => assert!(matches!(read, Err(MeshError::Topology(_))), "seed {seed}"),
        }
    }
}

#[test]
fn flat_points_are_refused_with_file_and_remedy() {
    let sheet = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";
    let error = hull(sheet.as_bytes(), "sheet.obj").expect_err("no volume");
    let text = error.to_string();
    for part in ["sheet.obj", "4 points", "one plane", "thickness"] {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}
