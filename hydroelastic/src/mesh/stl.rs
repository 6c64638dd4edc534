//! STL, ASCII and binary: triangles without shared vertices. Stored normals are not used: the winding is more accurate.

use super::cells::{CellKind, Cells, Grid};
use super::cursor::Cursor;
use super::error::{FilePosition, Flaw, Location, MeshError, quote};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::{LoadReport, Severity};
use super::scalar::{Endian, Scalar};
use nalgebra::Vector3;

const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// The file size in bytes according to the triangle count of a binary STL; `None` for files that are too short.
pub(crate) fn declared_size(bytes: &[u8]) -> Option<u64> {
    declared_count(bytes).map(|count| HEADER_BYTES as u64 + TRIANGLE_BYTES as u64 * count)
}

fn declared_count(bytes: &[u8]) -> Option<u64> {
    let count = bytes.get(80..HEADER_BYTES)?;
    Some(Scalar::U32.integer(count, Endian::Little) as u64)
}

/// Triangles in the order of the file.
struct Facets {
    points: Vec<Vector3<f64>>,
    positions: FilePositions,
    /// Triangles whose stored normal contradicts their orientation.
    contradicted: Vec<u32>,
}

impl Facets {
    fn push(&mut self, normal: Vector3<f64>, corners: [Vector3<f64>; 3]) {
        let [a, b, c] = corners;
        if (b - a).cross(&(c - a)).dot(&normal) < 0.0 {
            self.contradicted.push((self.points.len() / 3) as u32);
        }
        self.points.extend(corners);
    }
}

pub(crate) fn parse(bytes: &[u8], file: &str, report: LoadReport) -> Result<Grid, MeshError> {
    // Decided by size: many binary files start with "solid".
    let fits = declared_size(bytes) == Some(bytes.len() as u64);
    let begins_solid = bytes
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let has_zero = bytes[..bytes.len().min(512)].contains(&0);
    if !fits && begins_solid && !has_zero {
        parse_ascii(bytes, file, report)
    } else {
        parse_binary(bytes, file, report)
    }
}

fn parse_binary(bytes: &[u8], file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
    let flaw = |byte: usize, what: String, remedy: &str| {
        Err(MeshError::Syntax(Flaw::new(
            Location::new(file, FilePosition::Byte(byte as u64)),
            what,
            remedy,
        )))
    };
    let Some(count) = declared_count(bytes) else {
        let what = format!(
            "a file of {} bytes is neither an ASCII nor a binary STL",
            bytes.len()
        );
        return flaw(
            0,
            what,
            "An ASCII file starts with the word solid, a binary file has a header of 84 bytes",
        );
    };
    let records = bytes[HEADER_BYTES..].chunks_exact(TRIANGLE_BYTES);
    let present = records.len();
    if (present as u64) < count {
        return flaw(
            HEADER_BYTES + TRIANGLE_BYTES * present,
            format!(
                "the header declares {count} triangles, but the file ends inside triangle {present}"
            ),
            "The file was truncated, or is not an STL file",
        );
    }
    let count = count as usize;
    let stride = TRIANGLE_BYTES as u64;
    let mut facets = Facets {
        points: Vec::with_capacity(3 * count),
        positions: FilePositions::Bytes {
            first: HEADER_BYTES as u64,
            stride,
        },
        contradicted: Vec::new(),
    };
    let mut attributes = 0;
    for (record, t) in records.take(count).zip(0_usize..) {
        let vector = |k: usize| {
            Vector3::from_fn(|axis, _| {
                let at = 12 * k + 4 * axis;
                Scalar::F32.float(&record[at..at + 4], Endian::Little)
            })
        };
        let corners = [vector(1), vector(2), vector(3)];
        if let Some(k) = corners
            .iter()
            .position(|corner| !corner.iter().all(|x| x.is_finite()))
        {
            let byte = HEADER_BYTES + TRIANGLE_BYTES * t + 12 * (k + 1);
            let corner = corners[k];
            return Err(MeshError::Coordinate(Flaw::new(
                Location::new(file, FilePosition::Byte(byte as u64)),
                format!(
                    "triangle {t}, corner {k} is at ({}, {}, {})",
                    corner.x, corner.y, corner.z
                ),
                "Coordinates must be finite numbers",
            )));
        }
        attributes += usize::from(record[48..50] != [0, 0]);
        facets.push(vector(0), corners);
    }
    if attributes > 0 {
        let text = format!("attribute bytes (colours) of {attributes} triangles");
        report.add(
            Severity::Ignored,
            Location::new(file, FilePosition::Byte(HEADER_BYTES as u64 + 48)),
            text,
        );
    }
    let end = HEADER_BYTES + TRIANGLE_BYTES * count;
    if bytes.len() > end {
        let text = format!(
            "{} bytes after the last of {count} triangles",
            bytes.len() - end
        );
        report.add(
            Severity::Suspicious,
            Location::new(file, FilePosition::Byte(end as u64)),
            text,
        );
    }
    Ok(grid(facets, file, report))
}

