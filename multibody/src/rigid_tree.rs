//! A kinematic tree as a participant of the contact problem.
//!
//! This file and its folder are the only place in the crate that knows of contact: they offer a [`Model`] with actuators
//! as a [`DeformableModel`]. Frames of its surface are links, in the order of [`LinkIdx`](crate::LinkIdx); a basis is a
//! link's twist; velocities are the degrees of freedom that are not held.
//! The history in its state is the force of dry friction on each degree of freedom that has it, N or N·m.

mod balance;
mod checks;
mod constraints;
mod free_flight;
mod outcome;
mod step;

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, Energy, PdGains, Surface};

use crate::dynamics::Workspace;
use crate::energy::{kinetic_energy, momentum, potential_energy};
use crate::error::MultibodyError;
use crate::joint::JointKind;
use crate::kinematics::PositionKinematics;
use crate::model::{JointIdx, Model};
use step::TreeStep;
pub(crate) use step::write_surface;

/// A [`Model`] with its actuators, ready for contact.
#[derive(Clone, Debug)]
pub struct RigidTree {
    model: Arc<Model>,
    /// Gains of the actuator on each degree of freedom, if it has one.
    actuators: Arc<[Option<PdGains>]>,
    start: BodyState,
}

impl RigidTree {
    /// Without actuators, at rest at the position nearest to zero that limits and couplers admit.
    #[must_use]
    pub fn new(model: Arc<Model>) -> Self {
        let mut q = model.neutral_positions();
        model.make_admissible(&mut q);
        let start = BodyState {
            q,
            v: vec![0.0; model.n_v()],
            history: Vec::new(),
        };
        Self {
            actuators: vec![None; model.n_v()].into(),
            model,
            start,
        }
    }

    /// Puts an actuator on a joint of one degree of freedom. Its effort limit is at most the joint's own.
    ///
    /// A joint without one takes a feed-forward effort all the same, up to the joint's effort limit. A coupled joint may
    /// have one: it then drives its source, too.
    ///
    /// # Errors
    /// [`MultibodyError::Actuator`] for other joints and for gains that are negative or not finite.
    pub fn with_actuator(
        mut self,
        joint: JointIdx,
        gains: PdGains,
    ) -> Result<Self, MultibodyError> {
        let described = self.model.joint(joint);
        let refuse = |what: String| {
            Err(MultibodyError::Actuator {
                joint: described.name.clone(),
                what,
            })
        };
        if !matches!(
            described.kind,
            JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic
        ) {
            return refuse("only revolute, continuous and prismatic joints take one".into());
        }
        for (name, gain) in [
            ("proportional gain", gains.proportional),
            ("derivative gain", gains.derivative),
        ] {
            if !(gain >= 0.0 && gain.is_finite()) {
                return refuse(format!("{name} = {gain} must be finite and not negative"));
            }
        }
        if gains.effort_limit.is_nan() || gains.effort_limit < 0.0 {
            let limit = gains.effort_limit;
            return refuse(format!("effort limit = {limit} must not be negative"));
        }
        let dof = described.dofs().start;
        let effort_limit = gains.effort_limit.min(described.limits.effort);
        let mut actuators = self.actuators.to_vec();
        actuators[dof] = Some(PdGains {
            effort_limit,
            ..gains
        });
        self.actuators = actuators.into();
        Ok(self)
    }

    /// Puts an actuator on every joint whose drive has gains ([`Drive::gains`](crate::Drive::gains)), with the joint's
    /// effort limit.
    ///
    /// # Errors
    /// As [`with_actuator`](Self::with_actuator).
    pub fn with_described_actuators(self) -> Result<Self, MultibodyError> {
        let model = self.model.clone();
        let mut tree = self;
        for (j, joint) in model.joints().iter().enumerate() {
            if let Some(gains) = joint.drive.gains {
                let gains = PdGains {
                    proportional: gains.proportional,
                    derivative: gains.derivative,
                    effort_limit: joint.limits.effort,
                };
                tree = tree.with_actuator(JointIdx(j), gains)?;
            }
        }
        Ok(tree)
    }

    /// Starts from positions `q` and velocities `v` as they are, inside limits or not; quaternions are made unit.
    ///
    /// # Panics
    /// If the lengths are not the model's.
    #[must_use]
    pub fn starting_at(mut self, q: &[f64], v: &[f64]) -> Self {
        self.start.q.copy_from_slice(q);
        self.start.v.copy_from_slice(v);
        self.model.normalise(&mut self.start.q);
        self
    }

    /// The kinematic tree.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }
}

impl DeformableModel for RigidTree {
    fn default_state(&self) -> BodyState {
        self.start.clone()
    }

    /// Actuators hold the start position; no forces.
    fn default_control(&self) -> Control {
        let n_v = self.model.n_v();
        let position = (0..n_v).map(|k| {
            let q_entry = self.model.position_of_dof(crate::DofIdx(k));
            q_entry.map_or(0.0, |i| self.start.q[i])
        });
        Control {
            position: position.collect(),
            velocity: vec![0.0; n_v],
            effort: vec![0.0; n_v],
            held: vec![None; n_v],
            loads: Vec::new(),
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(TreeStep::new(self.model.clone(), self.actuators.clone()))
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        let mut positions = PositionKinematics::new(&self.model);
        positions.update(&self.model, &state.q);
        write_surface(&self.model, &positions, out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let model = &*self.model;
        let mut w = Workspace::new(model);
        w.update(model, &state.q, &state.v);
        let momentum = momentum(model, &w.positions, &w.velocities, &w.inertias);
        let rotors = model.joints().iter().map(|joint| {
            let v = &state.v[joint.dofs()];
            0.5 * joint.drive.reflected_inertia() * v.iter().map(|v| v * v).sum::<f64>()
        });
        Energy {
            kinetic: kinetic_energy(model, &w.velocities, &w.inertias) + rotors.sum::<f64>(),
            potential: potential_energy(model, &w.positions, &w.inertias, gravity)
                + model.spring_energy(&state.q),
            linear_momentum_W: momentum.linear,
            angular_momentum_W: momentum.angular_about_origin,
        }
    }
}
