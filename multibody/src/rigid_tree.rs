//! A kinematic tree as a body of the contact problem.
//!
//! A [`Model`] with actuators becomes a [`DeformableModel`]; only this module and the capsule chain depend on the contact
//! crate. The frames of its surface are the links, in the order of [`LinkIdx`](crate::LinkIdx). A basis is the twist of a
//! link. The velocities of a step are the degrees of freedom that are not held. The history in the state is the force of dry
//! friction on each degree of freedom that has it, N or N·m.

mod balance;
mod checks;
mod constraints;
mod control_adjoint;
mod end_frames;
mod end_state;
mod free_flight;
mod free_rotation;
mod step;
mod tendons;

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Control, DeformableModel, Energy, PdGains, Surface,
};

use crate::dynamics::Workspace;
use crate::energy::{kinetic_energy, momentum, potential_energy};
use crate::error::MultibodyError;
use crate::joint::JointKind;
use crate::kinematics::PositionKinematics;
use crate::model::{JointIdx, Model, TendonIdx};
use checks::{check, check_quaternions};
use step::TreeStep;
pub(crate) use step::write_surface;

/// A [`Model`] with actuators, as a body of the contact problem.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use std::sync::Arc;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_multibody::RigidTree;
///
/// // A ball of 2 kg on an arm of 1 m, 30° below the horizontal, at 3 rad/s.
/// let arm = RigidTree::new(Arc::new(model)).starting_at(&[std::f64::consts::FRAC_PI_6], &[3.0]);
/// let energy = arm.energy(&arm.default_state(), &Vector3::new(0.0, 0.0, -9.81));
/// assert!((energy.kinetic - 0.5 * 2.008 * 9.0).abs() < 1e-12);
/// assert!((energy.potential + 2.0 * 9.81 * 0.5).abs() < 1e-12); // half a metre below the hinge
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RigidTree {
    model: Arc<Model>,
    /// The actuator on each degree of freedom, if there is one.
    actuators: Arc<[Option<JointActuator>]>,
    /// Gains of the drive of each tendon, if there is one.
    tendon_actuators: Arc<[Option<PdGains>]>,
    start: BodyState,
}

/// An actuator on a degree of freedom.
#[derive(Clone, Copy, Debug)]
struct JointActuator {
    gains: PdGains,
    /// Width of the play between motor and joint, rad or m.
    backlash: f64,
}

impl RigidTree {
    /// A tree without actuators, at rest at its initial position clamped to limits and couplings.
    #[must_use]
    pub fn new(model: Arc<Model>) -> Self {
        let mut q = model.initial_positions();
        model.make_admissible(&mut q);
        let start = BodyState {
            q,
            v: vec![0.0; model.n_v()],
            history: Vec::new(),
        };
        Self {
            actuators: vec![None; model.n_v()].into(),
            tendon_actuators: vec![None; model.tendons().len()].into(),
            model,
            start,
        }
    }

    /// Adds an actuator to a joint of one degree of freedom. Its effort limit is at most that of the joint.
    ///
    /// A joint without an actuator still accepts a feed-forward effort, up to the joint's effort limit. A coupled joint may
    /// have an actuator, which then also drives the source joint.
    ///
    /// # Errors
    /// [`MultibodyError::Actuator`] for other joints and for gains that are negative or not finite.
    pub fn with_actuator(
        mut self,
        joint: JointIdx,
        gains: PdGains,
    ) -> Result<Self, MultibodyError> {
        let spec = self.model.joint(joint);
        if !matches!(
            spec.kind,
            JointKind::Revolute
                | JointKind::Continuous
                | JointKind::Prismatic
                | JointKind::Screw { .. }
        ) {
            let what = "only revolute, continuous, prismatic and screw joints can have one";
            return Err(rejected(&spec.name, what.to_owned()));
        }
        check_gains(&spec.name, &gains)?;
        let dof = spec.dofs().start;
        let effort_limit = gains.effort_limit.min(spec.limits.effort);
        let mut actuators = self.actuators.to_vec();
        actuators[dof] = Some(JointActuator {
            gains: PdGains {
                effort_limit,
                ..gains
            },
            backlash: 0.0,
        });
        self.actuators = actuators.into();
        Ok(self)
    }

