//! STL, text and binary.

use super::{check_corner, check_error, surface};

fn corner_stl_facets() -> [[[f32; 3]; 3]; 4] {
    let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    [[o, y, x], [o, x, z], [o, z, y], [x, y, z]]
}

pub(crate) fn corner_binary_stl(normal: [f32; 3]) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(4_u32.to_le_bytes());
    for facet in corner_stl_facets() {
        for vector in [normal, facet[0], facet[1], facet[2]] {
            vector.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0, 0]);
    }
    bytes
}

fn corner_ascii_stl() -> String {
    let mut text = String::from("solid corner of a cube\n");
    for facet in corner_stl_facets() {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for [x, y, z] in facet {
            text.push_str(&format!("vertex {x} {y} {z}\n"));
        }
        text.push_str("endloop\nendfacet\n");
    }
    text + "endsolid corner of a cube\n"
}

#[test]
fn stl_is_welded_in_both_kinds() {
    check_corner(
        surface(&corner_binary_stl([0.0; 3]), "a.stl"),
        "12 corners were welded to 4 vertices",
    );
    check_corner(
        surface(corner_ascii_stl().as_bytes(), "a.stl"),
        "12 corners were welded to 4 vertices",
    );
}

#[test]
fn stl_oddities_are_reported() {
    let mut coloured = corner_binary_stl([0.0; 3]);
    coloured[84 + 48] = 7;
    check_corner(
        surface(&coloured, "a.stl"),
        "attribute bytes (colours) of 1 triangles",
    );
    check_corner(
        surface(&corner_binary_stl([-1.0; 3]), "a.stl"),
        "stored normals of 1 triangles contradict",
    );
    let mut trailing = corner_binary_stl([0.0; 3]);
    trailing.extend([0; 7]);
    check_corner(
        surface(&trailing, "a.stl"),
        "7 bytes after the last of 4 triangles",
    );
}

#[test]
fn stl_errors_point_at_their_location() {
    let with = |from: &str, to: &str| {
        surface(corner_ascii_stl().replacen(from, to, 1).as_bytes(), "a.stl")
    };
    check_error(
        with("vertex 0 0 0", "vertex 0 0"),
        &["a.stl:5:", "triangle 0, corner 0"],
    );
    check_error(
        with("endloop", "vertex 1 1 1\nendloop"),
        &["a.stl:7:", "expected endloop", "`vertex`"],
    );
    check_error(
        with("endsolid corner of a cube\n", ""),
        &["a.stl:29:", "endsolid is missing"],
    );
    check_error(
        surface(&corner_binary_stl([0.0; 3])[..200], "a.stl"),
        &["byte 184", "4 triangles", "triangle 2"],
    );
}
