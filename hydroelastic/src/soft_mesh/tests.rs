use super::*;
use crate::mesh::generate::tet_cuboid;

type Parts = (Vec<Point3<f64>>, Vec<[u32; 3]>, Vec<[u32; 4]>);

/// A cuboid's vertices, triangles and tetrahedra.
fn cuboid(half: Vector3<f64>, cells: [u32; 3]) -> Parts {
    let mesh = tet_cuboid(half, cells).unwrap();
    let triangles = &mesh.boundary().triangles;
    (
        mesh.vertices().iter().map(|p| Point3::from(*p)).collect(),
        triangles.iter().map(|t| t.map(|v| v.0)).collect(),
        mesh.tets().iter().map(|t| t.map(|v| v.0)).collect(),
    )
}

#[test]
fn a_body_of_one_layer_has_its_true_depth() {
    // All eight vertices on the surface.
    let (points, triangles, tets) = cuboid(Vector3::repeat(0.05), [1, 1, 1]);
    let mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            // Just below the centroid of each triangle of that side.
            for (u, v) in [(0.02, 0.01), (-0.02, -0.01), (0.01, -0.02), (-0.01, 0.02)] {
                let mut x = Vector3::zeros();
                x[axis] = sign * 0.049;
                (x[(axis + 1) % 3], x[(axis + 2) % 3]) = (u, v);
                let depth = mesh.depth().pressure_at(&x).unwrap();
                assert!((depth - 1e-3).abs() < 1e-12, "{x}: {depth}");
            }
        }
    }
    let middle = mesh.depth().pressure_at(&Vector3::zeros()).unwrap();
    assert!((middle - 0.05).abs() < 1e-12, "{middle}");
}

#[test]
fn a_divided_mesh_fills_the_body_once() {
    for cells in [[1, 1, 1], [3, 1, 2], [4, 4, 4]] {
        let half = Vector3::new(0.06, 0.04, 0.03);
        let (points, triangles, tets) = cuboid(half, cells);
        let mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
        let field = mesh.depth();
        let volume: f64 = field
            .tets()
            .iter()
            .map(|tet| {
                let [a, b, c, d] = tet.map(|v| field.vertices()[v as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
            })
            .sum();
        assert!(
            (volume / (8.0 * half.product()) - 1.0).abs() < 1e-12,
            "{cells:?}"
        );
        assert_eq!(field.surface_triangles().len(), triangles.len());
        let area = mesh.vertex_area() * mesh.vertices().len() as f64;
        let exact = 8.0 * (half.x * half.y + half.y * half.z + half.z * half.x);
        assert!((area / exact - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_brick_is_its_triangles_joined_to_its_centre() {
    let (points, triangles, tets) = cuboid(Vector3::new(0.06, 0.04, 0.03), [1, 1, 1]);
    let mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
    let field = mesh.depth();
    assert_eq!((triangles.len(), field.tets().len()), (12, 12));
    let deep = |tet: &[u32; 4]| {
        tet.iter()
            .filter(|v| field.pressures()[**v as usize] > 0.0)
            .count()
    };
    assert!(field.tets().iter().all(|tet| deep(tet) == 1));
    assert!((field.depth() - 0.03).abs() < 1e-15);
}

#[test]
fn depth_moves_with_the_material() {
    let (points, triangles, tets) = cuboid(Vector3::repeat(0.05), [2, 2, 2]);
    let mut mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
    let stretched: Vec<_> = points.iter().map(|p| p * 2.0 + Vector3::x()).collect();
    let still = vec![Vector3::zeros(); points.len()];
    let x = Vector3::new(0.01, -0.013, 0.045);
    let before = mesh.depth().pressure_at(&x).unwrap();
    mesh.update(&stretched, &triangles, &still, 0.01).unwrap();
    let after = mesh.depth().pressure_at(&(x * 2.0 + Vector3::x())).unwrap();
    assert!(
        (before - after).abs() < 1e-12 && before > 4e-3,
        "{before} {after}"
    );
}

#[test]
fn invalid_bodies_are_refused_by_name() {
    let (points, triangles, tets) = cuboid(Vector3::repeat(0.05), [1, 1, 1]);
    let refused = |result: Result<SoftMesh, GeometryError>| result.unwrap_err().to_string();
    let text = refused(SoftMesh::new(&points, &triangles, &[]));
    assert!(text.contains("12 triangles and 0 tetrahedra"), "{text}");
    let text = refused(SoftMesh::new(&points[..7], &triangles, &tets));
    assert!(text.contains("vertex 7 is used"), "{text}");
    let mut mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
    let still = vec![Vector3::zeros(); 8];
    let short = mesh.update(&points, &triangles[..5], &still, 0.01);
    assert!(short.unwrap_err().to_string().contains("5 triangles"));
    let mut broken = points.clone();
    broken[3].y = f64::NAN;
    let text = mesh
        .update(&broken, &triangles, &still, 0.01)
        .unwrap_err()
        .to_string();
    assert!(text.contains("vertex 3"), "{text}");
}

#[test]
fn a_moved_mesh_that_was_not_updated_is_refused_by_name() {
    let (points, triangles, tets) = cuboid(Vector3::repeat(0.05), [2, 2, 2]);
    let mut mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
    let moved: Vec<Point3<f64>> = points.iter().map(|p| p + Vector3::x()).collect();
    let still = vec![Vector3::zeros(); points.len()];
    let missing = |mesh: &SoftMesh| match mesh.check(true) {
        Err(GeometryError::Outdated { what }) => what,
        _ => "nothing",
    };
    mesh.move_to(&moved, &triangles, &still, 0.01).unwrap();
    assert_eq!(missing(&mesh), "update_skin");
    // The broad phase needs no more.
    assert!((mesh.swept_aabb(0.0).min.x - 0.95).abs() < 1e-12);
    mesh.update_skin();
    assert_eq!(missing(&mesh), "update_depth");
    assert!(mesh.check(false).is_ok());
    mesh.update_depth().unwrap();
    assert_eq!(missing(&mesh), "nothing");
    assert!(mesh.depth().pressure_at(&Vector3::x()).is_some());
    // Other velocities at the same positions: the depth stays valid, the boxes do not.
    let falling = vec![Vector3::z() * -1.0; points.len()];
    mesh.move_to(&moved, &triangles, &falling, 0.01).unwrap();
    assert_eq!(missing(&mesh), "update_skin");
    mesh.update_skin();
    assert_eq!(missing(&mesh), "nothing");
    assert!((mesh.swept_aabb(0.0).min.z + 0.06).abs() < 1e-12);
}

#[test]
fn a_brick_cannot_touch_itself_and_a_bar_can() {
    for (cells, can) in [([1, 1, 1], false), ([8, 1, 1], true)] {
        let (points, triangles, tets) = cuboid(Vector3::repeat(0.05), cells);
        let mesh = SoftMesh::new(&points, &triangles, &tets).unwrap();
        assert_eq!(mesh.allows_self_contact(), can, "{cells:?}");
    }
}
