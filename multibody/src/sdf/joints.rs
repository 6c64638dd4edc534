//! `<joint>`: type, axes, limits, dynamics, drive, mimic.
//!
//! A universal joint is two hinges with a massless cross between them, which is exact: its first axis is fixed in the parent, its second
//! in the child.

use nalgebra::{Isometry3, Vector3};

use super::{File, WORLD};
use crate::builder::JointSpec;
use crate::error::MultibodyError;
use crate::joint::{DriveGains, JointKind};
use crate::markup::{Element, Remarks};

/// Limits from here on are none: the format's default.
const NO_LIMIT: f64 = 1e16;

/// A joint as written: the joint frame may be anywhere in the child link.
pub(super) struct ReadJoint<'a> {
    pub(super) element: &'a Element,
    /// Its child is the link of the file.
    pub(super) spec: JointSpec,
    /// Pose of the child link in the joint frame.
    pub(super) X_JC: Isometry3<f64>,
    pub(super) mimic: Option<Mimic>,
    /// The hinge about the second axis of a universal joint.
    pub(super) second: Option<Box<SecondHinge>>,
}

/// The second axis of a universal joint, from the cross to the child.
pub(super) struct SecondHinge {
    pub(super) spec: JointSpec,
    pub(super) mimic: Option<Mimic>,
}

impl ReadJoint<'_> {
    /// The joints in a tree, and the massless links that they need: the cross of a universal joint, and a link where the joint is
    /// not at the origin of its child.
    pub(super) fn in_tree(&self) -> (Vec<JointSpec>, Vec<String>) {
        let mut joint = self.spec.clone();
        let X_JC = self.X_JC;
        let is_at_child = X_JC.translation.vector.norm() < 1e-12 && X_JC.rotation.angle() < 1e-12;
        if joint.kind == JointKind::Fixed {
            return (vec![joint.at(self.spec.X_PJ * X_JC)], Vec::new());
        }
        let (name, child) = (&self.spec.name, &self.spec.child);
        let (mut joints, mut massless) = (Vec::new(), Vec::new());
        if let Some(second) = &self.second {
            let cross = format!("{name}_cross");
            joint.child.clone_from(&cross);
            joints.push(joint);
            joint = second.spec.clone();
            joint.parent.clone_from(&cross);
            massless.push(cross);
        }
        if is_at_child {
            joints.push(joint);
            return (joints, massless);
        }
        let link = format!("{name}_link");
        joint.child.clone_from(&link);
        let weld = JointSpec::new(format!("{name}_weld"), JointKind::Fixed, &*link, &**child);
        joints.extend([joint, weld.at(X_JC)]);
        massless.push(link);
        (joints, massless)
    }
}

