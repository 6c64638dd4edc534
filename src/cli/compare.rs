//! `pliant compare`.

use crate::registry::Registry;
use crate::runner::{Outcome, RunLength, RunOptions, RunSummary};
use crate::scene::{ParameterOverride, Scene, SceneOptions};
use clap::Args;

use super::output::{number, print, say, table};
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
    /// Values of a parameter or a key, separated by commas; may be repeated
    #[arg(long = "vary", value_name = "K=A,B")]
    varied: Vec<ParameterOverride>,
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

/// One run: what distinguishes it from the others.
#[derive(Clone, Default)]
struct Case {
    parameters: Vec<ParameterOverride>,
    solver: Option<String>,
    time_step_s: Option<f64>,
    /// Values of `--vary`.
    varied: Vec<String>,
}

pub(super) fn main(arguments: &CompareArguments, registry: &Registry) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    let length = if arguments.full {
        RunLength::Full
    } else {
        RunLength::Smoke
    };
    let (mut rows, mut observables) = (Vec::new(), Vec::new());
    for case in cases(arguments)? {
        let options = SceneOptions {
            parameters: case.parameters,
            time_step_s: case.time_step_s,
            solver: case.solver,
            registry: registry.clone(),
        };
        let scene = Scene::load(&arguments.scene, &options)?;
        let names = [scene.stepper.name(), scene.solver.name()];
        let dt = scene.simulation.time_step_s;
        let varied = case.varied.iter().map(|value| format!(", {value}"));
        say!(
            "{} with {}, {}, {dt} s{}",
            scene.name(),
            names[0],
            names[1],
            varied.collect::<String>()
        );
        let mut row = case.varied;
        row.extend([names[0].to_owned(), names[1].to_owned(), number(dt)]);
        let options = RunOptions {
            length,
            ..RunOptions::default()
        };
        match run_with_progress(&scene, &options) {
            Ok(outcome) => {
                let verdicts = &outcome.summary.expectations;
                observables = verdicts
                    .iter()
                    .map(|verdict| format!("{} {}", verdict.observable, verdict.measured))
                    .collect();
                row.extend(results(&outcome.summary));
            }
            Err(failure) => {
                say!("{failure}");
                row.push("failed".into());
            }
        }
        rows.push(row);
    }
    let varied = arguments.varied.iter().map(|key| key.name.as_str());
    let mut header: Vec<&str> = varied.collect();
    header.extend(["stepper", "solver", "step s"]);
    header.extend(RESULTS);
    header.extend(observables.iter().map(String::as_str));
    for row in &mut rows {
        row.resize(header.len(), "-".into());
    }
    print(&table(&header, &rows, &[]))?;
    Ok(Ending::AsExpected)
}

/// Every combination of the requested values, the last option varying fastest.
fn cases(arguments: &CompareArguments) -> Result<Vec<Case>, Failure> {
    let mut cases = vec![Case {
        parameters: arguments.parameters.clone(),
        ..Case::default()
    }];
    for key in &arguments.varied {
        let values: Result<Vec<ParameterOverride>, _> = (key.value.split(','))
            .map(|value| format!("{}={value}", key.name).parse())
            .collect();
        cases = combined(cases, &values?, |case, value| {
            case.varied.push(value.value.clone());
            case.parameters.push(value.clone());
        });
    }
    cases = combined(cases, &arguments.stepper, |case, name| {
        case.parameters.push(ParameterOverride {
            name: "simulation.stepper".into(),
            value: name.clone(),
        });
    });
    cases = combined(cases, &arguments.solver, |case, name| {
        case.solver = Some(name.clone());
    });
    Ok(combined(cases, &arguments.time_step, |case, step| {
        case.time_step_s = Some(*step);
    }))
}

/// Each case with each of the values; the cases themselves if there are no values.
fn combined<T>(cases: Vec<Case>, values: &[T], set: impl Fn(&mut Case, &T)) -> Vec<Case> {
    if values.is_empty() {
        return cases;
    }
    let each = cases
        .iter()
        .flat_map(|case| values.iter().map(move |value| (case, value)));
    each.map(|(case, value)| {
        let mut case = case.clone();
        set(&mut case, value);
        case
    })
    .collect()
}

/// Headings of [`results`].
const RESULTS: [&str; 6] = [
    "x real time",
    "iterations",
    "at most",
    "unconverged",
    "contacts",
    "met",
];

/// Speed, iterations and expectations of a run, and what its expectations measured.
fn results(summary: &RunSummary) -> Vec<String> {
    let count = |outcome| {
        let verdicts = summary.expectations.iter();
        verdicts.filter(|v| v.outcome == outcome).count()
    };
    let (met, failed) = (count(Outcome::Met), count(Outcome::Failed));
    let (iterations, contacts) = match &summary.substeps {
        Some(substeps) => (substeps.iterations_mean, substeps.contacts_mean),
        None => (summary.iterations_mean, summary.contacts_mean),
    };
    let mut results = vec![
        number(summary.realtime_rate),
        number(iterations),
        summary.iterations_max.to_string(),
        summary.unconverged_steps.to_string(),
        number(contacts),
        format!("{met} of {}", met + failed),
    ];
    let found = |found: Option<f64>| found.map_or("none".into(), number);
    results.extend(summary.expectations.iter().map(|v| found(v.found)));
    results
}
