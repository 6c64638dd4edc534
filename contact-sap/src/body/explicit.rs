//! Explicit steps.

use nalgebra::Point3;

use crate::error::BodyError;

/// The explicit step of a body.
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