/// q_joint = multiplier · q_source + offset.
pub(super) struct Mimic {
    pub(super) joint: String,
    pub(super) source: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

pub(super) fn joint<'a>(
    file: &File<'_>,
    element: &'a Element,
    remarks: &mut Remarks,
) -> Result<ReadJoint<'a>, MultibodyError> {
    let name = element.required("name", "<joint>")?;
    let subject = format!("joint \"{name}\"");
    let kind = match element.required("type", &subject)? {
        "revolute" => JointKind::Revolute,
        "continuous" => JointKind::Continuous,
        "prismatic" => JointKind::Prismatic,
        "fixed" => JointKind::Fixed,
        "ball" => JointKind::Ball,
        "screw" => JointKind::Screw {
            lead: lead(element, &subject, remarks)?,
        },
        "universal" | "revolute2" => JointKind::Revolute,
        other => {
            let text = format!(
                "type \"{other}\" is not supported; use revolute, continuous, prismatic, screw, universal, ball or fixed joints"
            );
            return Err(element.error(&subject, text));
        }
    };
    let end = |tag: &str| match element.child(tag) {
        Some(end) if !end.text.is_empty() => Ok(&*end.text),
        _ => Err(element.error(&subject, format!("needs <{tag}>LINK</{tag}>"))),
    };
    let (parent, child) = (end("parent")?, end("child")?);
    let X_MJ = file.frames.of(element, child)?;
    let on_link = |frame: &str| match frame {
        WORLD => Ok(WORLD.to_owned()),
        frame => file.frames.on_link(frame, element).map(|(link, _)| link),
    };
    let (parent, child) = (&*on_link(parent)?, &*on_link(child)?);
    let X_MC = file.frames.in_model(child, element)?;
    let X_MP = file.frames.in_model(parent, element)?;
    let mut spec = JointSpec::new(name, kind, parent, child);
    spec.X_PJ = X_MP.inverse() * X_MJ;
    let has_two_axes = matches!(element.attribute("type"), Some("universal" | "revolute2"));
    let mut second = has_two_axes.then(|| {
        let name = second_hinge(name);
        let mut hinge = JointSpec::new(name, kind, parent, child);
        hinge.axis = Vector3::z();
        (hinge, None)
    });
    let mut mimic = None;
    for part in &element.children {
        match &*part.tag {
            "parent" | "child" | "pose" => {}
            "axis" if kind.has_axis() => {
                axis(file, part, (&mut spec, &X_MJ), &subject, remarks)?;
                mimic = part.child("mimic").map(|m| self::mimic(m, name, &subject));
            }
            "axis2" if second.is_some() => {
                if let Some((hinge, mimic)) = &mut second {
                    axis(file, part, (hinge, &X_MJ), &subject, remarks)?;
                    let own = part.child("mimic");
                    *mimic = own.map(|m| self::mimic(m, &hinge.name, &subject));
                }
            }
            "screw_thread_pitch" | "thread_pitch" if matches!(kind, JointKind::Screw { .. }) => {}
            "drake:gear_ratio" => spec.drive.gear_ratio = part.content::<1>(&subject)?[0],
            "drake:rotor_inertia" => spec.drive.rotor_inertia = part.content::<1>(&subject)?[0],
            "drake:controller_gains" => spec.drive.gains = Some(gains(part, &subject)?),
            "drake:mimic" => mimic = Some(self::mimic(part, name, &subject)),
            _ => remarks.left_out(part),
        }
    }
    free_if_unbounded(&mut spec);
    if let Some((hinge, _)) = &mut second {
        free_if_unbounded(hinge);
        let (a, b) = (spec.axis.normalize(), hinge.axis.normalize());
        // A zero axis makes NaN.
        let sine = a.cross(&b).norm();
        if sine.is_nan() || sine < 1e-6 {
            let text = "the two axes of a universal joint must not be parallel; write <axis> and <axis2>, each with <xyz>";
            return Err(element.error(&subject, text));
        }
    }
    let second = second.map(|(spec, mimic)| {
        let mimic = mimic.transpose()?;
        Ok::<_, MultibodyError>(Box::new(SecondHinge { spec, mimic }))
    });
    Ok(ReadJoint {
        element,
        spec,
        X_JC: X_MJ.inverse() * X_MC,
        mimic: mimic.transpose()?,
        second: second.transpose()?,
    })
}

/// Name of the hinge about the second axis of the universal joint `name`.
fn second_hinge(name: &str) -> String {
    format!("{name}_axis2")
}

fn free_if_unbounded(spec: &mut JointSpec) {
    let bounded = spec.limits.lower.is_finite() || spec.limits.upper.is_finite();
    if spec.kind == JointKind::Revolute && !bounded {
        spec.kind = JointKind::Continuous;
    }
}

/// Translation of a screw in a full turn, m, positive for a right-handed thread: `screw_thread_pitch`, or −2π by the older
/// `thread_pitch` in rad/m, which is positive for a left-handed one.
///
/// # Source
/// SDFormat 1.10, joint.sdf.
fn lead(element: &Element, subject: &str, remarks: &mut Remarks) -> Result<f64, MultibodyError> {
    if let Some(pitch) = element.number_in("screw_thread_pitch", subject)? {
        return Ok(pitch);
    }
    if let Some(pitch) = element.number_in("thread_pitch", subject)? {
        return Ok(-std::f64::consts::TAU / pitch);
    }
    let text = format!("{subject}: no <screw_thread_pitch>; 1 m per turn, the format's default");
    remarks.suspicious(&element.place, text);
    Ok(1.0)
}

