//! `<collision>` and `<visual>`: shapes, meshes, contact properties.

use nalgebra::Vector3;
use pliant_hydroelastic::AnalyticShape;
use pliant_hydroelastic::mesh::is_surface_file;
use roxmltree::Node;

use super::document::Reader;
use super::meshes::unsupported;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::{
    Collision, GeometryDescription, HydroelasticCompliance, MeshHull, ProximityProperties, Visual,
};

/// The purpose of a mesh: a missing one is an error for collision, and suspicious for a visual.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Collision,
    Visual,
}

impl<'d, 't> Reader<'d, 't> {
    pub(super) fn collision(
        &mut self,
        node: Node<'d, 't>,
        link: &LinkSpec,
    ) -> Result<Option<Collision>, MultibodyError> {
        let subject = format!("link \"{}\"", link.name);
        let tags = [
            "origin",
            "geometry",
            "drake:proximity_properties",
            "verbose",
            "material",
        ];
        let parts = self.single_children(node, &subject, &tags);
        for ignored in parts[3..].iter().flatten() {
            self.ignored(*ignored, &subject);
        }
        self.only_attributes(node, &["name"]);
        let X_LG = self.pose(parts[0], &subject)?;
        let proximity = match parts[2] {
            Some(properties) => self.proximity(properties, &subject)?,
            None => ProximityProperties::default(),
        };
        let Some(mut geometry) = self.geometry(node, parts[1], link, Purpose::Collision)? else {
            return Ok(None);
        };
        let mesh = match &mut geometry {
            GeometryDescription::Mesh { path, scale, hull } => {
                Some(self.collision_mesh(node, link, path, *scale, hull)?)
            }
            _ => None,
        };
        let unnamed = || format!("{}_collision_{}", link.name, link.collisions.len());
        Ok(Some(Collision {
            name: node.attribute("name").map_or_else(unnamed, str::to_owned),
            X_LG,
            geometry,
            mesh,
            proximity,
        }))
    }

    pub(super) fn visual(
        &mut self,
        node: Node<'d, 't>,
        link: &mut LinkSpec,
    ) -> Result<Option<Visual>, MultibodyError> {
        let subject = format!("link \"{}\"", link.name);
        let parts = self.single_children(node, &subject, &["origin", "geometry", "material"]);
        self.only_attributes(node, &["name"]);
        let X_LG = self.pose(parts[0], &subject)?;
        let rgba = match parts[2] {
            Some(material) => self.colour(material, &subject)?,
            None => None,
        };
        let geometry = self.geometry(node, parts[1], link, Purpose::Visual)?;
        link.rgba = link.rgba.or(rgba);
        let unnamed = || format!("{}_visual_{}", link.name, link.visuals.len());
        Ok(geometry.map(|geometry| Visual {
            name: node.attribute("name").map_or_else(unnamed, str::to_owned),
            X_LG,
            geometry,
            rgba,
        }))
    }

    fn colour(
        &mut self,
        material: Node<'d, 't>,
        subject: &str,
    ) -> Result<Option<[f64; 4]>, MultibodyError> {
        self.only_attributes(material, &["name"]);
        let parts = self.single_children(material, subject, &["color"]);
        if let Some(color) = parts[0] {
            self.only_attributes(color, &["rgba"]);
            return self.numbers::<4>(color, subject, "rgba");
        }
        let name = material.attribute("name").unwrap_or_default();
        let known = self.materials.get(name).copied();
        if known.is_none() {
            self.suspicious(
                material,
                format!("{subject}: material \"{name}\" is not defined; left without colour"),
            );
        }
        Ok(known)
    }

