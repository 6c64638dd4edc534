//! `pliant compare`.

use crate::registry::Registry;
use crate::runner::{Outcome, RunLength, RunOptions, RunSummary};
use crate::scene::{ParameterOverride, Scene, SceneOptions};
use clap::Args;

use super::output::{number, print, table};
use super::run::{parse_time_step, run_with_progress, use_threads};
use super::{Ending, Failure};

#[derive(Args)]
pub(super) struct CompareArguments {
    /// A bundled scene or the path of a scene file
    scene: String,
    /// Solvers, separated by commas [default: the scene's]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    solver: Vec<String>,
    /// Time steppers, separated by commas [default: the scene's]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    stepper: Vec<String>,
    /// Time steps in s, separated by commas [default: the scene's]
    #[arg(long, value_name = "X,Y", value_delimiter = ',', value_parser = parse_time_step)]
    time_step: Vec<f64>,
    /// Value of a parameter; may be repeated
    #[arg(long = "set", value_name = "K=V")]
    parameters: Vec<ParameterOverride>,
    /// Run the scene's full length instead of its smoke length
    #[arg(long)]
    full: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(super) fn main(arguments: &CompareArguments, registry: &Registry) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    let length = if arguments.full {
        RunLength::Full
    } else {
        RunLength::Smoke
    };
    let solvers: Vec<Option<String>> = or_the_scenes(&arguments.solver);
    let steppers: Vec<Option<String>> = or_the_scenes(&arguments.stepper);
    let stepper_and_solver =
        (steppers.iter()).flat_map(|stepper| solvers.iter().map(move |solver| (stepper, solver)));
    let steps: Vec<Option<f64>> = or_the_scenes(&arguments.time_step);
    let mut rows = Vec::new();
    let mut observables = Vec::new();
    for (stepper, solver) in stepper_and_solver {
        for time_step_s in &steps {
            let mut parameters = arguments.parameters.clone();
            if let Some(name) = stepper {
                parameters.push(format!("simulation.stepper={name}").parse()?);
            }
            let options = SceneOptions {
                parameters,
                time_step_s: *time_step_s,
                solver: solver.clone(),
                registry: registry.clone(),
            };
            let scene = Scene::load(&arguments.scene, &options)?;
            let names = [scene.stepper.name(), scene.solver.name()];
            let dt = scene.simulation.time_step_s;
            eprintln!("{} with {}, {}, {dt} s", scene.name(), names[0], names[1]);
            let summary = run_with_progress(
                &scene,
                &RunOptions {
                    length,
                    ..RunOptions::default()
                },
            )?
            .summary;
            observables = summary
                .expectations
                .iter()
                .map(|verdict| format!("{} {}", verdict.observable, verdict.measured))
                .collect();
            rows.push(row(names, dt, &summary));
        }
    }
    let mut header = vec![
        "stepper",
        "solver",
        "step s",
        "x real time",
        "iterations",
        "at most",
        "unconverged",
        "contacts",
        "met",
    ];
    header.extend(observables.iter().map(String::as_str));
    print(&table(&header, &rows, &[]))?;
    Ok(Ending::AsExpected)
}

/// One `None` if nothing is requested: the scene's own.
fn or_the_scenes<T: Clone>(asked: &[T]) -> Vec<Option<T>> {
    if asked.is_empty() {
        return vec![None];
    }
    asked.iter().cloned().map(Some).collect()
}

fn row(names: [&str; 2], time_step_s: f64, summary: &RunSummary) -> Vec<String> {
    let count = |outcome| {
        summary
            .expectations
            .iter()
            .filter(|v| v.outcome == outcome)
            .count()
    };
    let (met, failed) = (count(Outcome::Met), count(Outcome::Failed));
    let mut row = vec![
        names[0].to_owned(),
        names[1].to_owned(),
        number(time_step_s),
        number(summary.realtime_rate),
        number(summary.iterations_mean),
        summary.iterations_max.to_string(),
        summary.unconverged_steps.to_string(),
        number(summary.contacts_mean),
        format!("{met} of {}", met + failed),
    ];
    row.extend(
        summary
            .expectations
            .iter()
            .map(|v| v.found.map_or("none".into(), number)),
    );
    row
}
