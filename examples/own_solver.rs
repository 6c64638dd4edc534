//! A solver of one's own, chosen by name in a scene file, with the whole command line of `pliant`.
//!
//! ```text
//! cargo run --example own_solver
//! cargo run --example own_solver -- run box-stack --solver two-stage
//! ```

use std::error::Error;
use std::process::ExitCode;

use pliant::Registry;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, Scene, SceneOptions, ValueKind};
use pliant_contact_sap::{
    ContactProblem, ConvexContactSolver, Newton, NewtonSettings, QuasiNewton, QuasiNewtonSettings,
    Solution, SolveError, SolveMode, SolveReport, StopCriteria,
};

/// Quasi-Newton to a loose tolerance, then Newton from there.
struct TwoStage {
    first: QuasiNewton,
    second: Newton,
}

impl ConvexContactSolver for TwoStage {
    fn solve_for(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let mut start = Solution::default();
        let first = self.first.solve(problem, guess, &mut start)?;
        let second = self.second.solve_for(problem, &start.velocity, mode, out)?;
        Ok(SolveReport {
            iterations: first.iterations + second.iterations,
            ..second
        })
    }

    fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        self.second.hessian_solve(problem, at, x)
    }
}

const KEYS: &[Key] = &[Key {
    name: "first_tolerance",
    value: ValueKind::Positive,
    unit: "",
    default: "0.01",
    about: "relative tolerance of the first stage",
}];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.solver("two-stage", KEYS, |table| {
        let relative_tolerance = table.number("first_tolerance")?;
        Ok(move |stop: StopCriteria| TwoStage {
            first: QuasiNewton::new(QuasiNewtonSettings {
                stop: StopCriteria {
                    relative_tolerance,
                    ..stop
                },
                ..QuasiNewtonSettings::default()
            }),
            second: Newton::new(NewtonSettings {
                stop,
                ..NewtonSettings::default()
            }),
        })
    });
    if std::env::args().len() > 1 {
        return Ok(pliant::cli::main(&registry));
    }
    let options = SceneOptions {
        parameters: vec![
            "solver.name=two-stage".parse()?,
            "solver.first_tolerance=0.1".parse()?,
        ],
        registry,
        ..SceneOptions::default()
    };
    let scene = Scene::load("box-on-incline", &options)?;
    let summary = run(&scene, &RunOptions::default(), &mut |_| {})?.summary;
    eprintln!(
        "{}: {} iterations on average",
        scene.solver.name(),
        summary.iterations_mean
    );
    assert!(summary.is_as_expected() && summary.unconverged_steps == 0);
    Ok(ExitCode::SUCCESS)
}
