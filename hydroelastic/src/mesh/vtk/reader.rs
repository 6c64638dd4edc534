//! State of the reader of legacy VTK files, and the words of a header line.

use nalgebra::Vector3;

use crate::mesh::cells::Cells;
use crate::mesh::cursor::{Cursor, Word};
use crate::mesh::error::{MeshError, quote};
use crate::mesh::report::LoadReport;
use crate::mesh::scalar::Scalar;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Binary,
}

pub(super) struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) encoding: Encoding,
    pub(super) points: Option<Vec<Vector3<f64>>>,
    pub(super) point_lines: Vec<u32>,
    pub(super) lists: Option<Lists>,
    pub(super) cells: Cells,
    pub(super) cell_lines: Vec<u32>,
    pub(super) has_types: bool,
    pub(super) report: LoadReport,
}

/// The connectivity of one section, before the cell types are known.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) ends: Vec<usize>,
    pub(super) corners: Vec<u32>,
    /// Empty for binary data.
    pub(super) lines: Vec<u32>,
}

impl<'a> Reader<'a> {
    pub(super) fn word_on_line(&mut self, what: &str) -> Result<Word<'a>, MeshError> {
        let line = self.cursor.line();
        let word = self.cursor.word_on_line();
        word.ok_or_else(|| {
            self.cursor.syntax(
                line,
                format!("{what} is missing"),
                "It belongs on the keyword's line",
            )
        })
    }

    /// The type at the end of a section's header line; the next byte belongs to its data.
    pub(super) fn scalar(&mut self, what: &str) -> Result<Scalar, MeshError> {
        let word = self.word_on_line(&format!("the type of {what}"))?;
        let scalar = Scalar::of_legacy_name(word.bytes).ok_or_else(|| {
            let remedy = "Use float, double, int or vtktypeint64";
            self.cursor.syntax(
                word.line,
                format!("{what}: unknown number type {}", quote(word.bytes)),
                remedy,
            )
        })?;
        self.cursor.line_text();
        Ok(scalar)
    }
}
