//! `<joint>`: type, pose, axis, limits, dynamics, mimic.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::Severity;
use roxmltree::Node;

use super::Mimic;
use super::document::Reader;
use crate::builder::JointSpec;
use crate::error::MultibodyError;
use crate::joint::{JointKind, JointLimits, PassiveForces};

const KNOWN_TYPES: &str = "revolute, continuous, prismatic, fixed, floating, planar, ball";

impl<'d, 't> Reader<'d, 't> {
    pub(super) fn joint(
        &mut self,
        node: Node<'d, 't>,
    ) -> Result<(JointSpec, Option<Mimic>), MultibodyError> {
        let name = self.name(node)?;
        let subject = format!("joint \"{name}\"");
        self.only_attributes(node, &["name", "type"]);
        let kind = match self.required(node, &subject, "type")? {
            "revolute" => JointKind::Revolute,
            "continuous" => JointKind::Continuous,
            "prismatic" => JointKind::Prismatic,
            "fixed" => JointKind::Fixed,
            "floating" => JointKind::Floating,
            "planar" => JointKind::Planar,
            "ball" | "spherical" => JointKind::Ball,
            "universal" => {
                let text = "type \"universal\" is not supported; use two revolute joints, about x and about y, with a massless link in between";
                return Err(self.error(node, &subject, text));
            }
            "screw" => {
                let text = "type \"screw\" is not supported; use a continuous joint and, on a massless link, a prismatic joint that mimics it with multiplier = pitch/2π";
                return Err(self.error(node, &subject, text));
            }
            other => {
                let text = format!("type \"{other}\" is unknown; use one of {KNOWN_TYPES}");
                return Err(self.error(node, &subject, text));
            }
        };
        let tags = [
            "parent", "child", "origin", "axis", "limit", "dynamics", "mimic",
        ];
        let parts = self.single_children(node, &subject, &tags);
        let [parent, child, origin, axis, limit, dynamics, mimic] = parts[..] else {
            unreachable!("one entry for each requested tag");
        };
        for end in [parent, child].into_iter().flatten() {
            self.only_attributes(end, &["link"]);
        }
        let end = |end: Option<Node<'d, 't>>, tag: &str| match end {
            Some(end) => self
                .required(end, &subject, "link")
                .map(|l| l.trim().to_owned()),
            None => Err(self.error(node, &subject, format!("needs <{tag} link=\"...\"/>"))),
        };
        let (parent, child) = (end(parent, "parent")?, end(child, "child")?);
        let mut joint = JointSpec::new(name, kind, parent, child);
        joint.X_PJ = self.pose(origin, &subject)?;
        if let Some(axis) = axis.filter(|_| kind.has_axis()) {
            self.only_attributes(axis, &["xyz"]);
            self.required(axis, &subject, "xyz")?;
            joint.axis = Vector3::from(
                self.numbers::<3>(axis, &subject, "xyz")?
                    .unwrap_or_default(),
            );
            let length = joint.axis.norm();
            // Published files give unit axes with four or five digits.
            if length > 0.0 && (length - 1.0).abs() > 1e-3 {
                let line = self.line(axis);
                let text = format!("{subject}: axis of length {length} normalised");
                self.note(Severity::Repaired, line, text);
            }
        }
        match limit {
            Some(limit) if kind != JointKind::Fixed => {
                joint.limits = self.limits(limit, kind, &subject)?
            }
            Some(_) => {}
            None if matches!(kind, JointKind::Revolute | JointKind::Prismatic) => {
                let text =
                    format!("{subject}: has no <limit>, which URDF requires; read as no limits");
                self.suspicious(node, text);
            }
            None => {}
        }
        if let Some(dynamics) = dynamics.filter(|_| kind != JointKind::Fixed) {
            joint.passive = self.dynamics(dynamics, kind, joint.limits.effort, &subject)?;
        }
        let mimic = match mimic {
            Some(mimic) => Some(self.mimic(mimic, &joint.name, &subject)?),
            None => None,
        };
        Ok((joint, mimic))
    }

