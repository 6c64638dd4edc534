//! Collision meshes, read together with the robot so that errors in them are found at once.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, SURFACE_FILES, SelfIntersections, SurfaceOptions, SurfaceUse, read_hull,
    read_surface,
};
use roxmltree::Node;

use super::document::Reader;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::{CollisionMesh, MeshHull};

impl<'d, 't> Reader<'d, 't> {
    /// Reads a collision mesh. For a surface that bounds no solid, the convex hull is used and `hull` is set.
    pub(super) fn collision_mesh(
        &mut self,
        node: Node<'d, 't>,
        link: &LinkSpec,
        path: &Path,
        scale: Vector3<f64>,
        hull: &mut MeshHull,
    ) -> Result<CollisionMesh, MultibodyError> {
        let read = collision_mesh(path, scale, hull).map_err(|text| {
            let link = link.name.clone();
            self.at(node, MultibodyError::Mesh { link, text })
        })?;
        if let Some(text) = &read.replaced {
            self.suspicious(node, format!("link \"{}\": {text}", link.name));
        }
        let line = self.line(node);
        for entry in &read.report.entries {
            let text = format!("link \"{}\": in {}: {}", link.name, entry.at, entry.text);
            self.note(entry.severity, line, text);
        }
        Ok(read.mesh)
    }
}

/// That a file has none of the formats of meshes.
pub(crate) fn unsupported(path: &Path) -> String {
    let known = SURFACE_FILES.map(|ending| format!(".{ending}")).join(", ");
    format!(
        "{} has an unsupported format (supported are {known})",
        path.display()
    )
}

/// A collision mesh, and what there is to say about its file.
pub(crate) struct ReadMesh {
    pub(crate) mesh: CollisionMesh,
    pub(crate) report: LoadReport,
    /// The remark that the convex hull is used, if it is used although the file does not ask for it.
    pub(crate) replaced: Option<String>,
}

/// Reads a collision mesh. For a surface that bounds no solid, the convex hull is used and `hull` is set.
///
/// # Errors
/// A message with the path.
pub(crate) fn collision_mesh(
    path: &Path,
    scale: Vector3<f64>,
    hull: &mut MeshHull,
) -> Result<ReadMesh, String> {
    let options = SurfaceOptions {
        scale,
        self_intersections: SelfIntersections::Skip, // slow, and would not change the result
        ..SurfaceOptions::default()
    };
    let mut replaced = None;
    if *hull == MeshHull::AsWritten {
        match read_surface(path, SurfaceUse::Solid, &options) {
            Ok((surface, report)) => {
                return Ok(ReadMesh {
                    mesh: CollisionMesh::Surface(Arc::new(surface)),
                    report,
                    replaced,
                });
            }
            Err(error) => {
                replaced = Some(format!(
                    "collision mesh {} bounds no solid, its convex hull is used: {}",
                    path.display(),
                    without_content(&error)
                ));
            }
        }
    }
    *hull = MeshHull::Convex;
    let (mesh, report) = read_hull(path, &scale).map_err(|error| {
        format!(
            "collision mesh {}: {}",
            path.display(),
            without_content(&error)
        )
    })?;
    Ok(ReadMesh {
        mesh: CollisionMesh::Hull(Arc::new(mesh)),
        report,
        replaced,
    })
}

/// The error of a mesh without any content of its file: an untrusted robot description must not be able to print arbitrary
/// files.
fn without_content(error: &MeshError) -> String {
    match error {
        MeshError::Unreadable { source, .. } => format!("cannot be read: {source}"),
        MeshError::Index(flaw)
        | MeshError::Element(flaw)
        | MeshError::Topology(flaw)
        | MeshError::TooLarge(flaw)
        | MeshError::Setting(flaw) => flaw.to_string(),
        other => {
            let at = other
                .flaw()
                .map_or_else(String::new, |flaw| format!(" (first at {})", flaw.at));
            format!("is not a valid mesh{at}; load it separately for the details")
        }
    }
}
