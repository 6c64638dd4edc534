//! Parameters that a run may change between its steps: those that enter nothing but what a world can be given anew without its state.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expression::Expression;
use super::text::SourceLocation;

/// Sections that do not act on the motion.
pub(super) const WATCHING: [&str; 8] = [
    "title",
    "description",
    "camera",
    "cameras",
    "recording",
    "image_sensors",
    "observables",
    "expect",
];

/// Keys of `[simulation]` that end a run but do not act on its steps.
pub(super) const LENGTHS: [&str; 2] = ["smoke_s", "full_s"];

/// Keys of surfaces that are not part of a shape.
const SURFACE: [&str; 7] = [
    "stiffness",
    "dissipation",
    "relaxation_time_s",
    "friction",
    "restitution",
    "torsional_friction",
    "rolling_friction",
];

/// Keys of deformable bodies that neither the mesh nor the mass depends on.
const SOFT: [&str; 13] = [
    "mass_damping",
    "stiffness_damping",
    "force_density",
    "youngs_modulus",
    "poissons_ratio",
    "normal_stiffness",
    "shear_stiffness",
    "layer_friction",
    "bending_stiffness",
    "bending_model",
    "damping_time",
    "curvature_schedule",
    "twist_schedule",
];

/// What a key acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Pictures, numbers and their judgement.
    Watching,
    /// Forces and their laws, which may change between steps.
    Forces,
    /// Bodies, shapes or initial values.
    State,
}

impl Effect {
    /// Of the key at `path`, without the numbers of list elements.
    fn of(path: &[&str]) -> Self {
        let is_of = |sections: &[&str]| sections.contains(&path[0]);
        let has_key = |keys: &[&str]| path.iter().skip(1).any(|key| keys.contains(key));
        if is_of(&WATCHING) {
            return Self::Watching;
        }
        let acts = is_of(&["contact", "solver", "pairs", "loads"])
            || is_of(&["joint_targets", "joint_efforts", "frame_targets"])
            || path == ["simulation", "gravity"]
            || (is_of(&["materials"]) || has_key(&["material"])) && has_key(&SURFACE)
            || is_of(&["fixed", "bodies"]) && has_key(&["surface_velocity"])
            || is_of(&["models"]) && has_key(&["actuators"])
            || is_of(&["fem", "material_points"]) && has_key(&["constitutive_material"])
            || is_of(&["fem", "cloth", "rods"]) && has_key(&SOFT);
        match acts {
            true => Self::Forces,
            false => Self::State,
        }
    }
}

/// Where each parameter enters a scene, directly or by others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParameterUses {
    /// Parameters that enter forces.
    forces: BTreeSet<String>,
    /// A key outside the forces for each parameter that enters one.
    fixed: BTreeMap<String, String>,
    /// Parameters that are not defined by others.
    free: BTreeSet<String>,
}

impl ParameterUses {
    /// Of `document`, in which the values at `evaluated` were read as expressions; `definitions` has the names in the definition of each
    /// parameter.
    pub(super) fn find(
        document: &DeTable<'_>,
        evaluated: &BTreeSet<SourceLocation>,
        definitions: &BTreeMap<String, BTreeSet<String>>,
    ) -> Self {
        let mut uses = Self::default();
        let mut path = Vec::new();
        for (section, value) in document {
            let section: &str = section.get_ref();
            if section == "parameters" {
                continue;
            }
            path.push(section);
            visit(value, &mut path, &mut |path, at, text| {
                let mut entering = BTreeSet::new();
                if evaluated.contains(&at) {
                    add_names(text, definitions, &mut entering);
                }
                match Effect::of(path) {
                    Effect::Watching => {}
                    Effect::Forces => uses.forces.extend(entering),
                    Effect::State => {
                        for name in entering {
                            uses.fixed.entry(name).or_insert_with(|| path.join("."));
                        }
                    }
                }
            });
            path.pop();
        }
        let is_free =
            |names: &BTreeSet<String>| !names.iter().any(|name| definitions.contains_key(name));
        uses.free = (definitions.iter())
            .filter(|(_, names)| is_free(names))
            .map(|(name, _)| name.clone())
            .collect();
        uses
    }

    /// The key that forbids a change of the parameter `name` during a run.
    pub(super) fn fixed_at(&self, name: &str) -> Option<&str> {
        self.fixed.get(name).map(String::as_str)
    }

