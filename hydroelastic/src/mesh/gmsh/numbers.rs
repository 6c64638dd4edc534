//! Reading Gmsh's numbers from text and binary files.

use crate::mesh::cursor::{Cursor, Word};
use crate::mesh::error::{Flaw, MeshError, quote};
use crate::mesh::scalar::{Endian, Scalar};

/// Numbers of the file: in text, where a record ends with its line, or in binary.
pub(super) struct Numbers<'a> {
    pub(super) cursor: Cursor<'a>,
    /// `None` for ASCII.
    pub(super) binary: Option<Endian>,
}

impl<'a> Numbers<'a> {
    pub(super) fn error_here(&self, what: String, remedy: &str) -> MeshError {
        self.cursor.syntax(self.cursor.line(), what, remedy)
    }

    fn word(&mut self, what: &dyn Fn() -> String) -> Result<Word<'a>, MeshError> {
        match self.cursor.word_on_line() {
            Some(word) => Ok(word),
            None if self.cursor.rest().is_empty() => Err(self.cursor.ended(what())),
            None => Err(self.error_here(
                format!("{}: the line has too few numbers", what()),
                "See the Gmsh manual",
            )),
        }
    }

    fn block(&mut self, scalar: Scalar, what: &dyn Fn() -> String) -> Result<&'a [u8], MeshError> {
        self.cursor
            .block(scalar.size())
            .ok_or_else(|| self.cursor.ended(what()))
    }

    /// An integer; in binary files of type `scalar`.
    fn integer(&mut self, scalar: Scalar, what: &dyn Fn() -> String) -> Result<i64, MeshError> {
        match self.binary {
            Some(endian) => Ok(scalar.integer(self.block(scalar, what)?, endian)),
            None => {
                let word = self.word(what)?;
                self.cursor.integer(word, what)
            }
        }
    }

    pub(super) fn int(&mut self, what: &dyn Fn() -> String) -> Result<i64, MeshError> {
        self.integer(Scalar::I32, what)
    }

    /// A tag: a non-negative integer.
    pub(super) fn tag(&mut self, what: &dyn Fn() -> String) -> Result<u64, MeshError> {
        let tag = self.integer(Scalar::U64, what)?;
        u64::try_from(tag)
            .map_err(|_| self.error_here(format!("{} is {tag}", what()), "It cannot be negative"))
    }

    /// A count of items that take at least `bytes_each` bytes in text and `binary_bytes_each` in binary files.
    pub(super) fn count(
        &mut self,
        bytes_each: usize,
        binary_bytes_each: usize,
        what: &str,
    ) -> Result<usize, MeshError> {
        let line = self.cursor.line();
        let count = self.tag(&|| format!("number of {what}"))?;
        let each = if self.binary.is_some() {
            binary_bytes_each
        } else {
            bytes_each
        };
        let room = self.cursor.rest().len() + 1;
        usize::try_from(count)
            .ok()
            .filter(|count| count.checked_mul(each).is_some_and(|needed| needed <= room))
            .ok_or_else(|| {
                let what = format!("{count} {what} do not fit into the {} bytes left", room - 1);
                self.cursor.syntax(
                    line,
                    what,
                    "The count is too large, or the file was truncated",
                )
            })
    }

    pub(super) fn coordinate(&mut self, what: &dyn Fn() -> String) -> Result<f64, MeshError> {
        let Some(endian) = self.binary else {
            let word = self.word(what)?;
            return self.cursor.number(word, what);
        };
        let x = Scalar::F64.float(self.block(Scalar::F64, what)?, endian);
        if x.is_finite() {
            return Ok(x);
        }
        let what = format!("{}: {x} is not finite", what());
        Err(MeshError::Coordinate(Flaw::new(
            self.cursor.here(),
            what,
            "Coordinates must be finite",
        )))
    }

    /// In text files a record ends with its line.
    pub(super) fn end_record(&mut self, what: &dyn Fn() -> String) -> Result<(), MeshError> {
        if self.binary.is_some() {
            return Ok(());
        }
        if let Some(word) = self.cursor.word_on_line() {
            let what = format!(
                "{}: unexpected {} at the end of the line",
                what(),
                quote(word.bytes)
            );
            return Err(self
                .cursor
                .syntax(word.line, what, "The line has too many numbers"));
        }
        self.cursor.line_text();
        Ok(())
    }
}
