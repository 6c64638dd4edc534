//! COLLADA and glTF files that refer to what is not there, to themselves, or to more than any mesh has: errors that name the value.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{DrawnPart, MeshError, drawn_from_bytes};

const GLTF: &str = include_str!("../data/triangle.gltf");
const DAE: &str = include_str!("../data/triangle.dae");

fn read(text: &str, name: &str) -> Result<Vec<DrawnPart>, MeshError> {
    drawn_from_bytes(text.as_bytes(), name, &Vector3::repeat(1.0)).map(|(parts, _)| parts)
}

#[track_caller]
fn check_error(text: &str, name: &str, part: &str) {
    let error = read(text, name).expect_err(part).to_string();
    assert!(error.starts_with(name), "{error}");
    assert!(error.contains(part), "{part:?} is not in {error:?}");
}

/// The text with one part replaced, which it has.
#[track_caller]
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[test]
fn the_triangle_of_both_formats_is_read() {
    let dae = read(DAE, "t.dae").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        dae[0].vertices,
        [
            Vector3::z(),
            Vector3::new(1.0, 0.0, 1.0),
            Vector3::new(0.0, 1.0, 1.0)
        ]
    );
    // y is up in the file.
    let gltf = read(GLTF, "t.gltf").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        gltf[0].vertices,
        [Vector3::zeros(), Vector3::x(), Vector3::z()]
    );
    assert_eq!(gltf[0].triangles, [[0, 1, 2]]);
    let rgba = gltf[0].rgba.expect("a colour");
    let red = [1.0, 0.0, 0.0, 1.0];
    let near = rgba
        .iter()
        .zip(red)
        .all(|(found, c)| (found - c).abs() < 1e-15);
    assert!(near, "{rgba:?}");
}

#[test]
fn instances_of_instances_are_bounded() {
    for (per_node, depth) in [(2, 40), (1000, 3), (30_000, 2)] {
        let mut nodes = String::new();
        for k in 1..=depth {
            let inner = format!("<instance_node url=\"#n{}\"/>", k - 1).repeat(per_node);
            nodes += &format!("<node id=\"n{k}\">{inner}</node>");
        }
        let scene = format!("</node>{nodes}</visual_scene>");
        let dae = with(DAE, "</node></visual_scene>", &scene);
        check_error(&dae, "t.dae", "describes more than");

        let mut nodes = String::new();
        for k in 0..depth {
            let inner = vec![(k + 1).to_string(); per_node].join(",");
            nodes += &format!("{{\"children\":[{inner}]}},");
        }
        let gltf = with(
            GLTF,
            "\"nodes\":[{\"mesh",
            &format!("\"nodes\":[{nodes}{{\"mesh"),
        );
        check_error(&gltf, "t.gltf", "describes more than");
    }
}

#[test]
fn nodes_in_themselves_are_errors() {
    let dae = with(
        DAE,
        "<instance_geometry",
        "<instance_node url=\"#n0\"/><instance_geometry",
    );
    check_error(&dae, "t.dae", "nested more than");
    let gltf = with(GLTF, "{\"mesh\":0", "{\"children\":[0],\"mesh\":0");
    check_error(&gltf, "t.gltf", "nested more than");
}

#[test]
fn values_of_collada_that_mean_nothing_are_errors() {
    let cases = [
        (
            "offset=\"1\"",
            "offset=\"18446744073709551615\"",
            "offset `18446744073709551615`",
        ),
        ("offset=\"0\"", "offset=\"-1\"", "offset `-1`"),
        ("offset=\"1\"", "offset=\"one\"", "offset `one`"),
        ("0 -1 1 7", "-1 0 1 7", "vertex -1"),
        ("0 -1 1 7", "NaN 0 1 7", "`NaN` among the numbers of <p>"),
        ("0 -1 1 7", "0.5 0 1 7", "`0.5` among the numbers of <p>"),
        ("0 -1 1 7", "3 0 1 7", "vertex 3 of 3"),
        ("0 -1 1 7", "99999999999 0 1 7", "vertex 99999999999"),
        (
            "0 0 0 1 0 0",
            "0 0 x 1 0 0",
            "`x` among the numbers of <float_array>",
        ),
        ("0 0 0 1 0 0", "0 0 inf 1 0 0", "not finite"),
        ("meter=\"1\"", "meter=\"0\"", "meter=`0`"),
        ("meter=\"1\"", "meter=\"inch\"", "meter=`inch`"),
        (
            "<translate>0 0 1",
            "<translate>0 0",
            "<translate> of 2 numbers",
        ),
        (
            "<translate>0 0 1",
            "<translate>0 0 up",
            "`up` among the numbers of <translate>",
        ),
    ];
    for (old, new, part) in cases {
        check_error(&with(DAE, old, new), "t.dae", part);
    }
    let polygons = with(
        DAE,
        "<triangles count=\"1\">",
        "<polylist count=\"1\"><vcount>-3</vcount>",
    );
    let polygons = with(&polygons, "</triangles>", "</polylist>");
    check_error(&polygons, "t.dae", "`-3` among the numbers of <vcount>");
    let too_many = with(&polygons, "-3", "4294967295");
    check_error(&too_many, "t.dae", "fewer corners");
}

