//! Collision meshes: read when the robot is, so that a file that is no mesh is found at once.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    MeshError, SelfIntersections, SurfaceOptions, SurfaceUse, TriMesh, read_surface,
};
use roxmltree::Node;

use super::document::Reader;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::MeshHull;

impl<'d, 't> Reader<'d, 't> {
    /// Reads a collision mesh. One that is not closed serves by its convex hull; `hull` then says so.
    pub(super) fn surface(
        &mut self,
        node: Node<'d, 't>,
        link: &LinkSpec,
        path: &Path,
        scale: Vector3<f64>,
        hull: &mut MeshHull,
    ) -> Result<Arc<TriMesh>, MultibodyError> {
        let options = SurfaceOptions {
            scale,
            self_intersections: SelfIntersections::Skip, // takes longer than all else and changes nothing
            ..SurfaceOptions::default()
        };
        let (surface_use, is_solid) = match hull {
            MeshHull::AsWritten => (SurfaceUse::Solid, true),
            MeshHull::Convex => (SurfaceUse::Cloth, false),
        };
        let mut read = read_surface(path, surface_use, &options);
        if is_solid && matches!(read, Err(MeshError::Topology(_))) {
            read = read_surface(path, SurfaceUse::Cloth, &options);
            if read.is_ok() {
                *hull = MeshHull::Convex;
                let text = format!(
                    "link \"{}\": collision mesh {} is not a closed surface; its convex hull is used",
                    link.name,
                    path.display()
                );
                self.doubt(node, text);
            }
        }
        let (mesh, report) = read.map_err(|error| {
            let text = format!(
                "collision mesh {}: {}",
                path.display(),
                without_content(&error)
            );
            self.at(
                node,
                MultibodyError::Mesh {
                    link: link.name.clone(),
                    text,
                },
            )
        })?;
        let line = self.line(node);
        for entry in &report.entries {
            let text = format!("link \"{}\": in {}: {}", link.name, entry.at, entry.text);
            self.note(entry.severity, line, text);
        }
        Ok(Arc::new(mesh))
    }
}

/// What is wrong with a mesh, without a word of a file that may be no mesh at all: a robot description from elsewhere
/// must not be able to print files of its choice.
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
            format!(
                "is not a mesh that can be read{at}; load it by itself to see what is wrong in it"
            )
        }
    }
}
