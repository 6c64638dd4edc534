//! Validation of single links and joints.

use super::{JointSpec, LinkSpec};
use crate::error::MultibodyError;
use crate::gravity_compensation::check_share;
use crate::inertia::SpatialInertia;
use crate::joint::JointKind;
use crate::model::{Link, Model};

/// Checks that an inertia is finite, with mass not negative.
pub(super) fn check_inertia(link: &LinkSpec) -> Result<(), MultibodyError> {
    check_share(&link.name, link.gravity_compensation)?;
    let inertia = &link.inertia;
    let subject = || format!("link \"{}\"", link.name);
    let finite = inertia
        .com
        .iter()
        .chain(inertia.rotational.iter())
        .all(|x| x.is_finite());
    if !finite {
        return Err(MultibodyError::Value {
            subject: subject(),
            quantity: "inertial".into(),
            value: format!(
                "{:?}, {:?}",
                inertia.com.as_slice(),
                inertia.rotational.as_slice()
            ),
            allowed: "must be finite".into(),
        });
    }
    if !(inertia.mass >= 0.0 && inertia.mass.is_finite()) {
        return Err(MultibodyError::Value {
            subject: subject(),
            quantity: "mass".into(),
            value: inertia.mass.to_string(),
            allowed: "kg must be finite and not negative".into(),
        });
    }
    Ok(())
}

/// Checks that the inertia of each rigid body, which links fixed to one another form, is positive semidefinite. That of a single link has
/// no effect of its own.
pub(super) fn check_bodies(model: &Model) -> Result<(), MultibodyError> {
    for (index, body) in model.bodies.iter().enumerate() {
        let inertia = SpatialInertia::from_origin(&body.inertia_B);
        let smallest = inertia.principal_moments()[0];
        let rounding = 1e-12 * inertia.mass * inertia.com.norm_squared();
        if !inertia.is_indefinite() || smallest >= -rounding {
            continue;
        }
        let moment = |link: &&Link| link.inertia.principal_moments()[0];
        let links = model.links.iter().filter(|link| link.body.0 == index);
        let worst = links.min_by(|a, b| moment(a).total_cmp(&moment(b)));
        return Err(MultibodyError::IndefiniteInertia {
            link: worst.map_or_else(String::new, |link| link.name.clone()),
            moment: smallest,
        });
    }
    Ok(())
}

/// Checks the axis, the limits, and the ranges of passive forces and drive.
pub(super) fn check_joint(joint: &JointSpec) -> Result<(), MultibodyError> {
    let value = |quantity: &str, value: f64, allowed: &str| MultibodyError::Value {
        subject: format!("joint \"{}\"", joint.name),
        quantity: quantity.into(),
        value: value.to_string(),
        allowed: allowed.into(),
    };
    if joint.kind.has_axis() {
        let finite = joint.axis.iter().all(|x| x.is_finite());
        if !finite || joint.axis.norm() < 1e-12 {
            return Err(MultibodyError::Axis {
                joint: joint.name.clone(),
                axis: joint.axis.into(),
            });
        }
    }
    if let JointKind::Screw { lead } = joint.kind
        && !(lead.is_finite() && lead != 0.0)
    {
        let allowed = "m must be finite and not zero; without it the joint is revolute";
        return Err(value("lead of the screw", lead, allowed));
    }
    let limits = &joint.limits;
    if limits.lower.is_nan() || limits.upper.is_nan() {
        return Err(value("limit", f64::NAN, "must be a number"));
    }
    if limits.lower > limits.upper {
        return Err(MultibodyError::LimitsSwapped {
            joint: joint.name.clone(),
            lower: limits.lower,
            upper: limits.upper,
        });
    }
    let passive = &joint.passive;
    for (name, x) in [
        ("effort limit", limits.effort),
        ("velocity limit", limits.velocity),
        ("acceleration limit", limits.acceleration),
    ] {
        if x.is_nan() || x < 0.0 {
            return Err(value(name, x, "must not be negative"));
        }
    }
    for (name, x) in [
        ("damping", passive.damping),
        ("dry friction", passive.dry_friction),
        ("spring stiffness", passive.spring_stiffness),
        ("rotor inertia", joint.drive.rotor_inertia),
    ] {
        if !(x >= 0.0 && x.is_finite()) {
            return Err(value(name, x, "must be finite and not negative"));
        }
    }
    for (name, x) in [
        ("spring rest position", passive.spring_rest),
        ("gear ratio", joint.drive.gear_ratio),
    ] {
        if !x.is_finite() {
            return Err(value(name, x, "must be finite"));
        }
    }
    if let Some(initial) = &joint.initial {
        let n = joint.kind.n_q();
        if initial.len() != n || !initial.iter().all(|x| x.is_finite()) {
            return Err(MultibodyError::Value {
                subject: format!("joint \"{}\"", joint.name),
                quantity: "initial position".into(),
                value: format!("{initial:?}"),
                allowed: format!("must be {n} finite numbers"),
            });
        }
    }
    if joint.kind.n_v() != 1 && passive.spring_stiffness > 0.0 {
        let allowed =
            "is not supported for joints of several degrees of freedom; use several joints";
        return Err(value("spring stiffness", passive.spring_stiffness, allowed));
    }
    Ok(())
}
