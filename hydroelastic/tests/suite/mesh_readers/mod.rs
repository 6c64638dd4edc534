//! Small files of each format: what is read, what is reported, and the locations in errors.

mod formats;
mod gmsh;
mod mujoco_msh;
mod obj;
mod ply;
mod stl;
mod ten_nodes;
mod vtk;
mod vtu;

use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, SurfaceOptions, SurfaceUse, TetMesh, TetOptions, TriMesh,
    surface_from_bytes, tets_from_bytes,
};

fn surface(bytes: &[u8], name: &str) -> Result<(TriMesh, LoadReport), MeshError> {
    surface_from_bytes(bytes, name, SurfaceUse::Solid, &SurfaceOptions::default())
}

fn tets(bytes: &[u8], name: &str) -> Result<(TetMesh, LoadReport), MeshError> {
    tets_from_bytes(bytes, name, &TetOptions::default())
}

/// The corner tetrahedron of the unit cube as a closed surface.
#[track_caller]
fn check_corner(result: Result<(TriMesh, LoadReport), MeshError>, entry: &str) {
    let (mesh, report) = result.unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 4));
    assert!((mesh.solid_moments().unwrap().volume - 1.0 / 6.0).abs() < 1e-15);
    if entry.is_empty() {
        assert!(report.entries.is_empty(), "{report}");
    } else {
        assert!(
            report.to_string().contains(entry),
            "`{entry}` is not in:\n{report}"
        );
    }
}

/// The same as one tetrahedron.
#[track_caller]
fn check_one_tet(result: Result<(TetMesh, LoadReport), MeshError>, entry: &str) {
    let (mesh, report) = result.unwrap();
    assert_eq!(
        (
            mesh.vertices().len(),
            mesh.tets().len(),
            mesh.boundary().triangles.len()
        ),
        (4, 1, 4)
    );
    assert!((mesh.solid_moments().volume - 1.0 / 6.0).abs() < 1e-15);
    if entry.is_empty() {
        assert!(report.entries.is_empty(), "{report}");
    } else {
        assert!(
            report.to_string().contains(entry),
            "`{entry}` is not in:\n{report}"
        );
    }
}

#[track_caller]
fn check_error<T>(result: Result<T, MeshError>, words: &[&str]) {
    let Err(error) = result else {
        panic!("an error was expected")
    };
    let text = error.to_string();
    assert!(
        words.iter().all(|word| text.contains(word)),
        "{words:?} are not all in: {text}"
    );
}
