//! PLY files of all three layouts, written here from the description of the format.

use pliant_hydroelastic::mesh::MeshError;

use super::{check_corner, surface};

const POINTS: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const FACES: [[i32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn header(format: &str) -> String {
    format!(
        "ply\nformat {format} 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty float y\n\
         property float z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn ascii() -> String {
    let points: String = POINTS
        .iter()
        .map(|[x, y, z]| format!("{x} {y} {z} 255\n"))
        .collect();
    let faces: String = FACES
        .iter()
        .map(|[a, b, c]| format!("3 {a} {b} {c}\n"))
        .collect();
    header("ascii") + &points + &faces
}

fn binary(format: &str, four: fn([u8; 4]) -> [u8; 4]) -> Vec<u8> {
    let mut bytes = header(format).into_bytes();
    for point in POINTS {
        bytes.extend(point.iter().flat_map(|x| four(x.to_le_bytes())));
        bytes.push(255);
    }
    for face in FACES {
        bytes.push(3);
        bytes.extend(face.iter().flat_map(|i| four(i.to_le_bytes())));
    }
    bytes
}

fn reversed(mut four: [u8; 4]) -> [u8; 4] {
    four.reverse();
    four
}

#[test]
fn corner_is_read_in_every_layout() {
    check_corner(surface(ascii().as_bytes(), "c.ply"), "");
    check_corner(
        surface(ascii().replace('\n', "\r\n").as_bytes(), "c.ply"),
        "",
    );
    check_corner(
        surface(&binary("binary_little_endian", |four| four), "c.ply"),
        "",
    );
    check_corner(surface(&binary("binary_big_endian", reversed), "c.ply"), "");
    // The content tells the format, whatever the name.
    check_corner(surface(ascii().as_bytes(), "c.stl"), "the content is PLY");
}

#[test]
fn other_elements_and_polygons_are_read_past() {
    let text = "ply\nformat ascii 1.0\nelement material 1\nproperty list uchar float rgba\nelement vertex 5\n\
        property double z\nproperty double y\nproperty double x\nelement face 5\nproperty uchar flag\n\
        property list uint8 uint32 vertex_index\nend_header\n4 1 0 0 1\n\
        0 0 0\n0 0 1\n0 1 1\n0 1 0\n1 0.5 0.5\n7 4 0 3 2 1\n7 3 0 1 4\n7 3 1 2 4\n7 3 2 3 4\n7 3 3 0 4\n";
    let (mesh, report) = surface(text.as_bytes(), "pyramid.ply").expect("a pyramid");
    let volume = mesh.solid_moments().expect("closed").volume;
    assert!((volume - 1.0 / 3.0).abs() < 1e-15, "{volume}");
    assert!(
        report.to_string().contains("elements `material`"),
        "{report}"
    );
}

#[test]
fn damaged_files_are_refused_with_the_reason() {
    let refused = |text: &str| {
        surface(text.as_bytes(), "c.ply")
            .expect_err("refused")
            .to_string()
    };
    let whole = ascii();
    for (from, to, expected) in [
        ("format ascii 1.0\n", "", "the header names no format"),
        ("ascii", "base64", "the format `base64` is not known"),
        ("property float x\n", "", "has no number `x`"),
        (
            "list uchar int",
            "list float int",
            "the count of a list is no integer",
        ),
        ("uchar int", "uchar quad", "the type `quad` is not known"),
        (
            "element vertex 4",
            "element vertex 4000000000",
            "declares 4000000000 records",
        ),
        (
            "element vertex 4",
            "element vertex -1",
            "A count cannot be negative",
        ),
        ("3 1 2 3", "3 1 2 4", "face 3 refers to vertex 4 of 4"),
        ("3 1 2 3", "3 1 2 -1", "face 3 refers to vertex -1"),
        ("3 1 2 3", "3 1 2 0.5", "face 3 refers to vertex 0.5"),
        ("3 1 2 3", "300000 1 2 3", "a list of 300000 values"),
        ("end_header\n", "", "is no keyword of a header"),
    ] {
        assert!(whole.contains(from), "{from}");
        let text = refused(&whole.replacen(from, to, 1));
        assert!(
            text.starts_with("c.ply") && text.contains(expected),
            "{expected}: {text}"
        );
    }
    let whole = binary("binary_little_endian", |four| four);
    for length in 4..whole.len() {
        assert!(
            surface(&whole[..length], "c.ply").is_err(),
            "{length} bytes"
        );
    }
    let mut infinite = whole.clone();
    let first = header("binary_little_endian").len();
    infinite[first..first + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let error = surface(&infinite, "c.ply").expect_err("infinite");
    assert!(matches!(error, MeshError::Coordinate(_)), "{error}");
}
