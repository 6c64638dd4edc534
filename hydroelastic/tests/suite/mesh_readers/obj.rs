//! Wavefront OBJ.

use pliant_hydroelastic::mesh::{
    LoadReport, SurfaceOptions, SurfaceUse, TriMesh, surface_from_bytes,
};

use super::{check_corner, check_error, surface};

pub(crate) const CORNER_OBJ: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn obj_supports_comments_continuations_groups_and_colours() {
    check_corner(surface(CORNER_OBJ.as_bytes(), "a.obj"), "");
    let text = CORNER_OBJ.replace("f 1 3 2", "f 1 \\\n 3 2 # bottom");
    check_corner(surface(text.as_bytes(), "a.obj"), "");
    let text = format!("mtllib a.mtl\no thing\n{CORNER_OBJ}usemtl red\n");
    check_corner(
        surface(text.as_bytes(), "a.obj"),
        "mtllib (1), o (1), usemtl (1)",
    );
    let text = CORNER_OBJ.replace("v 1 0 0", "v 1 0 0 0.5 0.5 0.5");
    check_corner(
        surface(text.as_bytes(), "a.obj"),
        "a.obj:2: ignored: numbers after x y z",
    );
    let text = CORNER_OBJ.replace("v 0 0 0\n", "") + "v 0 0 0\n";
    let moved = text
        .replace("f 1 3 2", "f 4 2 1")
        .replace("f 1 2 4", "f 4 1 3")
        .replace("f 1 4 3", "f 4 3 2");
    check_corner(
        surface(
            moved.replace("f 2 3 4", "f 1 2 3").as_bytes(),
            "faces_first.obj",
        ),
        "",
    );
}

#[test]
fn obj_faces_may_precede_their_vertices() {
    let (vertices, faces) = CORNER_OBJ.split_at(CORNER_OBJ.find('f').unwrap());
    check_corner(
        surface(format!("{faces}{vertices}").as_bytes(), "a.obj"),
        "",
    );
}

#[test]
fn obj_errors_point_at_their_line() {
    let with = |from: &str, to: &str| surface(CORNER_OBJ.replace(from, to).as_bytes(), "a.obj");
    check_error(
        with("f 2 3 4", "f 2/x 3 4"),
        &["a.obj:8:", "face 3", "`2/x`"],
    );
    check_error(with("f 2 3 4", "f 2 3 5"), &["a.obj:8:", "vertex 5 of 4"]);
    check_error(
        with("v 1 0 0", "v 1 0 zero"),
        &["a.obj:2:", "vertex 2, coordinate 3", "`zero`"],
    );
    check_error(
        with("f 2 3 4", "f 2 3 99999999999999999999"),
        &["a.obj:8:", "not a vertex reference"],
    );
    check_error(
        with("f 1 3 2\n", "f 1 3 2\n%PDF-1.4\n"),
        &["a.obj:6:", "not an OBJ statement"],
    );
}

fn cloth(text: &str) -> (TriMesh, LoadReport) {
    surface_from_bytes(
        text.as_bytes(),
        "a.obj",
        SurfaceUse::Cloth,
        &SurfaceOptions::default(),
    )
    .unwrap()
}

#[test]
fn a_dart_is_split_along_its_inner_diagonal() {
    for face in ["f 1 2 3 4", "f 2 3 4 1", "f 3 4 1 2", "f 4 1 2 3"] {
        let (mesh, report) = cloth(&format!("v 0 0 0\nv 2 1 0\nv 0 2 0\nv 1 1 0\n{face}\n"));
        assert!(report.entries.is_empty(), "{report}");
        assert!(
            (mesh.area() - 1.0).abs() < 1e-15,
            "{face}: area {}",
            mesh.area()
        );
    }
}

#[test]
fn a_polygon_that_no_fan_covers_is_reported() {
    let corners = [
        (0, 0),
        (3, 0),
        (3, 2),
        (2, 2),
        (2, 1),
        (1, 1),
        (1, 2),
        (0, 2),
    ];
    let vertices: String = corners
        .iter()
        .map(|(x, y)| format!("v {x} {y} 0\n"))
        .collect();
    let text = format!("{vertices}f 1 2 3 4 5 6 7 8\n");
    let result = surface_from_bytes(
        text.as_bytes(),
        "a.obj",
        SurfaceUse::Cloth,
        &SurfaceOptions::default(),
    );
    let report = result.unwrap().1.to_string();
    assert!(
        report.contains("a.obj:9: suspicious: 1 polygons are not convex"),
        "{report}"
    );
}