    /// Parameters whose change acts on a run, and which are not defined by others.
    pub(super) fn adjustable(&self) -> impl Iterator<Item = &str> {
        let adjustable = (self.forces.iter())
            .filter(|name| !self.fixed.contains_key(*name) && self.free.contains(*name));
        adjustable.map(String::as_str)
    }
}

/// Adds the parameters that enter a section, but not those that enter lengths of the run only.
pub(super) fn parameters_in<'a>(
    section: &'a str,
    value: &'a Spanned<DeValue<'a>>,
    evaluated: &BTreeSet<SourceLocation>,
    definitions: &BTreeMap<String, BTreeSet<String>>,
    out: &mut BTreeSet<String>,
) {
    let mut path = vec![section];
    visit(value, &mut path, &mut |path, at, text| {
        let is_length = matches!(path, ["simulation", key] if LENGTHS.contains(key));
        if !is_length && evaluated.contains(&at) {
            add_names(text, definitions, out);
        }
    });
}

/// Adds the parameters in an expression and those that define them.
fn add_names(
    text: &str,
    definitions: &BTreeMap<String, BTreeSet<String>>,
    out: &mut BTreeSet<String>,
) {
    let Ok(expression) = Expression::parse(text) else {
        return;
    };
    for name in expression.names() {
        add_with_origins(name, definitions, out);
    }
}

/// Adds a parameter and those that define it.
fn add_with_origins(
    name: &str,
    definitions: &BTreeMap<String, BTreeSet<String>>,
    out: &mut BTreeSet<String>,
) {
    let mut found = vec![name];
    while let Some(name) = found.pop() {
        if let Some(origins) = definitions.get(name)
            && out.insert(name.to_owned())
        {
            found.extend(origins.iter().map(String::as_str));
        }
    }
}

/// Calls `see` with every text in `value` and its path.
fn visit<'a>(
    value: &'a Spanned<DeValue<'a>>,
    path: &mut Vec<&'a str>,
    see: &mut dyn FnMut(&[&str], SourceLocation, &str),
) {
    match value.get_ref() {
        DeValue::String(text) => see(path, value.span().into(), text),
        DeValue::Array(list) => list.iter().for_each(|element| visit(element, path, see)),
        DeValue::Table(table) => {
            for (key, value) in table {
                path.push(key.get_ref());
                visit(value, path, see);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, SceneOptions};

    const TEXT: &str = r#"
        schema = 1
        title = "t"
        [parameters]
        mu = 0.3
        half_mu = "mu/2"
        r = 0.1
        g = 9.81
        weight = "g*r"
        bound = 3
        ball = 1
        [simulation]
        smoke_s = 1
        gravity = [0, 0, "-g"]
        [[bodies]]
        name = "ball"
        shape = { sphere = { radius = "r" } }
        material = { friction = "half_mu" }
        [[loads]]
        on = "ball"
        knots = [{ at_s = 0, force = [0, 0, "weight"] }]
        [[observables]]
        name = "z"
        quantity = "position"
        of = "ball"
        component = "z"
        [[expect]]
        observable = "z"
        at_s = 1
        at_most = "bound"
        source = "none"
    "#;

    #[test]
    fn parameters_of_forces_are_adjustable_and_others_name_their_key() {
        let scene = Scene::parse("s.toml", TEXT, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));

        // `bound` acts on nothing, and `ball` is the name of a body, not a use of the parameter.
        assert_eq!(
            scene.adjustable_parameters().collect::<Vec<_>>(),
            ["g", "mu"]
        );
        assert_eq!(
            scene.parameter_fixed_at("r"),
            Some("bodies.shape.sphere.radius")
        );
        for name in ["mu", "g", "half_mu", "weight", "ball"] {
            assert_eq!(scene.parameter_fixed_at(name), None, "{name}");
        }
    }

    #[test]
    fn a_scene_is_read_again_with_other_parameters() {
        let scene = Scene::parse("s.toml", TEXT, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let changed = scene
            .with_parameters(&[("g".into(), 1.5), ("half_mu".into(), 0.7)].into())
            .unwrap_or_else(|error| panic!("{error}"));

        assert_eq!(changed.simulation.gravity.z, -1.5);
        assert_eq!(changed.bodies[0].body.shapes[0].surface.friction, Some(0.7));
        assert_eq!(changed.parameters["mu"], 0.3);
        let refused = scene.with_parameters(&[("r".into(), -1.0)].into());
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("must be positive")
        );
    }
}
