//! Couplings of joints and constraints that close loops: from names to indices.

use std::collections::BTreeSet;

use super::ModelBuilder;
use crate::error::MultibodyError;
use crate::model::{Coupler, JointIdx, LinkFrame, LoopConstraint, Model, Tendon, nearest_name};

impl ModelBuilder {
    pub(super) fn attach_couplers(&self, model: &mut Model) -> Result<(), MultibodyError> {
        for coupler in &self.couplers {
            let fail = |reason: &str| MultibodyError::Mimic {
                joint: coupler.joint.clone(),
                source_joint: coupler.source.clone().unwrap_or_default(),
                reason: reason.to_owned(),
            };
            let find = |name: &str| model.joints.iter().position(|j| j.name == name);
            let joint =
                find(&coupler.joint).ok_or_else(|| fail("but is itself not in the model"))?;
            let source = match &coupler.source {
                Some(name) => Some(find(name).ok_or_else(|| {
                    let nearest = nearest_name(name, model.joints.iter().map(|j| &*j.name));
                    let remedy = match nearest {
                        Some(nearest) => format!("did you mean \"{nearest}\"?"),
                        None => "name one of its joints, or remove the coupling".to_owned(),
                    };
                    fail(&format!("which is not in the model; {remedy}"))
                })?),
                None => None,
            };
            if source == Some(joint) {
                return Err(fail("which is itself; name another joint"));
            }
            let mut both = source.into_iter().chain([joint]);
            if both.any(|j| model.joints[j].kind.n_v() != 1) {
                return Err(fail(
                    "but only joints of one degree of freedom can be coupled",
                ));
            }
            let numbers = coupler.law.coefficients.iter().chain([&coupler.law.about]);
            if !numbers.into_iter().all(|x| x.is_finite()) {
                return Err(fail("with a multiplier or offset that is not finite"));
            }
            model.couplers.push(Coupler {
                joint: JointIdx(joint),
                source: source.map(JointIdx),
                law: coupler.law,
                backlash: coupler.backlash,
            });
        }
        order_couplers(model)?;
        check_ranges(model)
    }

    pub(super) fn attach_tendons(&self, model: &mut Model) -> Result<(), MultibodyError> {
        for spec in &self.tendons {
            let fail = |text: String| MultibodyError::Element {
                subject: format!("tendon \"{}\"", spec.name),
                text,
            };
            if model.tendon_named(&spec.name).is_some() || model.joint_named(&spec.name).is_ok() {
                let text = "has the name of another tendon or joint; names must be unique";
                return Err(fail(text.to_owned()));
            }
            let mut terms = Vec::with_capacity(spec.terms.len());
            for (name, coefficient) in &spec.terms {
                let joint = model.joint_named(name)?;
                if model.joint(joint).kind.n_v() != 1 {
                    return Err(fail(format!(
                        "joint \"{name}\" must have one degree of freedom"
                    )));
                }
                if !coefficient.is_finite() {
                    return Err(fail(format!("coefficient {coefficient} must be finite")));
                }
                terms.push((joint, *coefficient));
            }
            if terms.iter().all(|(_, c)| *c == 0.0) {
                return Err(fail(
                    "needs a joint with a coefficient other than 0".to_owned(),
                ));
            }
            let spring = &spec.spring;
            let gains = spec
                .drive
                .gains
                .map_or([0.0; 2], |g| [g.proportional, g.derivative]);
            let numbers = [spring.stiffness, spring.damping, gains[0], gains[1]];
            if let Some(x) = numbers.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
                let text = "stiffness, damping and gains must be finite and not negative";
                return Err(fail(format!("{x}: {text}")));
            }
            if spec.limits.is_empty() || spring.rest.is_empty() {
                return Err(fail("a range of lengths must ascend".to_owned()));
            }
            model.tendons.push(Tendon {
                name: spec.name.clone(),
                terms,
                limits: spec.limits,
                spring: spec.spring,
                drive: spec.drive,
            });
        }
        Ok(())
    }

    pub(super) fn attach_loops(&self, model: &mut Model) -> Result<(), MultibodyError> {
        let mut names = BTreeSet::new();
        for spec in &self.loops {
            let fail = |reason: &str| MultibodyError::Loop {
                name: spec.name.clone(),
                reason: reason.to_owned(),
            };
            if !names.insert(&spec.name) {
                return Err(fail("is defined twice; names of loops must be unique"));
            }
            let [a, b] = spec.ends.each_ref().map(|(link, X_LF)| {
                let link = model.link_named(link)?;
                Ok(LinkFrame { link, X_LF: *X_LF })
            });
            let (a, b): (LinkFrame, LinkFrame) = (a?, b?);
            if model.link(a.link).body == model.link(b.link).body {
                return Err(fail(
                    "both ends are on one rigid body, so that it prevents nothing; remove it",
                ));
            }
            model.loops.push(LoopConstraint {
                name: spec.name.clone(),
                kind: spec.kind,
                a,
                b,
            });
        }
        Ok(())
    }
}

/// Refuses couplings whose joints are never within their limits at the same time.
fn check_ranges(model: &Model) -> Result<(), MultibodyError> {
    let ranges = model.admissible_ranges();
    for coupler in &model.couplers {
        let fail = |source: &str, reason: String| MultibodyError::Mimic {
            joint: model.joint(coupler.joint).name.clone(),
            source_joint: source.to_owned(),
            reason,
        };
        let own = &ranges[coupler.joint.0];
        let (range, source) = match coupler.source {
            Some(source) => (ranges[source.0], &*model.joint(source).name),
            None => {
                let x = coupler.admit(own.clamp(0.0), 0.0);
                let (lower, upper) = (own.lower.max(x), own.upper.min(x));
                (crate::model::PositionRange { lower, upper }, "")
            }
        };
        // A file may round its limits.
        if range.lower - range.upper > 1e-6 * range.lower.abs().max(1.0) {
            let reason = format!(
                "but is never within its limits [{}, {}] while the other joint is within its own; correct one of the limits, the multiplier or the offset",
                own.lower, own.upper
            );
            return Err(fail(source, reason));
        }
    }
    Ok(())
}

/// Sorts couplers so that each one follows the coupler of its source: one pass in order makes positions consistent.
fn order_couplers(model: &mut Model) -> Result<(), MultibodyError> {
    let mut waiting = core::mem::take(&mut model.couplers);
    while !waiting.is_empty() {
        let sources_wait =
            |coupler: &Coupler| waiting.iter().any(|w| Some(w.joint) == coupler.source);
        let (later, ready): (Vec<_>, Vec<_>) = waiting.iter().copied().partition(sources_wait);
        if let ([], [coupler, ..]) = (&ready[..], &later[..]) {
            let name = |JointIdx(j): JointIdx| model.joints[j].name.clone();
            return Err(MultibodyError::Mimic {
                joint: name(coupler.joint),
                source_joint: coupler.source.map(name).unwrap_or_default(),
                reason: "in a circle: let one joint of the circle move freely".to_owned(),
            });
        }
        model.couplers.extend(ready);
        waiting = later;
    }
    Ok(())
}