fn axis(
    file: &File<'_>,
    element: &Element,
    (spec, X_MJ): (&mut JointSpec, &Isometry3<f64>),
    subject: &str,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    let known = [
        "xyz",
        "limit",
        "dynamics",
        "mimic",
        "use_parent_model_frame",
    ];
    remarks.only_children(element, &known);
    spec.axis = Vector3::z();
    if let Some(xyz) = element.child("xyz") {
        spec.axis = Vector3::from(xyz.content::<3>(subject)?);
        let frame = xyz.attribute("expressed_in").filter(|f| !f.is_empty());
        if let Some(frame) = frame {
            let X_MF = file.frames.in_model(frame, xyz)?;
            spec.axis = X_MJ.rotation.inverse() * (X_MF.rotation * spec.axis);
        }
    }
    if let Some(limit) = element.child("limit") {
        let known = ["lower", "upper", "effort", "velocity", "drake:acceleration"];
        remarks.only_children(limit, &known);
        let bound = |tag: &str| -> Result<Option<f64>, MultibodyError> {
            let Some(child) = limit.child(tag) else {
                return Ok(None);
            };
            // Infinities are written as words.
            if child.text.trim_start_matches('-').starts_with("inf") {
                return Ok(None);
            }
            let value = child.content::<1>(subject)?[0];
            Ok(Some(value).filter(|x| x.abs() < NO_LIMIT))
        };
        spec.limits.lower = bound("lower")?.unwrap_or(f64::NEG_INFINITY);
        spec.limits.upper = bound("upper")?.unwrap_or(f64::INFINITY);
        for (tag, slot) in [
            ("effort", &mut spec.limits.effort),
            ("velocity", &mut spec.limits.velocity),
            ("drake:acceleration", &mut spec.limits.acceleration),
        ] {
            match bound(tag)? {
                Some(x) if x > 0.0 => *slot = x,
                Some(0.0) => {
                    let text = format!("{subject}: {tag} limit is 0; read as no limit");
                    remarks.suspicious(&limit.place, text);
                }
                // A negative limit is none, as the format prescribes.
                _ => {}
            }
        }
    }
    if let Some(dynamics) = element.child("dynamics") {
        let passive = &mut spec.passive;
        remarks.only_children(
            dynamics,
            &[
                "damping",
                "friction",
                "spring_reference",
                "spring_stiffness",
            ],
        );
        let value = |tag: &str| -> Result<f64, MultibodyError> {
            Ok(dynamics.number_in(tag, subject)?.unwrap_or(0.0))
        };
        passive.damping = value("damping")?;
        passive.dry_friction = value("friction")?;
        passive.spring_rest = value("spring_reference")?;
        passive.spring_stiffness = value("spring_stiffness")?;
        if passive.dry_friction > 0.0 && passive.dry_friction >= spec.limits.effort {
            let text = format!(
                "{subject}: friction {} is not below the effort limit {}, so that the actuator could never move the joint; read as no friction",
                passive.dry_friction, spec.limits.effort
            );
            remarks.suspicious(&dynamics.place, text);
            passive.dry_friction = 0.0;
        }
    }
    Ok(())
}

fn gains(element: &Element, subject: &str) -> Result<DriveGains, MultibodyError> {
    let number = |name: &str| -> Result<f64, MultibodyError> {
        element.required(name, subject)?;
        let numbers = element.numbers(name, 1, subject)?;
        Ok(numbers.and_then(|n| n.first().copied()).unwrap_or(0.0))
    };
    let (proportional, derivative) = (number("p")?, number("d")?);
    if proportional <= 0.0 || derivative < 0.0 {
        let text = format!(
            "<drake:controller_gains> p = {proportional} must be positive and d = {derivative} not negative"
        );
        return Err(element.error(subject, text));
    }
    Ok(DriveGains {
        proportional,
        derivative,
    })
}

/// Drake's mimic has attributes, the format's has elements.
fn mimic(element: &Element, joint: &str, subject: &str) -> Result<Mimic, MultibodyError> {
    let number = |name: &str, missing: f64| -> Result<f64, MultibodyError> {
        if let Some(numbers) = element.numbers(name, 1, subject)? {
            return Ok(numbers.first().copied().unwrap_or(missing));
        }
        Ok(element.number_in(name, subject)?.unwrap_or(missing))
    };
    let multiplier = number("multiplier", 1.0)?;
    let source = element.required("joint", subject)?;
    let source = match element.attribute("axis") {
        Some("axis2") => second_hinge(source),
        _ => source.to_owned(),
    };
    Ok(Mimic {
        joint: joint.to_owned(),
        source,
        multiplier,
        offset: number("offset", 0.0)? - multiplier * number("reference", 0.0)?,
    })
}
