//! Detection of the file format.

use pliant_hydroelastic::mesh::{MeshError, TetOptions};

use super::gmsh::ONE_TET_GMSH_41;
use super::obj::CORNER_OBJ;
use super::stl::corner_binary_stl;
use super::vtk::ONE_TET_VTK;
use super::{check_corner, check_error, check_one_tet, surface, tets};

#[test]
fn content_overrides_the_name_with_a_report_entry() {
    check_one_tet(
        tets(ONE_TET_VTK.as_bytes(), "a.msh"),
        "suspicious: the name suggests Gmsh, but the content is legacy VTK",
    );
    check_one_tet(tets(ONE_TET_GMSH_41.as_bytes(), "mesh"), "$PhysicalNames");
    check_corner(
        surface(&corner_binary_stl([0.0; 3]), "a.obj"),
        "the name suggests OBJ, but the content is STL",
    );
}

#[test]
fn unknown_formats_and_wrong_kinds_are_refused_with_what_is_supported() {
    check_error(
        surface(b"hello", "a.off"),
        &["a.off", ".obj", ".stl", ".vtk", ".vtu", ".msh"],
    );
    check_error(
        tets(CORNER_OBJ.as_bytes(), "a.obj"),
        &["OBJ files contain surfaces only"],
    );
    check_error(
        surface(ONE_TET_VTK.as_bytes(), "a.vtk"),
        &["1 volume cells but no triangles", "boundary"],
    );
    let sheet = "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n\
        CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n";
    check_error(
        tets(sheet.as_bytes(), "a.vtk"),
        &["1 surface cells but no tetrahedra"],
    );
}

#[test]
fn a_folder_or_a_missing_file_is_an_error_with_its_path() {
    let options = TetOptions::default();
    for path in ["/", "/nowhere/at/all.vtk"] {
        let error = pliant_hydroelastic::mesh::read_tets(path, &options).unwrap_err();
        assert!(
            matches!(error, MeshError::Unreadable { .. }) && error.to_string().starts_with(path),
            "{error}"
        );
    }
}
