//! Rods: growth of the time per step with the number of rods and of nodes.

use clap::Subcommand;
use pliant::runner::RunLength;
use pliant_bench::{BenchError, SceneRun};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Times chains of rings of growing length and refinement, in contact and on one thread.
    Growth,
}

/// A chain of rings: its settings and its relative size.
const fn chain(settings: &'static [&'static str]) -> SceneRun {
    SceneRun::bundled("rings", "ring-chain", settings, 0.2)
}

const LONGER: [(f64, SceneRun); 4] = [
    (12.0, chain(&["rings=12"])),
    (25.0, chain(&["rings=25"])),
    (50.0, chain(&["rings=50"])),
    (100.0, chain(&["rings=100"])),
];
const FINER: [(f64, SceneRun); 4] = [
    (20.0, chain(&["rings=12"])),
    (40.0, chain(&["rings=12", "edges=40"])),
    (80.0, chain(&["rings=12", "edges=80"])),
    (160.0, chain(&["rings=12", "edges=160"])),
];

impl Command {
    pub(crate) fn run(self) -> Result<(), Box<dyn std::error::Error>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        match self {
            Self::Growth => pool.install(|| {
                growth("rings of 20 edges", &LONGER)?;
                growth("edges of each of 12 rings", &FINER)
            })?,
        }
        Ok(())
    }
}

/// One row per run, and the slope of a linear regression of the logarithms.
fn growth(what: &str, runs: &[(f64, SceneRun)]) -> Result<(), BenchError> {
    println!(
        "{what:>26} {:>8} {:>10} {:>11} {:>9}",
        "DoFs", "ms a step", "iterations", "contacts"
    );
    let mut points = Vec::new();
    for (size, run) in runs {
        let result = run.run(RunLength::Smoke)?;
        let s = &result.summary;
        let seconds = result.best_s() / s.steps.max(1) as f64;
        println!(
            "{size:>26} {:>8} {:>10.3} {:>11.2} {:>9.1}",
            s.dofs,
            1e3 * seconds,
            s.iterations_mean,
            s.contacts_mean
        );
        points.push((size.ln(), seconds.ln()));
    }
    let n = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let (xy, xx) = points.iter().fold((0.0, 0.0), |sum, p| {
        (sum.0 + (p.0 - x) * (p.1 - y), sum.1 + (p.0 - x) * (p.0 - x))
    });
    println!("time a step grows to the power of {:.2}\n", xy / xx);
    Ok(())
}
