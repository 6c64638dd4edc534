//! The legacy binary mesh of MuJoCo (`.msh`): four counts, then vertices, normals and texture coordinates in f32, and triangles in i32.
//!
//! # Source
//! MuJoCo documentation, XML reference, `asset/mesh`, "MSH file format".

use super::cells::{CellKind, Cells, Grid};
use super::error::{FilePosition, Flaw, Location, MeshError};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::LoadReport;
use super::scalar::{Endian, Scalar};
use nalgebra::Vector3;

const HEADER_BYTES: usize = 16;
const VECTOR_BYTES: usize = 12;

/// The counts at the beginning, and the size that the file has by them.
#[derive(Clone, Copy)]
struct Header {
    vertices: usize,
    normals: usize,
    texture_points: usize,
    triangles: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let count = |at: usize| {
            let four = bytes.get(4 * at..4 * at + 4)?;
            usize::try_from(Scalar::I32.integer(four, Endian::Little)).ok()
        };
        Some(Self {
            vertices: count(0)?,
            normals: count(1)?,
            texture_points: count(2)?,
            triangles: count(3)?,
        })
    }

    fn first_triangle(self) -> u64 {
        let vectors = self.vertices as u64 + self.normals as u64;
        HEADER_BYTES as u64 + VECTOR_BYTES as u64 * vectors + 8 * self.texture_points as u64
    }

    fn file_bytes(self) -> u64 {
        self.first_triangle() + VECTOR_BYTES as u64 * self.triangles as u64
    }
}

/// Whether the size of the file is the one that its counts require.
pub(super) fn fits(bytes: &[u8]) -> bool {
    Header::read(bytes)
        .is_some_and(|header| header.vertices > 0 && header.file_bytes() == bytes.len() as u64)
}

pub(super) fn parse(bytes: &[u8], file: &str, report: LoadReport) -> Result<Grid, MeshError> {
    let header = Header::read(bytes).filter(|header| header.file_bytes() == bytes.len() as u64);
    let Some(header) = header else {
        let what = format!(
            "the {} bytes do not fit the four counts of a binary MSH file of MuJoCo, and a Gmsh file begins with $MeshFormat",
            bytes.len()
        );
        let at = Location::new(file, FilePosition::Whole);
        let remedy = "The file was truncated or has another format; write it as STL or OBJ";
        return Err(MeshError::Syntax(Flaw::new(at, what, remedy)));
    };
    let records = |from: usize, count: usize| {
        bytes[from..from + VECTOR_BYTES * count].chunks_exact(VECTOR_BYTES)
    };
    let point = |record: &[u8]| {
        Vector3::from_fn(|axis, _| {
            Scalar::F32.float(&record[4 * axis..4 * axis + 4], Endian::Little)
        })
    };
    let points: Vec<Vector3<f64>> = records(HEADER_BYTES, header.vertices).map(point).collect();
    let first = header.first_triangle();
    let mut cells = Cells::default();
    for (record, t) in records(first as usize, header.triangles).zip(0_u64..) {
        let corner = |k: usize| Scalar::I32.integer(&record[4 * k..4 * k + 4], Endian::Little);
        let corners = [corner(0), corner(1), corner(2)];
        let is_vertex = |corner: &i64| (0..header.vertices as i64).contains(corner);
        if let Some(missing) = corners.iter().find(|corner| !is_vertex(corner)) {
            let at = FilePosition::Byte(first + VECTOR_BYTES as u64 * t);
            let what = format!(
                "triangle {t} refers to vertex {missing} of {}",
                header.vertices
            );
            let remedy = "MuJoCo numbers vertices from 0";
            let flaw = Flaw::new(Location::new(file, at), what, remedy);
            return Err(MeshError::Index(flaw));
        }
        cells.push(CellKind::Triangle, corners.map(|corner| corner as u32));
    }
    let naming = |word, plural, first: u64| Naming {
        word,
        plural,
        numbering: Numbering::From(0),
        positions: FilePositions::Bytes {
            first,
            stride: VECTOR_BYTES as u64,
        },
    };
    let names = Names {
        file: file.to_owned(),
        vertices: naming("vertex", "vertices", HEADER_BYTES as u64),
        elements: naming("triangle", "triangles", first),
    };
    if let Some(vertex) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
        let p = points[vertex];
        let what = format!("vertex {vertex} is at ({}, {}, {})", p.x, p.y, p.z);
        let at = names.vertex_location(vertex as u32);
        let flaw = Flaw::new(at, what, "Coordinates must be finite numbers");
        return Err(MeshError::Coordinate(flaw));
    }
    Ok(Grid {
        names,
        points,
        cells,
        kind_name: |_| "triangle",
        report,
    })
}