    fn geometry(
        &mut self,
        parent: Node<'d, 't>,
        geometry: Option<Node<'d, 't>>,
        link: &LinkSpec,
        purpose: Purpose,
    ) -> Result<Option<GeometryDescription>, MultibodyError> {
        let subject = format!("link \"{}\"", link.name);
        let Some(node) = geometry else {
            let text = format!("<{}> needs a <geometry>", self.tag(parent));
            return Err(self.error(parent, &subject, text));
        };
        self.only_attributes(node, &[]);
        let mut shape = None;
        let mut hull = MeshHull::AsWritten;
        for child in node.children().filter(Node::is_element) {
            match self.tag(child) {
                "drake:declare_convex" => hull = MeshHull::Convex,
                "box" | "sphere" | "cylinder" | "capsule" | "drake:capsule" | "ellipsoid"
                | "drake:ellipsoid" | "mesh"
                    if shape.is_none() =>
                {
                    shape = Some(child);
                }
                _ => self.ignored(child, &subject),
            }
        }
        let Some(shape) = shape else {
            let known = "box, sphere, cylinder, capsule, ellipsoid, mesh";
            return Err(self.error(
                node,
                &subject,
                format!("<geometry> has no shape; add one of {known}"),
            ));
        };
        if self.tag(shape) == "mesh" {
            return self.mesh(shape, hull, link, purpose);
        }
        let analytic = self.analytic(shape, &subject)?;
        Ok(analytic.map(GeometryDescription::Analytic))
    }

    fn analytic(
        &mut self,
        node: Node<'d, 't>,
        subject: &str,
    ) -> Result<Option<AnalyticShape>, MultibodyError> {
        let radius = |reader: &Self| reader.length(node, subject, "radius");
        let length = |reader: &Self| reader.length(node, subject, "length");
        Ok(Some(match self.tag(node) {
            "box" => {
                self.only_attributes(node, &["size"]);
                self.required(node, subject, "size")?;
                let size = Vector3::from(
                    self.numbers::<3>(node, subject, "size")?
                        .unwrap_or_default(),
                );
                if size.min() <= 0.0 {
                    let text = format!(
                        "<box> size = ({}, {}, {}) m must be positive",
                        size.x, size.y, size.z
                    );
                    return Err(self.error(node, subject, text));
                }
                AnalyticShape::Box { size }
            }
            "sphere" => {
                self.only_attributes(node, &["radius"]);
                let radius = self.required_number(node, subject, "radius")?;
                if radius < 0.0 {
                    let text = format!("<sphere> radius = {radius} m must not be negative");
                    return Err(self.error(node, subject, text));
                }
                if radius == 0.0 {
                    // Published humanoids have such contact points on their feet.
                    let text =
                        format!("{subject}: sphere of radius 0, which has no surface; left out");
                    self.suspicious(node, text);
                    return Ok(None);
                }
                AnalyticShape::Sphere { radius }
            }
            "cylinder" => {
                self.only_attributes(node, &["radius", "length"]);
                AnalyticShape::Cylinder {
                    radius: radius(self)?,
                    length: length(self)?,
                }
            }
            "capsule" | "drake:capsule" => {
                self.only_attributes(node, &["radius", "length"]);
                AnalyticShape::Capsule {
                    radius: radius(self)?,
                    length: length(self)?,
                }
            }
            _ => {
                self.only_attributes(node, &["a", "b", "c"]);
                let axis = |name: &str| self.length(node, subject, name);
                AnalyticShape::Ellipsoid {
                    semi_axes: Vector3::new(axis("a")?, axis("b")?, axis("c")?),
                }
            }
        }))
    }

