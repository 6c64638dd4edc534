//! The input of a step: step length, gravity, control, loads.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::material_point::MaterialPoint;
use crate::time_step::TimeStep;

/// The input of [`BodyStep::begin`](super::BodyStep::begin).
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{Control, Integration, StepInput};
///
/// let control = Control::default();
/// let input = StepInput::new(1e-3, Vector3::new(0.0, 0.0, -9.81), &control);
/// assert_eq!(input.time_step.integration, Integration::BackwardEuler);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StepInput<'a> {
    /// δt, positive, and the integration that the whole world shares.
    pub time_step: TimeStep,
    /// Gravity, m/s², world axes.
    pub gravity: Vector3<f64>,
    /// The body's control.
    pub control: &'a Control,
}

impl<'a> StepInput<'a> {
    /// A step of `time_step`, where a number of seconds is a step of backward Euler.
    pub fn new(
        time_step: impl Into<TimeStep>,
        gravity: Vector3<f64>,
        control: &'a Control,
    ) -> Self {
        Self {
            time_step: time_step.into(),
            gravity,
            control,
        }
    }
}

/// Actuator targets, prescribed velocities and loads, constant until changed. An empty vector means none.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
///
/// // 100 nodes with three velocities each, one node held at rest: 297 velocities are solved for.
/// let net = MassSpringNet::default();
/// let mut held = vec![None; 300];
/// held[..3].fill(Some(0.0));
/// let control = Control { held, ..Control::default() };
/// let mut step = net.new_step();
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// assert_eq!(step.start_velocity().len(), 297);
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Position targets of the actuators, one for each velocity (rad or m).
    pub position: Vec<f64>,
    /// Velocity targets of the actuators, one for each velocity.
    pub velocity: Vec<f64>,
    /// Feed-forward generalised force, one for each velocity (N·m or N), limited by the actuator's effort, without an
    /// actuator by the joint's.
    pub effort: Vec<f64>,
    /// Prescribed velocities, which are not solved for: `Some(0.0)` locks a joint.
    pub held: Vec<Option<f64>>,
    /// Forces on material points.
    pub loads: Vec<Load>,
}

impl Clone for Control {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the memory of all vectors, as every step does.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            position,
            velocity,
            effort,
            held,
            loads,
        } = other;
        self.position.clone_from(position);
        self.velocity.clone_from(velocity);
        self.effort.clone_from(effort);
        self.held.clone_from(held);
        self.loads.clone_from(loads);
    }
}

/// An external force and torque on a material point.
///
/// ```
/// use nalgebra::Vector3;
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, Load, MaterialPoint, StepInput};
///
/// let point = MaterialPoint::on_vertex(7);
/// let pull = Load { point, force_W: Vector3::new(2.0, 0.0, 0.0), torque_W: Vector3::zeros() };
/// let control = Control { loads: vec![pull], ..Control::default() };
/// let net = MassSpringNet::default();
/// let (mut step, mut v) = (net.new_step(), Vec::new());
/// step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// step.linearise_start(&mut v)?;
/// assert!((step.dynamics().right_hand_side()[3 * 7] - 0.02).abs() < 1e-15); // δt f, N·s
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Where it acts.
    pub point: MaterialPoint,
    /// Force, N, world axes.
    pub force_W: Vector3<f64>,
    /// Torque, N·m, world axes; only bodies with frames accept one.
    pub torque_W: Vector3<f64>,
}
