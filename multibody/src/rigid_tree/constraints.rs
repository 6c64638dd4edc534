//! Internal constraints of a tree: joint limits, actuators, dry friction, couplings.

use pliant_contact_sap::{
    Assembled, Bilateral, ConstraintLabel, Dynamics, InternalConstraints, Limit, PdActuator,
    PdCommand, PdGains, Play, RowKind, RowLaw,
};

use super::JointActuator;
use super::step::TreeStep;
use crate::joint::JointLimits;
use crate::model::{Coupler, DofIdx, JointIdx};

/// σ of dry joint friction, with regularisation R = σ/A_kk: in stiction a joint yields by σ δt²/A_kk times the force, a
/// thousandth of the motion in one step without friction, and does not creep after that.
const DRY_FRICTION_REGULARISATION: f64 = 1e-3;

/// Bound on joint speeds, rad/s or m/s. Limits that cannot be reached in a step at this speed, or at ten times the joint's
/// current one, are omitted.
const SPEED_BOUND: f64 = 1000.0;

fn label(kind: RowKind, dof: usize) -> ConstraintLabel {
    ConstraintLabel {
        kind,
        index: dof as u32,
    }
}

impl TreeStep {
    /// Adds the rows of every free degree of freedom, then those of the couplings.
    pub(super) fn add_constraints(&self, out: &mut InternalConstraints<'_>) {
        let dt = self.time_step.length_s;
        for joint in self.model.joints() {
            let limits = (joint.kind.n_v() == 1).then_some(&joint.limits);
            for k in joint.dofs() {
                let Some(i) = self.free_of[k] else { continue };
                let (lower, upper) = limits.map_or((None, None), |l| self.gaps(l, k));
                let friction = joint.passive.dry_friction;
                let has_actuator = self.actuators[k].is_some();
                if lower.is_none() && upper.is_none() && !has_actuator && friction == 0.0 {
                    continue;
                }
                let w = out.inverse_inertia(i);
                if let Some(gap) = lower {
                    let law = RowLaw::Limit(Limit::near_rigid(self.time_step, gap, w));
                    out.velocity(i, law, label(RowKind::LowerLimit, k));
                }
                if let Some(gap) = upper {
                    let law = RowLaw::Limit(Limit::near_rigid(self.time_step, gap, w));
                    let label = label(RowKind::UpperLimit, k);
                    out.combination([(i, -1.0)], 0.0, law, label);
                }
                if let Some(actuator) = &self.actuators[k] {
                    self.add_actuator(actuator, (k, i), out);
                }
                if friction > 0.0 {
                    let softness = self.dry_friction_softness(i);
                    let (bound, last) = (dt * friction, dt * self.dry_friction[k]);
                    let law = RowLaw::Bilateral(Bilateral::dry_friction(bound, softness));
                    let label = label(RowKind::DryFriction, k);
                    out.combination([(i, 1.0)], -softness * last, law, label);
                }
            }
        }
        for coupler in self.model.couplers() {
            self.add_coupler(coupler, out);
        }
        self.add_tendons(out);
    }

    /// R of the dry friction law, which continues from the force f0 of the last step:
    ///
    /// ```text
    /// γ = clamp(δt f0 − v/R, ±δt f_max)
    /// ```
    ///
    /// A joint in stiction comes to rest under any load within the friction bound: v = 0 once δt f0 balances the load.
    fn dry_friction_softness(&self, i: usize) -> f64 {
        let Some(Assembled::Dense(a)) = self.dynamics.assembled() else {
            unreachable!("A of a tree is dense");
        };
        DRY_FRICTION_REGULARISATION / a[i * (self.held.free().len() + 1)]
    }

    /// Forces of dry friction at the end of a step with free velocities `v`, N or N·m, in the order of the degrees of
    /// freedom that have it; zero for held ones.
    pub(super) fn write_dry_friction(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (k, bound) in self.model.dry_friction() {
            let force = self.free_of[k].map_or(0.0, |i| {
                let change = v[i] / (self.dry_friction_softness(i) * self.time_step.length_s);
                (self.dry_friction[k] - change).clamp(-bound, bound)
            });
            out.push(force);
        }
    }

    /// Predicted distances to the lower and upper limit of a joint of one degree of freedom; `None` for limits out of reach.
    fn gaps(&self, limits: &JointLimits, k: usize) -> (Option<f64>, Option<f64>) {
        let q = self.predicted_position(k);
        let reach = self.reach(self.v[k]);
        let near = |gap: f64| (gap <= reach).then_some(gap);
        (near(q - limits.lower), near(limits.upper - q))
    }

