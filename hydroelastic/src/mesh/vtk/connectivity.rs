//! Connectivity of cells: the old layout (count, then indices) and that of version 5 (offsets and connectivity).

use super::reader::{Encoding, Lists, Reader};
use crate::mesh::cursor::{Cursor, Word};
use crate::mesh::error::{Flaw, MeshError, quote};
use crate::mesh::scalar::{Endian, Scalar};

impl<'a> Reader<'a> {
    pub(super) fn binary_block(
        &mut self,
        count: usize,
        bytes_each: usize,
        section: &str,
        header: Word<'_>,
    ) -> Result<&'a [u8], MeshError> {
        let block = count
            .checked_mul(bytes_each)
            .and_then(|bytes| self.cursor.block(bytes));
        block.ok_or_else(|| {
            let present = self.cursor.rest().len() / bytes_each.max(1);
            let what = format!("{section}: the file ends inside item {present} of {count}");
            self.cursor.syntax(
                header.line,
                what,
                "The file was truncated, or the count is too large",
            )
        })
    }

    /// A block of integers, in binary files of type `scalar`, and in text files the line of each.
    pub(super) fn integers(
        &mut self,
        count: usize,
        scalar: Scalar,
        section: &str,
        item: &str,
        header: Word<'_>,
    ) -> Result<(Vec<i64>, Vec<u32>), MeshError> {
        match self.encoding {
            Encoding::Ascii => {
                // Each takes at least a digit and a separator, which bounds the memory reserved for a wrong count.
                let room = count.min(self.cursor.rest().len() / 2 + 1);
                let (mut values, mut lines) = (Vec::with_capacity(room), Vec::with_capacity(room));
                for k in 0..count {
                    let word = self.cursor.word();
                    let word = word.ok_or_else(|| {
                        self.cursor
                            .ended(format_args!("{section}, {item} {k} of {count}"))
                    })?;
                    values.push(
                        self.cursor
                            .integer(word, &|| format!("{section}, {item} {k}"))?,
                    );
                    lines.push(word.line);
                }
                Ok((values, lines))
            }
            Encoding::Binary => {
                let block = self.binary_block(count, scalar.size(), section, header)?;
                let values = block
                    .chunks_exact(scalar.size())
                    .map(|bytes| scalar.integer(bytes, Endian::Big));
                Ok((values.collect(), Vec::new()))
            }
        }
    }

    /// CELLS, POLYGONS and the like, in the old layout (count, then indices) or that of version 5 (OFFSETS and
    /// CONNECTIVITY).
    pub(super) fn lists(&mut self, section: &str, header: Word<'_>) -> Result<Lists, MeshError> {
        let first = self.word_on_line(&format!("the number of {section}"))?;
        let first = self.cursor.count(first, 1, section)?;
        let size = self.word_on_line(&format!("the size of {section}"))?;
        let size = self
            .cursor
            .count(size, 1, &format!("numbers in {section}"))?;
        self.cursor.line_text();
        if self
            .cursor
            .rest()
            .trim_ascii_start()
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"OFFSETS"))
        {
            self.lists_by_offset(first, size, section, header)
        } else if self.encoding == Encoding::Ascii {
            self.lists_in_text(first, size, section, header)
        } else {
            self.lists_in_binary(first, size, section, header)
        }
    }

    fn n_points(&self) -> usize {
        self.points.as_ref().map_or(0, Vec::len)
    }

    fn index(&self, value: i64, section: &str, cell: usize, line: u32) -> Result<u32, MeshError> {
        let n_points = self.n_points();
        u32::try_from(value)
            .ok()
            .filter(|index| (*index as usize) < n_points)
            .ok_or_else(|| {
                let what = format!("{section}, cell {cell} refers to point {value} of {n_points}");
                MeshError::Index(Flaw::new(
                    self.cursor.location(line),
                    what,
                    self.index_remedy(),
                ))
            })
    }

    fn index_remedy(&self) -> &'static str {
        match self.encoding {
            Encoding::Ascii => "VTK numbers points from 0",
            Encoding::Binary => "VTK numbers points from 0; binary VTK files are big-endian",
        }
    }

    fn size_error(
        &self,
        section: &str,
        header: Word<'_>,
        announced: usize,
        needed: usize,
    ) -> MeshError {
        let what =
            format!("{section}: {announced} numbers are declared, but its cells need {needed}");
        self.cursor.syntax(
            header.line,
            what,
            "The size must be the number of cells plus the number of their points",
        )
    }

    fn lists_in_text(
        &mut self,
        count: usize,
        size: usize,
        section: &str,
        header: Word<'_>,
    ) -> Result<Lists, MeshError> {
        let mut lists = Lists::default();
        for c in 0..count {
            let ended =
                |cursor: &Cursor<'_>| cursor.ended(format_args!("{section}, cell {c} of {count}"));
            let word = self.cursor.word().ok_or_else(|| ended(&self.cursor))?;
            let line = word.line;
            let length = self
                .cursor
                .count(word, 1, &format!("points of {section}, cell {c}"))?;
            for _ in 0..length {
                let word = self.cursor.word().ok_or_else(|| ended(&self.cursor))?;
                let value = self
                    .cursor
                    .integer(word, &|| format!("{section}, cell {c}"))?;
                lists
                    .corners
                    .push(self.index(value, section, c, word.line)?);
            }
            lists.ends.push(lists.corners.len());
            lists.lines.push(line);
        }
        let needed = lists.corners.len() + count;
        if needed == size {
            Ok(lists)
        } else {
            Err(self.size_error(section, header, size, needed))
        }
    }

    fn lists_in_binary(
        &mut self,
        count: usize,
        size: usize,
        section: &str,
        header: Word<'_>,
    ) -> Result<Lists, MeshError> {
        let (numbers, _) = self.integers(size, Scalar::I32, section, "number", header)?;
        let mut lists = Lists::default();
        let mut rest = numbers.as_slice();
        for c in 0..count {
            let length = rest.first().copied().unwrap_or(0);
            let corners = usize::try_from(length)
                .ok()
                .and_then(|length| rest.get(1..=length));
            let Some(corners) = corners.filter(|_| !rest.is_empty()) else {
                let what = format!(
                    "{section}, cell {c} has {length} points, more than the section contains"
                );
                return Err(self.cursor.syntax(
                    header.line,
                    what,
                    "Binary VTK files must be big-endian",
                ));
            };
            for corner in corners {
                lists
                    .corners
                    .push(self.index(*corner, section, c, header.line)?);
            }
            lists.ends.push(lists.corners.len());
            rest = &rest[1 + corners.len()..];
        }
        let needed = size - rest.len();
        if rest.is_empty() {
            Ok(lists)
        } else {
            Err(self.size_error(section, header, size, needed))
        }
    }

    fn lists_by_offset(
        &mut self,
        n_offsets: usize,
        n_corners: usize,
        section: &str,
        header: Word<'_>,
    ) -> Result<Lists, MeshError> {
        self.cursor.word();
        let scalar = self.integer_type("OFFSETS")?;
        let (offsets, _) = self.integers(n_offsets, scalar, section, "offset", header)?;
        let word = self.cursor.word();
        let word = word.ok_or_else(|| {
            self.cursor
                .ended(format_args!("{section}: CONNECTIVITY is missing"))
        })?;
        if !word.is("CONNECTIVITY") {
            let what = format!(
                "{section}: expected CONNECTIVITY, found {}",
                quote(word.bytes)
            );
            return Err(self.cursor.syntax(
                word.line,
                what,
                "CONNECTIVITY must follow OFFSETS; check the number of offsets",
            ));
        }
        let scalar = self.integer_type("CONNECTIVITY")?;
        let (values, lines) =
            self.integers(n_corners, scalar, section, "point reference", header)?;
        let mut lists = Lists::default();
        for (pair, c) in offsets.windows(2).zip(0_usize..) {
            let range = usize::try_from(pair[0])
                .ok()
                .zip(usize::try_from(pair[1]).ok());
            let range = range.filter(|(start, end)| *start == lists.corners.len() && end >= start);
            let Some(corners) = range.and_then(|(start, end)| values.get(start..end)) else {
                let what = format!(
                    "{section}, cell {c} extends from offset {} to {}",
                    pair[0], pair[1]
                );
                let remedy =
                    "Offsets must start at 0 and increase up to the number of point references";
                return Err(self.cursor.syntax(header.line, what, remedy));
            };
            let start = lists.corners.len();
            for (corner, k) in corners.iter().zip(start..) {
                let line = lines.get(k).copied().unwrap_or(header.line);
                lists.corners.push(self.index(*corner, section, c, line)?);
            }
            lists.ends.push(lists.corners.len());
            if let Some(line) = lines.get(start).or(lines.last()) {
                lists.lines.push(*line);
            }
        }
        if lists.corners.len() != values.len() {
            let (used, given) = (lists.corners.len(), values.len());
            let what = format!("{section}: the offsets use {used} of {given} point references");
            return Err(self.cursor.syntax(
                header.line,
                what,
                "The last offset must be the number of point references",
            ));
        }
        if lists.lines.len() != lists.ends.len() {
            lists.lines.clear();
        }
        Ok(lists)
    }

    fn integer_type(&mut self, what: &str) -> Result<Scalar, MeshError> {
        let line = self.cursor.line();
        let scalar = self.scalar(what)?;
        if scalar.is_float() {
            return Err(self.cursor.syntax(
                line,
                format!("{what} are of a floating-point type"),
                "Use vtktypeint64",
            ));
        }
        Ok(scalar)
    }
}
