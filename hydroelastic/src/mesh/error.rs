//! Errors of meshes: where, with which value, and how to fix them.

use std::fmt;
use thiserror::Error;

/// Why a mesh could not be read, built or written. The variants are for matching, the text for the user.
///
/// ```
/// use pliant_hydroelastic::mesh::{FilePosition, MeshError, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // Line 3 refers to a vertex that is not there.
/// let obj = b"v 0 0 0\nv 1 0 0\nf 1 2 3\n";
/// let error = surface_from_bytes(obj, "sheet.obj", SurfaceUse::Cloth, &SurfaceOptions::default()).unwrap_err();
/// assert!(matches!(error, MeshError::Index(_)));
/// let flaw = error.flaw().expect("it is about the mesh");
/// assert_eq!(flaw.at.position, FilePosition::Line(3));
/// assert!(error.to_string().starts_with("sheet.obj:3: "));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The operating system could not read the file.
    #[error("{file}: cannot be read: {source}")]
    Unreadable {
        /// The path as given.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Neither the name nor the content determines the format.
    #[error("{0}")]
    UnknownFormat(Box<Flaw>),
    /// The content violates its format: wrong words, wrong counts, a truncated file.
    #[error("{0}")]
    Syntax(Box<Flaw>),
    /// Legal in its format, but not supported.
    #[error("{0}")]
    Unsupported(Box<Flaw>),
    /// A coordinate is not finite, or too large or small for the computations.
    #[error("{0}")]
    Coordinate(Box<Flaw>),
    /// A triangle or tetrahedron refers to a vertex that does not exist.
    #[error("{0}")]
    Index(Box<Flaw>),
    /// A single triangle or tetrahedron is unusable: degenerate, flat, inverted, or a duplicate.
    #[error("{0}")]
    Element(Box<Flaw>),
    /// The mesh is not a valid surface or volume: open, non-manifold, or not orientable.
    #[error("{0}")]
    Topology(Box<Flaw>),
    /// More vertices, elements or bytes than 32-bit indices can address.
    #[error("{0}")]
    TooLarge(Box<Flaw>),
    /// An option or argument is out of its range.
    #[error("{0}")]
    Setting(Box<Flaw>),
    /// Writing to the stream failed.
    #[error("VTU or PVD could not be written: {0}")]
    Write(#[from] std::io::Error),
}

impl MeshError {
    /// Location, problem and remedy, when the error is about the mesh and not about the file system.
    #[must_use]
    pub fn flaw(&self) -> Option<&Flaw> {
        match self {
            Self::Unreadable { .. } | Self::Write(_) => None,
            Self::UnknownFormat(flaw)
            | Self::Syntax(flaw)
            | Self::Unsupported(flaw)
            | Self::Coordinate(flaw)
            | Self::Index(flaw)
            | Self::Element(flaw)
            | Self::Topology(flaw)
            | Self::TooLarge(flaw)
            | Self::Setting(flaw) => Some(flaw),
        }
    }
}

/// One problem: where, what (with the value), and the remedy.
///
/// ```
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// let obj = b"v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n";
/// let error = surface_from_bytes(obj, "flag.obj", SurfaceUse::Cloth, &SurfaceOptions::default()).unwrap_err();
/// let flaw = error.flaw().expect("it is about the mesh");
/// assert_eq!(flaw.at.to_string(), "flag.obj:2");
/// // The message is the place, what is wrong with its value, and the remedy.
/// assert!(flaw.what.to_lowercase().contains("nan"));
/// assert_eq!(error.to_string(), format!("{}: {}. {}", flaw.at, flaw.what, flaw.remedy));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where it is.
    pub at: Location,
    /// What is wrong, with the element and the value.
    pub what: String,
    /// The requirement, or how to fix it.
    pub remedy: String,
}

impl Flaw {
    pub(crate) fn new(
        at: Location,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self {
            at,
            what: what.into(),
            remedy: remedy.into(),
        })
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}. {}", self.at, self.what, self.remedy)
    }
}

/// A location in a file, or in arrays in memory.
///
/// ```
/// use pliant_hydroelastic::mesh::{FilePosition, Location};
///
/// assert_eq!(Location::new("bear.msh", FilePosition::Line(12)).to_string(), "bear.msh:12");
/// assert_eq!(Location::new("bear.stl", FilePosition::Byte(84)).to_string(), "bear.stl, byte 84");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file as given by the caller; for arrays a name such as "triangle mesh".
    pub file: String,
    /// Where in the file.
    pub position: FilePosition,
}

/// A position in a file, or in arrays in memory.
///
/// ```
/// use pliant_hydroelastic::mesh::{FilePosition, MeshError, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// let position = |bytes: &[u8], name| match surface_from_bytes(bytes, name, SurfaceUse::Cloth, &SurfaceOptions::default()) {
///     Err(error) => error.flaw().map(|flaw| flaw.at.position),
///     Ok(_) => None,
/// };
/// // A vertex that is not there in a text file; one that is not finite in a binary STL, after the header and a normal.
/// assert_eq!(position(b"v 0 0 0\nv 1 0 0\nf 1 2 3\n", "flag.obj"), Some(FilePosition::Line(3)));
/// let mut stl = [[b' '; 80].as_slice(), &1_u32.to_le_bytes(), &[0; 50]].concat();
/// stl[84 + 12..84 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
/// assert_eq!(position(&stl, "flag.stl"), Some(FilePosition::Byte(96)));
/// assert_eq!(position(b"", "flag.stl"), Some(FilePosition::Whole));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePosition {
    /// No single position: the whole file.
    Whole,
    /// A line of a text file, counted from 1.
    Line(u32),
    /// An offset in a binary file, in bytes from 0.
    Byte(u64),
}

impl Location {
    /// The location `position` in `file`.
    #[must_use]
    pub fn new(file: impl Into<String>, position: FilePosition) -> Self {
        Self {
            file: file.into(),
            position,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            FilePosition::Whole => write!(f, "{}", self.file),
            FilePosition::Line(line) => write!(f, "{}:{line}", self.file),
            FilePosition::Byte(byte) => write!(f, "{}, byte {byte}", self.file),
        }
    }
}

/// A message of a library, with quoted input made printable.
pub(crate) fn presentable(message: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let plain = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
    message.chars().take(SHOWN_MAX).map(plain).collect()
}

/// A short piece of the input for a message: at most 32 characters, and never bytes that are not text.
pub(crate) fn quote(token: &[u8]) -> String {
    const SHOWN_MAX: usize = 32;
    if !token
        .iter()
        .all(|byte| byte.is_ascii_graphic() || *byte == b' ')
    {
        return format!("{} bytes that are not plain text", token.len());
    }
    let shown = String::from_utf8_lossy(&token[..token.len().min(SHOWN_MAX)]);
    if token.len() > SHOWN_MAX {
        format!("`{shown}...`")
    } else {
        format!("`{shown}`")
    }
}
