//! `<transmission>` and `<gazebo>`: gear ratios, rotor inertias, gains and springs of joints.

use pliant_hydroelastic::mesh::Severity;
use roxmltree::Node;

use super::document::Reader;
use crate::builder::JointSpec;
use crate::error::MultibodyError;
use crate::joint::DriveGains;

/// Elements of a transmission that configure ROS interfaces.
const INTERFACE_TAGS: [&str; 3] = ["hardwareInterface", "robotNamespace", "motorTorqueConstant"];

impl<'d, 't> Reader<'d, 't> {
    /// Reads the drive of the joint of a transmission: `drake:gear_ratio`, or `mechanicalReduction` (ROS 1),
    /// `mechanical_reduction` (ROS 2), `drake:rotor_inertia` and `drake:controller_gains`.
    pub(super) fn transmission(
        &mut self,
        node: Node<'d, 't>,
        joints: &mut [JointSpec],
    ) -> Result<(), MultibodyError> {
        let name = node.attribute("name").unwrap_or_default();
        let subject = format!("transmission \"{name}\"");
        let elements: Vec<_> = node
            .descendants()
            .filter(|n| n.is_element() && *n != node)
            .collect();
        let named: Vec<_> = elements
            .iter()
            .filter(|n| self.tag(**n) == "joint")
            .collect();
        let [joint_node] = named[..] else {
            self.suspicious(
                node,
                format!(
                    "{subject}: has {} joints, but must have one; ignored",
                    named.len()
                ),
            );
            return Ok(());
        };
        let joint_name = self.required(*joint_node, &subject, "name")?.trim();
        self.only_attributes(node, &["name", "type"]);
        self.only_attributes(*joint_node, &["name"]);
        let (mut ratio, mut reduction, mut rotor, mut gains) = (None, None, None, None);
        let mut interfaces = Vec::new();
        for &element in &elements {
            match self.tag(element) {
                "drake:gear_ratio" => {
                    self.only_attributes(element, &["value"]);
                    ratio = Some(self.required_number(element, &subject, "value")?)
                }
                "drake:rotor_inertia" => {
                    self.only_attributes(element, &["value"]);
                    rotor = Some(self.required_number(element, &subject, "value")?)
                }
                "drake:controller_gains" => gains = Some(self.gains(element, &subject)?),
                "mechanicalReduction" | "mechanical_reduction" => {
                    reduction = Some(self.content(element, &subject)?);
                }
                "type" => {
                    let kind = element.text().unwrap_or_default().trim();
                    if !kind.ends_with("SimpleTransmission") {
                        let text = format!("{subject}: type \"{kind}\" is read as a simple gear");
                        self.suspicious(element, text);
                    }
                }
                "joint" | "actuator" => {}
                tag if INTERFACE_TAGS.contains(&tag) => interfaces.push(tag),
                _ => self.ignored(element, &subject),
            }
        }
        interfaces.sort_unstable();
        interfaces.dedup();
        if !interfaces.is_empty() {
            let tags = interfaces.join(">, <");
            let line = self.line(node);
            let text = format!("{subject}: <{tags}>, which other programs use");
            self.note(Severity::Ignored, line, text);
        }
        let Some(joint) = joints.iter_mut().find(|j| j.name == joint_name) else {
            self.suspicious(
                node,
                format!("{subject}: joint \"{joint_name}\" is not in the model; ignored"),
            );
            return Ok(());
        };
        for (what, value) in [("gear ratio", ratio), ("rotor inertia", rotor)] {
            if let Some(value) = value.filter(|v| *v < 0.0) {
                return Err(self.error(
                    node,
                    &subject,
                    format!("{what} = {value} must not be negative"),
                ));
            }
        }
        joint.drive.gear_ratio = ratio.or(reduction).unwrap_or(joint.drive.gear_ratio);
        joint.drive.rotor_inertia = rotor.unwrap_or(joint.drive.rotor_inertia);
        joint.drive.gains = gains.or(joint.drive.gains);
        Ok(())
    }

    /// `drake:controller_gains`: p must be positive, d not negative.
    fn gains(&mut self, node: Node<'d, 't>, subject: &str) -> Result<DriveGains, MultibodyError> {
        self.only_attributes(node, &["p", "d"]);
        let proportional = self.required_number(node, subject, "p")?;
        let derivative = self.required_number(node, subject, "d")?;
        if proportional <= 0.0 || derivative < 0.0 {
            let text = format!(
                "<drake:controller_gains> p = {proportional} must be positive and d = {derivative} not negative"
            );
            return Err(self.error(node, subject, text));
        }
        Ok(DriveGains {
            proportional,
            derivative,
        })
    }

    /// The number in an element's text.
    fn content(&self, node: Node<'d, 't>, subject: &str) -> Result<f64, MultibodyError> {
        let written = node.text().unwrap_or_default().trim();
        let value = written.parse::<f64>().ok().filter(|x| x.is_finite());
        value.ok_or_else(|| {
            let text = format!("<{}> \"{written}\" is not a number", self.tag(node));
            self.error(node, subject, text)
        })
    }

    /// Reads the spring of a joint; the rest of `<gazebo>` is reported as ignored.
    pub(super) fn gazebo(
        &mut self,
        node: Node<'d, 't>,
        joints: &mut [JointSpec],
    ) -> Result<(), MultibodyError> {
        let reference = node.attribute("reference").unwrap_or_default();
        let subject = format!("<gazebo> of \"{reference}\"");
        let joint = joints
            .iter_mut()
            .find(|j| j.name == reference && j.kind.n_v() == 1);
        let mut others = 0;
        if let Some(joint) = joint {
            for child in node.children().filter(Node::is_element) {
                let slot = match self.tag(child) {
                    "springStiffness" => &mut joint.passive.spring_stiffness,
                    "springReference" => &mut joint.passive.spring_rest,
                    _ => {
                        others += 1;
                        continue;
                    }
                };
                *slot = self.content(child, &subject)?;
            }
            if others == 0 {
                return Ok(());
            }
        }
        let line = self.line(node);
        let text = if reference.is_empty() {
            "<gazebo> and its contents".to_owned()
        } else {
            format!("{subject}, which another simulator uses")
        };
        self.note(Severity::Ignored, line, text);
        Ok(())
    }
}
