//! The attributes that are used of each element; all others are reported.

use crate::markup::{Element, Remarks};

/// Elements whose contents are read, and their attributes.
const USED: [(&str, &[&str]); 34] = [
    ("model", &["name", "canonical_link", "placement_frame"]),
    ("link", &["name"]),
    ("joint", &["name", "type"]),
    ("frame", &["name", "attached_to"]),
    ("inertial", &["auto"]),
    ("inertia", &[]),
    ("collision", &["name"]),
    ("visual", &["name"]),
    ("geometry", &[]),
    ("mesh", &[]),
    ("box", &[]),
    ("sphere", &[]),
    ("cylinder", &[]),
    ("capsule", &[]),
    ("cone", &[]),
    ("ellipsoid", &[]),
    ("plane", &[]),
    ("drake:capsule", &[]),
    ("drake:ellipsoid", &[]),
    ("surface", &[]),
    ("friction", &[]),
    ("ode", &[]),
    ("material", &[]),
    ("axis", &[]),
    ("axis2", &[]),
    ("limit", &[]),
    ("dynamics", &[]),
    ("pose", &["relative_to", "rotation_format", "degrees"]),
    ("xyz", &["expressed_in"]),
    ("mimic", &["joint", "axis"]),
    ("drake:mimic", &["joint", "multiplier", "offset"]),
    ("drake:controller_gains", &["p", "d"]),
    ("drake:collision_filter_group", &["name"]),
    ("drake:proximity_properties", &[]),
];

/// Elements that hold a value as text.
const VALUES: [&str; 28] = [
    "uri",
    "mass",
    "ixx",
    "iyy",
    "izz",
    "ixy",
    "ixz",
    "iyz",
    "size",
    "radius",
    "radii",
    "length",
    "normal",
    "scale",
    "mu",
    "diffuse",
    "lower",
    "upper",
    "effort",
    "velocity",
    "damping",
    "parent",
    "child",
    "density",
    "spring_reference",
    "spring_stiffness",
    "screw_thread_pitch",
    "thread_pitch",
];

/// Reports attributes without effect of a model and everything that is read in it.
pub(super) fn report(element: &Element, remarks: &mut Remarks) {
    let known = USED.iter().find(|(tag, _)| *tag == element.tag);
    let is_value = VALUES.contains(&&*element.tag);
    match known {
        Some((_, attributes)) => remarks.only_attributes(element, attributes),
        None if is_value => remarks.only_attributes(element, &[]),
        // What is left out with everything in it.
        None => {}
    }
    if known.is_some() {
        element
            .children
            .iter()
            .for_each(|child| report(child, remarks));
    }
}
