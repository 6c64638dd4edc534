//! `<link>`, its `<inertial>`, and the robot's `<material>`s, `<frame>`s and collision filter groups.

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_hydroelastic::mesh::Severity;
use roxmltree::Node;

use super::document::Reader;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::CollisionFilterGroup;
use crate::inertia::SpatialInertia;
use crate::mjcf::sum_of_inertias;
use crate::sdf::inertia_of_collision;

impl<'d, 't> Reader<'d, 't> {
    pub(super) fn link(&mut self, node: Node<'d, 't>) -> Result<LinkSpec, MultibodyError> {
        let name = self.name(node)?;
        let subject = format!("link \"{name}\"");
        self.only_attributes(node, &["name"]);
        let mut inertia = None;
        let mut link = LinkSpec::new(name, SpatialInertia::zero());
        for child in node.children().filter(Node::is_element) {
            match self.tag(child) {
                "inertial" if inertia.is_none() => inertia = Some(child),
                "collision" => {
                    let collision = self.collision(child, &link)?;
                    link.collisions.extend(collision);
                }
                "visual" => {
                    let visual = self.visual(child, &mut link)?;
                    link.visuals.extend(visual);
                }
                _ => self.ignored(child, &subject),
            }
        }
        if let Some(inertial) = inertia {
            link.inertia = self.inertial(inertial, &link, &subject)?;
        }
        Ok(link)
    }

    fn inertial(
        &mut self,
        node: Node<'d, 't>,
        link: &LinkSpec,
        subject: &str,
    ) -> Result<SpatialInertia, MultibodyError> {
        let tags = ["origin", "mass", "inertia", "density"];
        let parts = self.single_children(node, subject, &tags);
        let [origin, mass, inertia, density] = parts[..] else {
            unreachable!("one entry for each requested tag");
        };
        self.only_attributes(node, &[]);
        let X_LC = self.pose(origin, subject)?;
        let Some(mass_node) = mass else {
            return self.inertia_of_density(node, density, link, subject);
        };
        let mass = self.required_number(mass_node, subject, "value")?;
        self.only_attributes(mass_node, &["value"]);
        let mut rotational = Matrix3::zeros();
        if let Some(i) = inertia {
            let [xx, yy, zz] = [
                self.required_number(i, subject, "ixx")?,
                self.required_number(i, subject, "iyy")?,
                self.required_number(i, subject, "izz")?,
            ];
            let [xy, xz, yz] = [
                self.number(i, subject, "ixy")?.unwrap_or(0.0),
                self.number(i, subject, "ixz")?.unwrap_or(0.0),
                self.number(i, subject, "iyz")?.unwrap_or(0.0),
            ];
            self.only_attributes(i, &["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]);
            rotational = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        }
        let in_own_axes = SpatialInertia::new(mass, Vector3::zeros(), rotational);
        if X_LC.rotation.angle() == 0.0 {
            // Without a rotation, values stay as written, without rounding.
            return Ok(SpatialInertia::new(
                mass,
                X_LC.translation.vector,
                rotational,
            ));
        }
        Ok(in_own_axes.expressed_in(&X_LC))
    }

    /// The inertia of a link whose `<inertial>` has no `<mass>`: from its collision shapes if there is a `<density>`, as in SAPIEN,
    /// otherwise none.
    fn inertia_of_density(
        &mut self,
        node: Node<'d, 't>,
        density: Option<Node<'d, 't>>,
        link: &LinkSpec,
        subject: &str,
    ) -> Result<SpatialInertia, MultibodyError> {
        let Some(density) = density else {
            let text =
                format!("{subject}: <inertial> without <mass value=\"...\"/>; read as massless");
            self.suspicious(node, text);
            return Ok(SpatialInertia::zero());
        };
        let rho = self.required_number(density, subject, "value")?;
        if rho.is_nan() || rho <= 0.0 {
            let text = format!("<density> = {rho} kg/m³ must be positive");
            return Err(self.error(density, subject, text));
        }
        let mut parts = Vec::new();
        for collision in &link.collisions {
            let part = inertia_of_collision(collision, rho).map_err(|text| {
                let text = format!("collision \"{}\" {text}", collision.name);
                self.error(density, subject, text)
            })?;
            parts.push((part, collision.X_LG));
        }
        let inertia = sum_of_inertias(parts.into_iter());
        if inertia.mass == 0.0 {
            let text = "<density> needs a <collision> with a volume";
            return Err(self.error(density, subject, text));
        }
        Ok(inertia)
    }

    /// Collects the colours of all named materials in the file.
    pub(super) fn collect_materials(&mut self, root: Node<'d, 't>) -> Result<(), MultibodyError> {
        let tagged = |n: &Node<'d, 't>| n.is_element() && n.tag_name().name() == "material";
        for node in root.descendants().filter(tagged) {
            let Some(name) = node.attribute("name") else {
                continue;
            };
            let subject = format!("material \"{name}\"");
            for child in node.children().filter(Node::is_element) {
                if self.tag(child) == "color" {
                    if let Some(rgba) = self.numbers::<4>(child, &subject, "rgba")? {
                        self.materials.entry(name.to_owned()).or_insert(rgba);
                    }
                } else if node.parent() == Some(root) {
                    self.ignored(child, &subject);
                }
            }
        }
        Ok(())
    }

    pub(super) fn frame(
        &mut self,
        node: Node<'d, 't>,
    ) -> Result<(String, String, Isometry3<f64>), MultibodyError> {
        let name = self.name(node)?;
        let subject = format!("frame \"{name}\"");
        let link = self.required(node, &subject, "link")?.trim().to_owned();
        let X_LF = self.pose(Some(node), &subject)?;
        Ok((name, link, X_LF))
    }

    /// A group, and the groups whose members it includes.
    pub(super) fn collision_filter_group(
        &mut self,
        node: Node<'d, 't>,
    ) -> Result<Option<(CollisionFilterGroup, Vec<String>)>, MultibodyError> {
        let name = self.name(node)?;
        let subject = format!("collision filter group \"{name}\"");
        if node.attribute("ignore") == Some("true") {
            let line = self.line(node);
            self.note(
                Severity::Ignored,
                line,
                format!("{subject}: has ignore=\"true\""),
            );
            return Ok(None);
        }
        self.only_attributes(node, &["name", "ignore"]);
        let mut group = CollisionFilterGroup {
            name,
            members: Vec::new(),
            ignored_groups: Vec::new(),
        };
        let mut member_groups = Vec::new();
        for child in node.children().filter(Node::is_element) {
            match self.tag(child) {
                "drake:member_group" => {
                    let other = self.required(child, &subject, "name")?.trim();
                    member_groups.push(other.to_owned());
                }
                "drake:member" => {
                    let link = self.required(child, &subject, "link")?.trim();
                    group.members.push(link.to_owned());
                }
                "drake:ignored_collision_filter_group" => {
                    let other = self.required(child, &subject, "name")?.trim();
                    group.ignored_groups.push(other.to_owned());
                }
                _ => self.ignored(child, &subject),
            }
        }
        Ok(Some((group, member_groups)))
    }
}
