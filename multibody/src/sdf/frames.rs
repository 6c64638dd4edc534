//! Poses: each is relative to another frame of the model.

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};

use crate::error::MultibodyError;
use crate::markup::Element;

/// Name of the frame of the model.
pub(super) const MODEL: &str = "__model__";

/// The frames of a model: its links, joints and `<frame>`s, by name.
pub(super) struct Frames<'a> {
    by_name: BTreeMap<&'a str, &'a Element>,
    canonical: Option<&'a str>,
}

impl<'a> Frames<'a> {
    pub(super) fn read(model: &'a Element) -> Result<Self, MultibodyError> {
        let mut by_name = BTreeMap::new();
        for element in &model.children {
            if !["link", "joint", "frame"].contains(&&*element.tag) {
                continue;
            }
            let name = element.required("name", &format!("<{}>", element.tag))?;
            let earlier = by_name.insert(name, element);
            if earlier.is_some_and(|earlier| earlier.tag == "frame" || element.tag == "frame") {
                let text = "has the name of another part; names must be unique";
                return Err(element.error(&format!("<{}> \"{name}\"", element.tag), text));
            }
        }
        let first = model.children.iter().find(|e| e.tag == "link");
        let written = model.attribute("canonical_link");
        Ok(Self {
            by_name,
            canonical: written.or(first.and_then(|link| link.attribute("name"))),
        })
    }

    /// The pose of a frame in the model.
    pub(super) fn in_model(
        &self,
        name: &str,
        user: &Element,
    ) -> Result<Isometry3<f64>, MultibodyError> {
        let mut X = Isometry3::identity();
        let mut at = name;
        // A chain is at most as long as the number of frames.
        for _ in 0..=self.by_name.len() {
            if at == MODEL || at == super::WORLD {
                return Ok(X);
            }
            let Some(element) = self.by_name.get(at) else {
                let text = format!("frame \"{at}\" is not in the model");
                return Err(user.error(&format!("<{}>", user.tag), text));
            };
            let own = match element.child("pose") {
                Some(written) => pose(written)?,
                None => Isometry3::identity(),
            };
            X = own * X;
            at = relative_to(element);
        }
        let text = format!("the pose of \"{name}\" is relative to itself");
        Err(user.error(&format!("<{}>", user.tag), text))
    }

    /// The pose of an element with a `<pose>`, in the model; without `relative_to` it is relative to `missing`.
    pub(super) fn of(
        &self,
        element: &Element,
        missing: &str,
    ) -> Result<Isometry3<f64>, MultibodyError> {
        let Some(written) = element.child("pose") else {
            return self.in_model(missing, element);
        };
        let other = written.attribute("relative_to").filter(|f| !f.is_empty());
        Ok(self.in_model(other.unwrap_or(missing), element)? * pose(written)?)
    }

    /// The link that a `<frame>` is fixed on, and its pose in it.
    pub(super) fn on_link(
        &self,
        name: &str,
        user: &Element,
    ) -> Result<(String, Isometry3<f64>), MultibodyError> {
        let mut at = name;
        for _ in 0..=self.by_name.len() {
            let next = match self.by_name.get(at) {
                Some(element) if element.tag == "link" => {
                    let X_LF = self.in_model(at, user)?.inverse() * self.in_model(name, user)?;
                    return Ok((at.to_owned(), X_LF));
                }
                Some(element) if element.tag == "joint" => {
                    element.child("child").map(|child| &*child.text)
                }
                Some(element) => element
                    .attribute("attached_to")
                    .filter(|f| !f.is_empty() && *f != MODEL)
                    .or(self.canonical),
                None => None,
            };
            let Some(next) = next else { break };
            at = next;
        }
        let text = format!("frame \"{name}\" is attached to no link of the model");
        Err(user.error(&format!("<{}>", user.tag), text))
    }
}

/// The frame that the pose of a part is relative to.
fn relative_to(element: &Element) -> &str {
    let written = element
        .child("pose")
        .and_then(|p| p.attribute("relative_to"));
    if let Some(other) = written.filter(|f| !f.is_empty()) {
        return other;
    }
    let missing = match &*element.tag {
        "joint" => element.child("child").map(|child| &*child.text),
        "frame" => element.attribute("attached_to"),
        _ => None,
    };
    missing.filter(|f| !f.is_empty()).unwrap_or(MODEL)
}

/// The numbers of a `<pose>`: a position, then rotations about the fixed axes x, y, z, or a quaternion x, y, z, w.
pub(super) fn pose(element: &Element) -> Result<Isometry3<f64>, MultibodyError> {
    let subject = "<pose>";
    if element.text.is_empty() {
        return Ok(Isometry3::identity());
    }
    if element.attribute("rotation_format") == Some("quat_xyzw") {
        let [x, y, z, qx, qy, qz, qw] = element.content::<7>(subject)?;
        let rotation = UnitQuaternion::try_new(Quaternion::new(qw, qx, qy, qz), 1e-6);
        let rotation =
            rotation.ok_or_else(|| element.error(subject, "the quaternion must not be zero"))?;
        return Ok(Isometry3::from_parts(
            Vector3::new(x, y, z).into(),
            rotation,
        ));
    }
    let [x, y, z, mut roll, mut pitch, mut yaw] = element.content::<6>(subject)?;
    if element.attribute("degrees") == Some("true") {
        [roll, pitch, yaw] = [roll, pitch, yaw].map(f64::to_radians);
    }
    Ok(Isometry3::from_parts(
        Vector3::new(x, y, z).into(),
        UnitQuaternion::from_euler_angles(roll, pitch, yaw),
    ))
}
