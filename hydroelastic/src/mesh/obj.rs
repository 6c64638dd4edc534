//! Wavefront OBJ: `v` and `f` statements; everything else is counted and reported as ignored.

use super::cells::{CellKind, Cells, Grid};
use super::cursor::{Cursor, Word, parse_integer, parse_number};
use super::error::{Flaw, MeshError, quote};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::{LoadReport, Severity};
use nalgebra::Vector3;
use std::borrow::Cow;
use std::collections::BTreeMap;

struct Reader<'a> {
    cursor: Cursor<'a>,
    points: Vec<Vector3<f64>>,
    point_lines: Vec<u32>,
    cells: Cells,
    face_lines: Vec<u32>,
    /// Ignored statements: their number, and the first line.
    ignored: BTreeMap<String, (u32, u32)>,
    /// Vertices with weights or colours: their number, and the first line.
    extras: Option<(u32, u32)>,
}

pub(crate) fn parse(bytes: &[u8], file: &str, report: LoadReport) -> Result<Grid, MeshError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = Reader {
        cursor: Cursor::new(bytes, file),
        points: Vec::new(),
        point_lines: Vec::new(),
        cells: Cells::default(),
        face_lines: Vec::new(),
        ignored: BTreeMap::new(),
        extras: None,
    };
    while let Some(line) = reader.cursor.line_text() {
        let number = line.line;
        let line = reader.joined(line);
        reader.statement(&line, number)?;
    }
    reader.finish(file, report)
}

