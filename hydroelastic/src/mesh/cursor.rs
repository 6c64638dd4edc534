//! A cursor over the bytes of a file that counts lines: words, numbers and raw blocks. Counts are never trusted.

use super::error::{FilePosition, Flaw, Location, MeshError, quote};

/// A word and its line number.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) line: u32,
}

impl Word<'_> {
    pub(crate) fn is(&self, keyword: &str) -> bool {
        self.bytes.eq_ignore_ascii_case(keyword.as_bytes())
    }
}

pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Line of the next byte, counted from 1.
    line: u32,
    file: &'a str,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], file: &'a str) -> Self {
        Self::starting_at_line(bytes, file, 1)
    }

    pub(crate) fn starting_at_line(bytes: &'a [u8], file: &'a str, line: u32) -> Self {
        Self {
            bytes,
            at: 0,
            line,
            file,
        }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The line of the next byte; at the end of the file, the last line with content.
    pub(crate) fn line(&self) -> u32 {
        let after_newline =
            self.rest().is_empty() && self.at > 0 && self.bytes[self.at - 1] == b'\n';
        if after_newline {
            self.line - 1
        } else {
            self.line
        }
    }

    pub(crate) fn here(&self) -> Location {
        Location::new(self.file, FilePosition::Line(self.line()))
    }

    pub(crate) fn location(&self, line: u32) -> Location {
        Location::new(self.file, FilePosition::Line(line))
    }

    /// The rest of the line without its terminator; `None` at the end of the file.
    pub(crate) fn line_text(&mut self) -> Option<Word<'a>> {
        if self.rest().is_empty() {
            return None;
        }
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(rest.len());
        let line = self.line;
        self.at += (length + 1).min(rest.len());
        if length < rest.len() {
            self.line = self.line.saturating_add(1);
        }
        Some(Word {
            bytes: rest[..length].trim_ascii_end(),
            line,
        })
    }

    /// The next word on this line; `None` at its end.
    pub(crate) fn word_on_line(&mut self) -> Option<Word<'a>> {
        let rest = self.rest();
        self.at += rest
            .iter()
            .position(|byte| !is_blank(*byte))
            .unwrap_or(rest.len());
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| is_blank(*byte) || *byte == b'\n')
            .unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| Word {
            bytes: &rest[..length],
            line: self.line,
        })
    }

    /// The next word, on this line or a later one; `None` at the end of the file.
    pub(crate) fn word(&mut self) -> Option<Word<'a>> {
        loop {
            if let Some(word) = self.word_on_line() {
                return Some(word);
            }
            self.line_text()?;
        }
    }

    /// The next word, without advancing.
    pub(crate) fn peek_word(&self) -> Option<Word<'a>> {
        Self { ..*self }.word()
    }

    /// The next `count` bytes of a binary block; `None` when there are not that many.
    pub(crate) fn block(&mut self, count: usize) -> Option<&'a [u8]> {
        let block = self.rest().get(..count)?;
        self.at += count;
        self.line = self
            .line
            .saturating_add(block.iter().filter(|byte| **byte == b'\n').count() as u32);
        Some(block)
    }

    pub(crate) fn syntax(
        &self,
        line: u32,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> MeshError {
        MeshError::Syntax(Flaw::new(self.location(line), what, remedy))
    }

    /// The file ends inside `what`.
    pub(crate) fn ended(&self, what: impl std::fmt::Display) -> MeshError {
        MeshError::Syntax(Flaw::new(
            self.here(),
            format!("the file ends inside {what}"),
            "The file was truncated, or a count is too large",
        ))
    }

    /// A finite number; `what` names it in the message.
    pub(crate) fn number(
        &self,
        word: Word<'_>,
        what: &dyn Fn() -> String,
    ) -> Result<f64, MeshError> {
        parse_number(word.bytes).map_err(|problem| {
            MeshError::Coordinate(Flaw::new(
                self.location(word.line),
                format!("{}: {} {}", what(), quote(word.bytes), problem.text()),
                problem.remedy(word.bytes),
            ))
        })
    }

    /// An integer; `what` names it in the message.
    pub(crate) fn integer(
        &self,
        word: Word<'_>,
        what: &dyn Fn() -> String,
    ) -> Result<i64, MeshError> {
        parse_integer(word.bytes).ok_or_else(|| {
            self.syntax(
                word.line,
                format!("{}: {} is not an integer", what(), quote(word.bytes)),
                "An integer is needed here",
            )
        })
    }

    /// A non-negative count of items that take at least `bytes_each` bytes of the rest of the file.
    pub(crate) fn count(
        &self,
        word: Word<'_>,
        bytes_each: usize,
        what: &str,
    ) -> Result<usize, MeshError> {
        let count = self.integer(word, &|| format!("number of {what}"))?;
        // The last number of a text file may lack its separator.
        let room = self.rest().len().saturating_add(1);
        match usize::try_from(count) {
            Ok(count)
                if count
                    .checked_mul(bytes_each)
                    .is_some_and(|needed| needed <= room) =>
            {
                Ok(count)
            }
            Ok(_) => Err(self.syntax(
                word.line,
                format!(
                    "{count} {what} do not fit into the {} bytes left of the file",
                    self.rest().len()
                ),
                "The count is too large, or the file was truncated",
            )),
            Err(_) => Err(self.syntax(
                word.line,
                format!("number of {what} is {count}"),
                "A count cannot be negative",
            )),
        }
    }
}

pub(crate) enum NumberProblem {
    NotANumber,
    NotFinite,
}

impl NumberProblem {
    pub(crate) fn text(&self) -> &'static str {
        match self {
            Self::NotANumber => "is not a number",
            Self::NotFinite => "is not finite",
        }
    }

    pub(crate) fn remedy(&self, token: &[u8]) -> &'static str {
        match self {
            Self::NotANumber if token.contains(&b',') => {
                "Numbers are written with a decimal point, not a comma"
            }
            Self::NotANumber => "A number such as 1.5 or 2e-3 is needed here",
            Self::NotFinite => "Coordinates must be finite and below 1.8e308",
        }
    }
}

/// A finite decimal number.
pub(crate) fn parse_number(token: &[u8]) -> Result<f64, NumberProblem> {
    let text = std::str::from_utf8(token).map_err(|_| NumberProblem::NotANumber)?;
    let number: f64 = text.parse().map_err(|_| NumberProblem::NotANumber)?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(NumberProblem::NotFinite)
    }
}

pub(crate) fn parse_integer(token: &[u8]) -> Option<i64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}
