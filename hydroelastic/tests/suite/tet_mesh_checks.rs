//! Checks and repairs of tetrahedral meshes, and the resulting adjacency.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    MeshError, TetIdx, TetMesh, TetOptions, VertexIdx, Weld, generate,
};

#[test]
fn tetrahedra_are_neighbours_across_the_face_opposite_to_a_corner() {
    let mesh = generate::tet_cuboid(Vector3::new(1.0, 1.0, 1.0), [2, 2, 2]).unwrap();
    let mut inner = 0;
    for t in (0..mesh.tets().len() as u32).map(TetIdx) {
        let corners = mesh.tets()[t.index()];
        for (k, neighbour) in mesh.neighbours(t).into_iter().enumerate() {
            let face: Vec<VertexIdx> = (0..4).filter(|c| *c != k).map(|c| corners[c]).collect();
            if let Some(neighbour) = neighbour {
                assert!(
                    face.iter()
                        .all(|v| mesh.tets()[neighbour.index()].contains(v))
                );
                inner += 1;
            } else {
                let boundary = mesh.boundary();
                let mut owners = boundary.tets.iter().zip(&boundary.opposite_corners);
                let index = owners.position(|(tet, corner)| *tet == t && *corner as usize == k);
                let triangle = boundary.triangles[index.expect("a face of the boundary")];
                assert!(triangle.iter().all(|v| face.contains(v)));
            }
        }
    }
    assert_eq!(
        inner + mesh.boundary().triangles.len(),
        4 * mesh.tets().len()
    );
    assert!((mesh.boundary_area() - 24.0).abs() < 1e-13);
}

#[test]
fn invalid_tetrahedra_are_refused_by_index() {
    let vertices = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 1.0, 0.0],
        [0.3, 0.3, -1.0],
        [0.3, 0.3, -0.5],
    ];
    let build = |more: &[[u32; 4]]| {
        let tets = [[0, 1, 2, 3]].into_iter().chain(more.iter().copied());
        let vertices = vertices.iter().map(|v| Vector3::from(*v)).collect();
        TetMesh::build(vertices, tets.collect(), &TetOptions::default())
    };
    let refused = |more: &[[u32; 4]], words: &[&str]| {
        let error = build(more).unwrap_err();
        let text = error.to_string();
        for word in words {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
        error
    };
    let is_element = |error: MeshError| matches!(error, MeshError::Element(_));
    let twice = refused(&[[0, 1, 2, 1]], &["tetrahedron 1", "has vertex 1 twice"]);
    assert!(is_element(twice));
    let flat = refused(&[[0, 1, 2, 4]], &["tetrahedron 1", "0 1 2 4", "is flat"]);
    assert!(is_element(flat));
    let words = ["0 and 1 have the same vertices"];
    assert!(is_element(refused(&[[3, 0, 1, 2]], &words)));
    let crowded = refused(
        &[[0, 2, 1, 5], [0, 2, 1, 6]],
        &["the face of vertices 0 1 2 belongs to 3 elements"],
    );
    assert!(matches!(crowded, MeshError::Topology(_)));
    // Vertices 4 to 6 belong to no element.
    let (mesh, report) = build(&[]).unwrap();
    let text = report.to_string();
    assert_eq!(mesh.vertices().len(), 4);
    assert!(text.contains("no tetrahedron uses"), "{text}");
    assert!(text.contains('4') && text.contains('6'), "{text}");
}

#[test]
fn tetrahedra_that_overlap_across_their_face_are_suspicious() {
    let vertices = vec![
        Vector3::zeros(),
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        Vector3::z() * 0.5,
    ];
    let (_, report) = TetMesh::build(
        vertices,
        vec![[0, 1, 2, 3], [0, 1, 2, 4]],
        &TetOptions::default(),
    )
    .unwrap();
    assert!(
        report
            .to_string()
            .contains("same side of their common face: tetrahedron 0, tetrahedron 1"),
        "{report}"
    );
}

#[test]
fn coincident_points_of_tetrahedra_are_welded_on_request() {
    let corner = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let other = [
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        Vector3::repeat(1.0),
    ];
    let vertices: Vec<Vector3<f64>> = corner.into_iter().chain(other).collect();
    let tets = vec![[0, 1, 2, 3], [4, 5, 6, 7]];
    let (apart, report) =
        TetMesh::build(vertices.clone(), tets.clone(), &TetOptions::default()).unwrap();
    assert_eq!(apart.component_count(), 2);
    assert!(
        report
            .to_string()
            .contains("8 vertices share 5 positions, in 2 separate bodies"),
        "{report}"
    );
    let weld = TetOptions {
        weld: Weld::Exact,
        ..TetOptions::default()
    };
    let (joined, report) = TetMesh::build(vertices, tets, &weld).unwrap();
    assert_eq!(
        (
            joined.component_count(),
            joined.vertices().len(),
            joined.boundary().triangles.len()
        ),
        (1, 5, 6)
    );
    assert!(
        report.to_string().contains("3 vertices were welded"),
        "{report}"
    );
}
