//! Explicit steps.

use nalgebra::Point3;

use crate::error::BodyError;

/// The explicit step of a body.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
///
/// let (net, control) = (MassSpringNet::default(), Control::default());
/// let mut step = net.new_step();
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// let mut v = [0.0; 300];
/// step.as_explicit().expect("a net has one").explicit_velocity(&mut v)?;
/// assert!((v[2] + 0.0981).abs() < 1e-12); // v0 + δt g: the springs are at rest
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
pub trait ExplicitStep {
    /// The velocities after one explicit step without constraints, length n.
    ///
    /// # Errors
    /// A state that the model does not allow.
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError>;
}

/// A body whose velocities are those of points with a lumped mass: the nodes of a grid.
///
/// Steppers that exchange impulses with rigid bodies at these points step every body that offers this explicitly, and no other.
///
/// Offered by material points.
pub trait PointMasses: ExplicitStep {
    /// The points, with three velocities each in their order. `out` is overwritten and its memory reused.
    fn point_masses(&self, out: &mut Vec<PointMass>);
}

/// A point with a lumped mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// Position at the start of the step, m, world frame.
    pub p_WQ: Point3<f64>,
    /// kg.
    pub mass: f64,
    /// The part of the body's surface that contributes most of the mass.
    pub part: u32,
}
