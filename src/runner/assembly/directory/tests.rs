//! A name leads to its own body, whatever kinds are mixed.

use std::collections::BTreeSet;

use nalgebra::Vector3;

use super::MassRef;
use crate::runner::Assembly;
use crate::scene::{NamedReference, Scene, SceneOptions};

/// Entries of every kind, each at its own place along x, m. Kinds with and without `copies`.
struct Row {
    text: String,
    /// Names of the bodies that are expected, each with its place.
    soft: Vec<(String, f64)>,
    copies: Vec<(String, Vec<String>)>,
    rigid: Vec<(String, f64)>,
}

impl Row {
    fn new() -> Self {
        let text = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.01\ntime_step_s = 0.001\n[grid]\nspacing = 0.1\n";
        Self {
            text: text.into(),
            soft: Vec::new(),
            copies: Vec::new(),
            rigid: Vec::new(),
        }
    }

    fn place(&self) -> f64 {
        (self.soft.len() + self.rigid.len()) as f64
    }

    /// Adds one entry of a kind, with as many copies as it says, 1 m apart.
    fn add(&mut self, kind: &str, copies: Option<usize>) {
        let x = self.place();
        let name = format!("{kind}{}", self.text.len());
        let place = match copies {
            Some(_) => format!("\"{x} + i\""),
            None => format!("{x}"),
        };
        let pose = format!("pose = {{ position = [{place}, 0, 2] }}");
        let beam = format!(
            "centreline = {{ line = {{ from = [{place}, -0.2, 2], to = [{place}, 0.2, 2], edges = 4 }} }}\nsection = {{ circle = {{ radius = 0.01 }} }}\nyoungs_modulus = 1e6\ndensity = 1000"
        );
        let (section, keys) = match kind {
            "body" => (
                "bodies",
                format!("shape = {{ sphere = {{ radius = 0.1 }} }}\n{pose}"),
            ),
            "model" => (
                "models",
                format!("file = \"robots/double_pendulum.urdf\"\n{pose}"),
            ),
            "fem" => (
                "fem",
                format!(
                    "mesh = {{ box = {{ size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }} }}\nconstitutive_material = {{ youngs_modulus = 1e6, poissons_ratio = 0.3 }}\ndensity = 500\n{pose}"
                ),
            ),
            "points" => (
                "material_points",
                format!(
                    "shape = {{ box = {{ size = [0.2, 0.2, 0.2] }} }}\ndensity = 1000\nconstitutive_material = {{ law = \"linear-corotated\", youngs_modulus = 1e5, poissons_ratio = 0.3 }}\n{pose}"
                ),
            ),
            "cloth" => (
                "cloth",
                format!(
                    "mesh = {{ sheet = {{ size = [0.1, 0.1], cells = [2, 2] }} }}\nthickness = 1e-3\ndensity = 300\nyoungs_modulus = 5e4\nbending_stiffness = 5e-6\n{pose}"
                ),
            ),
            "rod" => ("rods", beam),
            "chain" => ("rods", format!("model = \"capsule-chain\"\n{beam}")),
            other => panic!("no kind {other:?}"),
        };
        let copies_key = copies.map_or(String::new(), |n| format!("copies = {n}\n"));
        self.text += &format!("[[{section}]]\nname = \"{name}\"\n{copies_key}{keys}\n");
        match (kind, copies) {
            ("body" | "model", _) => self.rigid.push((name, x)),
            (_, None) => self.soft.push((name, x)),
            (_, Some(n)) => {
                let names: Vec<_> = (0..n).map(|k| format!("{name}_{k}")).collect();
                for (k, copy) in names.iter().enumerate() {
                    self.soft.push((copy.clone(), x + k as f64));
                }
                self.copies.push((name, names));
            }
        }
    }

