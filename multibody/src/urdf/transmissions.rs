//! `<transmission>` and `<gazebo>`: of both only what bears on the motion of joints.

use pliant_hydroelastic::mesh::Severity;
use roxmltree::Node;

use super::document::Reader;
use crate::error::MultibodyError;
use crate::model::JointSpec;

/// Parts of a transmission that name interfaces of other programs.
const INTERFACE_TAGS: [&str; 7] = [
    "type",
    "hardwareInterface",
    "robotNamespace",
    "motorTorqueConstant",
    "mechanicalReduction",
    "drake:rotor_inertia",
    "drake:gear_ratio",
];

impl<'d, 't> Reader<'d, 't> {
    /// Gear ratio and rotor inertia of the joint a transmission drives: `drake:gear_ratio`, or ROS's
    /// `mechanicalReduction`, and `drake:rotor_inertia`.
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
            self.doubt(
                node,
                format!(
                    "{subject}: names {} joints, it must name one; left out",
                    named.len()
                ),
            );
            return Ok(());
        };
        let joint_name = self.required(*joint_node, &subject, "name")?.trim();
        let (mut ratio, mut reduction, mut rotor) = (None, None, None);
        for &element in &elements {
            match self.tag(element) {
                "drake:gear_ratio" => {
                    ratio = Some(self.required_number(element, &subject, "value")?)
                }
                "drake:rotor_inertia" => {
                    rotor = Some(self.required_number(element, &subject, "value")?)
                }
                "mechanicalReduction" => {
                    reduction = element.text().and_then(|t| t.trim().parse::<f64>().ok());
                }
                "joint" | "actuator" => {}
                tag if INTERFACE_TAGS.contains(&tag) => {}
                _ => self.ignored(element, &subject),
            }
        }
        let Some(joint) = joints.iter_mut().find(|j| j.name == joint_name) else {
            self.doubt(
                node,
                format!("{subject}: joint \"{joint_name}\" is not in the model; left out"),
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
        Ok(())
    }

    /// Springs of a joint; all else in `<gazebo>` is for another simulator.
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
                let written = child.text().unwrap_or_default();
                *slot = written.trim().parse::<f64>().map_err(|_| {
                    self.error(
                        child,
                        &subject,
                        format!("<{}> \"{written}\" is not a number", self.tag(child)),
                    )
                })?;
            }
            if others == 0 {
                return Ok(());
            }
        }
        let line = self.line(node);
        let text = if reference.is_empty() {
            "<gazebo> with all it contains".to_owned()
        } else {
            format!("{subject}, which is for another simulator")
        };
        self.note(Severity::Ignored, line, text);
        Ok(())
    }
}
