//! PLY, ASCII and binary of both byte orders: vertices with `x`, `y`, `z`, and faces with `vertex_indices` or `vertex_index`.
//!
//! # Source
//! Turk, The PLY polygon file format (1994).

use super::cells::{CellKind, Cells, Grid};
use super::cursor::Cursor;
use super::error::{Flaw, MeshError, quote};
use super::names::{Names, Naming};
use super::report::{LoadReport, Severity};
use super::scalar::{Endian, Scalar};
use nalgebra::Vector3;

/// Layout of the numbers after the header.
#[derive(Clone, Copy)]
enum Layout {
    Text,
    Binary(Endian),
}

struct Property<'a> {
    name: &'a [u8],
    /// Type of the count of a list.
    count: Option<Scalar>,
    scalar: Scalar,
}

struct Element<'a> {
    name: &'a [u8],
    records: usize,
    properties: Vec<Property<'a>>,
}

struct Header<'a> {
    layout: Layout,
    elements: Vec<Element<'a>>,
}

/// Whether a file begins as PLY files do.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")
}

pub(super) fn parse(bytes: &[u8], file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
    let mut cursor = Cursor::new(bytes, file);
    let header = Header::read(&mut cursor)?;
    let mut points = Vec::new();
    let mut cells = Cells::default();
    let mut unused = Vec::new();
    for element in &header.elements {
        element.check_room(&cursor, header.layout)?;
        match element.name {
            b"vertex" => read_vertices(&mut cursor, header.layout, element, &mut points)?,
            b"face" => read_faces(&mut cursor, header.layout, element, &mut cells)?,
            _ => {
                unused.push(quote(element.name));
                for _ in 0..element.records_with_content() {
                    element.record(&mut cursor, header.layout, |_, _| ())?;
                }
            }
        }
    }
    if !unused.is_empty() {
        let text = format!("elements {}", unused.join(", "));
        report.add(Severity::Ignored, cursor.location(1), text);
    }
    let names = Names {
        file: file.to_owned(),
        vertices: Naming::counted("vertex", "vertices", 0),
        elements: Naming::counted("face", "faces", 0),
    };
    check(&names, &points, &cells)?;
    Ok(Grid {
        names,
        points,
        cells,
        kind_name: |_| "face",
        report,
    })
}

impl<'a> Header<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, MeshError> {
        let mut layout = None;
        let mut elements: Vec<Element<'a>> = Vec::new();
        cursor.line_text();
        loop {
            let Some(keyword) = cursor.word() else {
                return Err(cursor.ended("the header, which ends with end_header"));
            };
            let fault = |cursor: &Cursor<'_>, what: String| {
                Err(cursor.syntax(keyword.line, what, "Write the mesh again, as PLY 1.0"))
            };
            let mut word = || cursor.word_on_line().map_or(&b""[..], |word| word.bytes);
            match keyword.bytes {
                b"format" => {
                    layout = Some(match word() {
                        b"ascii" => Layout::Text,
                        b"binary_little_endian" => Layout::Binary(Endian::Little),
                        b"binary_big_endian" => Layout::Binary(Endian::Big),
                        other => {
                            return fault(
                                cursor,
                                format!("the format {} is not known", quote(other)),
                            );
                        }
                    });
                }
                b"element" => {
                    let name = word();
                    let Some(records) = cursor.word_on_line() else {
                        return fault(cursor, format!("element {} has no number", quote(name)));
                    };
                    elements.push(Element {
                        name,
                        records: cursor.count(records, 0, "records")?,
                        properties: Vec::new(),
                    });
                }
                b"property" => {
                    let mut kind = word();
                    let mut count = None;
                    if kind == b"list" {
                        count = Some(word());
                        kind = word();
                    }
                    let name = word();
                    let known = |name: &[u8]| scalar(name).ok_or_else(|| quote(name));
                    let types =
                        known(kind).and_then(|kind| Ok((count.map(known).transpose()?, kind)));
                    let (count, scalar) = match types {
                        Ok((count, scalar)) if !count.is_some_and(Scalar::is_float) => {
                            (count, scalar)
                        }
                        Ok(_) => return fault(cursor, "the count of a list is no integer".into()),
                        Err(name) => return fault(cursor, format!("the type {name} is not known")),
                    };
                    let Some(element) = elements.last_mut() else {
                        return fault(cursor, "a property is before the first element".into());
                    };
                    element.properties.push(Property {
                        name,
                        count,
                        scalar,
                    });
                }
                b"end_header" => {
                    cursor.line_text();
                    let Some(layout) = layout else {
                        return fault(cursor, "the header names no format".into());
                    };
                    return Ok(Self { layout, elements });
                }
                b"comment" | b"obj_info" => {}
                other => {
                    return fault(
                        cursor,
                        format!("{} is no keyword of a header", quote(other)),
                    );
                }
            }
            cursor.line_text();
        }
    }
}

fn scalar(name: &[u8]) -> Option<Scalar> {
    Some(match name {
        b"char" | b"int8" => Scalar::I8,
        b"uchar" | b"uint8" => Scalar::U8,
        b"short" | b"int16" => Scalar::I16,
        b"ushort" | b"uint16" => Scalar::U16,
        b"int" | b"int32" => Scalar::I32,
        b"uint" | b"uint32" => Scalar::U32,
        b"float" | b"float32" => Scalar::F32,
        b"double" | b"float64" => Scalar::F64,
        _ => return None,
    })
}

