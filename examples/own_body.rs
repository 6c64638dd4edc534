//! A kind of body of one's own, `[[beads]]`: point masses that know nothing of contact, and land on a floor.

use std::error::Error;

use nalgebra::{Point3, Vector3};
use pliant::Registry;
use pliant::registry::SceneBody;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, DeformableModel, DenseDynamics, Dynamics,
    Energy, Interpolation, MaterialPoint, Primitive, Rows, StepInput, Surface, TimeStep,
};

#[derive(Clone)]
struct Bead {
    mass: f64,
    height: f64,
}

impl DeformableModel for Bead {
    fn default_state(&self) -> BodyState {
        BodyState {
            q: vec![0.0, 0.0, self.height],
            v: vec![0.0; 3],
            history: Vec::new(),
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(BeadStep {
            mass: self.mass,
            state: self.default_state(),
            time_step: TimeStep::default(),
            gravity: Vector3::zeros(),
            dynamics: DenseDynamics::default(),
        })
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        out.vertices.push(Point3::from_slice(&state.q));
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let [x, v] = [&state.q, &state.v].map(|values| Vector3::from_column_slice(values));
        Energy {
            kinetic: 0.5 * self.mass * v.norm_squared(),
            potential: -self.mass * gravity.dot(&x),
            linear_momentum_W: v * self.mass,
            angular_momentum_W: x.cross(&v) * self.mass,
        }
    }
}

impl SceneBody for Bead {
    fn masses(&self, _: &BodyState) -> Vec<f64> {
        vec![self.mass]
    }

    fn velocities(&self, state: &BodyState) -> Vec<Vector3<f64>> {
        vec![Vector3::from_column_slice(&state.v)]
    }
}

struct BeadStep {
    mass: f64,
    state: BodyState,
    time_step: TimeStep,
    gravity: Vector3<f64>,
    dynamics: DenseDynamics,
}

impl BeadStep {
    fn moved(&self, v: &[f64]) -> Vec<f64> {
        let (step, state) = (&self.time_step, &self.state);
        let moved = |i: usize| state.q[i] + step.length_s * step.mean_velocity(state.v[i], v[i]);
        (0..3).map(moved).collect()
    }
}

impl BodyStep for BeadStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.state.clone_from(state);
        (self.time_step, self.gravity) = (input.time_step, input.gravity);
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.state.v
    }

    fn linearise(&mut self, _: &[f64]) -> Result<(), BodyError> {
        let (a, b) = self.dynamics.resize(3);
        for i in 0..3 {
            a[4 * i] = self.mass;
            b[i] = self.mass * (self.state.v[i] + self.time_step.length_s * self.gravity[i]);
        }
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let Primitive::Vertex(0) = p.primitive else {
            let (point, available) = (p.primitive, "one vertex".into());
            return Err(BodyError::NoSuchPoint { point, available });
        };
        out.set_weights([1.0]);
        Ok(BasisIdx(0))
    }

    fn basis(&self, _: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(3);
        out.identity(0, 0, 3);
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        next.q = self.moved(v);
        next.v = v.to_vec();
        Ok(BodyReport::default())
    }
}

const KEYS: &[Key] = &[
    Key {
        name: "mass",
        value: ValueKind::Positive,
        unit: "kg",
        default: REQUIRED,
        about: "of the bead",
    },
    Key {
        name: "height",
        value: ValueKind::NonNegative,
        unit: "m",
        default: "0.1",
        about: "above the origin at the start",
    },
];

const SCENE: &str = r#"
schema = 1
title = "a bead lands on a floor"
[simulation]
smoke_s = 0.5
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[beads]]
name = "bead"
mass = 0.02
[[observables]]
name = "force"
quantity = "contact-force"
of = "bead"
[[expect]]
observable = "force"
source = "at rest the floor carries its weight: 0.02 9.81 = 0.1962 N"
at_least = 0.1961
at_most = 0.1963
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.body("beads", KEYS, |table| {
        let bead = Bead {
            mass: table.number("mass")?,
            height: table.number("height")?,
        };
        Ok(move || bead.clone())
    });
    let options = SceneOptions {
        registry,
        ..SceneOptions::default()
    };
    let scene = Scene::parse("beads", SCENE, &options)?;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
    assert!(
        outcome.summary.is_as_expected(),
        "{:?}",
        outcome.summary.expectations
    );
    Ok(())
}
