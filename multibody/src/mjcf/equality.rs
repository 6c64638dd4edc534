//! `<equality>`: couplings of joints, and the loops of `<connect>` and `<weld>`.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};

use super::File;
use super::defaults::Settings;
use super::names::Names;
use super::world::{Tree, WORLD};
use crate::builder::{LoopSpec, ModelBuilder};
use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};
use crate::model::{CouplerLaw, LoopKind};

/// Adds the constraints of the file to the model.
pub(super) fn read(
    file: &File<'_>,
    tree: &Tree,
    builder: &mut ModelBuilder,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    let mut names = Names::default();
    let written = |element: &Element| element.attribute("name").map(|name| name.trim().to_owned());
    for element in file.in_sections("equality") {
        written(element).iter().for_each(|name| names.take(name));
    }
    for element in file.in_sections("equality") {
        let subject = format!("equality \"{}\"", written(element).unwrap_or_default());
        let settings = file.defaults.settings_of("equality", element, None)?;
        if settings.text("active") == Some("false") {
            remarks.left_out(element);
            continue;
        }
        let kind = match &*element.tag {
            "joint" => {
                joint(element, tree, builder, (&subject, remarks))?;
                continue;
            }
            "connect" => LoopKind::Ball,
            "weld" => LoopKind::Weld,
            _ => {
                let text = format!("{subject}: <{}> has no effect", element.tag);
                remarks.suspicious(&element.place, text);
                continue;
            }
        };
        let known = match kind {
            LoopKind::Ball => &CONNECT[..],
            _ => &WELD[..],
        };
        remarks.only_attributes(element, known);
        let ends = match element.attribute("site1").or(element.attribute("site2")) {
            Some(_) => sites(element, tree, &subject)?,
            None => bodies(&settings, kind, tree, &subject)?,
        };
        let unnamed = || names.free(&format!("{}_{}_{}", element.tag, ends[0].0, ends[1].0));
        builder.loop_constraint(LoopSpec {
            name: written(element).unwrap_or_else(unnamed),
            kind,
            ends,
        });
    }
    Ok(())
}

const CONNECT: [&str; 8] = [
    "name", "class", "active", "body1", "body2", "anchor", "site1", "site2",
];
const WELD: [&str; 9] = [
    "name", "class", "active", "body1", "body2", "anchor", "relpose", "site1", "site2",
];

type Ends = [(String, Isometry3<f64>); 2];

/// The frames of two sites.
fn sites(element: &Element, tree: &Tree, subject: &str) -> Result<Ends, MultibodyError> {
    if element.attribute("body1").is_some() || element.attribute("body2").is_some() {
        return Err(element.error(subject, "gives bodies and sites; keep one of the two"));
    }
    let end = |attribute: &str| -> Result<(String, Isometry3<f64>), MultibodyError> {
        let name = element.required(attribute, subject)?;
        let site = tree.frames.iter().find(|frame| frame.name == name);
        let site = site.ok_or_else(|| {
            let text = format!("{attribute}=\"{name}\" is not a site of the model");
            element.error(subject, text)
        })?;
        Ok((site.link.clone(), site.X_LF))
    };
    Ok([end("site1")?, end("site2")?])
}

/// The frames of a point of `body1`, or of a relative pose, at the positions that the file shows.
fn bodies(
    settings: &Settings<'_>,
    kind: LoopKind,
    tree: &Tree,
    subject: &str,
) -> Result<Ends, MultibodyError> {
    let element = settings.own();
    let body = |name: &str| -> Result<(String, Isometry3<f64>), MultibodyError> {
        let link = tree.links.iter().find(|link| link.spec.name == name);
        let link = link.ok_or_else(|| {
            element.error(subject, format!("body \"{name}\" is not in the model"))
        })?;
        Ok((name.to_owned(), link.X_WL))
    };
    let (first, X_W1) = body(element.required("body1", subject)?)?;
    let (second, X_W2) = body(element.attribute("body2").map_or(WORLD, str::trim))?;
    let anchor = settings.numbers::<3>("anchor", subject)?;
    if kind == LoopKind::Ball {
        let Some([x, y, z]) = anchor else {
            return Err(element.error(subject, "<connect> needs anchor=\"X Y Z\", or two sites"));
        };
        let X_1A = Isometry3::translation(x, y, z);
        return Ok([(first, X_1A), (second, X_W2.inverse() * X_W1 * X_1A)]);
    }
    // The anchor of a weld is in the second body.
    let X_2B = Isometry3::from(anchor.map_or_else(Vector3::zeros, Vector3::from));
    let relative = settings.numbers::<7>("relpose", subject)?;
    let written = relative.and_then(|[x, y, z, qw, qx, qy, qz]| {
        let rotation = UnitQuaternion::try_new(Quaternion::new(qw, qx, qy, qz), 1e-12)?;
        Some(Isometry3::from_parts(
            Vector3::new(x, y, z).into(),
            rotation,
        ))
    });
    let X_1A = written.unwrap_or_else(|| X_W1.inverse() * X_W2 * X_2B);
    Ok([(first, X_1A), (second, X_2B)])
}

/// A joint that follows another, or stays where it is.
fn joint(
    element: &Element,
    tree: &Tree,
    builder: &mut ModelBuilder,
    (subject, remarks): (&str, &mut Remarks),
) -> Result<(), MultibodyError> {
    let known = ["name", "class", "joint1", "joint2", "polycoef", "active"];
    remarks.only_attributes(element, &known);
    let reference = |name: &str| -> Result<f64, MultibodyError> {
        let joint = tree.joints.iter().find(|j| j.spec.name == name);
        let joint = joint.ok_or_else(|| {
            element.error(subject, format!("joint \"{name}\" is not in the model"))
        })?;
        Ok(joint.spec.initial.as_ref().map_or(0.0, |q| q[0]))
    };
    let follower = element.required("joint1", subject)?;
    let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
    if let Some(numbers) = element.numbers("polycoef", 5, subject)? {
        coefficients[..numbers.len()].copy_from_slice(&numbers);
    }
    // Positions are measured from those that the file shows.
    coefficients[0] += reference(follower)?;
    match element.attribute("joint2").map(str::trim) {
        Some(source) => {
            let about = reference(source)?;
            let law = CouplerLaw {
                coefficients,
                about,
            };
            builder.coupler(follower, source, law);
        }
        None => {
            builder.constant_position(follower, coefficients[0]);
        }
    }
    Ok(())
}
