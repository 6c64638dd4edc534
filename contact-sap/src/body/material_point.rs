//! Material points of a body.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// A point that moves with the body.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{
///     BodyStep, Control, DeformableModel, Interpolation, MaterialPoint, Primitive, Rows, StepInput,
/// };
///
/// // A quarter along the first edge of a net: v_Q = ¾ v_0 + ¼ v_1 of its two vertices.
/// let weights = [0.75, 0.25, 0.0, 0.0];
/// let point = MaterialPoint { primitive: Primitive::Edge(0), weights, offset: Vector3::zeros() };
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let mut step = net.new_step();
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
/// let basis = step.interpolation(&point, &mut interpolation)?;
/// step.basis(basis, &Point3::origin(), &mut rows);
/// assert_eq!(rows.n_rows(), 6); // two point velocities
/// assert_eq!(interpolation, Interpolation::Weights(vec![0.75, 0.25]));
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
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
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyError, Control, DeformableModel, Interpolation, MaterialPoint, Primitive, StepInput};
///
/// // A net has vertices, edges and triangles, but no frames.
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let mut step = net.new_step();
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// let mut interpolation = Interpolation::Twist;
/// assert!(step.interpolation(&MaterialPoint::on_vertex(99), &mut interpolation).is_ok());
/// let refused = step.interpolation(&MaterialPoint::on_frame(0, Vector3::zeros()), &mut interpolation);
/// assert!(matches!(refused, Err(BodyError::NoSuchPoint { point: Primitive::Frame(0), .. })));
/// # Ok::<(), BodyError>(())
/// ```
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
