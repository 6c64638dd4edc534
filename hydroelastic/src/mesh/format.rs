//! Detection of the format of a file: by its content, else by its name.

use super::error::{FilePosition, Flaw, Location, MeshError};
use super::report::{LoadReport, Severity};
use std::path::Path;

/// The supported formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeshFormat {
    /// Wavefront OBJ: surfaces.
    Obj,
    /// STL, ASCII or binary: surfaces.
    Stl,
    /// PLY, ASCII or binary: surfaces.
    Ply,
    /// Legacy VTK, ASCII or big-endian binary, versions 1 to 5.1: surfaces and tetrahedra.
    LegacyVtk,
    /// VTK's XML unstructured grid: surfaces and tetrahedra.
    Vtu,
    /// Gmsh MSH 2 (ASCII), 4.0 (ASCII) and 4.1 (ASCII, binary): surfaces and tetrahedra.
    Gmsh,
    /// The legacy binary format of MuJoCo, which shares the extension of Gmsh: surfaces.
    MujocoMsh,
}

impl MeshFormat {
    fn of_extension(name: &str) -> Option<Self> {
        let extension = Path::new(name).extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "obj" => Self::Obj,
            "stl" => Self::Stl,
            "ply" => Self::Ply,
            "vtk" => Self::LegacyVtk,
            "vtu" => Self::Vtu,
            "msh" => Self::Gmsh,
            _ => return None,
        })
    }

    /// From unambiguous first bytes. OBJ has none.
    fn of_content(bytes: &[u8]) -> Option<Self> {
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = &start[..start.len().min(512)];
        let text = start.trim_ascii_start();
        let begins =
            |word: &[u8]| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word);
        if begins(b"# vtk DataFile") {
            Some(Self::LegacyVtk)
        } else if begins(b"$MeshFormat") {
            Some(Self::Gmsh)
        } else if begins(b"<VTKFile")
            || (begins(b"<?xml") && start.windows(8).any(|w| w == b"<VTKFile"))
        {
            Some(Self::Vtu)
        } else if super::ply::begins(start) {
            Some(Self::Ply)
        } else if super::stl::declared_size(bytes) == Some(bytes.len() as u64)
            || (begins(b"solid") && start.to_ascii_lowercase().windows(5).any(|w| w == b"facet"))
        {
            Some(Self::Stl)
        } else if super::mujoco_msh::fits(bytes) {
            Some(Self::MujocoMsh)
        } else {
            None
        }
    }

    /// The format of a file from its content and name; where they disagree, the content is used and the report says so.
    pub(crate) fn choose(
        name: &str,
        bytes: &[u8],
        report: &mut LoadReport,
    ) -> Result<Self, MeshError> {
        let at = || Location::new(name, FilePosition::Whole);
        if bytes.is_empty() {
            return Err(MeshError::Syntax(Flaw::new(
                at(),
                "the file is empty",
                "Write the mesh again",
            )));
        }
        match (Self::of_content(bytes), Self::of_extension(name)) {
            // Both have the extension .msh; one is text, the other binary.
            (Some(Self::MujocoMsh), Some(Self::Gmsh)) => Ok(Self::MujocoMsh),
            (None, Some(Self::Gmsh)) if bytes.contains(&0) => Ok(Self::MujocoMsh),
            (Some(content), Some(extension)) if content != extension => {
                let text = format!(
                    "the name suggests {}, but the content is {}",
                    extension.name(),
                    content.name()
                );
                report.add(Severity::Suspicious, at(), text);
                Ok(content)
            }
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) => Err(MeshError::UnknownFormat(Flaw::new(
                at(),
                "neither its name nor its content tells which mesh format this is",
                "Supported are OBJ (.obj), STL (.stl), PLY (.ply), legacy VTK (.vtk), VTU (.vtu), Gmsh and MuJoCo (.msh)",
            ))),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Obj => "OBJ",
            Self::Stl => "STL",
            Self::Ply => "PLY",
            Self::LegacyVtk => "legacy VTK",
            Self::Vtu => "VTU",
            Self::Gmsh => "Gmsh",
            Self::MujocoMsh => "MuJoCo MSH",
        }
    }

    /// Whether its files may contain tetrahedra.
    pub(crate) fn may_have_tets(self) -> bool {
        matches!(self, Self::LegacyVtk | Self::Vtu | Self::Gmsh)
    }
}
