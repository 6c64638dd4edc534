//! Each format, spelled in small: what is read, what is remarked, and where an error points.

use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, Severity, SurfaceOptions, SurfaceUse, TetMesh, TetOptions, TriMesh,
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
fn check_corner(result: Result<(TriMesh, LoadReport), MeshError>, remark: &str) {
    let (mesh, report) = result.unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 4));
    assert!((mesh.solid_moments().unwrap().volume - 1.0 / 6.0).abs() < 1e-15);
    if remark.is_empty() {
        assert!(report.entries.is_empty(), "{report}");
    } else {
        assert!(
            report.to_string().contains(remark),
            "`{remark}` is not in:\n{report}"
        );
    }
}

/// The same as one tetrahedron.
#[track_caller]
fn check_one_tet(result: Result<(TetMesh, LoadReport), MeshError>, remark: &str) {
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
    if remark.is_empty() {
        assert!(report.entries.is_empty(), "{report}");
    } else {
        assert!(
            report.to_string().contains(remark),
            "`{remark}` is not in:\n{report}"
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

const CORNER_OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn obj_knows_comments_continuations_groups_and_colours() {
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
fn obj_faces_may_stand_before_their_vertices() {
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
fn a_dart_is_cut_along_the_diagonal_inside_it() {
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
fn a_polygon_that_no_fan_fills_is_remarked() {
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
        report.contains("a.obj:9: doubtful: 1 polygons are not convex"),
        "{report}"
    );
}

fn corner_stl_facets() -> [[[f32; 3]; 3]; 4] {
    let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    [[o, y, x], [o, x, z], [o, z, y], [x, y, z]]
}

fn corner_binary_stl(normal: [f32; 3]) -> Vec<u8> {
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
fn stl_oddities_are_remarked() {
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
fn stl_errors_point_at_their_place() {
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

const ONE_TET_VTK: &str = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n\
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

/// Gmsh's own sample layouts, of one tetrahedron with sparse numbers and one boundary triangle.
const ONE_TET_GMSH_40: &str = "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n2 4\n1 0 0 1\n7 0 0 0\n1 3 0 3\n\
    20 1 0 0\n9 0 1 0\n3 0 0 1\n$EndNodes\n$Elements\n2 2\n1 2 2 1\n5 7 9 20\n1 3 4 1\n6 7 20 9 3\n$EndElements\n";
const ONE_TET_GMSH_41: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n\
    $Nodes\n2 4 3 20\n0 1 0 1\n7\n0 0 0\n2 1 1 3\n20\n9\n3\n1 0 0 0.5 0.5\n0 1 0 0.5 0.5\n0 0 1 0.5 0.5\n$EndNodes\n\
    $Elements\n2 2 5 6\n2 1 2 1\n5 7 9 20\n3 1 4 1\n6 7 20 9 3\n$EndElements\n";

#[test]
fn gmsh_four_reads_sparse_numbers_blocks_and_parametric_nodes() {
    check_one_tet(
        tets(ONE_TET_GMSH_40.as_bytes(), "a.msh"),
        "element 5 (line 16)",
    );
    check_one_tet(tets(ONE_TET_GMSH_41.as_bytes(), "a.msh"), "$PhysicalNames");
}

#[test]
fn gmsh_binary_agrees_with_text() {
    for big_endian in [false, true] {
        let int = |bytes: &mut Vec<u8>, value: i32| {
            bytes.extend(if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let size = |bytes: &mut Vec<u8>, value: u64| {
            bytes.extend(if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let mut bytes = b"$MeshFormat\n4.1 1 8\n".to_vec();
        int(&mut bytes, 1);
        bytes.extend(b"\n$EndMeshFormat\n$Entities\n\x00$En\x01\n$EndEntities\n$Nodes\n");
        [1, 4, 3, 20]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        [3, 1, 0]
            .into_iter()
            .for_each(|value| int(&mut bytes, value));
        [4, 7, 20, 9, 3]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        for x in [
            0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f64,
        ] {
            size(&mut bytes, x.to_bits());
        }
        bytes.extend(b"\n$EndNodes\n$Elements\n");
        [1, 1, 6, 6]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        [3, 1, 4]
            .into_iter()
            .for_each(|value| int(&mut bytes, value));
        [1, 6, 7, 20, 9, 3]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        bytes.extend(b"\n$EndElements\n");
        check_one_tet(tets(&bytes, "a.msh"), "$Entities");
        check_error(
            tets(&bytes[..bytes.len() - 30], "a.msh"),
            &["a.msh", "the file ends inside element 6"],
        );
    }
}

#[test]
fn gmsh_errors_point_at_their_line() {
    let with = |from: &str, to: &str| tets(ONE_TET_GMSH_41.replace(from, to).as_bytes(), "a.msh");
    check_error(
        with("6 7 20 9 3\n", "6 7 20 9\n"),
        &["a.msh:26:", "element 6", "too few numbers"],
    );
    check_error(
        with("6 7 20 9 3\n", "6 7 20 9 3 3\n"),
        &["a.msh:26:", "element 6", "too many numbers"],
    );
    check_error(
        with("2 1 1 3\n", "2 1 1 9\n"),
        &["a.msh:13:", "9 nodes", "only 3 are left"],
    );
    check_error(
        with("$Nodes\n2 4 3 20", "$Nodes\n2 999999999999 3 20"),
        &["a.msh:9:", "do not fit"],
    );
    check_error(with("3 1 4 1\n", "3 1 77 1\n"), &["a.msh:26:", "type 77"]);
    check_error(with("9\n3\n", "9\n9\n"), &["node 9 is there twice"]);
    check_error(
        with("$EndPhysicalNames", ""),
        &["a.msh:4:", "inside the section `$PhysicalNames`"],
    );
    check_error(
        with("4.1 0 8", "4.1 0"),
        &["a.msh:2:", "data size is missing"],
    );
}

#[test]
fn surface_of_a_gmsh_file_is_read_and_its_tetrahedra_ignored() {
    let loaded = surface_from_bytes(
        ONE_TET_GMSH_41.as_bytes(),
        "a.msh",
        SurfaceUse::Cloth,
        &SurfaceOptions::default(),
    );
    let (mesh, report) = loaded.unwrap();
    assert_eq!(mesh.triangles().len(), 1);
    assert!(
        report
            .of(Severity::Ignored)
            .any(|entry| entry.text.contains("element 6")),
        "{report}"
    );
}

const ONE_TET_VTU: &str = r#"<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">
<UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1">
<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0  1 0 0
0 1 0  0 0 1
</DataArray></Points>
<Cells>
<DataArray type="Int32" Name="connectivity" format="ascii">
0 1 2 3
</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">10</DataArray>
</Cells></Piece></UnstructuredGrid></VTKFile>
"#;

#[test]
fn vtu_text_is_read_and_its_errors_point_at_their_line() {
    check_one_tet(tets(ONE_TET_VTU.as_bytes(), "a.vtu"), "");
    let with = |from: &str, to: &str| tets(ONE_TET_VTU.replace(from, to).as_bytes(), "a.vtu");
    check_error(
        with("0 1 0  0 0 1", "0 1 0  0 0 nan"),
        &["a.vtu:6:", "entry 11", "`nan` is not finite"],
    );
    check_error(
        with("0 1 0  0 0 1", "0 1 0  0 0"),
        &["a.vtu:4:", "11 coordinates for 4 points"],
    );
    check_error(
        with("0 1 2 3\n", "0 1 2 4\n"),
        &["a.vtu:10:", "cell 0", "point 4 of 4"],
    );
    check_error(with(">10<", ">12<"), &["cell 0", "hexahedron (type 12)"]);
    check_error(with(">4<", ">5<"), &["a.vtu:12:", "offset 0 to 5"]);
    check_error(
        with("</VTKFile>", ""),
        &["a.vtu:14:", "not well-formed XML"],
    );
    check_error(
        with("NumberOfPoints=\"4\"", "NumberOfPoints=\"-4\""),
        &["a.vtu:3:", "NumberOfPoints"],
    );
    check_error(
        with("UnstructuredGrid\" v", "PolyData\" v"),
        &["a.vtu:2:", "`PolyData`"],
    );
    check_error(with("ascii", "morse"), &["a.vtu:4:", "format `morse`"]);
    check_error(
        with("\"types\"", "\"kinds\""),
        &["a.vtu:8:", "no array types"],
    );
}

#[test]
fn nested_entities_and_deep_nesting_in_xml_are_refused() {
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><VTKFile>&b;</VTKFile>";
    check_error(tets(bomb.as_bytes(), "a.vtu"), &["a.vtu:1:"]);
    let deep = "<VTKFile>".repeat(100_000);
    check_error(tets(deep.as_bytes(), "a.vtu"), &["not well-formed"]);
}

fn vtu_with_binary(
    compressor: &str,
    appended: bool,
    arrays: [Vec<u8>; 4],
    encode: &dyn Fn(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut offset = 0;
    let mut data = Vec::new();
    let mut array = |kind: &str, name: &str, bytes: &[u8]| {
        let encoded = encode(bytes);
        let text = String::from_utf8_lossy(&encoded).into_owned();
        let head = format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{}\"",
            3
        );
        let head = if name == "Points" {
            head
        } else {
            head.replace(" NumberOfComponents=\"3\"", "")
        };
        let tail = match appended {
            true => format!(" format=\"appended\" offset=\"{offset}\"/>"),
            false => format!(" format=\"binary\">{text}</DataArray>"),
        };
        offset += encoded.len();
        data.extend(encoded);
        head + &tail
    };
    let [points, connectivity, offsets, types] = arrays;
    let points = array("Float32", "Points", &points);
    let connectivity = array("UInt16", "connectivity", &connectivity);
    let offsets = array("Int64", "offsets", &offsets);
    let types = array("UInt8", "types", &types);
    let mut file = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt32\"{compressor}>\
         <UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>{points}</Points>\
         <Cells>{connectivity}{offsets}{types}</Cells></Piece></UnstructuredGrid>"
    )
    .into_bytes();
    if appended {
        file.extend(b"<AppendedData encoding=\"raw\">\n _");
        file.extend(data);
        file.extend(b"</AppendedData>");
    }
    file.extend(b"</VTKFile>");
    file
}

fn one_tet_arrays() -> [Vec<u8>; 4] {
    let points = [
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f32,
    ];
    [
        points.iter().flat_map(|x| x.to_le_bytes()).collect(),
        [0, 1, 2, 3_u16]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect(),
        4_i64.to_le_bytes().to_vec(),
        vec![10],
    ]
}

/// One block: how many, block size, size of the last, compressed size, data.
fn zlib_blocks(bytes: &[u8]) -> Vec<u8> {
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6);
    let header = [1, bytes.len() as u32, 0, packed.len() as u32];
    header
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .chain(packed)
        .collect()
}

fn plain_block(bytes: &[u8]) -> Vec<u8> {
    (bytes.len() as u32)
        .to_le_bytes()
        .into_iter()
        .chain(bytes.iter().copied())
        .collect()
}

const ZLIB: &str = " compressor=\"vtkZLibDataCompressor\"";

#[test]
fn vtu_appended_raw_arrays_are_read_plain_and_compressed() {
    check_one_tet(
        tets(
            &vtu_with_binary("", true, one_tet_arrays(), &plain_block),
            "a.vtu",
        ),
        "",
    );
    check_one_tet(
        tets(
            &vtu_with_binary(ZLIB, true, one_tet_arrays(), &zlib_blocks),
            "a.vtu",
        ),
        "",
    );
}

#[test]
fn vtu_blocks_that_lie_about_their_size_are_refused() {
    let lie = |bytes: &[u8]| {
        let mut block = zlib_blocks(bytes);
        block[4..8].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
        block
    };
    check_error(
        tets(
            &vtu_with_binary(ZLIB, true, one_tet_arrays(), &lie),
            "a.vtu",
        ),
        &["cannot hold 4000000000"],
    );
    let lie = |bytes: &[u8]| {
        let mut block = plain_block(bytes);
        block[0..4].copy_from_slice(&4_000_000_000_u32.to_le_bytes());
        block
    };
    check_error(
        tets(&vtu_with_binary("", true, one_tet_arrays(), &lie), "a.vtu"),
        &["4000000000 bytes are announced"],
    );
    // 64 MB of zeros in 64 kB: honest, but no mesh of four points.
    let bomb = vec![0; 64 << 20];
    let arrays = [bomb, Vec::new(), Vec::new(), Vec::new()];
    check_error(
        tets(&vtu_with_binary(ZLIB, true, arrays, &zlib_blocks), "a.vtu"),
        &["far larger than the file"],
    );
}

#[test]
fn messages_quote_no_control_characters_of_names() {
    let text = ONE_TET_VTU
        .replace("NumberOfComponents=\"3\"", "Name=\"P\u{7f}\"")
        .replace("0 1 0  0 0 1", "0 1 0  0 0 x");
    check_error(
        tets(text.as_bytes(), "a.vtu"),
        &["a.vtu:6: P?, entry 11: `x` is not a number"],
    );
}

#[test]
fn unknown_compressors_are_refused_by_name() {
    let file = vtu_with_binary(
        " compressor=\"vtkLZ4DataCompressor\"",
        true,
        one_tet_arrays(),
        &zlib_blocks,
    );
    check_error(tets(&file, "a.vtu"), &["vtkLZ4DataCompressor", "zlib"]);
}

#[test]
fn content_is_believed_over_the_name_with_a_remark() {
    check_one_tet(
        tets(ONE_TET_VTK.as_bytes(), "a.msh"),
        "doubtful: the name says Gmsh, the content is legacy VTK",
    );
    check_one_tet(tets(ONE_TET_GMSH_41.as_bytes(), "mesh"), "$PhysicalNames");
    check_corner(
        surface(&corner_binary_stl([0.0; 3]), "a.obj"),
        "the name says OBJ, the content is STL",
    );
}

#[test]
fn unknown_formats_and_wrong_kinds_are_refused_with_what_is_supported() {
    check_error(
        surface(b"hello", "a.ply"),
        &["a.ply", ".obj", ".stl", ".vtk", ".vtu", ".msh"],
    );
    check_error(
        tets(CORNER_OBJ.as_bytes(), "a.obj"),
        &["OBJ files hold surfaces"],
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
