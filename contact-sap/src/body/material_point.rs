//! Material points of a body.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// A point that moves with the body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaterialPoint {
    /// The primitive it belongs to.
    pub primitive: Primitive,
    /// Barycentric weights of the primitive's vertices, unused ones zero.
    pub weights: [f64; 4],
    /// Offset from the weighted mean of the vertices or from the frame's origin, m: in frame axes for a frame, in world axes otherwise.
    pub offset: Vector3<f64>,
}

impl MaterialPoint {
    /// The point at `p_FQ` of frame `frame`.
    #[must_use]
    pub fn on_frame(frame: u32, p_FQ: Vector3<f64>) -> Self {
        Self {
            primitive: Primitive::Frame(frame),
            weights: [0.0; 4],
            offset: p_FQ,
        }
    }

    /// The vertex itself.
    #[must_use]
    pub fn on_vertex(vertex: u32) -> Self {
        Self {
            primitive: Primitive::Vertex(vertex),
            weights: [1.0, 0.0, 0.0, 0.0],
            offset: Vector3::zeros(),
        }
    }
}

/// A primitive of a body's [`Surface`](super::Surface).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Primitive {
    /// A rigid frame.
    Frame(u32),
    /// A vertex.
    Vertex(u32),
    /// An edge, two vertices.
    Edge(u32),
    /// A triangle, three vertices.
    Triangle(u32),
    /// A tetrahedron, four vertices.
    Tetrahedron(u32),
}
