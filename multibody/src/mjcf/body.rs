//! `<body>`: what is directly in a body, its frames included.

use nalgebra::Isometry3;

use super::File;
use super::compiler::InertiaFromGeoms;
use super::defaults::Settings;
use super::geom::{Geom, InertiaSource};
use super::inertial;
use super::joints::WrittenJoint;
use super::names::used_attributes;
use super::orientation::pose;
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::markup::{Element, Place, Remarks};

/// What a body, or the world, contains.
pub(super) struct Contents<'a> {
    pub(super) source: InertiaSource,
    pub(super) joints: Vec<(Place, WrittenJoint)>,
    pub(super) inertial: Option<SpatialInertia>,
    pub(super) geoms: Vec<Geom>,
    /// Name and pose of each site.
    pub(super) sites: Vec<(String, Isometry3<f64>)>,
    /// Bodies in it, with the pose of the `<frame>` that they are in, and the class of their elements.
    pub(super) bodies: Vec<(&'a Element, Isometry3<f64>, Option<&'a str>)>,
}

/// Elements that are not supported, and what to do about them.
const REFUSED: [(&str, &str); 5] = [
    (
        "composite",
        "write its bodies out, or make it a body of the scene",
    ),
    ("flexcomp", "make it a soft body of the scene"),
    ("flex", "make it a soft body of the scene"),
    (
        "attach",
        "write its bodies out, or attach a second robot in the scene",
    ),
    ("include", "an <include> must name a file"),
];

impl<'a> Contents<'a> {
    /// Reads everything in `element`. `subject` is the name of the body.
    pub(super) fn read(
        file: &File<'a>,
        element: &'a Element,
        body: &str,
        childclass: Option<&'a str>,
        remarks: &mut Remarks,
    ) -> Result<Self, MultibodyError> {
        let has_own = element.holds("inertial");
        let source = match file.compiler.inertia_from_geoms {
            InertiaFromGeoms::Always => InertiaSource::Geoms,
            InertiaFromGeoms::Auto if !has_own => InertiaSource::Geoms,
            _ => InertiaSource::Element,
        };
        let mut contents = Self {
            source,
            joints: Vec::new(),
            inertial: None,
            geoms: Vec::new(),
            sites: Vec::new(),
            bodies: Vec::new(),
        };
        contents.add(
            file,
            element,
            body,
            (Isometry3::identity(), childclass),
            remarks,
        )?;
        Ok(contents)
    }

    fn add(
        &mut self,
        file: &File<'a>,
        element: &'a Element,
        body: &str,
        (X_BF, childclass): (Isometry3<f64>, Option<&'a str>),
        remarks: &mut Remarks,
    ) -> Result<(), MultibodyError> {
        let subject = format!("body \"{body}\"");
        for child in &element.children {
            if let Some((_, remedy)) = REFUSED.iter().find(|(tag, _)| *tag == child.tag) {
                let text = format!("<{}> is not supported: {remedy}", child.tag);
                return Err(child.error(&subject, text));
            }
            let Some(known) = used_attributes(&child.tag) else {
                remarks.left_out(child);
                continue;
            };
            remarks.only_attributes(child, known);
            for inner in child
                .children
                .iter()
                .filter(|_| child.tag != "body" && child.tag != "frame")
            {
                remarks.left_out(inner);
            }
            match &*child.tag {
                "body" => self.bodies.push((child, X_BF, childclass)),
                "frame" => {
                    let X_FG = pose(&Settings::alone(child), file.compiler, &subject)?;
                    let class = child.attribute("childclass").or(childclass);
                    if let Some(class) = class {
                        file.defaults.check(class, child)?;
                    }
                    self.add(file, child, body, (X_BF * X_FG, class), remarks)?;
                }
                "inertial" if self.inertial.is_some() => {
                    return Err(child.error(&subject, "has two <inertial>; keep one of them"));
                }
                "inertial" => {
                    let inertia = inertial::inertial(child, file.compiler, &subject)?;
                    self.inertial = Some(inertia);
                }
                "joint" => {
                    if X_BF != Isometry3::identity() {
                        let text = "a joint in a <frame> with a pose is not supported; put it directly into the body";
                        return Err(child.error(&subject, text));
                    }
                    let settings = file.defaults.settings(child, childclass)?;
                    let joint = WrittenJoint::read(file, &settings, body, remarks)?;
                    self.joints.push((child.place.clone(), joint));
                }
                "freejoint" => {
                    let name = child.attribute("name").map(|name| name.trim().to_owned());
                    let joint = WrittenJoint::free(name);
                    self.joints.push((child.place.clone(), joint));
                }
                "geom" => {
                    let settings = file.defaults.settings(child, childclass)?;
                    let about = (body, self.source);
                    let mut geom = Geom::read(file, &settings, about, remarks)?;
                    geom.X_BG = X_BF * geom.X_BG;
                    self.geoms.push(geom);
                }
                "site" => self.site(file, child, (X_BF, childclass), &subject)?,
                _ => remarks.left_out(child),
            }
        }
        Ok(())
    }

    fn site(
        &mut self,
        file: &File<'a>,
        site: &'a Element,
        (X_BF, childclass): (Isometry3<f64>, Option<&'a str>),
        subject: &str,
    ) -> Result<(), MultibodyError> {
        let Some(name) = site.attribute("name") else {
            return Ok(());
        };
        let settings = file.defaults.settings(site, childclass)?;
        let X_FS = pose(&settings, file.compiler, subject)?;
        self.sites.push((name.trim().to_owned(), X_BF * X_FS));
        Ok(())
    }
}