    /// The longest way in a step at this speed.
    pub(super) fn reach(&self, speed: f64) -> f64 {
        self.time_step.length_s * SPEED_BOUND.max(10.0 * speed.abs())
    }

    /// Adds the row of an actuator, or two rows if there is backlash: the motor pushes the joint from either side of the play, and has
    /// no hold of it between them.
    ///
    /// A side damps the joint only if it touches it at the start of the step, so that the joint is free within the play.
    fn add_actuator(
        &self,
        actuator: &JointActuator,
        (k, i): (usize, usize),
        out: &mut InternalConstraints<'_>,
    ) {
        let w = out.inverse_inertia(i);
        let target = self.control.position.get(k).copied();
        let target = target.unwrap_or_else(|| self.position(k));
        let command = PdCommand {
            position_error: self.predicted_position(k) - target,
            velocity: entry(&self.control.velocity, k),
            feed_forward: entry(&self.control.effort, k),
        };
        let gains = actuator.gains;
        let mut add = |law: PdActuator| {
            out.velocity(i, RowLaw::PdActuator(law), label(RowKind::Actuator, k));
        };
        if actuator.backlash == 0.0 {
            add(PdActuator::new(self.time_step, gains, command, w));
            return;
        }
        let target_before = target - command.velocity * self.time_step.length_s;
        let error_before = self.position(k) - target_before;
        // The motor yields to a feed-forward effort as far as its gain holds it.
        let lead = command.feed_forward / gains.proportional;
        let half = 0.5 * actuator.backlash;
        let side = |contact: f64, touches: bool| {
            let gains = PdGains {
                derivative: if touches { gains.derivative } else { 0.0 },
                ..gains
            };
            let command = PdCommand {
                position_error: command.position_error - contact,
                ..command
            };
            PdActuator::new(self.time_step, gains, command, w)
        };
        add(side(-half, error_before - lead <= -half).pushing_up());
        add(side(half, error_before - lead >= half).pushing_down());
    }

    /// Adds the row v_joint − p′(q_source) v_source, with held velocities in the bias.
    fn add_coupler(&self, coupler: &Coupler, out: &mut InternalConstraints<'_>) {
        let dof = |joint: JointIdx| self.model.joint(joint).dofs().start;
        let (follower, source) = (dof(coupler.joint), coupler.source.map(dof));
        let from = source.map_or(0.0, |source| self.position(source));
        let slope = coupler.law.slope(from);
        let motion = source.map_or(0.0, |source| self.predicted_position(source) - from);
        let error = self.predicted_position(follower) - coupler.law.value(from) - slope * motion;
        let (mut bias, mut w) = (0.0, 0.0);
        let mut terms = [(0, 0.0); 2];
        let mut n_terms = 0;
        let source = source.map(|source| (source, -slope));
        for (k, coefficient) in [(follower, 1.0)].into_iter().chain(source) {
            match self.free_of[k] {
                Some(i) => {
                    terms[n_terms] = (i, coefficient);
                    n_terms += 1;
                    w += coefficient * coefficient * out.inverse_inertia(i);
                }
                None => bias += coefficient * self.prescribed[k],
            }
        }
        // Both are held, or the joint is held and the multiplier is zero: there is no unknown.
        if w == 0.0 {
            return;
        }
        let law = match coupler.backlash > 0.0 {
            true => RowLaw::Play(Play::near_rigid(self.time_step, error, coupler.backlash, w)),
            false => RowLaw::Bilateral(Bilateral::near_rigid(self.time_step, error, w)),
        };
        let label = label(RowKind::Coupler, follower);
        out.combination(&terms[..n_terms], bias, law, label);
    }

    /// Position of a joint of one degree of freedom.
    pub(super) fn position(&self, k: usize) -> f64 {
        let at = self.model.position_of_dof(DofIdx(k));
        at.map_or(0.0, |at| self.q[at])
    }

    /// Predicted position of that joint, from the part of the step that does not depend on the end velocity. A prescribed
    /// velocity holds throughout the step.
    pub(super) fn predicted_position(&self, k: usize) -> f64 {
        let rate = match self.free_of[k] {
            Some(_) => self.v[k],
            None => self.prescribed[k],
        };
        self.time_step.coasted(self.position(k), rate)
    }
}

/// An entry of a control array, zero if the array is empty.
pub(super) fn entry(values: &[f64], k: usize) -> f64 {
    values.get(k).copied().unwrap_or(0.0)
}
