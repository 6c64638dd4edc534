//! Legacy VTK, versions 1 to 5.1, ASCII and (big-endian) BINARY: unstructured grids and polygonal data.

mod connectivity;
mod reader;

use super::cells::{CellKind, Cells, Grid, RequestedCells};
use super::cursor::{Cursor, Word};
use super::error::{Flaw, MeshError, quote};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::{LoadReport, Severity};
use super::scalar::{Endian, Scalar};
use super::vtk_cells;
use nalgebra::Vector3;
use reader::{Encoding, Lists, Reader};

pub(crate) fn parse(
    bytes: &[u8],
    file: &str,
    requested: RequestedCells,
    report: LoadReport,
) -> Result<Grid, MeshError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut cursor = Cursor::new(bytes, file);
    let encoding = header(&mut cursor)?;
    let dataset = dataset(&mut cursor)?;
    let mut reader = Reader {
        cursor,
        encoding,
        points: None,
        point_lines: Vec::new(),
        lists: None,
        cells: Cells::default(),
        cell_lines: Vec::new(),
        has_types: false,
        report,
    };
    let at_dataset = reader.cursor.location(dataset.line);
    if dataset.is("UNSTRUCTURED_GRID") {
        reader.unstructured_grid()?;
    } else if dataset.is("POLYDATA") && requested == RequestedCells::Surface {
        reader.polydata()?;
    } else {
        let (what, remedy) = match requested {
            RequestedCells::Tets => (
                "but a tetrahedral mesh was requested",
                "Use DATASET UNSTRUCTURED_GRID with cells of type 10",
            ),
            RequestedCells::Surface => (
                "but a surface was requested",
                "Use DATASET POLYDATA or UNSTRUCTURED_GRID",
            ),
        };
        let what = format!("the data set is {}, {what}", quote(dataset.bytes));
        return Err(MeshError::Unsupported(Flaw::new(at_dataset, what, remedy)));
    }
    reader.finish(file)
}

fn header(cursor: &mut Cursor<'_>) -> Result<Encoding, MeshError> {
    const MAGIC: &[u8] = b"# vtk DataFile Version";
    let line = cursor
        .line_text()
        .ok_or_else(|| cursor.ended("the header"))?;
    let magic = line
        .bytes
        .get(..MAGIC.len())
        .filter(|start| start.eq_ignore_ascii_case(MAGIC));
    if magic.is_none() {
        let what = "the first line is not the header of a legacy VTK file";
        return Err(cursor.syntax(line.line, what, "It must read: # vtk DataFile Version 3.0"));
    }
    let version = line.bytes[MAGIC.len()..].trim_ascii();
    let major = version
        .split(|byte| *byte == b'.')
        .next()
        .and_then(super::cursor::parse_integer);
    if !major.is_some_and(|major| (1..=5).contains(&major)) {
        let what = format!("legacy VTK version {}", quote(version));
        let flaw = Flaw::new(
            cursor.location(line.line),
            what,
            "Versions 1.0 to 5.1 are supported",
        );
        return Err(MeshError::Unsupported(flaw));
    }
    cursor
        .line_text()
        .ok_or_else(|| cursor.ended("the header"))?;
    let word = cursor.word().ok_or_else(|| cursor.ended("the header"))?;
    cursor.line_text();
    if word.is("ASCII") {
        Ok(Encoding::Ascii)
    } else if word.is("BINARY") {
        Ok(Encoding::Binary)
    } else {
        let what = format!("expected ASCII or BINARY, found {}", quote(word.bytes));
        Err(cursor.syntax(
            word.line,
            what,
            "The line after the title must be ASCII or BINARY",
        ))
    }
}

fn dataset<'a>(cursor: &mut Cursor<'a>) -> Result<Word<'a>, MeshError> {
    let word = cursor
        .word()
        .ok_or_else(|| cursor.ended("the header: DATASET is missing"))?;
    if !word.is("DATASET") {
        let what = format!("expected DATASET, found {}", quote(word.bytes));
        return Err(cursor.syntax(
            word.line,
            what,
            "DATASET must follow the line ASCII or BINARY",
        ));
    }
    let kind = cursor.word_on_line();
    let kind = kind.ok_or_else(|| {
        cursor.syntax(word.line, "DATASET without a type", "Use UNSTRUCTURED_GRID")
    })?;
    cursor.line_text();
    Ok(kind)
}

