//! Small files of each format, written here.

use std::path::PathBuf;

use nalgebra::Vector3;

use super::*;

/// A file in a folder of its own, removed with its guard.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("drawn-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn one() -> Vector3<f64> {
    Vector3::repeat(1.0)
}

#[test]
fn an_obj_has_the_colours_of_its_materials() {
    let folder = Folder::new("obj");
    folder.write(
        "paint.mtl",
        "newmtl red\nKd 1 0 0\nd 0.5\nnewmtl wood\nKd 0.5 0.4 0.3\nmap_Kd wood.png\n",
    );
    let obj = folder.write(
        "a.obj",
        "mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nusemtl red\nf 1 2 3 4\nusemtl wood\nf 1 3 4\nusemtl red\nf 2 3 4\nusemtl lost\nf 2 3 4\n",
    );
    let (parts, report) = read_drawn(&obj, &Vector3::new(2.0, 1.0, 1.0)).expect("a mesh");
    let found: Vec<_> = parts.iter().map(|p| (p.rgba, p.triangles.len())).collect();
    let expected = [
        (None, 1),
        (Some([1.0, 0.0, 0.0, 0.5]), 3),
        (Some([0.5, 0.4, 0.3, 1.0]), 1),
        (None, 1),
    ];
    assert_eq!(found, expected);
    assert!(parts[0].vertices.contains(&Vector3::new(2.0, 1.0, 0.0)));
    let text = report.to_string();
    assert!(
        text.contains("1 textures") && text.contains("\"lost\""),
        "{text}"
    );
}

#[test]
fn an_obj_without_its_materials_is_drawn_without_colours() {
    let folder = Folder::new("plain");
    let text = "mtllib ../secret.txt\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl x\nf 1 2 3\n";
    let obj = folder.write("a.obj", text);
    let (parts, report) = read_drawn(&obj, &one()).expect("a mesh");
    assert_eq!((parts.len(), parts[0].rgba), (1, None));
    assert!(report.to_string().contains("was not found beside it"));
}

#[test]
fn an_edge_of_three_triangles_is_no_fault_of_a_picture() {
    let folder = Folder::new("fan");
    let text = "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 0 1 0\nv -1 0 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n";
    let obj = folder.write("a.obj", text);
    let (parts, _) = read_drawn(&obj, &Vector3::new(-1.0, 1.0, 1.0)).expect("a mesh");
    // The scale mirrors: the order of corners is reversed.
    let [a, b, c] = parts[0].triangles[0].map(|k| parts[0].vertices[k as usize]);
    assert_eq!((a, b, c), (Vector3::zeros(), -Vector3::x(), Vector3::z()));
}

const COLLADA: &str = r##"<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.001" name="millimeter"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique><lambert><diffuse><color>0.1 0.2 0.3 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist material="paint" count="1"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/><vcount>4</vcount><p>0 9 1 9 2 9 3 9</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><translate>0 0 5</translate><rotate>0 0 1 90</rotate>
<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="paint" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"##;

#[test]
fn collada_is_placed_by_its_nodes_in_metres() {
    let folder = Folder::new("dae");
    let dae = folder.write("a.dae", COLLADA);
    let (parts, report) = read_drawn(&dae, &one()).expect("a mesh");
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].rgba, Some([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(parts[0].triangles.len(), 2);
    // (1, 0, 0) mm, turned by 90° about z, then moved by 5 mm along z.
    let second = parts[0].vertices[1];
    assert!(
        (second - Vector3::new(0.0, 1e-3, 5e-3)).norm() < 1e-15,
        "{second}"
    );
    assert!(report.to_string().contains("up_axis Y_UP"));
    let broken = folder.write("b.dae", COLLADA.replace("<vcount>4", "<vcount>9"));
    let error = read_drawn(&broken, &one())
        .expect_err("too few corners")
        .to_string();
    assert!(error.contains("fewer corners"), "{error}");
}

#[test]
fn collada_may_be_in_contact() {
    // A tetrahedron of 1 m, whose faces are in two lists of one colour each.
    let solid = COLLADA
        .replace("meter=\"0.001\"", "meter=\"1\"")
        .replace("0 0 0 1 0 0 1 1 0 0 1 0", "0 0 0 1 0 0 0 1 0 0 0 1")
        .replace(
            "<vcount>4</vcount><p>0 9 1 9 2 9 3 9</p></polylist>",
            "<vcount>3</vcount><p>0 9 2 9 1 9</p></polylist><triangles count=\"3\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 3 1 2 3 0 3 2</p></triangles>",
        );
    let folder = Folder::new("dae-contact");
    let dae = folder.write("a.dae", &solid);
    let options = crate::mesh::SurfaceOptions::default();
    let read = |path: &Path| {
        crate::mesh::read_surface(path, crate::mesh::SurfaceUse::Solid, &options).map(|(m, _)| m)
    };
    let mesh = read(&dae).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 4));
    let open = folder.write("b.dae", COLLADA);
    assert!(matches!(read(&open), Err(MeshError::Topology(_))));
}

