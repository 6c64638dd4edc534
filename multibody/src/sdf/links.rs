//! `<link>` and its `<inertial>`.

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::File;
use super::auto_inertia::{auto_inertia, is_auto};
use super::frames::pose;
use super::shapes;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::markup::{Element, Remarks};

pub(super) fn link(
    file: &File<'_>,
    element: &Element,
    remarks: &mut Remarks,
) -> Result<LinkSpec, MultibodyError> {
    let name = element.required("name", "<link>")?;
    let subject = format!("link \"{name}\"");
    let inertia = match element.child("inertial") {
        // Its shapes are not known yet.
        Some(inertial) if is_auto(inertial) => SpatialInertia::zero(),
        Some(inertial) => self::inertial(inertial, &subject, remarks)?,
        None => {
            let text =
                format!("{subject}: has no <inertial>; 1 kg and 1 kg m², as the format prescribes");
            remarks.suspicious(&element.place, text);
            SpatialInertia::new(1.0, Vector3::zeros(), Matrix3::identity())
        }
    };
    let mut spec = LinkSpec::new(name, inertia);
    for child in &element.children {
        match &*child.tag {
            "pose" | "inertial" => {}
            "collision" => shapes::collision(file, child, &mut spec, remarks)?,
            "visual" => shapes::visual(file, child, &mut spec, remarks)?,
            "gravity" if ["1", "true"].contains(&&*child.text) => {}
            "gravity" if ["0", "false"].contains(&&*child.text) => spec.gravity_compensation = 1.0,
            "gravity" => {
                let text = format!("<gravity> {}: must be true or false", child.text);
                return Err(child.error(&subject, text));
            }
            "kinematic" | "self_collide" if ["0", "false"].contains(&&*child.text) => {}
            _ => remarks.left_out(child),
        }
    }
    let inertial = element.child("inertial");
    match inertial.filter(|inertial| is_auto(inertial)) {
        Some(inertial) => {
            spec.inertia = auto_inertia((element, inertial), &spec, &subject, remarks)?;
        }
        None => {
            let collisions = element.children.iter().filter(|e| e.tag == "collision");
            for density in collisions.filter_map(|collision| collision.child("density")) {
                remarks.left_out(density);
            }
        }
    }
    Ok(spec)
}

fn inertial(
    element: &Element,
    subject: &str,
    remarks: &mut Remarks,
) -> Result<SpatialInertia, MultibodyError> {
    remarks.only_children(element, &["pose", "mass", "inertia"]);
    let mass = element.number_in("mass", subject)?.unwrap_or(1.0);
    let mut rotational = Matrix3::identity();
    if let Some(inertia) = element.child("inertia") {
        let entry = |tag: &str, missing: f64| -> Result<f64, MultibodyError> {
            Ok(inertia.number_in(tag, subject)?.unwrap_or(missing))
        };
        let [xx, yy, zz] = [entry("ixx", 1.0)?, entry("iyy", 1.0)?, entry("izz", 1.0)?];
        let [xy, xz, yz] = [entry("ixy", 0.0)?, entry("ixz", 0.0)?, entry("iyz", 0.0)?];
        rotational = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    }
    let X_LC = element
        .child("pose")
        .map_or(Ok(Isometry3::identity()), pose)?;
    if X_LC.rotation.angle() == 0.0 {
        // Without a rotation, values stay as written, without rounding.
        return Ok(SpatialInertia::new(
            mass,
            X_LC.translation.vector,
            rotational,
        ));
    }
    Ok(SpatialInertia::new(mass, Vector3::zeros(), rotational).expressed_in(&X_LC))
}
