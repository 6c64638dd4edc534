//! Meshes that are refused, repaired or reported.

use pliant_hydroelastic::mesh::Severity;

use super::*;
use crate::error::MpmError;

type Arrays = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

/// Two triangles over a square of 1 cm.
fn square() -> Arrays {
    let corners = [[0.0, 0.0], [0.01, 0.0], [0.01, 0.01], [0.0, 0.01]];
    let vertices = corners.map(|[x, y]| Vector3::new(x, y, 0.0)).to_vec();
    (vertices, vec![[0, 1, 2], [0, 2, 3]])
}

fn refused(arrays: Arrays, spacing: f64) -> MpmError {
    ClothMesh::from_arrays("towel", arrays.0, arrays.1, spacing).unwrap_err()
}

#[test]
fn rest_shapes_rebuild_the_triangles() {
    let mut draw = Draw::new(1);
    let (vertices, triangles) = square();
    let rotation = draw.rotation();
    let turned: Vec<_> = vertices.iter().map(|x| rotation * x).collect();
    let (mesh, report) = ClothMesh::from_arrays("towel", turned, triangles, 0.025).unwrap();
    assert!(report.entries.is_empty());
    for (t, rest) in mesh.rest().iter().enumerate() {
        let [a, b, c] = mesh.surface().corners((t as u32).into());
        let gram = {
            let edges = nalgebra::Matrix3x2::from_columns(&[b - a, c - a]) * rest.inverse_edges;
            edges.tr_mul(&edges)
        };
        assert!((gram - nalgebra::Matrix2::identity()).norm() < 1e-14);
        assert!((rest.area - 5e-5).abs() < 1e-18);
    }
}

#[test]
fn holes_boundaries_and_components_are_a_cloth() {
    // A sheet without its middle square, and a separate triangle.
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for j in 0..4 {
        for i in 0..4 {
            vertices.push(Vector3::new(0.01 * f64::from(i), 0.01 * f64::from(j), 0.0));
        }
    }
    for j in 0..3_u32 {
        for i in 0..3 {
            if (i, j) != (1, 1) {
                let a = 4 * j + i;
                triangles.extend([[a, a + 1, a + 5], [a, a + 5, a + 4]]);
            }
        }
    }
    for x in [0.1, 0.11, 0.12] {
        vertices.push(Vector3::new(x, (x - 0.11) * (x - 0.11) * 50.0, 0.0));
    }
    triangles.push([16, 17, 18]);
    let (mesh, _) = ClothMesh::from_arrays("towel", vertices, triangles, 0.025).unwrap();
    let surface = mesh.surface();
    assert_eq!(surface.component_count(), 2);
    assert_eq!(surface.boundary_loops().len(), 3);
    let cloth = Cloth::<f64>::new(&mesh, &material(LAWS[0]).with_plate_bending());
    // One for each edge between two triangles.
    let inner = surface.edges().iter().filter(|e| !e.is_boundary()).count();
    assert_eq!(cloth.hinges().len(), inner);
}

#[test]
fn copies_of_triangles_are_dropped_and_reported() {
    let (vertices, mut triangles) = square();
    triangles.push([2, 0, 1]);
    let (mesh, report) = ClothMesh::from_arrays("towel", vertices, triangles, 0.025).unwrap();
    assert_eq!(mesh.surface().triangles().len(), 2);
    assert_eq!(report.entries.len(), 1, "{report}");
}