/// A triangle in a buffer: three indices of two bytes, two bytes of padding, nine floats.
fn triangle() -> Vec<u8> {
    let mut data = vec![0, 0, 1, 0, 2, 0, 0, 0];
    for x in [0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0] {
        data.extend(x.to_le_bytes());
    }
    data
}

fn gltf(buffer: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
"nodes":[{{"mesh":0,"translation":[0,3,0]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":1}},"indices":0,"material":0}}]}}],
"materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[0.5,0,1,1]}}}}],
"accessors":[{{"bufferView":0,"componentType":5123,"count":3,"type":"SCALAR"}},
{{"bufferView":1,"componentType":5126,"count":3,"type":"VEC3"}}],
"bufferViews":[{{"buffer":0,"byteLength":6}},{{"buffer":0,"byteOffset":8,"byteLength":36}}],
"buffers":[{{{buffer}"byteLength":44}}]}}"#
    )
}

fn check_triangle(parts: &[DrawnPart]) {
    let [part] = parts else {
        panic!("one part, not {}", parts.len());
    };
    // y of the file is up: (0, 2, 0) + (0, 3, 0) becomes (0, 0, 5).
    let corners = part.triangles[0].map(|k| part.vertices[k as usize]);
    let expected = [
        Vector3::new(0.0, 0.0, 3.0),
        Vector3::new(1.0, 0.0, 3.0),
        Vector3::new(0.0, 0.0, 5.0),
    ];
    for (found, expected) in corners.iter().zip(expected) {
        assert!((found - expected).norm() < 1e-15, "{found}");
    }
    let [red, green, blue, opacity] = part.rgba.expect("a colour");
    // 0.5 linear is 0.7354 in sRGB.
    assert!((red - 0.735_356_98).abs() < 1e-6);
    assert_eq!((green, opacity), (0.0, 1.0));
    assert!((blue - 1.0).abs() < 1e-12);
}

#[test]
fn gltf_is_read_from_json_with_a_file_and_with_embedded_data_and_from_glb() {
    let folder = Folder::new("gltf");
    folder.write("a.bin", triangle());
    let beside = folder.write("a.gltf", gltf("\"uri\":\"a.bin\","));
    check_triangle(&read_drawn(&beside, &one()).expect("a mesh").0);

    let mut encoded = String::new();
    crate::mesh::base64::encode(&triangle(), &mut encoded);
    let uri = format!("\"uri\":\"data:application/octet-stream;base64,{encoded}\",");
    let embedded = folder.write("b.gltf", gltf(&uri));
    check_triangle(&read_drawn(&embedded, &one()).expect("a mesh").0);

    let mut json = gltf("").into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let data = triangle();
    let mut glb = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    glb.extend((json.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(&json);
    glb.extend((data.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(&data);
    let whole = folder.write("c.glb", &glb);
    check_triangle(&read_drawn(&whole, &one()).expect("a mesh").0);
    let cut = folder.write("d.glb", &glb[..glb.len() - 10]);
    assert!(
        read_drawn(&cut, &one())
            .expect_err("cut")
            .to_string()
            .contains("ends within")
    );
}

#[test]
fn faults_of_gltf_name_what_is_wrong() {
    let folder = Folder::new("faults");
    folder.write("a.bin", triangle());
    let whole = gltf("\"uri\":\"a.bin\",");
    let cases = [
        (
            "\"count\":3,\"type\":\"VEC3\"",
            "\"count\":9,\"type\":\"VEC3\"",
            "beyond the end",
        ),
        (
            "\"uri\":\"a.bin\"",
            "\"uri\":\"/etc/hosts\"",
            "no .bin file",
        ),
        (
            "\"uri\":\"a.bin\"",
            "\"uri\":\"none.bin\"",
            "cannot be read",
        ),
        (
            "\"nodes\":[{",
            "\"nodes\":[{\"children\":[0],",
            "nested more than",
        ),
        (
            "\"scene\":0",
            "\"extensionsRequired\":[\"KHR_draco\"],\"scene\":0",
            "KHR_draco",
        ),
        (
            "\"type\":\"VEC3\"",
            "\"type\":\"VEC4\"",
            "of the type `VEC4`",
        ),
        ("\"scene\":0", "\"scene\":7", "has no triangles"),
        ("{\"asset\"", "{asset", "JSON is not valid"),
    ];
    for (old, new, part) in cases {
        assert!(whole.contains(old), "{old}");
        let path = folder.write("x.gltf", whole.replace(old, new));
        let error = read_drawn(&path, &one()).expect_err(part).to_string();
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}
