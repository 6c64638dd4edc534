//! The load report: what was ignored, repaired or found suspicious in a file, with locations. Also used for robot
//! files.

use super::error::Location;
use std::fmt;

/// Kind of a [`LoadEntry`].
///
/// ```
/// use pliant_hydroelastic::mesh::{Severity, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // A triangle with texture coordinates, and one without area.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1 2 3\nf 1 2 2\n";
/// let (_, report) = surface_from_bytes(obj, "flag.obj", SurfaceUse::Cloth, &SurfaceOptions::default())?;
/// let counts = [Severity::Ignored, Severity::Repaired, Severity::Suspicious].map(|kind| report.of(kind).count());
/// assert_eq!(counts, [1, 1, 0], "{report}");
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Part of the input was ignored, e.g. materials in an OBJ file.
    Ignored,
    /// Something was wrong and was repaired, e.g. a triangle was flipped.
    Repaired,
    /// Something was kept although it is probably unintended, e.g. a self-intersection.
    Suspicious,
}

/// One entry of a [`LoadReport`].
///
/// ```
/// use pliant_hydroelastic::mesh::{FilePosition, Severity, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // Line 5 of the file is a triangle without area.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 2\n";
/// let (_, report) = surface_from_bytes(obj, "flag.obj", SurfaceUse::Cloth, &SurfaceOptions::default())?;
/// let entry = &report.entries[0];
/// assert_eq!((entry.severity, entry.at.position), (Severity::Repaired, FilePosition::Line(5)));
/// assert!(entry.to_string().starts_with("flag.obj:5: repaired: "));
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadEntry {
    /// Whether it was ignored, repaired or kept as suspicious.
    pub severity: Severity,
    /// Where it is; of a remark about several places, the first.
    pub at: Location,
    /// Description with names and values; long lists are truncated to a few names and their number.
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

/// All findings about a loaded file, in the order of detection or of its lines.
///
/// ```
/// use pliant_hydroelastic::mesh::{FilePosition, LoadReport, Location, Severity};
///
/// let mut report = LoadReport::default();
/// report.add(Severity::Ignored, Location::new("arm.obj", FilePosition::Line(2)), "texture coordinates");
/// assert_eq!(report.to_string(), "arm.obj:2: ignored: texture coordinates\n");
/// assert_eq!(report.of(Severity::Repaired).count(), 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// The entries; empty when the input was used exactly as given.
    pub entries: Vec<LoadEntry>,
}

impl LoadReport {
    /// Adds an entry after the others.
    pub fn add(&mut self, severity: Severity, at: Location, text: impl Into<String>) {
        self.entries.push(LoadEntry {
            severity,
            at,
            text: text.into(),
        });
    }

    /// The entries of one severity.
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
