//! What is measured of a scene that names no observables: energy, contact of each pair of named things, and how far each actuator is
//! from its target.

use nalgebra::Point3;

use super::assembly::Assembly;
use super::observer::built_in_quantities;
use crate::scene::{Component, NamedReference, ObservableEntry, Scene, SourceLocation};

/// Pairs above which contact is summed up for each thing, and things above which it is for all together.
const PAIRS_MAX: usize = 10;
const THINGS_MAX: usize = 10;

/// Actuators above which their errors are left out: nobody reads a hundred curves.
const ACTUATORS_MAX: usize = 40;

/// The columns of `scene`, which has none of its own.
pub(super) fn entries(scene: &Scene, assembly: &Assembly) -> Vec<ObservableEntry> {
    let mut columns = Columns::default();
    let moves = scene.bodies.len() + scene.models.len() + scene.soft.entries.len() > 0;
    if moves {
        columns.add("energy.total", "energy", None, None);
        columns.add("energy.kinetic", "kinetic-energy", None, None);
    }
    columns.contacts(scene);
    columns.actuators(scene, assembly);
    columns.entries
}

#[derive(Default)]
struct Columns {
    entries: Vec<ObservableEntry>,
}

impl Columns {
    fn add(&mut self, name: &str, quantity: &str, of: Option<&str>, with: Option<&str>) {
        let mut known = built_in_quantities().into_iter();
        let Some(quantity) = known.find(|known| known.name() == quantity) else {
            return;
        };
        let reference = |name: &str| NamedReference {
            name: name.into(),
            at: SourceLocation::default(),
        };
        self.entries.push(ObservableEntry {
            name: reference(name),
            of: of.map(reference),
            with: with.map(reference),
            point: Point3::origin(),
            component: quantity
                .components
                .first()
                .copied()
                .unwrap_or(Component::Norm),
            among: None,
            expression: None,
            unit: quantity.unit().into(),
            quantity,
        });
    }

    fn contacts(&mut self, scene: &Scene) {
        let fixed: Vec<&str> = names(scene.fixed.iter().map(|e| &e.name));
        let bodies = scene.bodies.iter().map(|e| &e.name);
        let models = scene.models.iter().map(|e| &e.name);
        let soft = scene.soft.entries.iter().map(|e| &e.name);
        let moving: Vec<&str> = names(bodies.chain(models).chain(soft));
        let among_moving = (1..moving.len()).flat_map(|k| (0..k).map(move |j| (j, k)));
        let pairs: Vec<(&str, &str)> = moving
            .iter()
            .flat_map(|body| fixed.iter().map(move |fixed| (*body, *fixed)))
            .chain(among_moving.map(|(j, k)| (moving[j], moving[k])))
            .collect();
        if pairs.is_empty() {
            return;
        }
        if pairs.len() <= PAIRS_MAX {
            for (a, b) in pairs {
                self.add(&format!("{a}-{b}.force"), "contact-force", Some(a), Some(b));
            }
        } else if moving.len() <= THINGS_MAX {
            for a in moving {
                self.add(&format!("{a}.contact"), "contact-force", Some(a), None);
            }
        }
        self.add("contacts.count", "contact-count", None, None);
        self.add("contacts.penetration", "penetration", None, None);
    }

    fn actuators(&mut self, scene: &Scene, assembly: &Assembly) {
        let directory = &assembly.directory;
        let mut errors = Vec::new();
        for model in &scene.models {
            let model = &model.name.name;
            let body = directory.named_bodies().find(|(name, _)| name == model);
            let Some((_, body)) = body else {
                continue;
            };
            for joint in directory.actuated_joints(body) {
                let joint = &directory.tree(body).joint(joint).name;
                errors.push((format!("{model}.{joint}.error"), format!("{model}/{joint}")));
            }
        }
        if errors.len() > ACTUATORS_MAX {
            return;
        }
        for (name, joint) in errors {
            self.add(&name, "joint-error", Some(&joint), None);
        }
    }
}

fn names<'a>(references: impl Iterator<Item = &'a NamedReference>) -> Vec<&'a str> {
    references.map(|reference| &*reference.name).collect()
}