fn parse_ascii(bytes: &[u8], file: &str, report: LoadReport) -> Result<Grid, MeshError> {
    let mut cursor = Cursor::new(bytes, file);
    let mut facets = Facets {
        points: Vec::new(),
        positions: FilePositions::Unknown,
        contradicted: Vec::new(),
    };
    let mut lines = Vec::new();
    let mut inside = false;
    while let Some(word) = cursor.word() {
        let t = facets.points.len() / 3;
        if word.is("solid") && !inside {
            cursor.line_text();
            inside = true;
        } else if word.is("endsolid") && inside {
            cursor.line_text();
            inside = false;
        } else if word.is("facet") && inside {
            lines.push(word.line);
            expect(&mut cursor, "normal", t)?;
            let normal = vector(&mut cursor, &format!("normal of triangle {t}"))?;
            expect(&mut cursor, "outer", t)?;
            expect(&mut cursor, "loop", t)?;
            let mut corners = [Vector3::zeros(); 3];
            for (k, corner) in corners.iter_mut().enumerate() {
                expect(&mut cursor, "vertex", t)?;
                *corner = vector(&mut cursor, &format!("triangle {t}, corner {k}"))?;
            }
            expect(&mut cursor, "endloop", t)?;
            expect(&mut cursor, "endfacet", t)?;
            facets.push(normal, corners);
        } else {
            let expected = if inside { "facet or endsolid" } else { "solid" };
            let what = format!("expected {expected}, found {}", quote(word.bytes));
            return Err(cursor.syntax(word.line, what, "An ASCII STL contains triangles only"));
        }
    }
    if inside {
        return Err(cursor.ended("the solid: endsolid is missing"));
    }
    facets.positions = FilePositions::Lines(lines);
    Ok(grid(facets, file, report))
}

fn expect(cursor: &mut Cursor<'_>, keyword: &str, triangle: usize) -> Result<(), MeshError> {
    match cursor.word() {
        Some(word) if word.is(keyword) => Ok(()),
        Some(word) => {
            let what = format!(
                "triangle {triangle}: expected {keyword}, found {}",
                quote(word.bytes)
            );
            Err(cursor.syntax(
                word.line,
                what,
                "Write a triangle as: facet normal, outer loop, 3 vertex, endloop, endfacet",
            ))
        }
        None => Err(cursor.ended(format_args!("triangle {triangle}, before {keyword}"))),
    }
}

fn vector(cursor: &mut Cursor<'_>, name: &str) -> Result<Vector3<f64>, MeshError> {
    let mut vector = Vector3::zeros();
    for x in vector.iter_mut() {
        let word = cursor.word().ok_or_else(|| cursor.ended(name))?;
        *x = cursor.number(word, &|| name.to_owned())?;
    }
    Ok(vector)
}

fn grid(facets: Facets, file: &str, mut report: LoadReport) -> Grid {
    let mut cells = Cells::default();
    for t in 0..(facets.points.len() / 3) as u32 {
        cells.push(CellKind::Triangle, [3 * t, 3 * t + 1, 3 * t + 2]);
    }
    let names = Names {
        file: file.to_owned(),
        vertices: Naming {
            word: "corner",
            plural: "corners",
            numbering: Numbering::Corners,
            positions: FilePositions::Unknown,
        },
        elements: Naming {
            word: "triangle",
            plural: "triangles",
            numbering: Numbering::From(0),
            positions: facets.positions,
        },
    };
    if let Some(&first) = facets.contradicted.first() {
        let list = names.element_list(&facets.contradicted);
        let text = format!(
            "the stored normals of {} triangles contradict the order of their corners, which is used: {list}",
            facets.contradicted.len()
        );
        report.add(Severity::Suspicious, names.element_location(first), text);
    }
    Grid {
        names,
        points: facets.points,
        cells,
        kind_name: |_| "triangle",
        report,
    }
}
