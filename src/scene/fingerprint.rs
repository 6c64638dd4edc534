//! Whether a scene is the one that a state was saved from: every key and parameter on which the motion depends, and a digest of each file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use nalgebra::Point3;
use pliant_coupling::World;
use pliant_hydroelastic::Shape;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::digest::Digest;
use super::run_time::{self, LENGTHS, WATCHING};
use super::text::SourceLocation;
use super::{Scene, SceneOptions, Simulation, files};

/// Longest text of a value that is kept; of longer ones the beginning and a digest.
const TEXT_MAX: usize = 120;

/// What the steps of a scene depend on, by key path.
///
/// Lengths (`smoke_s`, `full_s`), observables, expectations, cameras, image sensors, rates of the recording, title and description are not part of
/// it: they may change between a saved state and the run that continues from it.
///
/// ```
/// use pliant::runner::Assembly;
/// use pliant::scene::{Scene, SceneFingerprint, SceneOptions};
///
/// let of = |setting: &str| -> Result<_, Box<dyn std::error::Error>> {
///     let options = SceneOptions { parameters: vec![setting.parse()?], ..SceneOptions::default() };
///     let scene = Scene::load("box-on-incline", &options)?;
///     Ok(SceneFingerprint::of(&scene, &Assembly::new(&scene)?.world))
/// };
/// let saved = of("mu=0.4")?;
/// let changes = saved.changes(&of("mu=0.5")?);
/// assert_eq!(changes[0].key, "parameters.mu");
/// assert_eq!(changes[0].to_string(), "`parameters.mu` was 0.4 and is 0.5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SceneFingerprint(BTreeMap<String, String>);

/// A key that differs between two scenes.
///
/// ```
/// use pliant::scene::KeyChange;
///
/// let change = KeyChange { key: "bodies.ball.mass".into(), before: Some("2".into()), after: None };
/// assert_eq!(change.to_string(), "`bodies.ball.mass` was 2 and is no longer there");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    /// Path of the key; elements of lists go by their name, or by their number.
    pub key: String,
    /// Its value in the first scene, if it is there.
    pub before: Option<String>,
    /// Its value in the second.
    pub after: Option<String>,
}

impl fmt::Display for KeyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, before, after } = self;
        match (before, after) {
            (Some(before), Some(after)) => write!(f, "`{key}` was {before} and is {after}"),
            (Some(before), None) => write!(f, "`{key}` was {before} and is no longer there"),
            (None, Some(after)) => write!(f, "`{key}` was not there and is {after}"),
            (None, None) => write!(f, "`{key}` is not there"),
        }
    }
}

impl SceneFingerprint {
    /// Of a scene and the world made from it. It reads the files that the scene names.
    pub fn of(scene: &Scene, world: &World) -> Self {
        let mut values = scene.acting.values.clone();
        for (key, written) in &scene.acting.files {
            let content = match files::open(scene.folder.as_deref(), written) {
                Ok((bytes, _)) => format!("a file with the digest {}", Digest::of(&bytes)),
                Err(_) => "a file that cannot be read".into(),
            };
            values.insert(format!("{key} (content)"), content);
        }
        for geometry in world.geometries() {
            let digest = match &geometry.shape {
                Some(Shape::ConvexHull(hull)) => surface(hull.vertices(), hull.triangles()),
                Some(Shape::Mesh(mesh)) => {
                    surface(mesh.vertices(), mesh.triangles().iter().copied())
                }
                _ => continue,
            };
            let key = format!("shape of the geometry {}", geometry.name);
            values.insert(key, format!("a surface with the digest {digest}"));
        }
        Self(values)
    }

    /// The keys that differ in `later`, in the order of their paths.
    pub fn changes(&self, later: &Self) -> Vec<KeyChange> {
        let keys: BTreeSet<&String> = self.0.keys().chain(later.0.keys()).collect();
        let changed = keys
            .into_iter()
            .filter(|key| self.0.get(*key) != later.0.get(*key));
        let change = |key: &String| KeyChange {
            key: key.clone(),
            before: self.0.get(key).cloned(),
            after: later.0.get(key).cloned(),
        };
        changed.map(change).collect()
    }
}

