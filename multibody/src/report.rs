//! What a reader took from a file, and everything it ignored, repaired or doubts, with places.

use std::path::{Path, PathBuf};

/// What became of something found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// Read and used.
    Read,
    /// Not used: pliant has no meaning for it, or it has no bearing on physics.
    Ignored,
    /// Used in a corrected form.
    Repaired,
    /// Used as written, or left out, but probably not what was meant.
    Doubtful,
}

impl FindingKind {
    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Ignored => "ignored",
            Self::Repaired => "repaired",
            Self::Doubtful => "doubtful",
        }
    }
}

/// One line of a [`LoadReport`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What became of it.
    pub kind: FindingKind,
    /// Line in the file, counted from 1.
    pub line: u32,
    /// What it is, with names and values.
    pub text: String,
}

/// The account of reading one file; nothing in the file goes unmentioned or unused in silence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    file: PathBuf,
    findings: Vec<Finding>,
}

impl LoadReport {
    /// An empty report about `file`.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            findings: Vec::new(),
        }
    }

    /// The file read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Everything noted, in the order of the file as far as it was read in order.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// All that was not plainly read: ignored, repaired and doubtful.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.kind != FindingKind::Read)
    }

    /// Adds a line.
    pub fn note(&mut self, kind: FindingKind, line: u32, text: impl Into<String>) {
        self.findings.push(Finding {
            kind,
            line,
            text: text.into(),
        });
    }

    pub(crate) fn sort_by_line(&mut self) {
        self.findings.sort_by_key(|f| f.line);
    }
}

/// One finding a line: `robot.urdf:88: ignored: <gazebo> with all it contains`.
impl core::fmt::Display for LoadReport {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for finding in &self.findings {
            writeln!(
                f,
                "{}:{}: {}: {}",
                self.file.display(),
                finding.line,
                finding.kind.word(),
                finding.text
            )?;
        }
        Ok(())
    }
}
