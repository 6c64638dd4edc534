//! VTU files read back as the same mesh, bit for bit.

use nalgebra::{Matrix3, Vector3};
use pliant_hydroelastic::mesh::{
    MeshError, SurfaceOptions, SurfaceUse, TetOptions, VtuArray, VtuCells, VtuEncoding, VtuFile,
    VtuValues, generate, surface_from_bytes, tets_from_bytes,
};

fn written(file: &VtuFile<'_>, encoding: VtuEncoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.write(&mut bytes, encoding).unwrap();
    bytes
}

#[test]
fn tetrahedra_survive_the_round_trip_bit_for_bit() {
    // A third is not a short decimal, and the fields cover every kind of value.
    let mesh = generate::tet_cuboid(Vector3::new(1.0 / 3.0, 0.2, 1e-3), [3, 2, 1]).unwrap();
    let tets: Vec<[u32; 4]> = mesh.tets().iter().map(|tet| tet.map(u32::from)).collect();
    let heights: Vec<f64> = mesh
        .vertices()
        .iter()
        .map(|vertex| vertex.z.sin())
        .collect();
    let ids: Vec<i64> = (0..tets.len() as i64).map(|id| -id).collect();
    let frames = vec![Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0); tets.len()];
    let file = VtuFile {
        points: mesh.vertices(),
        cells: VtuCells::Tets(&tets),
        point_data: vec![
            VtuArray {
                name: "height <m> & \"more\"",
                values: VtuValues::Scalars(&heights),
            },
            VtuArray {
                name: "velocity",
                values: VtuValues::Vectors(mesh.vertices()),
            },
        ],
        cell_data: vec![
            VtuArray {
                name: "id",
                values: VtuValues::Integers(&ids),
            },
            VtuArray {
                name: "stress",
                values: VtuValues::Matrices(&frames),
            },
        ],
    };
    for encoding in [VtuEncoding::Ascii, VtuEncoding::Base64] {
        let bytes = written(&file, encoding);
        let (read, report) = tets_from_bytes(&bytes, "box.vtu", &TetOptions::default()).unwrap();
        assert_eq!(read.vertices(), mesh.vertices());
        assert_eq!(read.tets(), mesh.tets());
        assert_eq!(
            report.entries.len(),
            1,
            "only the fields are reported:\n{report}"
        );
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("Name=\"height &lt;m&gt; &amp; &quot;more&quot;\""));
        if encoding == VtuEncoding::Ascii {
            assert!(
                text.contains("\n1e0 2e0 3e0 4e0 5e0 6e0 7e0 8e0 9e0\n"),
                "matrices are written row by row"
            );
        }
    }
}

#[test]
fn triangles_survive_the_round_trip_bit_for_bit() {
    let mesh = generate::torus(0.3, 0.1, 12, 7).unwrap();
    let triangles: Vec<[u32; 3]> = mesh.raw_triangles().collect();
    let cells = VtuCells::Triangles(&triangles);
    let file = VtuFile {
        points: mesh.vertices(),
        cells,
        point_data: Vec::new(),
        cell_data: Vec::new(),
    };
    for encoding in [VtuEncoding::Ascii, VtuEncoding::Base64] {
        let bytes = written(&file, encoding);
        let options = SurfaceOptions::default();
        let (read, report) =
            surface_from_bytes(&bytes, "torus.vtu", SurfaceUse::Solid, &options).unwrap();
        assert_eq!(
            (read.vertices(), read.triangles()),
            (mesh.vertices(), mesh.triangles())
        );
        assert!(report.entries.is_empty(), "{report}");
    }
}

#[test]
fn particles_are_written_as_one_cell_each() {
    let points = [Vector3::zeros(), Vector3::x()];
    let file = VtuFile {
        points: &points,
        cells: VtuCells::Vertices,
        point_data: Vec::new(),
        cell_data: Vec::new(),
    };
    let text = String::from_utf8(written(&file, VtuEncoding::Ascii)).unwrap();
    assert!(
        text.contains("NumberOfPoints=\"2\" NumberOfCells=\"2\""),
        "{text}"
    );
    assert!(
        text.contains(
            "Name=\"types\" NumberOfComponents=\"1\" format=\"ascii\">\n1\n1\n</DataArray>"
        ),
        "{text}"
    );
}

#[test]
fn fields_of_the_wrong_length_and_corners_out_of_range_are_refused() {
    let points = [Vector3::zeros(), Vector3::x()];
    let short = vec![VtuArray {
        name: "mass",
        values: VtuValues::Scalars(&[1.0]),
    }];
    let lines = [[0, 2]];
    for (cells, point_data, words) in [
        (
            VtuCells::Vertices,
            short,
            "field \"mass\" has 1 values for 2 points",
        ),
        (VtuCells::Lines(&lines), Vec::new(), "point 2 of 2"),
    ] {
        let file = VtuFile {
            points: &points,
            cells,
            point_data,
            cell_data: Vec::new(),
        };
        let mut out = Vec::new();
        let error = file.write(&mut out, VtuEncoding::Ascii).unwrap_err();
        assert!(
            matches!(error, MeshError::Setting(_)) && error.to_string().contains(words),
            "{error}"
        );
        assert!(out.is_empty(), "nothing is written of a refused file");
    }
}
