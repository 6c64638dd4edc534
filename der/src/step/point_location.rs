//! Location of a material point on a rod.

use nalgebra::Vector3;

/// Location of a material point on the rod.
#[derive(Clone, Copy, Debug)]
pub(super) enum PointLocation {
    /// On an edge at a fraction of its length, with an offset r from the centreline, in world axes at the start of the step.
    Edge {
        edge: usize,
        fraction: f64,
        offset: Vector3<f64>,
    },
    /// A node.
    Node(usize),
    /// At an offset from a named frame, in its axes.
    Frame { frame: usize, offset: Vector3<f64> },
}
