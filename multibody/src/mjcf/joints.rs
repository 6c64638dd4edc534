//! `<joint>` and `<freejoint>`: the chain of joints between a body and its parent.

use nalgebra::{Isometry3, Unit, UnitQuaternion, Vector3};

use super::File;
use super::defaults::Settings;
use crate::builder::JointSpec;
use crate::error::MultibodyError;
use crate::joint::{Drive, JointKind, JointLimits, PassiveForces};
use crate::markup::Remarks;

/// A joint as written, in the frame of its body.
pub(super) struct WrittenJoint {
    pub(super) name: Option<String>,
    pub(super) kind: JointKind,
    /// A point of the axis, in the frame of the body.
    anchor: Vector3<f64>,
    axis: Unit<Vector3<f64>>,
    /// The position in which the file shows the joint.
    reference: f64,
    limits: JointLimits,
    passive: PassiveForces,
    armature: f64,
    /// Time constant (s) and damping ratio, which replace stiffness and damping.
    pub(super) spring_damper: Option<[f64; 2]>,
}

impl WrittenJoint {
    /// A `<freejoint>`; joint defaults do not apply to it.
    pub(super) fn free(name: Option<String>) -> Self {
        Self {
            name,
            kind: JointKind::Floating,
            anchor: Vector3::zeros(),
            axis: Vector3::z_axis(),
            reference: 0.0,
            limits: JointLimits::default(),
            passive: PassiveForces::default(),
            armature: 0.0,
            spring_damper: None,
        }
    }

    pub(super) fn read(
        file: &File<'_>,
        settings: &Settings<'_>,
        body: &str,
        remarks: &mut Remarks,
    ) -> Result<Self, MultibodyError> {
        let own = settings.own();
        let name = own.attribute("name").map(|name| name.trim().to_owned());
        let subject = match &name {
            Some(name) => format!("joint \"{name}\""),
            None => format!("joint of body \"{body}\""),
        };
        let fail = |text: String| own.error(&subject, text);
        let angular = |x: f64| file.compiler.radians(x);
        let linear = |x: f64| x;
        let (slides, unit): (bool, &dyn Fn(f64) -> f64) = match settings.text("type") {
            None | Some("hinge" | "ball" | "free") => (false, &angular),
            Some("slide") => (true, &linear),
            Some(other) => {
                let text = format!("type=\"{other}\" is unknown; use hinge, slide, ball or free");
                return Err(fail(text));
            }
        };
        let limits = limits(file, settings, unit, &subject)?;
        let kind = match settings.text("type") {
            Some("ball") => JointKind::Ball,
            Some("free") => JointKind::Floating,
            _ if slides => JointKind::Prismatic,
            _ if limits.lower.is_finite() || limits.upper.is_finite() => JointKind::Revolute,
            _ => JointKind::Continuous,
        };
        let axis = settings
            .numbers::<3>("axis", &subject)?
            .map_or_else(Vector3::z, Vector3::from);
        let axis =
            Unit::try_new(axis, 1e-14).ok_or_else(|| fail("axis must not be zero".to_owned()))?;
        let spring_damper = settings.numbers::<2>("springdamper", &subject)?;
        let spring_damper = spring_damper.filter(|[time, ratio]| *time > 0.0 && *ratio > 0.0);
        let mut joint = Self {
            name,
            kind,
            anchor: settings
                .numbers::<3>("pos", &subject)?
                .map_or_else(Vector3::zeros, Vector3::from),
            axis,
            reference: unit(settings.number("ref", &subject)?.unwrap_or(0.0)),
            limits,
            passive: PassiveForces {
                damping: settings.non_negative("damping", &subject)?,
                dry_friction: settings.non_negative("frictionloss", &subject)?,
                spring_stiffness: settings.non_negative("stiffness", &subject)?,
                spring_rest: unit(settings.number("springref", &subject)?.unwrap_or(0.0)),
            },
            armature: settings.non_negative("armature", &subject)?,
            spring_damper,
        };
        if kind.n_v() != 1 {
            joint.reference = 0.0;
            joint.limits = JointLimits {
                effort: joint.limits.effort,
                ..JointLimits::default()
            };
            if limits.upper.is_finite() {
                let text = format!("{subject}: a limit of this kind of joint has no effect");
                remarks.suspicious(&own.place, text);
            }
            if joint.passive.spring_stiffness > 0.0 || spring_damper.is_some() {
                let text = "stiffness and springdamper are for hinge and slide joints only";
                return Err(fail(text.to_owned()));
            }
        }
        if kind == JointKind::Floating {
            joint.anchor = Vector3::zeros();
        }
        Ok(joint)
    }
}