fn surface(vertices: &[Point3<f64>], triangles: impl Iterator<Item = [u32; 3]>) -> Digest {
    let mut digest = Digest::default();
    for x in vertices.iter().flat_map(|p| p.iter()) {
        digest.add(&x.to_le_bytes());
    }
    for v in triangles.flatten() {
        digest.add(&v.to_le_bytes());
    }
    digest
}

/// The keys of a document on which steps depend.
#[derive(Clone, Debug, Default)]
pub(super) struct ActingKeys {
    /// Text of each value.
    pub(super) values: BTreeMap<String, String>,
    /// The files that they name.
    pub(super) files: Vec<(String, String)>,
}

impl ActingKeys {
    /// Of `document`, in which the values at `evaluated` are expressions of parameters; `definitions` has the names in the definition of each, `values`
    /// their values.
    pub(super) fn of(
        document: &DeTable<'_>,
        evaluated: &BTreeSet<SourceLocation>,
        definitions: &BTreeMap<String, BTreeSet<String>>,
        values: &BTreeMap<String, f64>,
    ) -> Self {
        let mut keys = Self::default();
        let mut acting = BTreeSet::new();
        for (section, value) in document {
            let section: &str = section.get_ref();
            if WATCHING.contains(&section) || ["schema", "parameters"].contains(&section) {
                continue;
            }
            keys.add(section, value);
            run_time::parameters_in(section, value, evaluated, definitions, &mut acting);
        }
        for name in acting {
            if let Some(value) = values.get(&name) {
                keys.values
                    .insert(format!("parameters.{name}"), format!("{value:?}"));
            }
        }
        keys
    }

    /// The time step, which has a default, and the solver of `options` count as if they were written.
    pub(super) fn put_overrides(&mut self, options: &SceneOptions, simulation: &Simulation) {
        let time_step = format!("{:?}", simulation.time_step_s);
        self.values
            .insert("simulation.time_step_s".into(), time_step);
        if let Some(solver) = &options.solver {
            self.values
                .insert("solver.name".into(), format!("{solver:?}"));
        }
    }

    fn add(&mut self, path: &str, value: &Spanned<DeValue<'_>>) {
        match value.get_ref() {
            DeValue::Table(table) => {
                for (key, value) in table {
                    let key: &str = key.get_ref();
                    if path == "simulation" && LENGTHS.contains(&key) {
                        continue;
                    }
                    let path = format!("{path}.{key}");
                    if key == "file"
                        && let DeValue::String(file) = value.get_ref()
                    {
                        self.files.push((path.clone(), file.to_string()));
                    }
                    self.add(&path, value);
                }
            }
            DeValue::Array(list) if list.iter().any(|x| x.get_ref().is_table()) => {
                for (number, element) in list.iter().enumerate() {
                    let name = element.get_ref().as_table().and_then(|t| t.get("name"));
                    let path = match name.and_then(|name| name.get_ref().as_str()) {
                        Some(name) => format!("{path}.{name}"),
                        None => format!("{path}[{number}]"),
                    };
                    self.add(&path, element);
                }
            }
            other => {
                self.values.insert(path.to_owned(), shortened(text(other)));
            }
        }
    }
}

/// A value as it would be written; numbers that are equal have the same text.
fn text(value: &DeValue<'_>) -> String {
    let number = |text: &str| match text.parse::<f64>() {
        Ok(x) => format!("{x:?}"),
        Err(_) => text.to_owned(),
    };
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(x) if x.radix() == 10 => number(x.as_str()),
        DeValue::Float(x) => number(x.as_str()),
        DeValue::Array(list) => {
            let each: Vec<String> = list.iter().map(|x| text(x.get_ref())).collect();
            format!("[{}]", each.join(", "))
        }
        DeValue::Boolean(x) => x.to_string(),
        other => format!("{other:?}"),
    }
}

