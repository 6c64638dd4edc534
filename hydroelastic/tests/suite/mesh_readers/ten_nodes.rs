//! Ten-node tetrahedra of every format: nodes on edges, and the errors of a wrong order.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    MID_EDGES, MeshError, QuadraticMesh, Severity, TetMesh, TetOptions, VertexIdx, tets_from_bytes,
};

use super::tets;

/// Two tetrahedra over the face 1 2 3, with nodes 5 to 13 on their nine edges; that of edge 1-2 is bent outwards.
const NODES: [[f64; 3]; 14] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.5, 0.0, 0.0],
    [0.55, 0.55, -0.1],
    [0.0, 0.5, 0.0],
    [0.0, 0.0, 0.5],
    [0.5, 0.0, 0.5],
    [0.0, 0.5, 0.5],
    [1.0, 0.5, 0.5],
    [0.5, 1.0, 0.5],
    [0.5, 0.5, 1.0],
];
/// In the order of VTK.
const ELEMENTS: [[usize; 10]; 2] = [
    [0, 1, 2, 3, 5, 6, 7, 8, 9, 10],
    [1, 2, 3, 4, 6, 10, 9, 11, 12, 13],
];

fn words(numbers: impl IntoIterator<Item = String>) -> String {
    numbers.into_iter().collect::<Vec<_>>().join(" ")
}

fn coordinates() -> String {
    let lines = NODES.iter().map(|p| words(p.map(|x| x.to_string())));
    lines.collect::<Vec<_>>().join("\n")
}

fn vtk(elements: &[[usize; 10]]) -> String {
    let cells = elements
        .iter()
        .map(|e| format!("10 {}", words(e.map(|v| v.to_string()))));
    format!(
        "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}\nCELLS {} {}\n{}\nCELL_TYPES {}\n{}\n",
        NODES.len(),
        coordinates(),
        elements.len(),
        11 * elements.len(),
        cells.collect::<Vec<_>>().join("\n"),
        elements.len(),
        words(elements.iter().map(|_| "24".to_owned()))
    )
}

fn vtu() -> String {
    let connectivity = ELEMENTS.as_flattened().iter().map(usize::to_string);
    format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"2\">\n<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n{}\n\
         </DataArray></Points>\n<Cells>\n<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">{}</DataArray>\n\
         <DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">10 20</DataArray>\n\
         <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">24 24</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
        NODES.len(),
        coordinates(),
        words(connectivity)
    )
}

/// Gmsh counts from 1 and has the last two nodes exchanged.
fn in_gmsh_order(element: [usize; 10]) -> String {
    let mut element = element;
    element.swap(8, 9);
    words(element.map(|v| (v + 1).to_string()))
}

fn gmsh_2() -> String {
    let nodes = NODES.iter().enumerate();
    let nodes = nodes.map(|(i, p)| format!("{} {}", i + 1, words(p.map(|x| x.to_string()))));
    let elements = ELEMENTS.iter().enumerate();
    let elements = elements.map(|(i, e)| format!("{} 11 2 1 1 {}", i + 2, in_gmsh_order(*e)));
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n{}\n$EndNodes\n$Elements\n3\n1 9 2 1 1 1 3 2 8 7 6\n{}\n$EndElements\n",
        NODES.len(),
        nodes.collect::<Vec<_>>().join("\n"),
        elements.collect::<Vec<_>>().join("\n")
    )
}

fn gmsh_4() -> String {
    let tags = (1..=NODES.len()).map(|tag| tag.to_string());
    let elements = ELEMENTS.iter().enumerate();
    let elements = elements.map(|(i, e)| format!("{} {}", i + 1, in_gmsh_order(*e)));
    format!(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {0} 1 {0}\n3 1 0 {0}\n{1}\n{2}\n$EndNodes\n$Elements\n1 2 1 2\n3 1 11 2\n{3}\n$EndElements\n",
        NODES.len(),
        tags.collect::<Vec<_>>().join("\n"),
        coordinates(),
        elements.collect::<Vec<_>>().join("\n")
    )
}

