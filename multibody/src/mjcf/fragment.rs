//! Parts of a model that other files include: `<mujocoinclude>`, and `<mujoco>` without a `<worldbody>`.
//!
//! Read on its own, such a part is a model of its bodies. What it refers to, but another file defines, is left out: classes and
//! materials of its geoms, geoms of unknown meshes, and elements outside of bodies that name unknown joints or bodies.

use std::collections::{BTreeMap, BTreeSet};

use crate::markup::{Element, Place, Remarks};

/// Elements of bodies, which belong to the world if they are outermost.
const IN_BODIES: [&str; 9] = [
    "body",
    "frame",
    "geom",
    "site",
    "camera",
    "light",
    "replicate",
    "attach",
    "composite",
];
/// Elements of bodies that only bodies have.
const OF_MOVING_BODIES: [&str; 3] = ["joint", "freejoint", "inertial"];
/// Elements of `<asset>` that others refer to, and defaults, which have classes.
const DEFINING: [&str; 8] = [
    "mesh", "material", "hfield", "texture", "body", "joint", "site", "geom",
];

/// Elements of `<tendon>`.
const TENDONS: [&str; 2] = ["fixed", "spatial"];

/// The model of a part that other files include; any other model as it is.
pub(super) fn completed(mut root: Element, remarks: &mut Remarks) -> Element {
    let is_part = root.tag == "mujocoinclude";
    if !is_part && root.holds("worldbody") {
        return root;
    }
    root.tag = "mujoco".to_owned();
    let children = std::mem::take(&mut root.children);
    let is_content = |child: &Element| {
        IN_BODIES.contains(&&*child.tag) || OF_MOVING_BODIES.contains(&&*child.tag)
    };
    let (content, sections) = children.into_iter().partition(is_content);
    root.children = sections;
    let world = world(content, &root.place);
    root.children.push(world);

    let mut names = Names::default();
    names.collect(&root);
    names.collect_tendons(&root);
    let mut missing = BTreeSet::new();
    names.leave_out(&mut root, Within::Sections, &mut missing);
    let mut text = "is a part that other files include, read as a model of its own".to_owned();
    if !missing.is_empty() {
        let shown: Vec<&str> = missing.iter().take(8).map(String::as_str).collect();
        let more = match missing.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let list = shown.join(", ");
        text += &format!("; left out is what refers to {list}{more}, which they define");
    }
    remarks.suspicious(&root.place, format!("<{}> {text}", root_tag(is_part)));
    root
}

fn root_tag(is_part: bool) -> &'static str {
    match is_part {
        true => "mujocoinclude",
        false => "mujoco",
    }
}

/// A `<worldbody>` with this content; in a body if it has joints or an inertia.
fn world(content: Vec<Element>, place: &Place) -> Element {
    let element = |tag: &str, children| Element {
        tag: tag.to_owned(),
        attributes: Vec::new(),
        children,
        text: String::new(),
        place: place.clone(),
    };
    let moves = |child: &Element| OF_MOVING_BODIES.contains(&&*child.tag);
    match content.iter().any(moves) {
        true => element("worldbody", vec![element("body", content)]),
        false => element("worldbody", content),
    }
}

/// Where an element is.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    /// Outside of bodies: an element that refers to something unknown is left out as a whole.
    Sections,
    /// In the world or a body.
    Bodies,
}

/// The names that a file defines, by the kind of what they name.
#[derive(Default)]
struct Names {
    known: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Names {
    fn collect(&mut self, element: &Element) {
        let name = match &*element.tag {
            "default" => element.attribute("class"),
            "mesh" => element.attribute("name").or_else(|| stem(element)),
            _ => element.attribute("name"),
        };
        let kind = match &*element.tag {
            "default" => Some("class"),
            "freejoint" => Some("joint"),
            tag => DEFINING.into_iter().find(|known| *known == tag),
        };
        if let (Some(kind), Some(name)) = (kind, name) {
            let names = self.known.entry(kind).or_default();
            names.insert(name.trim().to_owned());
        }
        for child in &element.children {
            self.collect(child);
        }
    }

    /// Tendons all of whose parts are known.
    fn collect_tendons(&mut self, root: &Element) {
        let sections = root.children.iter().filter(|e| e.tag == "tendon");
        let complete = sections.flat_map(|section| &section.children);
        let complete =
            complete.filter(|tendon| self.unknown_in(tendon, Within::Sections).is_none());
        let names = complete.filter_map(|tendon| tendon.attribute("name"));
        let names = names.map(|name| name.trim().to_owned()).collect();
        self.known.insert("tendon", names);
    }

    fn knows(&self, kind: &str, name: &str) -> bool {
        let names = self.known.get(kind);
        names.is_some_and(|names| names.contains(name.trim()))
    }

    /// Leaves out what refers to unknown names, and adds those to `missing`.
    fn leave_out(&self, element: &mut Element, within: Within, missing: &mut BTreeSet<String>) {
        element.attributes.retain(|(attribute, value)| {
            let kind = match &**attribute {
                "class" | "childclass" => "class",
                "material" => "material",
                _ => return true,
            };
            let is_default = element.tag == "default";
            let is_known = is_default || value.trim() == "main" || self.knows(kind, value);
            if !is_known {
                missing.insert(format!("{kind} \"{}\"", value.trim()));
            }
            is_known
        });
        let children = std::mem::take(&mut element.children);
        for mut child in children {
            let inner = match &*child.tag {
                "worldbody" => Within::Bodies,
                _ => within,
            };
            match self.unknown_in(&child, within) {
                Some(name) => drop(missing.insert(name)),
                None => {
                    self.leave_out(&mut child, inner, missing);
                    element.children.push(child);
                }
            }
        }
    }

    /// The first unknown name without which an element means nothing. Without one of its parts, a tendon would be another one.
    fn unknown_in(&self, element: &Element, within: Within) -> Option<String> {
        if within == Within::Sections && TENDONS.contains(&&*element.tag) {
            let mut parts = element.children.iter();
            return parts.find_map(|part| self.unknown_reference(part, within));
        }
        self.unknown_reference(element, within)
    }

    fn unknown_reference(&self, element: &Element, within: Within) -> Option<String> {
        let references: &[(&str, &str)] = match within {
            Within::Bodies => &[("mesh", "mesh"), ("hfield", "hfield")],
            Within::Sections => &[
                ("joint", "joint"),
                ("joint1", "joint"),
                ("joint2", "joint"),
                ("body", "body"),
                ("body1", "body"),
                ("body2", "body"),
                ("site", "site"),
                ("site1", "site"),
                ("site2", "site"),
                ("geom", "geom"),
                ("geom1", "geom"),
                ("geom2", "geom"),
                ("tendon", "tendon"),
                ("tendon1", "tendon"),
                ("tendon2", "tendon"),
            ],
        };
        references.iter().find_map(|(attribute, kind)| {
            let name = element.attribute(attribute)?.trim();
            let is_world = *kind == "body" && name == "world";
            (!is_world && !self.knows(kind, name)).then(|| format!("{kind} \"{name}\""))
        })
    }
}

/// The name of a mesh without one: its file, without folder and extension.
fn stem(mesh: &Element) -> Option<&str> {
    let file = std::path::Path::new(mesh.attribute("file")?);
    file.file_stem()?.to_str()
}
