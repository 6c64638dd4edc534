//! VTU, in text, appended, compressed.

use super::{check_error, check_one_tet, tets};

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

/// One block: number of blocks, block size, size of the last, compressed size, data.
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
fn vtu_blocks_with_wrong_sizes_are_refused() {
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
        &["4000000000 bytes are declared"],
    );
    // 64 MB of zeros in 64 kB: valid, but not a mesh of four points.
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