    /// Puts a play of this width, rad or m, between the actuator of a joint and the joint: its motor stands at the target, the joint
    /// moves freely within half of the width on either side of it, and beyond that the actuator pushes it back with its gains.
    ///
    /// # Errors
    /// [`MultibodyError::Actuator`] for a width that is negative or not finite, for a joint without an actuator, and for an actuator
    /// without proportional gain, which holds its motor nowhere.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use pliant_contact_sap::PdGains;
    /// # use pliant_multibody::{JointIdx, JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};
    /// # let mut builder = ModelBuilder::new("crane");
    /// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
    /// # builder.link(LinkSpec::new("jib", SpatialInertia::solid_sphere(2.0, 0.1)));
    /// # builder.joint(JointSpec::new("slew", JointKind::Continuous, "base", "jib"));
    /// # let model = Arc::new(builder.build()?);
    /// let gains = |proportional| PdGains { proportional, derivative: 1.0, effort_limit: 50.0 };
    /// let driven = |proportional| RigidTree::new(Arc::clone(&model)).with_actuator(JointIdx(0), gains(proportional));
    /// assert!(driven(100.0)?.with_backlash(JointIdx(0), 0.01).is_ok());
    /// assert!(driven(0.0)?.with_backlash(JointIdx(0), 0.01).is_err());
    /// # Ok::<(), pliant_multibody::MultibodyError>(())
    /// ```
    pub fn with_backlash(mut self, joint: JointIdx, width: f64) -> Result<Self, MultibodyError> {
        let spec = self.model.joint(joint);
        let fail = |what: &str| rejected(&spec.name, format!("backlash = {width} {what}"));
        if !(width >= 0.0 && width.is_finite()) {
            return Err(fail("must be finite and not negative"));
        }
        let mut actuators = self.actuators.to_vec();
        let found = actuators[spec.dofs()].first_mut().and_then(Option::as_mut);
        let Some(actuator) = found else {
            return Err(fail("needs an actuator, between which and the joint it is"));
        };
        if actuator.gains.proportional == 0.0 {
            return Err(fail("needs a proportional gain, which holds the motor"));
        }
        actuator.backlash = width;
        self.actuators = actuators.into();
        Ok(self)
    }

    /// Adds an actuator to a tendon. Its effort limit is at most that of the tendon's drive.
    ///
    /// # Errors
    /// [`MultibodyError::Actuator`] for gains that are negative or not finite.
    ///
    /// # Panics
    /// If there is no such tendon.
    pub fn with_tendon_actuator(
        mut self,
        TendonIdx(tendon): TendonIdx,
        gains: PdGains,
    ) -> Result<Self, MultibodyError> {
        let spec = &self.model.tendons()[tendon];
        check_gains(&spec.name, &gains)?;
        let effort_limit = gains.effort_limit.min(spec.drive.effort_limit);
        let mut actuators = self.tendon_actuators.to_vec();
        actuators[tendon] = Some(PdGains {
            effort_limit,
            ..gains
        });
        self.tendon_actuators = actuators.into();
        Ok(self)
    }

    /// Adds an actuator to every joint whose drive has gains ([`Drive::gains`](crate::Drive::gains)), with the effort limit of
    /// the joint.
    ///
    /// # Errors
    /// As [`with_actuator`](Self::with_actuator).
    pub fn with_actuators_from_drives(self) -> Result<Self, MultibodyError> {
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

    /// Sets the initial positions `q` (n_q entries) and velocities `v` (n_v entries). They are not clamped to limits; quaternions are
    /// normalised.
    ///
    /// # Panics
    /// If an array has the wrong length.
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

fn check_gains(name: &str, gains: &PdGains) -> Result<(), MultibodyError> {
    for (quantity, gain) in [
        ("proportional gain", gains.proportional),
        ("derivative gain", gains.derivative),
    ] {
        if !(gain >= 0.0 && gain.is_finite()) {
            let what = format!("{quantity} = {gain} must be finite and not negative");
            return Err(rejected(name, what));
        }
    }
    let limit = gains.effort_limit;
    if limit.is_nan() || limit < 0.0 {
        let what = format!("effort limit = {limit} must not be negative");
        return Err(rejected(name, what));
    }
    Ok(())
}

fn rejected(name: &str, what: String) -> MultibodyError {
    MultibodyError::Actuator {
        joint: name.to_owned(),
        what,
    }
}

impl DeformableModel for RigidTree {
    fn default_state(&self) -> BodyState {
        self.start.clone()
    }

    /// Actuators hold the initial position; no forces.
    fn default_control(&self) -> Control {
        let n_v = self.model.n_v();
        let position = (0..n_v).map(|k| {
            let q_entry = self.model.position_of_dof(crate::DofIdx(k));
            q_entry.map_or(0.0, |i| self.start.q[i])
        });
        let tendons = self.model.tendons().iter();
        let lengths = tendons.map(|tendon| tendon.length(&self.model, &self.start.q));
        Control {
            position: position.chain(lengths).collect(),
            velocity: vec![0.0; self.model.n_controls()],
            effort: vec![0.0; self.model.n_controls()],
            held: vec![None; n_v],
            loads: Vec::new(),
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(TreeStep::new(
            self.model.clone(),
            self.actuators.clone(),
            self.tendon_actuators.clone(),
        ))
    }

    /// Quaternions must have length 1 to 10⁻⁶.
    fn check_state(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        check(&self.model, state, control)?;
        check_quaternions(&self.model, state)
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
                + model.spring_energy(&state.q)
                + model.tendon_energy(&state.q),
            linear_momentum_W: momentum.linear,
            angular_momentum_W: momentum.angular_about_origin,
        }
    }
}