    fn mesh(
        &mut self,
        node: Node<'d, 't>,
        mut hull: MeshHull,
        link: &LinkSpec,
        purpose: Purpose,
    ) -> Result<Option<GeometryDescription>, MultibodyError> {
        let subject = format!("link \"{}\"", link.name);
        self.only_attributes(node, &["filename", "scale"]);
        for child in node.children().filter(Node::is_element) {
            if self.tag(child) == "drake:declare_convex" {
                hull = MeshHull::Convex;
            } else {
                self.ignored(child, &subject);
            }
        }
        let name = self.required(node, &subject, "filename")?.trim();
        let scale = self.scale(node, &subject)?;
        let fail = |text: String| MultibodyError::Mesh {
            link: link.name.clone(),
            text,
        };
        let found = self.packages.resolve(name, self.path());
        match (found, purpose) {
            (Ok(path), _) if is_surface_file(&path) => {
                Ok(Some(GeometryDescription::Mesh { path, scale, hull }))
            }
            (Ok(path), purpose) => {
                let text = format!("mesh {}", unsupported(&path));
                if purpose == Purpose::Collision {
                    return Err(self.at(node, fail(text)));
                }
                self.not_shown(node, format!("{subject}: visual {text}"));
                Ok(None)
            }
            (Err(text), Purpose::Collision) => {
                Err(self.at(node, fail(format!("collision mesh {text}"))))
            }
            (Err(text), Purpose::Visual) => {
                self.not_shown(node, format!("{subject}: visual mesh {text}"));
                Ok(None)
            }
        }
    }

    /// One or three scale factors, nonzero; a negative one mirrors.
    fn scale(&self, node: Node<'d, 't>, subject: &str) -> Result<Vector3<f64>, MultibodyError> {
        let Some(written) = node.attribute("scale") else {
            return Ok(Vector3::repeat(1.0));
        };
        let scale = if written.split_whitespace().count() == 1 {
            Vector3::repeat(self.number(node, subject, "scale")?.unwrap_or(1.0))
        } else {
            Vector3::from(
                self.numbers::<3>(node, subject, "scale")?
                    .unwrap_or([1.0; 3]),
            )
        };
        if scale.iter().any(|&s| s == 0.0) {
            return Err(self.error(
                node,
                subject,
                format!("<mesh> scale=\"{written}\" must not be zero"),
            ));
        }
        Ok(scale)
    }

    fn proximity(
        &mut self,
        node: Node<'d, 't>,
        subject: &str,
    ) -> Result<ProximityProperties, MultibodyError> {
        let mut properties = ProximityProperties::default();
        for child in node.children().filter(Node::is_element) {
            let tag = self.tag(child);
            let name = tag.strip_prefix("drake:").unwrap_or(tag);
            let slot = match name {
                "rigid_hydroelastic" | "compliant_hydroelastic" | "soft_hydroelastic" => {
                    let compliance = match name {
                        "rigid_hydroelastic" => HydroelasticCompliance::Rigid,
                        _ => HydroelasticCompliance::Compliant,
                    };
                    let earlier = properties.hydroelastic_compliance.replace(compliance);
                    if earlier.is_some_and(|earlier| earlier != compliance) {
                        let text = "has both rigid_hydroelastic and compliant_hydroelastic; keep one of them";
                        return Err(self.error(child, subject, text));
                    }
                    continue;
                }
                _ => match properties.number_named(name) {
                    Some(slot) => slot,
                    None => {
                        self.ignored(child, subject);
                        continue;
                    }
                },
            };
            self.only_attributes(child, &["value"]);
            let value = self.required_number(child, subject, "value")?;
            let lengths_and_moduli = [
                "hydroelastic_modulus",
                "mesh_resolution_hint",
                "halfspace_slab_thickness",
                "slab_thickness",
            ];
            if value < 0.0 || value == 0.0 && lengths_and_moduli.contains(&name) {
                let allowed = if value < 0.0 {
                    "not be negative"
                } else {
                    "be positive"
                };
                let text = format!("<{tag}> = {value} must {allowed}");
                return Err(self.error(child, subject, text));
            }
            *slot = Some(value);
        }
        let is_rigid = properties.hydroelastic_compliance == Some(HydroelasticCompliance::Rigid);
        if is_rigid && properties.hydroelastic_modulus.is_some() {
            let text =
                format!("{subject}: hydroelastic_modulus has no effect with rigid_hydroelastic");
            self.suspicious(node, text);
        }
        if let (Some(dynamic), Some(fixed)) = (properties.mu_dynamic, properties.mu_static)
            && dynamic > fixed
        {
            self.suspicious(
                node,
                format!("{subject}: mu_dynamic = {dynamic} is above mu_static = {fixed}"),
            );
        }
        Ok(properties)
    }
}