impl<'a> Reader<'a> {
    /// A line joined with its continuation lines (after a backslash).
    fn joined(&mut self, line: Word<'a>) -> Cow<'a, [u8]> {
        if !line.bytes.ends_with(b"\\") || line.bytes.trim_ascii_start().starts_with(b"#") {
            return Cow::Borrowed(line.bytes);
        }
        let mut whole = line.bytes.to_vec();
        while whole.last() == Some(&b'\\') {
            whole.pop();
            whole.push(b' ');
            match self.cursor.line_text() {
                Some(next) => whole.extend_from_slice(next.bytes),
                None => break,
            }
        }
        Cow::Owned(whole)
    }

    fn statement(&mut self, line: &[u8], number: u32) -> Result<(), MeshError> {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        if keyword.starts_with(b"#") {
            return Ok(());
        }
        let mut words = words.take_while(|word| !word.starts_with(b"#"));
        match keyword {
            b"v" => self.vertex(&mut words, number),
            b"f" | b"fo" => self.face(&mut words, number),
            _ if is_statement_name(keyword) => {
                let name = String::from_utf8_lossy(keyword).into_owned();
                self.ignored.entry(name).or_insert((0, number)).0 += 1;
                Ok(())
            }
            _ => Err(self.cursor.syntax(
                number,
                "this is not an OBJ statement",
                "An OBJ file is text whose lines start with v, f, # and the like",
            )),
        }
    }

    fn vertex(
        &mut self,
        words: &mut dyn Iterator<Item = &[u8]>,
        line: u32,
    ) -> Result<(), MeshError> {
        let mut numbers = [0.0; 7];
        let mut given = 0;
        let vertex = self.points.len() + 1;
        for word in words {
            let name = || format!("vertex {vertex}, coordinate {}", given + 1);
            let number = parse_number(word).map_err(|problem| {
                MeshError::Coordinate(Flaw::new(
                    self.cursor.location(line),
                    format!("{}: {} {}", name(), quote(word), problem.text()),
                    problem.remedy(word),
                ))
            })?;
            if given == numbers.len() {
                let what = format!("vertex {vertex} has more than {} numbers", numbers.len());
                return Err(self.cursor.syntax(line, what, "Write a vertex as: v x y z"));
            }
            numbers[given] = number;
            given += 1;
        }
        if given < 3 {
            let what = format!("vertex {vertex} has {given} coordinates");
            return Err(self
                .cursor
                .syntax(line, what, "A vertex needs three numbers: v x y z"));
        }
        if given > 3 {
            self.extras.get_or_insert((0, line)).0 += 1;
        }
        self.points
            .push(Vector3::new(numbers[0], numbers[1], numbers[2]));
        self.point_lines.push(line);
        Ok(())
    }

    fn face(&mut self, words: &mut dyn Iterator<Item = &[u8]>, line: u32) -> Result<(), MeshError> {
        let face = self.cells.len();
        let mut corners = Vec::with_capacity(4);
        for word in words {
            let mut parts = word.split(|byte| *byte == b'/');
            let vertex = parts.next().and_then(parse_integer);
            // Texture and normal indices are ignored; they may be empty but must be integers.
            let rest_is_sound = parts.clone().count() <= 2
                && parts.all(|part| part.is_empty() || parse_integer(part).is_some());
            let Some(vertex) = vertex.filter(|_| rest_is_sound) else {
                let what = format!("face {face}: {} is not a vertex reference", quote(word));
                let remedy = "Write v, v/vt, v//vn or v/vt/vn, each an integer counted from 1 (or from -1 backwards)";
                return Err(self.cursor.syntax(line, what, remedy));
            };
            let n = self.points.len() as i64;
            let index = if vertex < 0 {
                n.saturating_add(vertex)
            } else {
                vertex - 1
            };
            let Some(index) = u32::try_from(index).ok().filter(|_| vertex != 0) else {
                let remedy = match vertex {
                    0 => "OBJ numbers vertices from 1",
                    _ => "A negative index counts backwards from the last vertex so far",
                };
                return Err(self.index_error(face, line, vertex, remedy));
            };
            corners.push(index);
        }
        if corners.len() < 3 {
            let what = format!("face {face} has {} vertices", corners.len());
            return Err(self
                .cursor
                .syntax(line, what, "A face needs at least three vertices"));
        }
        let kind = if corners.len() == 3 {
            CellKind::Triangle
        } else {
            CellKind::Polygon
        };
        self.cells.push(kind, corners);
        self.face_lines.push(line);
        Ok(())
    }

    fn index_error(&self, face: usize, line: u32, vertex: i64, remedy: &str) -> MeshError {
        let what = format!(
            "face {face} refers to vertex {vertex} of {}",
            self.points.len()
        );
        MeshError::Index(Flaw::new(self.cursor.location(line), what, remedy))
    }

    fn finish(self, file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
        // A face may precede its vertices, so the upper bound is known only now.
        for (((_, corners), line), face) in self.cells.iter().zip(&self.face_lines).zip(0..) {
            if let Some(corner) = corners
                .iter()
                .find(|corner| **corner as usize >= self.points.len())
            {
                let vertex = i64::from(*corner) + 1;
                return Err(self.index_error(
                    face,
                    *line,
                    vertex,
                    "Every vertex needs its own line: v x y z",
                ));
            }
        }
        if let Some(&(_, first)) = self.ignored.values().min_by_key(|(_, line)| *line) {
            const NAMED_MAX: usize = 12;
            let mut names: Vec<String> = self
                .ignored
                .iter()
                .take(NAMED_MAX)
                .map(|(name, (count, _))| format!("{name} ({count})"))
                .collect();
            if self.ignored.len() > NAMED_MAX {
                names.push(format!("and {} more kinds", self.ignored.len() - NAMED_MAX));
            }
            let text = format!(
                "statements without effect on the mesh: {}",
                names.join(", ")
            );
            report.add(Severity::Ignored, self.cursor.location(first), text);
        }
        if let Some((count, first)) = self.extras {
            let text = format!("numbers after x y z (weights or colours) of {count} vertices");
            report.add(Severity::Ignored, self.cursor.location(first), text);
        }
        let names = Names {
            file: file.to_owned(),
            vertices: Naming {
                word: "vertex",
                plural: "vertices",
                numbering: Numbering::From(1),
                positions: FilePositions::Lines(self.point_lines),
            },
            elements: Naming {
                word: "face",
                plural: "faces",
                numbering: Numbering::From(0),
                positions: FilePositions::Lines(self.face_lines),
            },
        };
        Ok(Grid {
            names,
            points: self.points,
            cells: self.cells,
            kind_name: |_| "face",
            report,
        })
    }
}

/// OBJ statements are short lower-case words, with vendor extensions.
fn is_statement_name(word: &[u8]) -> bool {
    const LENGTH_MAX: usize = 24;
    word.len() <= LENGTH_MAX
        && word
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
