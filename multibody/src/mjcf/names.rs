//! Names: those that the file gives, those of parts without one, and the attributes that are used of each element.

use std::collections::BTreeSet;

/// Attributes that give a pose.
macro_rules! with_pose {
    ($($name:literal),*) => {
        &["name", "class", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", $($name),*]
    };
}

/// The attributes of an element that have an effect; `None` for elements without any effect.
pub(super) fn used_attributes(tag: &str) -> Option<&'static [&'static str]> {
    Some(match tag {
        "body" => with_pose!("childclass", "mocap", "gravcomp"),
        "frame" => with_pose!("childclass"),
        "inertial" => with_pose!("mass", "diaginertia", "fullinertia"),
        "geom" => with_pose!(
            "type",
            "size",
            "fromto",
            "mass",
            "density",
            "contype",
            "conaffinity",
            "condim",
            "group",
            "friction",
            "priority",
            "rgba",
            "material",
            "mesh",
            "hfield",
            "shellinertia"
        ),
        "site" => with_pose!("fromto"),
        "joint" => &[
            "name",
            "class",
            "type",
            "pos",
            "axis",
            "range",
            "limited",
            "ref",
            "springref",
            "stiffness",
            "damping",
            "frictionloss",
            "armature",
            "actuatorfrcrange",
            "actuatorfrclimited",
            "springdamper",
        ],
        "freejoint" => &["name"],
        "mesh" => &[
            "name", "class", "file", "scale", "refpos", "refquat", "inertia",
        ],
        "material" => &["name", "class", "rgba"],
        "general" => &[
            "name",
            "class",
            "joint",
            "tendon",
            "gear",
            "ctrlrange",
            "ctrllimited",
            "forcerange",
            "forcelimited",
            "gaintype",
            "gainprm",
            "biastype",
            "biasprm",
            "dyntype",
        ],
        "motor" => &[
            "name",
            "class",
            "joint",
            "tendon",
            "gear",
            "ctrlrange",
            "ctrllimited",
            "forcerange",
            "forcelimited",
        ],
        "position" => &[
            "name",
            "class",
            "joint",
            "tendon",
            "gear",
            "forcerange",
            "forcelimited",
            "kp",
            "kv",
            "dampratio",
        ],
        "velocity" => &[
            "name",
            "class",
            "joint",
            "tendon",
            "gear",
            "forcerange",
            "forcelimited",
            "kv",
        ],
        "equality" => &["active"],
        "tendon" => &[
            "limited",
            "range",
            "stiffness",
            "damping",
            "springlength",
            "frictionloss",
            "armature",
        ],
        "pair" => &["class", "condim", "friction"],
        _ => return None,
    })
}

/// Names that are taken, to find others for parts without a name.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn take(&mut self, name: &str) {
        self.0.insert(name.to_owned());
    }

    /// `wanted`, or `wanted_2` and so on if it is taken; taken afterwards.
    pub(super) fn free(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|n: usize| format!("{wanted}_{n}"));
        let mut all = core::iter::once(wanted.to_owned()).chain(numbered);
        let found = all
            .find(|name| !self.0.contains(name))
            .expect("infinitely many names");
        self.take(&found);
        found
    }
}
