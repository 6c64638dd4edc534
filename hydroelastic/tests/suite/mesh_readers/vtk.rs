//! Legacy VTK.

use super::{check_corner, check_error, check_one_tet, surface, tets};

pub(crate) const ONE_TET_VTK: &str = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n\
    POINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";

#[test]
fn legacy_vtk_skips_fields_and_metadata() {
    check_one_tet(tets(ONE_TET_VTK.as_bytes(), "a.vtk"), "");
    let text = ONE_TET_VTK.replace("POINTS", "FIELD FieldData 1\ntime 1 1 double\n0.5\nPOINTS");
    check_one_tet(
        tets(text.as_bytes(), "a.vtk"),
        "a.vtk:5: ignored: FIELD data",
    );
    let text = ONE_TET_VTK.replace("CELLS", "METADATA\nINFORMATION 0\n\nCELLS");
    check_one_tet(tets(text.as_bytes(), "a.vtk"), "");
    let text =
        format!("{ONE_TET_VTK}POINT_DATA 4\nSCALARS h float\nLOOKUP_TABLE default\n0 1 2 3\n");
    check_one_tet(
        tets(text.as_bytes(), "a.vtk"),
        "a.vtk:12: ignored: fields on points and cells",
    );
}

#[test]
fn legacy_vtk_errors_point_at_their_line() {
    let with = |from: &str, to: &str| tets(ONE_TET_VTK.replace(from, to).as_bytes(), "a.vtk");
    check_error(with("3.0", "7.0"), &["a.vtk:1:", "version `7.0`"]);
    check_error(
        with("ASCII", "TEXT"),
        &["a.vtk:3:", "expected ASCII or BINARY"],
    );
    check_error(
        with("float", "quadruple"),
        &["a.vtk:5:", "unknown number type `quadruple`"],
    );
    check_error(
        with("CELL_TYPES 1\n10", "CELL_TYPES 2\n10 10"),
        &["a.vtk:10:", "2 entries for 1 cells"],
    );
    check_error(
        with("4 0 1 2 3", "3 0 1 2"),
        &["CELLS", "5 numbers", "need 4"],
    );
    check_error(
        with("CELLS 1 5\n4 0 1 2 3", "CELLS 1 4\n3 0 1 2"),
        &["cell 0", "tetrahedron", "3 points"],
    );
    check_error(
        with("4 0 1 2 3", "99999999 0 1 2 3"),
        &["a.vtk:9:", "99999999 points of CELLS, cell 0"],
    );
    check_error(with("CELL_TYPES 1\n10\n", ""), &["CELL_TYPES is missing"]);
    check_error(
        with("POINTS 4 float", "POINTS"),
        &["a.vtk:5:", "number of POINTS is missing"],
    );
}

#[test]
fn polygonal_vtk_takes_polygons_and_strips() {
    let head = "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\n";
    // Triangles of a strip alternate: 0 2 1, 3 2 1 reversed, ...; around the corner tetrahedron it closes.
    let strip = format!("{head}TRIANGLE_STRIPS 1 7\n6 0 2 1 3 0 2\n");
    check_corner(surface(strip.as_bytes(), "a.vtk"), "");
    let polygons = format!(
        "{head}POLYGONS 5 16\nOFFSETS vtktypeint64\n0 3 6 9 12\nCONNECTIVITY vtktypeint64\n"
    );
    let polygons = polygons.replace("5 16", "5 12") + "0 2 1 0 1 3 0 3 2 1 2 3\n";
    check_corner(surface(polygons.as_bytes(), "a.vtk"), "");
}