    fn limits(
        &mut self,
        node: Node<'d, 't>,
        kind: JointKind,
        subject: &str,
    ) -> Result<JointLimits, MultibodyError> {
        self.only_attributes(
            node,
            &["lower", "upper", "effort", "velocity", "acceleration"],
        );
        let mut limits = JointLimits::default();
        match kind {
            JointKind::Revolute | JointKind::Prismatic => {
                limits.lower = self.bound(node, subject, "lower", f64::NEG_INFINITY)?;
                limits.upper = self.bound(node, subject, "upper", f64::INFINITY)?;
            }
            _ => {
                for end in ["lower", "upper"] {
                    if node.attribute(end).is_some() {
                        let line = self.line(node);
                        let text = format!(
                            "{subject}: limit \"{end}\", which joints of this type do not have"
                        );
                        self.note(Severity::Ignored, line, text);
                    }
                }
            }
        }
        limits.effort = self.capacity(node, subject, "effort")?;
        limits.velocity = self.capacity(node, subject, "velocity")?;
        // An attribute of Drake, with its prefix; found by its local name in any namespace.
        let acceleration = node.attributes().find(|a| a.name() == "acceleration");
        if let Some(written) = acceleration.map(|a| a.value()) {
            let value = written.trim().parse::<f64>().ok().filter(|x| *x >= 0.0);
            limits.acceleration = value.ok_or_else(|| {
                let text =
                    format!("<limit> acceleration=\"{written}\" must be a number and not negative");
                self.error(node, subject, text)
            })?;
        }
        Ok(limits)
    }

    /// A position limit. URDF's default is 0; infinities are accepted, as some exporters write them.
    fn bound(
        &self,
        node: Node<'d, 't>,
        subject: &str,
        attribute: &str,
        infinite: f64,
    ) -> Result<f64, MultibodyError> {
        match node.attribute(attribute).map(str::trim) {
            Some(written) if written.parse::<f64>() == Ok(infinite) => Ok(infinite),
            _ => Ok(self.number(node, subject, attribute)?.unwrap_or(0.0)),
        }
    }

    fn capacity(
        &mut self,
        node: Node<'d, 't>,
        subject: &str,
        attribute: &str,
    ) -> Result<f64, MultibodyError> {
        if node
            .attribute(attribute)
            .and_then(|w| w.trim().parse::<f64>().ok())
            == Some(f64::INFINITY)
        {
            return Ok(f64::INFINITY);
        }
        let Some(value) = self.number(node, subject, attribute)? else {
            return Ok(f64::INFINITY);
        };
        if value < 0.0 {
            let text = format!("<limit> {attribute} = {value} must not be negative");
            return Err(self.error(node, subject, text));
        }
        if value == 0.0 {
            self.suspicious(
                node,
                format!("{subject}: {attribute} limit is 0; read as no limit"),
            );
            return Ok(f64::INFINITY);
        }
        Ok(value)
    }

    fn dynamics(
        &mut self,
        node: Node<'d, 't>,
        kind: JointKind,
        effort: f64,
        subject: &str,
    ) -> Result<PassiveForces, MultibodyError> {
        self.only_attributes(
            node,
            &[
                "damping",
                "friction",
                "spring_stiffness",
                "spring_reference",
            ],
        );
        let value = |reader: &Self, name: &str| -> Result<f64, MultibodyError> {
            let value = reader.number(node, subject, name)?.unwrap_or(0.0);
            if value < 0.0 && name != "spring_reference" {
                return Err(reader.error(
                    node,
                    subject,
                    format!("<dynamics> {name} = {value} must not be negative"),
                ));
            }
            Ok(value)
        };
        let mut passive = PassiveForces {
            damping: value(self, "damping")?,
            dry_friction: value(self, "friction")?,
            spring_stiffness: value(self, "spring_stiffness")?,
            spring_rest: value(self, "spring_reference")?,
        };
        if passive.dry_friction >= effort {
            let text = format!(
                "{subject}: friction {} is not below the effort limit {effort}, so that the actuator could never move the joint; read as no friction",
                passive.dry_friction
            );
            self.suspicious(node, text);
            passive.dry_friction = 0.0;
        }
        if passive.spring_stiffness > 0.0 && kind.n_v() != 1 {
            let text = "spring_stiffness is supported for joints of one degree of freedom only";
            return Err(self.error(node, subject, text));
        }
        Ok(passive)
    }

    fn mimic(
        &mut self,
        node: Node<'d, 't>,
        joint: &str,
        subject: &str,
    ) -> Result<Mimic, MultibodyError> {
        self.only_attributes(node, &["joint", "multiplier", "offset"]);
        Ok(Mimic {
            joint: joint.to_owned(),
            source: self.required(node, subject, "joint")?.trim().to_owned(),
            multiplier: self.number(node, subject, "multiplier")?.unwrap_or(1.0),
            offset: self.number(node, subject, "offset")?.unwrap_or(0.0),
        })
    }
}