impl<'a> Reader<'a> {
    fn unstructured_grid(&mut self) -> Result<(), MeshError> {
        while let Some(word) = self.cursor.word() {
            if word.is("POINTS") && self.points.is_none() {
                self.read_points(word)?;
            } else if word.is("CELLS") && self.points.is_some() && self.lists.is_none() {
                self.lists = Some(self.lists("CELLS", word)?);
            } else if word.is("CELL_TYPES") && self.lists.is_some() && !self.has_types {
                self.read_types(word)?;
            } else if !self.skip(word)? {
                return Err(self.unexpected(word, &["CELLS", "CELL_TYPES"]));
            }
            if self.at_data() {
                break;
            }
        }
        if self.points.is_none() || self.lists.is_none() || !self.has_types {
            let missing = self.missing(&["CELLS", "CELL_TYPES"]);
            let what = format!("{missing} is missing at the end of the file");
            return Err(MeshError::Syntax(Flaw::new(
                self.cursor.here(),
                what,
                "An unstructured grid needs POINTS, CELLS and CELL_TYPES",
            )));
        }
        Ok(())
    }

    fn polydata(&mut self) -> Result<(), MeshError> {
        while let Some(word) = self.cursor.word() {
            let section = ["VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS"]
                .into_iter()
                .find(|name| word.is(name));
            if word.is("POINTS") && self.points.is_none() {
                self.read_points(word)?;
            } else if let Some(name) = section.filter(|_| self.points.is_some()) {
                let code = match name {
                    "POLYGONS" => 7,
                    "TRIANGLE_STRIPS" => 6,
                    _ => 2,
                };
                let lists = self.lists(name, word)?;
                let codes = vec![code; lists.ends.len()];
                self.add_cells(lists, &codes, &[], name)?;
            } else if !self.skip(word)? {
                return Err(self.unexpected(word, &["POLYGONS"]));
            }
            if self.at_data() {
                break;
            }
        }
        if self.points.is_none() || self.cells.len() == 0 {
            let missing = self.missing(&["POLYGONS"]);
            let flaw = Flaw::new(
                self.cursor.here(),
                format!("{missing} is missing at the end of the file"),
                "A surface needs POINTS and POLYGONS",
            );
            return Err(MeshError::Syntax(flaw));
        }
        Ok(())
    }

