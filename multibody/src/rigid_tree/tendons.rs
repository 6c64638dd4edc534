//! Rows of fixed tendons: limits, springs with dampers, drives.

use pliant_contact_sap::{
    ConstraintLabel, InternalConstraints, Limit, PdActuator, PdCommand, PdGains, RowKind, RowLaw,
};

use super::constraints::entry;
use super::step::TreeStep;
use crate::model::{Tendon, TendonIdx};

/// A tendon in a step.
struct Pull {
    /// Rate of the length from prescribed velocities.
    bias: f64,
    /// Inverse inertia along the length.
    w: f64,
    length: f64,
    /// The length at the end of the step, from the part that does not depend on the end velocity.
    predicted: f64,
}

impl TreeStep {
    pub(super) fn add_tendons(&self, out: &mut InternalConstraints<'_>) {
        for (t, tendon) in self.model.tendons().iter().enumerate() {
            let pull = self.pull(tendon, out);
            if pull.w > 0.0 {
                self.add_tendon(TendonIdx(t), &pull, out);
            }
        }
    }

    /// The coefficients of a tendon on the free degrees of freedom.
    fn free_terms(&self, tendon: &Tendon) -> impl Iterator<Item = (usize, f64)> {
        tendon.terms.iter().filter_map(|(joint, c)| {
            let k = self.model.joint(*joint).dofs().start;
            Some((self.free_of[k]?, *c))
        })
    }

    fn pull(&self, tendon: &Tendon, out: &InternalConstraints<'_>) -> Pull {
        let mut pull = Pull {
            bias: 0.0,
            w: 0.0,
            length: 0.0,
            predicted: 0.0,
        };
        for (joint, c) in &tendon.terms {
            let k = self.model.joint(*joint).dofs().start;
            pull.length += c * self.position(k);
            pull.predicted += c * self.predicted_position(k);
            match self.free_of[k] {
                Some(i) => pull.w += c * c * out.inverse_inertia(i),
                None => pull.bias += c * self.prescribed[k],
            }
        }
        pull
    }

    fn add_tendon(&self, index: TendonIdx, pull: &Pull, out: &mut InternalConstraints<'_>) {
        let tendon = &self.model.tendons()[index.0];
        let control = self.model.control_of_tendon(index);
        let label = |kind: RowKind| ConstraintLabel {
            kind,
            index: control as u32,
        };
        let mut add = |law: RowLaw, kind: RowKind, sign: f64| {
            let terms = self.free_terms(tendon).map(|(i, c)| (i, sign * c));
            out.combination(terms, sign * pull.bias, law, label(kind));
        };
        let speed = (pull.predicted - pull.length) / self.time_step.length_s;
        let reach = self.reach(speed);
        for (gap, kind, sign) in [
            (
                pull.predicted - tendon.limits.lower,
                RowKind::LowerLimit,
                1.0,
            ),
            (
                tendon.limits.upper - pull.predicted,
                RowKind::UpperLimit,
                -1.0,
            ),
        ] {
            if gap <= reach {
                let law = Limit::near_rigid(self.time_step, gap, pull.w);
                add(RowLaw::Limit(law), kind, sign);
            }
        }
        let spring = &tendon.spring;
        let stretch = pull.length - spring.rest.clamp(pull.length);
        let is_stretched = stretch != 0.0 || spring.rest.lower == spring.rest.upper;
        let stiffness = if is_stretched { spring.stiffness } else { 0.0 };
        if stiffness > 0.0 || spring.damping > 0.0 {
            let gains = PdGains {
                proportional: stiffness,
                derivative: spring.damping,
                effort_limit: f64::INFINITY,
            };
            let command = PdCommand {
                position_error: pull.predicted - spring.rest.clamp(pull.length),
                ..PdCommand::default()
            };
            let law = PdActuator::new(self.time_step, gains, command, pull.w);
            add(RowLaw::PdActuator(law), RowKind::Other, 1.0);
        }
        if let Some(gains) = self.tendon_actuators[index.0] {
            let target = self.control.position.get(control).copied();
            let command = PdCommand {
                position_error: pull.predicted - target.unwrap_or(pull.length),
                velocity: entry(&self.control.velocity, control),
                feed_forward: entry(&self.control.effort, control),
            };
            let law = PdActuator::new(self.time_step, gains, command, pull.w);
            add(RowLaw::PdActuator(law), RowKind::Actuator, 1.0);
        }
    }
}