    /// Checks that each name leads to the body at its place.
    #[track_caller]
    fn check(&self) {
        let scene = Scene::parse("row.toml", &self.text, &SceneOptions::default());
        let scene = scene.unwrap_or_else(|error| panic!("{error}\n{}", self.text));
        let assembly = Assembly::new(&scene);
        let assembly = assembly.unwrap_or_else(|error| panic!("{error}\n{}", self.text));
        let directory = &assembly.directory;
        let reference = |name: &str| NamedReference {
            name: name.into(),
            at: scene.stepper.at(),
        };
        let touching = |name: &str| -> BTreeSet<String> {
            let found = directory.geometries(&scene, &reference(name));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            let name =
                |g: &pliant_coupling::GeometryIdx| assembly.world.geometries()[g.0].name.clone();
            found.iter().map(name).collect()
        };
        let places = |name: &str| -> Vec<i64> {
            let parts = directory.soft_parts(&scene, &reference(name));
            let parts = parts.unwrap_or_else(|error| panic!("{error}"));
            let center = |soft: usize| {
                let start = &directory.soft[soft].start;
                let sum: Vector3<f64> = start.iter().map(|p| p.coords).sum();
                (sum.x / start.len() as f64).round() as i64
            };
            let with_mass = directory.with_mass(&scene, &reference(name));
            let with_mass: Vec<_> = with_mass
                .unwrap_or_else(|error| panic!("{error}"))
                .iter()
                .map(|of| match of {
                    MassRef::Soft(soft) => *soft,
                    MassRef::Body(_) => panic!("{name} is soft"),
                })
                .collect();
            let soft: Vec<_> = parts.iter().map(|part| part.soft).collect();
            assert_eq!(soft, with_mass, "{name}");
            let bodies = directory.bodies(&scene, &reference(name));
            let bodies = bodies.unwrap_or_else(|error| panic!("{error}"));
            let of_parts: Vec<_> = soft.iter().map(|soft| directory.soft[*soft].body).collect();
            assert_eq!(bodies, of_parts, "{name}");
            soft.into_iter().map(center).collect()
        };
        for (name, x) in &self.soft {
            assert_eq!(places(name), [*x as i64], "{name}\n{}", self.text);
            assert_eq!(touching(name), BTreeSet::from([name.clone()]));
        }
        for (name, members) in &self.copies {
            let expected: Vec<_> = members
                .iter()
                .filter_map(|copy| self.soft.iter().find(|(name, _)| name == copy))
                .map(|(_, x)| *x as i64)
                .collect();
            assert_eq!(places(name), expected, "{name}\n{}", self.text);
            assert_eq!(touching(name), members.iter().cloned().collect());
        }
        for (name, x) in &self.rigid {
            let bodies = directory.bodies(&scene, &reference(name));
            let body = bodies.unwrap_or_else(|error| panic!("{error}"))[0];
            let q = &assembly.state.bodies[body.0].q;
            // A free body has its position first, and the pendulum its two angles.
            assert!(q.len() == 2 || q[0] == *x, "{name}: {q:?}");
            let own = |touching: &String| touching.split(['/', '#']).next() == Some(name);
            assert!(touching(name).iter().all(own), "{name}");
        }
    }
}

const KINDS: [&str; 7] = ["body", "model", "fem", "points", "cloth", "rod", "chain"];

#[test]
fn a_name_leads_to_its_own_body_for_any_two_kinds_in_any_order() {
    for first in KINDS {
        for second in KINDS {
            for copies in [[Some(2), Some(3)], [None, Some(2)], [Some(2), None]] {
                let mut row = Row::new();
                for (kind, copies) in [first, second].into_iter().zip(copies) {
                    let copies = copies.filter(|_| !["body", "model"].contains(&kind));
                    row.add(kind, copies);
                }
                row.check();
            }
        }
    }
}

#[test]
fn a_name_leads_to_its_own_body_with_all_kinds_in_one_scene() {
    let mut row = Row::new();
    for copies in [None, Some(2), None, Some(3)] {
        for kind in KINDS.iter().rev() {
            row.add(kind, copies.filter(|_| !["body", "model"].contains(kind)));
        }
    }
    row.check();
}