fn shortened(text: String) -> String {
    if text.len() <= TEXT_MAX {
        return text;
    }
    let beginning: String = text.chars().take(TEXT_MAX / 3).collect();
    format!("{beginning}… (digest {})", Digest::of(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Assembly;

    const TEXT: &str = r#"
        schema = 1
        title = "t"
        [parameters]
        m = 2
        seen = 1
        unused = 1
        [simulation]
        smoke_s = 1
        [[bodies]]
        name = "ball"
        shape = { sphere = { radius = 0.1 } }
        mass = "m"
        [[loads]]
        on = "ball"
        knots = [{ at_s = 0, force = [0, 0, 1] }, { at_s = 1, force = [0, 0, 2] }]
        [[observables]]
        name = "z"
        quantity = "position"
        of = "ball"
        component = "z"
        [[expect]]
        observable = "z"
        at_s = 1
        at_most = "seen"
        source = "none"
    "#;

    fn of(text: &str, options: &SceneOptions) -> SceneFingerprint {
        let scene = Scene::parse("s.toml", text, options).unwrap_or_else(|e| panic!("{e}"));
        let assembly = Assembly::new(&scene).unwrap_or_else(|e| panic!("{e}"));
        SceneFingerprint::of(&scene, &assembly.world)
    }

    #[test]
    fn a_changed_key_is_named_by_its_path_with_both_values() {
        let saved = of(TEXT, &SceneOptions::default());
        for (from, to, expected) in [
            (
                "mass = \"m\"",
                "mass = 3",
                "`bodies.ball.mass` was \"m\" and is 3.0",
            ),
            ("m = 2", "m = 2.5", "`parameters.m` was 2.0 and is 2.5"),
            (
                "smoke_s = 1",
                "smoke_s = 1\n        time_step_s = 0.01",
                "`simulation.time_step_s` was 0.001 and is 0.01",
            ),
            (
                "[0, 0, 2]",
                "[0, 1, 2]",
                "`loads[0].knots[1].force` was [0.0, 0.0, 2.0] and is [0.0, 1.0, 2.0]",
            ),
        ] {
            let changes = saved.changes(&of(&TEXT.replace(from, to), &SceneOptions::default()));
            let texts: Vec<String> = changes.iter().map(ToString::to_string).collect();
            assert!(texts.contains(&expected.to_owned()), "{texts:?}");
        }
    }

    #[test]
    fn settings_count_as_if_they_were_in_the_file() {
        let saved = of(TEXT, &SceneOptions::default());
        let options = SceneOptions {
            parameters: vec!["contact.model=sap".parse().expect("a setting")],
            time_step_s: Some(0.002),
            solver: Some("newton-cg".into()),
            ..SceneOptions::default()
        };
        let changes = saved.changes(&of(TEXT, &options));
        let keys: Vec<&str> = changes.iter().map(|change| &*change.key).collect();
        assert_eq!(
            keys,
            ["contact.model", "simulation.time_step_s", "solver.name"]
        );
    }

    #[test]
    fn lengths_output_and_the_way_of_writing_do_not_count() {
        let saved = of(TEXT, &SceneOptions::default());
        for (from, to) in [
            ("smoke_s = 1", "smoke_s = 2\n        full_s = 9"),
            ("smoke_s = 1", "smoke_s = 1\n        time_step_s = 1e-3"),
            ("seen = 1", "seen = 5"),
            ("unused = 1", "unused = 7"),
            ("m = 2", "m = 2.0"),
            ("title = \"t\"", "title = \"u\""),
            ("component = \"z\"", "component = \"x\""),
            ("radius = 0.1", "radius = 1e-1"),
        ] {
            let changes = saved.changes(&of(&TEXT.replace(from, to), &SceneOptions::default()));
            assert!(changes.is_empty(), "{to}: {changes:?}");
        }
    }
}