#[test]
fn values_of_gltf_that_mean_nothing_are_errors() {
    let cases = [
        ("\"byteOffset\":0", "\"byteOffset\":-1", "byteOffset = -1"),
        (
            "\"byteOffset\":0",
            "\"byteOffset\":\"36\"",
            "byteOffset = `36`",
        ),
        ("\"byteOffset\":0", "\"byteOffset\":0.5", "byteOffset = 0.5"),
        (
            "\"byteOffset\":0",
            "\"byteOffset\":18446744073709551615",
            "beyond the end",
        ),
        (
            "\"byteOffset\":36",
            "\"byteOffset\":38",
            "3 elements beyond the end",
        ),
        ("\"byteLength\":36", "\"byteStride\":0", "byteStride of 0"),
        (
            "\"byteLength\":36",
            "\"byteStride\":18446744073709551615",
            "beyond the end",
        ),
        ("\"count\":3", "\"count\":-3", "count = -3"),
        (
            "\"count\":3",
            "\"count\":18446744073709551615",
            "beyond the end",
        ),
        ("\"count\":3,", "", "without a count"),
        (
            "\"componentType\":5126",
            "\"componentType\":5123",
            "not of the type FLOAT",
        ),
        (
            "\"componentType\":5123",
            "\"componentType\":5126",
            "beyond the end",
        ),
        (
            "\"componentType\":5123,\"count\":3",
            "\"componentType\":5126,\"count\":1",
            "not whole numbers",
        ),
        (
            "\"componentType\":5123",
            "\"componentType\":5130",
            "type 5130",
        ),
        ("\"type\":\"VEC3\"", "\"type\":\"VEC2\"", "type `VEC2`"),
        (
            "\"indices\":1",
            "\"indices\":2",
            "refers to 2 of 2 accessors",
        ),
        ("\"indices\":1", "\"indices\":-1", "accessors = -1"),
        ("\"indices\":1", "\"indices\":1,\"mode\":9", "mode 9"),
        ("\"nodes\":[0]", "\"nodes\":[1]", "refers to 1 of 1 nodes"),
        ("\"nodes\":[0]", "\"nodes\":[\"0\"]", "nodes = `0`"),
        ("\"mesh\":0", "\"mesh\":7", "refers to 7 of 1 meshes"),
        ("\"material\":0", "\"material\":-1", "materials = -1"),
        (
            "\"bufferView\":0",
            "\"bufferView\":null",
            "refers to nothing of 2 bufferViews",
        ),
        (
            "\"scale\":[1,1,1]",
            "\"scale\":[1,1]",
            "scale is not 3 numbers",
        ),
        (
            "\"scale\":[1,1,1]",
            "\"matrix\":[1,\"x\"]",
            "matrix is not 16 numbers",
        ),
        (
            "\"scale\":[1,1,1]",
            "\"rotation\":[0,0,0,0]",
            "rotation of length 0",
        ),
        ("\"scene\":0", "\"scene\":true", "scene = "),
    ];
    for (old, new, part) in cases {
        check_error(&with(GLTF, old, new), "t.gltf", part);
    }
}

#[test]
fn chunks_of_glb_end_within_the_file() {
    let mut glb = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    glb.extend((GLTF.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(GLTF.as_bytes());
    let one = Vector3::repeat(1.0);
    assert!(drawn_from_bytes(&glb, "t.glb", &one).is_ok());
    for n in 0..glb.len() {
        assert!(drawn_from_bytes(&glb[..n], "t.glb", &one).is_err(), "{n}");
    }
    glb[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = drawn_from_bytes(&glb, "t.glb", &one).expect_err("too long");
    assert!(error.to_string().contains("ends within a chunk"), "{error}");
}
