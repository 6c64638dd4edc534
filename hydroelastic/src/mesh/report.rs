//! What loading a file ignored, repaired or found suspicious, with places. Meshes have such a report, robots too.

use super::error::Place;
use std::fmt;

/// How much a [`LoadEntry`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something in the input has no effect here, e.g. materials in an OBJ file.
    Ignored,
    /// Something was wrong and was put right, e.g. a triangle was flipped.
    Repaired,
    /// Something was kept as it is although it is probably not meant, e.g. a self-intersection.
    Suspicious,
}

/// One remark about a loaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadEntry {
    /// What became of it.
    pub severity: Severity,
    /// The (first) place.
    pub at: Place,
    /// What it is, naming names and values; long lists are cut after a few names, with their number.
    pub text: String,
}

impl fmt::Display for LoadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Ignored => "ignored",
            Severity::Repaired => "repaired",
            Severity::Suspicious => "suspicious",
        };
        write!(f, "{}: {severity}: {}", self.at, self.text)
    }
}

/// Everything loading has to say about a file, in the order in which it was found or in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// The remarks; empty when the input was used exactly as written.
    pub entries: Vec<LoadEntry>,
}

impl LoadReport {
    /// Adds a remark.
    pub fn add(&mut self, severity: Severity, at: Place, text: impl Into<String>) {
        self.entries.push(LoadEntry {
            severity,
            at,
            text: text.into(),
        });
    }

    /// The remarks of one severity.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &LoadEntry> {
        self.entries
            .iter()
            .filter(move |entry| entry.severity == severity)
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries
            .iter()
            .try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