    /// The section that is expected next.
    fn missing<'s>(&self, after_points: &[&'s str]) -> &'s str {
        match (self.points.is_some(), self.lists.is_some()) {
            (false, _) => "POINTS",
            (true, true) => after_points.get(1).copied().unwrap_or("POINT_DATA"),
            (true, false) => after_points[0],
        }
    }

    fn unexpected(&self, word: Word<'_>, after_points: &[&str]) -> MeshError {
        let requested = if self.has_types {
            "POINT_DATA or the end"
        } else {
            self.missing(after_points)
        };
        let what = format!("expected {requested}, found {}", quote(word.bytes));
        self.cursor
            .syntax(word.line, what, "Check the count of the preceding section")
    }

    /// Point and cell data come last and are ignored.
    fn at_data(&mut self) -> bool {
        let Some(word) = self
            .cursor
            .peek_word()
            .filter(|word| word.is("POINT_DATA") || word.is("CELL_DATA"))
        else {
            return false;
        };
        let text = "fields on points and cells";
        self.report
            .add(Severity::Ignored, self.cursor.location(word.line), text);
        true
    }

    /// Skips METADATA and FIELD sections; returns whether it was one.
    fn skip(&mut self, word: Word<'_>) -> Result<bool, MeshError> {
        if word.is("METADATA") {
            self.cursor.line_text();
            while let Some(line) = self.cursor.line_text() {
                if line.bytes.is_empty() {
                    break;
                }
            }
            return Ok(true);
        }
        if !word.is("FIELD") {
            return Ok(false);
        }
        self.word_on_line("the name of FIELD")?;
        let arrays = self.word_on_line("the number of arrays of FIELD")?;
        let arrays = self.cursor.count(arrays, 2, "arrays of FIELD")?;
        for _ in 0..arrays {
            self.cursor
                .word()
                .ok_or_else(|| self.cursor.ended("FIELD"))?;
            let components = self.word_on_line("the number of components of a field array")?;
            let components = self.cursor.count(components, 1, "components")?;
            let tuples = self.word_on_line("the number of tuples of a field array")?;
            let tuples = self.cursor.count(tuples, 1, "tuples")?;
            let numbers = components.saturating_mul(tuples);
            let kind = self.scalar("a field array")?;
            match self.encoding {
                Encoding::Ascii => {
                    for _ in 0..numbers {
                        self.cursor
                            .word()
                            .ok_or_else(|| self.cursor.ended("FIELD"))?;
                    }
                }
                Encoding::Binary => {
                    let bytes = numbers.saturating_mul(kind.size());
                    self.cursor
                        .block(bytes)
                        .ok_or_else(|| self.cursor.ended("FIELD"))?;
                }
            }
        }
        self.report.add(
            Severity::Ignored,
            self.cursor.location(word.line),
            "FIELD data",
        );
        Ok(true)
    }

    fn read_points(&mut self, header: Word<'_>) -> Result<(), MeshError> {
        let count = self.word_on_line("the number of POINTS")?;
        let count = self.cursor.count(count, 1, "POINTS")?;
        let scalar = self.scalar("POINTS")?;
        // A point takes at least six characters, or three bytes, which bounds the memory reserved for a wrong count.
        let mut points = Vec::with_capacity(count.min(self.cursor.rest().len() / 3));
        match self.encoding {
            Encoding::Ascii => {
                self.point_lines.reserve(points.capacity());
                for p in 0..count {
                    let mut point = Vector3::zeros();
                    for (k, x) in point.iter_mut().enumerate() {
                        let word = self.cursor.word();
                        let word = word.ok_or_else(|| {
                            self.cursor.ended(format_args!("point {p} of {count}"))
                        })?;
                        *x = self
                            .cursor
                            .number(word, &|| format!("point {p}, coordinate {k}"))?;
                        if k == 0 {
                            self.point_lines.push(word.line);
                        }
                    }
                    points.push(point);
                }
            }
            Encoding::Binary => {
                let size = scalar.size();
                let block = self.binary_block(count, 3 * size, "POINTS", header)?;
                for (record, p) in block.chunks_exact(3 * size).zip(0..) {
                    let coordinate =
                        |k: usize| scalar.float(&record[k * size..(k + 1) * size], Endian::Big);
                    let point = Vector3::new(coordinate(0), coordinate(1), coordinate(2));
                    if !point.iter().all(|x| x.is_finite()) {
                        return Err(MeshError::Coordinate(Flaw::new(
                            self.cursor.location(header.line),
                            format!(
                                "POINTS, point {p} is at ({}, {}, {})",
                                point.x, point.y, point.z
                            ),
                            "Coordinates must be finite; binary VTK files are big-endian",
                        )));
                    }
                    points.push(point);
                }
            }
        }
        self.points = Some(points);
        Ok(())
    }

    fn read_types(&mut self, header: Word<'_>) -> Result<(), MeshError> {
        let count = self.word_on_line("the number of CELL_TYPES")?;
        let count = self.cursor.count(count, 1, "CELL_TYPES")?;
        self.cursor.line_text();
        let lists = self.lists.take().unwrap_or_default();
        if count != lists.ends.len() {
            let what = format!(
                "CELL_TYPES has {count} entries for {} cells",
                lists.ends.len()
            );
            return Err(self
                .cursor
                .syntax(header.line, what, "Each cell needs one type"));
        }
        let (codes, lines) = self.integers(count, Scalar::I32, "CELL_TYPES", "type", header)?;
        self.add_cells(lists, &codes, &lines, "CELL_TYPES")?;
        self.lists = Some(Lists::default());
        self.has_types = true;
        Ok(())
    }

    fn add_cells(
        &mut self,
        lists: Lists,
        codes: &[i64],
        lines: &[u32],
        section: &str,
    ) -> Result<(), MeshError> {
        let mut start = 0;
        for ((end, code), c) in lists.ends.iter().zip(codes).zip(0_usize..) {
            let corners = &lists.corners[start..*end];
            start = *end;
            let kind = vtk_cells::kind(*code, corners.len()).map_err(|what| {
                let line = lines
                    .get(c)
                    .or(lists.lines.get(c))
                    .copied()
                    .unwrap_or(self.cursor.line());
                let what = format!("{section}, cell {c}: {what}");
                self.cursor.syntax(
                    line,
                    what,
                    "Tetrahedra are type 10 with 4 points, triangles type 5 with 3",
                )
            })?;
            self.cells.push(
                kind,
                if kind == CellKind::Thin { &[] } else { corners }
                    .iter()
                    .copied(),
            );
        }
        self.cell_lines.extend(lists.lines);
        Ok(())
    }

    fn finish(self, file: &str) -> Result<Grid, MeshError> {
        let points = self.points.unwrap_or_default();
        let positions = |lines: Vec<u32>, count: usize| {
            if lines.len() == count {
                FilePositions::Lines(lines)
            } else {
                FilePositions::Unknown
            }
        };
        let names = Names {
            file: file.to_owned(),
            vertices: Naming {
                word: "point",
                plural: "points",
                numbering: Numbering::From(0),
                positions: positions(self.point_lines, points.len()),
            },
            elements: Naming {
                word: "cell",
                plural: "cells",
                numbering: Numbering::From(0),
                positions: positions(self.cell_lines, self.cells.len()),
            },
        };
        Ok(Grid {
            names,
            points,
            cells: self.cells,
            kind_name: vtk_cells::name,
            report: self.report,
        })
    }
}
