//! Axes of joints: the frame that they are in, by the version of the file.

use super::frames::MODEL;
use super::include::Version;
use crate::markup::Element;

/// From this version on, axes are in the frame of the joint; before, in the frame of the model.
const AXES_IN_JOINTS: Version = (1, 5);

/// Writes `expressed_in` to all axes that are in the frame of their model.
pub(super) fn make_explicit(model: &mut Element, version: Option<Version>) {
    let is_old = version.is_some_and(|version| version < AXES_IN_JOINTS);
    for part in &mut model.children {
        match &*part.tag {
            "model" => make_explicit(part, version),
            "joint" => {
                let is_axis = |part: &&mut Element| matches!(&*part.tag, "axis" | "axis2");
                let axes = part.children.iter_mut().filter(is_axis);
                axes.for_each(|axis| make_axis_explicit(axis, is_old));
            }
            _ => {}
        }
    }
}

fn make_axis_explicit(axis: &mut Element, is_old: bool) {
    let in_model = match axis.child("use_parent_model_frame") {
        Some(flag) => ["1", "true"].contains(&&*flag.text),
        None => is_old,
    };
    let xyz = axis.children.iter_mut().find(|child| child.tag == "xyz");
    if let Some(xyz) = xyz.filter(|_| in_model)
        && xyz.attribute("expressed_in").is_none_or(str::is_empty)
    {
        xyz.attributes.retain(|(name, _)| name != "expressed_in");
        let frame = ("expressed_in".to_owned(), MODEL.to_owned());
        xyz.attributes.push(frame);
    }
}