impl Element<'_> {
    fn described(&self) -> String {
        format!("element {}", quote(self.name))
    }

    /// Records without properties take no place in the file.
    fn records_with_content(&self) -> usize {
        match self.properties.is_empty() {
            true => 0,
            false => self.records,
        }
    }

    /// Refuses a number of records that the rest of the file cannot hold.
    fn check_room(&self, cursor: &Cursor<'_>, layout: Layout) -> Result<(), MeshError> {
        let size = |property: &Property<'_>| property.count.unwrap_or(property.scalar).size();
        let least = match layout {
            // A digit and a separator, which the last number may lack.
            Layout::Text => 2 * self.properties.len(),
            Layout::Binary(_) => self.properties.iter().map(size).sum(),
        };
        match self.records.checked_mul(least) {
            Some(needed) if needed <= cursor.rest().len() + 1 => Ok(()),
            _ => Err(cursor.ended(format!(
                "{}, of which it declares {} records",
                self.described(),
                self.records
            ))),
        }
    }

    fn position(&self, names: &[&[u8]], is_list: bool) -> Option<usize> {
        let mut properties = self.properties.iter();
        properties.position(|p| names.contains(&p.name) && p.count.is_some() == is_list)
    }

    fn required(
        &self,
        cursor: &Cursor<'_>,
        names: &[&[u8]],
        is_list: bool,
    ) -> Result<usize, MeshError> {
        self.position(names, is_list).ok_or_else(|| {
            let kind = if is_list { "list" } else { "number" };
            let what = format!("{} has no {kind} {}", self.described(), quote(names[0]));
            cursor.syntax(1, what, "Write the mesh again, with vertices and faces")
        })
    }

    /// Reads one record, and calls `take` with the number of the property and its value, in turn for each value of a list.
    fn record(
        &self,
        cursor: &mut Cursor<'_>,
        layout: Layout,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), MeshError> {
        for (index, property) in self.properties.iter().enumerate() {
            let values = match property.count {
                None => 1,
                Some(count) => {
                    let values = self.value(cursor, layout, count)?;
                    if !(0.0..=cursor.rest().len() as f64).contains(&values) {
                        return Err(cursor.ended(format!("a list of {values} values")));
                    }
                    values as usize
                }
            };
            for _ in 0..values {
                take(index, self.value(cursor, layout, property.scalar)?);
            }
        }
        Ok(())
    }

    fn value(
        &self,
        cursor: &mut Cursor<'_>,
        layout: Layout,
        scalar: Scalar,
    ) -> Result<f64, MeshError> {
        match layout {
            Layout::Text => match cursor.word() {
                Some(word) => cursor.number(word, &|| self.described()),
                None => Err(cursor.ended(self.described())),
            },
            Layout::Binary(endian) => match cursor.block(scalar.size()) {
                Some(bytes) => Ok(scalar.float(bytes, endian)),
                None => Err(cursor.ended(self.described())),
            },
        }
    }
}

fn read_vertices(
    cursor: &mut Cursor<'_>,
    layout: Layout,
    element: &Element<'_>,
    points: &mut Vec<Vector3<f64>>,
) -> Result<(), MeshError> {
    let axes = [&b"x"[..], b"y", b"z"];
    let mut columns = [0; 3];
    for (column, axis) in columns.iter_mut().zip(axes) {
        *column = element.required(cursor, &[axis], false)?;
    }
    for _ in 0..element.records {
        let mut point = Vector3::zeros();
        element.record(cursor, layout, |index, value| {
            if let Some(axis) = columns.iter().position(|column| *column == index) {
                point[axis] = value;
            }
        })?;
        points.push(point);
    }
    Ok(())
}

fn read_faces(
    cursor: &mut Cursor<'_>,
    layout: Layout,
    element: &Element<'_>,
    cells: &mut Cells,
) -> Result<(), MeshError> {
    let column = element.required(cursor, &[b"vertex_indices", b"vertex_index"], true)?;
    let mut corners = Vec::new();
    for face in 0..element.records {
        corners.clear();
        let mut wrong = None;
        element.record(cursor, layout, |index, value| {
            if index == column {
                if value.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&value) {
                    wrong = Some(value);
                }
                corners.push(value as u32);
            }
        })?;
        if let Some(wrong) = wrong {
            let what = format!("face {face} refers to vertex {wrong}");
            let flaw = Flaw::new(cursor.here(), what, "PLY numbers vertices from 0");
            return Err(MeshError::Index(flaw));
        }
        let kind = match corners.len() {
            0..=2 => CellKind::Thin,
            3 => CellKind::Triangle,
            _ => CellKind::Polygon,
        };
        cells.push(kind, corners.iter().copied());
    }
    Ok(())
}

/// Faces may be before the vertices in a file.
fn check(names: &Names, points: &[Vector3<f64>], cells: &Cells) -> Result<(), MeshError> {
    for ((_, corners), face) in cells.iter().zip(0_u32..) {
        if let Some(missing) = corners.iter().find(|c| **c as usize >= points.len()) {
            let what = format!("face {face} refers to vertex {missing} of {}", points.len());
            let remedy = "PLY numbers vertices from 0";
            let flaw = Flaw::new(names.element_location(face), what, remedy);
            return Err(MeshError::Index(flaw));
        }
    }
    let is_finite = |p: &Vector3<f64>| p.iter().all(|x| x.is_finite());
    if let Some(vertex) = points.iter().position(|p| !is_finite(p)) {
        let p = points[vertex];
        let what = format!("vertex {vertex} is at ({}, {}, {})", p.x, p.y, p.z);
        let at = names.vertex_location(vertex as u32);
        let flaw = Flaw::new(at, what, "Coordinates must be finite numbers");
        return Err(MeshError::Coordinate(flaw));
    }
    Ok(())
}
