//! A time stepper of one's own, chosen by name: every time step is taken in a number of equal parts.

use std::error::Error;

use pliant::Registry;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, Scene, SceneOptions, ValueKind};
use pliant_contact_sap::ConvexContactSolver;
use pliant_coupling::{State, StepError, StepReport, Stepper, StrongImplicit, World};

type Solver = Box<dyn ConvexContactSolver>;

struct InParts {
    parts: u64,
    stepper: StrongImplicit<Solver>,
    start: State,
}

impl Stepper for InParts {
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        next.clone_from(state);
        for _ in 0..self.parts {
            std::mem::swap(&mut self.start, next);
            let part_s = time_step_s / self.parts as f64;
            self.stepper
                .step_into(world, &self.start, part_s, next, report)?;
        }
        Ok(())
    }
}

const KEYS: &[Key] = &[Key {
    name: "parts",
    value: ValueKind::Integer(1, 1000),
    unit: "",
    default: "2",
    about: "of each time step",
}];

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.stepper("in-parts", KEYS, |table| {
        let parts = table.integer("parts")?;
        Ok(move |solver: Solver| {
            Ok(InParts {
                parts,
                stepper: StrongImplicit::new(solver),
                start: State::default(),
            })
        })
    });
    let in_parts = SceneOptions {
        parameters: vec![
            "simulation.stepper=in-parts".parse()?,
            "simulation.parts=4".parse()?,
        ],
        time_step_s: Some(0.004),
        registry,
        ..SceneOptions::default()
    };
    let in_steps = SceneOptions {
        time_step_s: Some(0.001),
        ..SceneOptions::default()
    };
    let position = |options| -> Result<f64, Box<dyn Error>> {
        let scene = Scene::load("box-on-incline", options)?;
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
        outcome.state.bodies[0]
            .q
            .last()
            .copied()
            .ok_or("no body".into())
    };
    // Four parts of a time step are four time steps of a quarter of its length.
    assert!((position(&in_parts)? - position(&in_steps)?).abs() < 1e-9);
    Ok(())
}
