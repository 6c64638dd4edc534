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
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::{BodyError, ExplicitStep, PointMass, PointMasses};
///
/// /// Two nodes of a grid in free fall for 10 ms.
/// struct Nodes { masses: [PointMass; 2] }
/// impl ExplicitStep for Nodes {
///     fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
///         out.copy_from_slice(&[0.0, 0.0, -0.0981, 0.0, 0.0, -0.0981]);
///         Ok(())
///     }
/// }
/// impl PointMasses for Nodes {
///     fn point_masses(&self, out: &mut Vec<PointMass>) {
///         out.clear();
///         out.extend(self.masses);
///     }
/// }
/// let node = |x, mass| PointMass { p_WQ: Point3::new(x, 0.0, 0.5), mass, part: 0 };
/// let nodes = Nodes { masses: [node(0.0, 0.1), node(0.02, 0.3)] };
/// let (mut v, mut masses) = ([0.0; 6], Vec::new());
/// nodes.explicit_velocity(&mut v)?;
/// nodes.point_masses(&mut masses);
/// let momentum: f64 = masses.iter().zip(v.chunks(3)).map(|(point, v)| point.mass * v[2]).sum();
/// assert!((momentum + 0.4 * 0.0981).abs() < 1e-15); // kg·m/s
/// # Ok::<(), BodyError>(())
/// ```
pub trait PointMasses: ExplicitStep {
    /// The points, with three velocities each in their order. `out` is overwritten and its memory reused.
    fn point_masses(&self, out: &mut Vec<PointMass>);
}

/// A point with a lumped mass.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::PointMass;
///
/// // Two nodes of a grid; most of their mass is of the objects 0 and 1. Their centre of mass:
/// let nodes = [
///     PointMass { p_WQ: Point3::new(0.0, 0.0, 0.0), mass: 0.1, part: 0 },
///     PointMass { p_WQ: Point3::new(0.4, 0.0, 0.0), mass: 0.3, part: 1 },
/// ];
/// let moment: Vector3<f64> = nodes.iter().map(|node| node.p_WQ.coords * node.mass).sum();
/// let mass: f64 = nodes.iter().map(|node| node.mass).sum();
/// assert!((moment.x / mass - 0.3).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// Position at the start of the step, m, world frame.
    pub p_WQ: Point3<f64>,
    /// kg.
    pub mass: f64,
    /// The part of the body's surface that contributes most of the mass.
    pub part: u32,
}
