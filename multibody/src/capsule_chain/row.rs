//! The capsules of a chain and their links.

use nalgebra::{Isometry3, Point3};
use pliant_contact_sap::Surface;

use crate::model::LinkIdx;

/// The capsules and their links.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) links: Vec<LinkIdx>,
    pub(super) lengths: Vec<f64>,
    pub(super) radius: f64,
    pub(super) linear_density: f64,
}

impl Row {
    /// The link of a node, and the node's distance from its origin, m.
    pub(super) fn node_on_link(&self, node: usize) -> (LinkIdx, f64) {
        match self.links.get(node) {
            Some(link) => (*link, 0.0),
            None => (self.links[node - 1], self.lengths[node - 1]),
        }
    }

    pub(super) fn write_nodes(&self, frames: &[Isometry3<f64>], out: &mut Vec<Point3<f64>>) {
        out.extend((0..=self.lengths.len()).map(|node| {
            let (link, along) = self.node_on_link(node);
            frames[link.0] * Point3::new(0.0, 0.0, along)
        }));
    }

    /// Adds vertices and edges to a surface that has the frames of all links.
    pub(super) fn complete(&self, surface: &mut Surface) {
        let Surface {
            frames, vertices, ..
        } = surface;
        self.write_nodes(frames, vertices);
        surface.radii.resize(surface.vertices.len(), self.radius);
        surface
            .edges
            .extend((0..self.lengths.len() as u32).map(|i| [i, i + 1]));
    }
}
