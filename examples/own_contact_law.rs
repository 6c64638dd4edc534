//! A contact law of one's own, chosen by name: a film of oil, whose drag is proportional to slip.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
use pliant_contact_sap::{ContactLaw, Lagged, Potential};
use pliant_coupling::{ContactInputs, ContactModel};

/// A law without friction, and c δt in the contact plane, kg.
struct Film(Lagged, Matrix3<f64>);

impl Potential<3> for Film {
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        self.0.cost(v_c) + 0.5 * v_c.dot(&(self.1 * v_c))
    }
    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        self.0.impulse(v_c) - self.1 * v_c
    }
    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        self.0.hessian(v_c) + self.1
    }
}

/// c, N·s/m of each contact point.
#[derive(Debug)]
struct Lubricated(f64);

impl ContactModel for Lubricated {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        let (p, n) = (&contact.parameters, contact.normal_W);
        let plane = Matrix3::identity() - n * n.transpose();
        let drag = plane * (self.0 * p.time_step.length_s);
        ContactLaw::Custom(Arc::new(Film(Lagged::new(p, n, 0.0), drag)))
    }
}

const DRAG: Key = Key {
    name: "drag",
    value: ValueKind::NonNegative,
    unit: "N·s/m",
    default: REQUIRED,
    about: "of each contact point",
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = SceneOptions::default();
    options
        .registry
        .contact_model("lubricated", &[DRAG], |table| {
            Ok(Lubricated(table.number("drag")?))
        });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own_contact_law.toml");
    let scene = Scene::load(path, &options)?;
    let summary = run(&scene, &RunOptions::default(), &mut |_| {})?.summary;
    assert!(summary.is_as_expected(), "{:?}", summary.expectations);
    Ok(())
}