fn limits(
    file: &File<'_>,
    settings: &Settings<'_>,
    unit: &dyn Fn(f64) -> f64,
    subject: &str,
) -> Result<JointLimits, MultibodyError> {
    let mut limits = JointLimits::default();
    let is_limited =
        |flag: &str, range: &str| settings.is_limited(flag, range, file.compiler.limits, subject);
    let is_free = settings.text("type") == Some("free");
    if !is_free
        && is_limited("limited", "range")?
        && let Some([lower, upper]) = settings.numbers::<2>("range", subject)?
    {
        if lower >= upper {
            let text = format!("range=\"{lower} {upper}\" must ascend");
            return Err(settings.own().error(subject, text));
        }
        (limits.lower, limits.upper) = (unit(lower), unit(upper));
    }
    if is_limited("actuatorfrclimited", "actuatorfrcrange")?
        && let Some([least, most]) = settings.numbers::<2>("actuatorfrcrange", subject)?
    {
        limits.effort = most.max(-least);
    }
    Ok(limits)
}

/// The joints between a link and the link of a body, with the massless links between them.
pub(super) struct Chain {
    pub(super) joints: Vec<JointSpec>,
    /// Names of the massless links, in the order of the joints.
    pub(super) links: Vec<String>,
}

/// The chain for a body at `X_PB` in its parent link. Joints act in the order of the file, the first one next to the parent; each
/// moves the body about its anchor:
///
/// X = X_PB · Π p_k · motion_k(q_k − ref_k) · p_k⁻¹, with p_k the translation to the anchor of joint k.
///
/// `weld` is the name of a fixed joint, if one is needed.
pub(super) fn chain(
    joints: &[(String, WrittenJoint)],
    X_PB: &Isometry3<f64>,
    parent: &str,
    body: &str,
    mut free_name: impl FnMut(&str) -> String,
    weld: &mut dyn FnMut() -> String,
) -> Chain {
    let mut chain = Chain {
        joints: Vec::with_capacity(joints.len() + 1),
        links: Vec::new(),
    };
    // The link that the next joint is fixed on, and the pose of the body's frame in it while later joints are at rest.
    let mut at = parent.to_owned();
    let mut X_AB = *X_PB;
    for (k, (name, joint)) in joints.iter().enumerate() {
        let is_last = k + 1 == joints.len();
        let child = match is_last && joint.anchor == Vector3::zeros() {
            true => body.to_owned(),
            false => free_name(&format!("{name}_link")),
        };
        if child != body {
            chain.links.push(child.clone());
        }
        let mut spec = JointSpec::new(&**name, joint.kind, &*at, &*child);
        spec.limits = joint.limits;
        spec.passive = joint.passive;
        spec.drive = Drive {
            rotor_inertia: joint.armature,
            ..Drive::default()
        };
        if joint.kind == JointKind::Floating {
            // Its position is the pose of the body in the world.
            let mut start = vec![0.0; 7];
            crate::joint::write_floating_position(&X_AB, &mut start);
            spec.initial = Some(start);
        } else {
            spec.axis = joint.axis.into_inner();
            spec.X_PJ =
                X_AB * Isometry3::translation(joint.anchor.x, joint.anchor.y, joint.anchor.z);
            if joint.reference != 0.0 {
                spec.X_PJ *= joint.motion(-joint.reference);
                spec.initial = Some(vec![joint.reference]);
            }
        }
        chain.joints.push(spec);
        X_AB = Isometry3::from_parts((-joint.anchor).into(), UnitQuaternion::identity());
        at = child;
    }
    if at != body {
        let joint = JointSpec::new(weld(), JointKind::Fixed, &*at, body);
        chain.joints.push(joint.at(X_AB));
    }
    chain
}

impl WrittenJoint {
    /// The motion of a joint of one degree of freedom.
    fn motion(&self, q: f64) -> Isometry3<f64> {
        match self.kind {
            JointKind::Prismatic => Isometry3::from_parts(
                (self.axis.into_inner() * q).into(),
                UnitQuaternion::identity(),
            ),
            _ => Isometry3::from_parts(
                Vector3::zeros().into(),
                UnitQuaternion::from_axis_angle(&self.axis, q),
            ),
        }
    }
}