#[test]
fn each_fault_has_its_own_error() {
    let text = |error: MpmError| error.to_string();

    let (mut vertices, triangles) = square();
    vertices[2].z = f64::NAN;
    let error = refused((vertices, triangles), 0.02);
    assert!(matches!(error, MpmError::Mesh { .. }));
    assert!(text(error).contains("vertex 2"));

    let (vertices, mut triangles) = square();
    triangles[1][2] = 9;
    let error = text(refused((vertices, triangles), 0.02));
    assert!(
        error.contains("triangle 1 refers to vertex 9 of 4"),
        "{error}"
    );

    let (mut vertices, triangles) = square();
    vertices[3] = Vector3::new(0.005, 0.005, 0.0);
    let error = text(refused((vertices, triangles), 0.02));
    assert!(
        error.contains("triangle 1") && error.contains("no area"),
        "{error}"
    );

    let (mut vertices, mut triangles) = square();
    vertices.push(Vector3::new(0.0, 0.0, 0.01));
    triangles.push([0, 2, 4]);
    let error = text(refused((vertices, triangles), 0.02));
    assert!(error.contains("shared by 3 triangles"), "{error}");

    let (mut vertices, triangles) = square();
    vertices.push(Vector3::x());
    let error = refused((vertices, triangles), 0.02);
    assert_eq!(
        error,
        MpmError::UnusedVertex {
            object: "towel".into(),
            vertex: 4
        }
    );

    let (mut vertices, mut triangles) = square();
    // The seam between the two triangles is not sewn.
    vertices.extend([vertices[0], vertices[2] + Vector3::new(1e-10, 0.0, 0.0)]);
    triangles[1] = [4, 5, 3];
    let error = refused((vertices, triangles), 0.02);
    assert!(matches!(
        error,
        MpmError::CoincidentVertices {
            vertices: [0, 4],
            ..
        }
    ));
    let error = text(error);
    assert!(
        error.contains("vertices 0 and 4 are both at (0, 0, 0) m"),
        "{error}"
    );

    let error = refused(square(), -1.0);
    assert!(matches!(
        error,
        MpmError::Parameter {
            parameter: "grid spacing",
            ..
        }
    ));
    let error = text(refused((Vec::new(), Vec::new()), 0.02));
    assert!(error.contains("no vertices"), "{error}");
}

#[test]
fn long_edges_name_the_spacing_that_would_do() {
    let error = refused(square(), 0.012);
    let MpmError::LongEdge {
        vertices,
        length_m,
        advised_spacing_m,
        ..
    } = error.clone()
    else {
        panic!("{error}");
    };
    assert_eq!(vertices, [0, 2]);
    assert!((length_m - 0.01 * 2.0_f64.sqrt()).abs() < 1e-15);
    let text = error.to_string();
    assert!(text.contains(&format!("{advised_spacing_m}")), "{text}");

    let (vertices, triangles) = square();
    let build = |spacing| {
        ClothMesh::from_arrays("towel", vertices.clone(), triangles.clone(), spacing).unwrap()
    };
    assert!(build(advised_spacing_m).1.entries.is_empty());
    // Between 0.7 and 1 spacings: a report.
    let (_, report) = build(0.016);
    let entry = &report.entries[0];
    assert_eq!(entry.severity, Severity::Suspicious);
    assert!(entry.text.contains("1 edges are longer"), "{entry}");
    assert_eq!(entry.at.file, "towel");
}

#[test]
fn inconsistent_triangles_are_reordered_and_change_nothing() {
    let (vertices, mut triangles) = square();
    let (first, _) =
        ClothMesh::from_arrays("towel", vertices.clone(), triangles.clone(), 0.02).unwrap();
    triangles[1].swap(0, 1);
    let (second, report) = ClothMesh::from_arrays("towel", vertices, triangles, 0.02).unwrap();
    assert_eq!(report.of(Severity::Repaired).count(), 1);
    let normals = |mesh: &ClothMesh| [0, 1].map(|t| mesh.surface().triangle_normal(t.into()));
    let [a, b] = normals(&second);
    assert!((a - b).norm() < 1e-15);
    let area = |mesh: &ClothMesh| mesh.areas().sum::<f64>();
    assert_eq!(area(&first), area(&second));
}

#[test]
fn a_moebius_strip_is_a_cloth() {
    let n = 24_u32;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..n {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(n);
        let (s, c) = angle.sin_cos();
        let radial = Vector3::new(c, s, 0.0);
        let across = radial * (angle / 2.0).cos() + Vector3::z() * (angle / 2.0).sin();
        vertices.extend([-0.005, 0.005].map(|y| radial * 0.05 + across * y));
        let [a, b] = [2 * i, 2 * i + 1];
        let [c, d] = if i + 1 == n { [1, 0] } else { [a + 2, b + 2] };
        triangles.extend([[a, b, c], [b, d, c]]);
    }
    let (mesh, report) = ClothMesh::from_arrays("band", vertices, triangles, 0.025).unwrap();
    assert!(report.entries.iter().any(|e| e.text.contains("one-sided")));
    let stiff = material(LAWS[0]).with_bending_stiffness(1e-5).unwrap();
    let cloth = Cloth::<f64>::new(&mesh, &stiff);
    let positions = mesh.surface().vertices().to_vec();
    let mut normals = vec![Vector3::zeros(); cloth.triangles().len()];
    cloth.unit_normals(&positions, &mut normals);
    let mut forces = ClothForces::default();
    forces.evaluate(&cloth, &positions, &positions, &normals);
    assert!(forces.vertices().iter().all(|f| f.norm() < 1e-14));
}
