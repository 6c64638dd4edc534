//! Models in a model: their parts become parts of the outer model, with names that begin with `NAME::`, as the format prescribes.

use super::frames::MODEL;
use crate::error::MultibodyError;
use crate::markup::Element;

/// Attributes and elements that name a frame, a link or a joint.
const NAMING_ATTRIBUTES: [&str; 4] = ["relative_to", "attached_to", "expressed_in", "joint"];
const NAMING_ELEMENTS: [&str; 5] = [
    "parent",
    "child",
    "drake:member",
    "drake:ignored_collision_filter_group",
    "placement_frame",
];
const NAMED: [&str; 4] = ["link", "joint", "frame", "drake:collision_filter_group"];

/// `model` without models in it.
pub(super) fn flattened(mut model: Element) -> Result<Element, MultibodyError> {
    let is_model = |child: &Element| child.tag == "model";
    let (inner, mut parts): (Vec<_>, Vec<_>) = model.children.into_iter().partition(is_model);
    for child in inner {
        parts.extend(parts_in_parent(flattened(child)?)?);
    }
    model.children = parts;
    Ok(model)
}

/// The parts of a model in the model around it, and the frame that stands for it.
fn parts_in_parent(model: Element) -> Result<Vec<Element>, MultibodyError> {
    let prefix = model.required("name", "<model>")?.to_owned();
    let subject = format!("model \"{prefix}\"");
    if let Some(frame) = model.attribute("placement_frame").filter(|f| !f.is_empty()) {
        let text = format!(
            "placement_frame=\"{frame}\" is supported for the outermost model only; give the pose of the model"
        );
        return Err(model.error(&subject, text));
    }
    let first = model.children.iter().find(|part| part.tag == "link");
    let first = first.and_then(|link| link.attribute("name"));
    let Some(canonical) = model.attribute("canonical_link").or(first) else {
        return Err(model.error(&subject, "has no links"));
    };
    let mut frame = Element {
        tag: "frame".to_owned(),
        attributes: vec![
            ("name".to_owned(), prefix.clone()),
            ("attached_to".to_owned(), format!("{prefix}::{canonical}")),
        ],
        children: Vec::new(),
        text: String::new(),
        place: model.place.clone(),
    };
    let written = model.children.iter().find(|part| part.tag == "pose");
    let mut pose = written.cloned().unwrap_or_else(|| empty_pose(&model));
    relate(&mut pose, MODEL);
    frame.children.push(pose);
    let mut parts = vec![frame];
    for mut part in model.children {
        if part.tag == "pose" {
            continue;
        }
        scope(&mut part, &prefix);
        if NAMED.contains(&&*part.tag) {
            let name = part
                .attributes
                .iter_mut()
                .find(|(known, _)| known == "name");
            if let Some((_, name)) = name {
                *name = format!("{prefix}::{name}");
            }
        }
        match &*part.tag {
            "link" => {
                if part.child("pose").is_none() {
                    part.children.push(empty_pose(&part));
                }
                let poses = part.children.iter_mut().filter(|c| c.tag == "pose");
                poses.for_each(|pose| relate(pose, &prefix));
            }
            "frame" if part.attribute("attached_to").is_none_or(str::is_empty) => {
                part.attributes.retain(|(known, _)| known != "attached_to");
                let attached = ("attached_to".to_owned(), prefix.clone());
                part.attributes.push(attached);
            }
            _ => {}
        }
        parts.push(part);
    }
    Ok(parts)
}

fn empty_pose(of: &Element) -> Element {
    Element {
        tag: "pose".to_owned(),
        attributes: Vec::new(),
        children: Vec::new(),
        text: String::new(),
        place: of.place.clone(),
    }
}

/// Makes a pose without `relative_to` relative to `frame`.
fn relate(pose: &mut Element, frame: &str) {
    let written = pose.attribute("relative_to");
    if written.is_none_or(str::is_empty) {
        pose.attributes.retain(|(known, _)| known != "relative_to");
        pose.attributes
            .push(("relative_to".to_owned(), frame.to_owned()));
    }
}

/// Gives the names that a part refers to the prefix of its model.
fn scope(element: &mut Element, prefix: &str) {
    let scoped = |name: &str| match name {
        MODEL => prefix.to_owned(),
        "" | super::WORLD => name.to_owned(),
        name => format!("{prefix}::{name}"),
    };
    for (name, value) in &mut element.attributes {
        if NAMING_ATTRIBUTES.contains(&&**name) {
            *value = scoped(value);
        }
    }
    if NAMING_ELEMENTS.contains(&&*element.tag) {
        element.text = scoped(&element.text);
    }
    for child in &mut element.children {
        scope(child, prefix);
    }
}