#[test]
fn every_format_has_the_same_nodes_on_edges() {
    for (name, text) in [
        ("a.vtk", vtk(&ELEMENTS)),
        ("a.vtu", vtu()),
        ("two.msh", gmsh_2()),
        ("four.msh", gmsh_4()),
    ] {
        let (mesh, report) = tets(text.as_bytes(), name).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.tets().len()), (5, 2), "{name}");
        assert_eq!(mesh.edge_nodes().len(), 9, "{name}");
        // The triangle of the surface in the second version is no tetrahedron; nodes on edges are not unused.
        let entries = report.of(Severity::Ignored).count();
        assert_eq!(entries, usize::from(name == "two.msh"), "{name}: {report}");
        for (edge, place) in mesh.edge_nodes() {
            let [a, b] = edge.map(|v| mesh.vertices()[v.index()]);
            let bent = *edge == [VertexIdx(1), VertexIdx(2)];
            let expected = match bent {
                true => Vector3::new(0.55, 0.55, -0.1),
                false => (a + b) * 0.5,
            };
            assert_eq!(*place, expected, "{name}: {edge:?}");
        }
        let quadratic = QuadraticMesh::of(&mesh).unwrap();
        assert_eq!(quadratic.refinement().vertices().len(), 14, "{name}");
    }
}

#[test]
fn a_mesh_that_is_written_and_read_again_has_its_nodes() {
    let mesh = tets(vtk(&ELEMENTS).as_bytes(), "a.vtk").unwrap().0;
    let (nodes, elements) = QuadraticMesh::of(&mesh).unwrap().into_parts();
    let elements = elements.iter().map(|nodes| nodes.map(|node| node.0));
    let options = TetOptions::default();
    let again = TetMesh::build_quadratic(nodes.vertices().to_vec(), elements.collect(), &options);
    let (again, report) = again.unwrap();
    assert!(report.entries.is_empty(), "{report}");
    assert_eq!(again.edge_nodes(), mesh.edge_nodes());
    assert_eq!(again.vertices(), mesh.vertices());
}

#[test]
fn a_scale_and_a_mirror_apply_to_nodes_on_edges() {
    let options = TetOptions {
        scale: Vector3::new(2.0, 2.0, -2.0),
        ..TetOptions::default()
    };
    let text = vtk(&ELEMENTS);
    let (mesh, _) = tets_from_bytes(text.as_bytes(), "a.vtk", &options).unwrap();
    let bent = mesh
        .edge_nodes()
        .iter()
        .find(|(edge, _)| *edge == [VertexIdx(1), VertexIdx(2)]);
    assert_eq!(bent.unwrap().1, Vector3::new(1.1, 1.1, 0.2));
    assert!(mesh.solid_moments().volume > 0.0);
}

#[test]
fn nodes_in_the_wrong_order_are_errors_that_name_the_element_and_the_order() {
    // As Gmsh has them, in a VTK file.
    let mut elements = ELEMENTS;
    elements.iter_mut().for_each(|e| e.swap(8, 9));
    let error = tets(vtk(&elements).as_bytes(), "a.vtk").unwrap_err();
    assert!(matches!(error, MeshError::Element(_)), "{error}");
    for word in ["cell 0", "point 10", "points 1 3", "edges 1-2, 2-3", "Gmsh"] {
        assert!(error.to_string().contains(word), "no {word:?} in: {error}");
    }
    // Two nodes on one edge: the second element has its own.
    let mut nodes = NODES.to_vec();
    nodes.push([0.5, 0.48, 0.0]);
    let mut elements = ELEMENTS.map(|e| e.map(|v| v as u32));
    elements[1][4] = 14;
    let nodes = nodes.into_iter().map(Vector3::from).collect();
    let error = TetMesh::build_quadratic(nodes, elements.to_vec(), &TetOptions::default());
    let error = error.unwrap_err().to_string();
    for word in ["tetrahedron 1", "vertex 14", "vertex 6", "share"] {
        assert!(error.contains(word), "no {word:?} in: {error}");
    }
}

#[test]
fn a_folded_element_is_an_error_that_names_it() {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let mut nodes = corners.to_vec();
    nodes.extend(MID_EDGES.map(|[i, j]| (corners[i] + corners[j]) * 0.5));
    // Three nodes pushed through the opposite ones.
    for node in [4, 6, 7] {
        nodes[node] += Vector3::repeat(0.19);
    }
    for node in [5, 8, 9] {
        nodes[node] -= Vector3::repeat(0.19);
    }
    let element = std::array::from_fn(|k| k as u32);
    let built = TetMesh::build_quadratic(nodes, vec![element], &TetOptions::default());
    let error = QuadraticMesh::of(&built.unwrap().0).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("tetrahedron 0 (vertices 0 1 2 3)") && text.contains("folded"),
        "{text}"
    );
}
