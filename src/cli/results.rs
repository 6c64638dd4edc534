//! `pliant results`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::registry::Registry;
use crate::runner::{Outcome, RunLength, RunOptions, RunSummary};
use crate::scene::{Scene, bundled};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::output::{number, print, say};
use super::run::{allowed, run_with_progress, use_threads};
use super::{Ending, Failure, with};

#[derive(Args)]
pub(super) struct ResultsArguments {
    /// Only this scene; may be repeated
    #[arg(long, value_name = "NAME")]
    scene: Vec<String>,
    /// Folder for the results
    #[arg(long, value_name = "DIR", default_value = "docs/results")]
    out: PathBuf,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

/// The machine of the measurement.
#[derive(Clone, Serialize, Deserialize)]
struct Machine {
    processor: String,
    threads: usize,
    system: String,
    commit: String,
    version: String,
}

/// A file of the folder.
#[derive(Serialize, Deserialize)]
struct SceneResult {
    machine: Machine,
    run: RunSummary,
}

pub(super) fn main(arguments: &ResultsArguments, registry: &Registry) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    let machine = Machine {
        processor: processor(),
        threads: rayon::current_num_threads(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        commit: commit(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    std::fs::create_dir_all(&arguments.out).map_err(|error| named(&arguments.out, &error))?;
    let mut ending = Ending::AsExpected;
    let asked: Vec<&str> = if arguments.scene.is_empty() {
        bundled::SCENES.iter().map(|(name, _)| *name).collect()
    } else {
        arguments.scene.iter().map(String::as_str).collect()
    };
    for name in asked {
        let scene = Scene::load(name, &with(registry))?;
        say!("{}: {} s", scene.name(), scene.simulation.full_s);
        let outcome = run_with_progress(
            &scene,
            &RunOptions {
                length: RunLength::Full,
                ..RunOptions::default()
            },
        )?;
        if !outcome.summary.is_as_expected() {
            ending = Ending::NotAsExpected;
        }
        let result = SceneResult {
            machine: machine.clone(),
            run: outcome.summary,
        };
        let path = arguments.out.join(format!("{}.json", scene.name()));
        write(
            &path,
            &format!("{}\n", serde_json::to_string_pretty(&result)?),
        )?;
    }
    let results = all_results(&arguments.out)?;
    write(&arguments.out.join("README.md"), &page(&results))?;
    print(&summary(&results, &arguments.out))?;
    Ok(ending)
}

/// The files of the folder, by name of the scene: those of this run and of earlier ones.
fn all_results(folder: &Path) -> Result<Vec<SceneResult>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| named(folder, &error))?;
    let mut results = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| named(folder, &error))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| named(&path, &error))?;
        let result: SceneResult = serde_json::from_str(&text)
            .map_err(|error| format!("{}: {error}; delete it to run it anew", path.display()))?;
        results.push(result);
    }
    results.sort_by(|a, b| a.run.scene.cmp(&b.run.scene));
    Ok(results)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| named(path, &error))?;
    say!("wrote {}", path.display());
    Ok(())
}

fn named(path: &Path, error: &std::io::Error) -> Failure {
    format!("{}: {error}", path.display()).into()
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = model
        .and_then(|rest| rest.split_once(':'))
        .map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| "unknown".into())
}

/// The commit of the working directory, with `+` if anything but results has changed since.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    match (
        git(&["rev-parse", "--short=12", "HEAD"]),
        git(&[
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            ":/",
            ":(top,exclude)docs/results",
        ]),
    ) {
        (Some(commit), Some(changes)) if changes.is_empty() => commit,
        (Some(commit), _) => format!("{commit}+"),
        (None, _) => "unknown".into(),
    }
}

/// Counts, and one line for each failed expectation.
fn summary(results: &[SceneResult], folder: &Path) -> String {
    let expectations: usize = results.iter().map(|r| r.run.expectations.len()).sum();
    let mut failed = Vec::new();
    let mut met = 0;
    for SceneResult { run, .. } in results {
        for verdict in &run.expectations {
            match verdict.outcome {
                Outcome::Met => met += 1,
                Outcome::Skipped => {}
                Outcome::Failed => failed.push(format!(
                    "failed: {}: {} {}: {}, allowed {}\n",
                    run.scene,
                    verdict.observable,
                    verdict.measured,
                    verdict.found.map_or("none".into(), number),
                    allowed(verdict)
                )),
            }
        }
    }
    let unconverged: u64 = results.iter().map(|r| r.run.unconverged_steps).sum();
    let steps: u64 = results.iter().map(|r| r.run.steps).sum();
    format!(
        "{}: {} scenes, {met} of {} expectations met\n{unconverged} of {steps} steps did not reach the solver's tolerance\n{}",
        folder.display(),
        results.len(),
        expectations,
        failed.concat()
    )
}

fn page(results: &[SceneResult]) -> String {
    let mut text = String::from(
        "# Results of the bundled scenes in full length\n\nWritten by `pliant results`. The files beside this page name processor and system.\n\n",
    );
    text += "| scene | commit | threads | simulated s | x real time | velocities | contacts mean / most | iterations mean / most | linear systems | unconverged steps | expectations met |\n";
    text += "|---|---|---:|---:|---:|---:|---:|---:|---|---:|---:|\n";
    for SceneResult { machine, run: s } in results {
        let met = s
            .expectations
            .iter()
            .filter(|v| v.outcome == Outcome::Met)
            .count();
        text += &format!(
            "| `{}` | {} | {} | {} | {} | {} | {} / {} | {} / {} | {} | {} | {met} of {} |\n",
            s.scene,
            machine.commit,
            machine.threads,
            number(s.simulated_s),
            number(s.realtime_rate),
            s.dofs,
            number(s.contacts_mean),
            s.contacts_max,
            number(s.iterations_mean),
            s.iterations_max,
            s.linear_systems,
            s.unconverged_steps,
            s.expectations.len()
        );
    }
    text += "\n## Expectations\n\n| scene | observable | measured | found | allowed | | source |\n|---|---|---|---:|---|---|---|\n";
    for SceneResult { run: s, .. } in results {
        for v in &s.expectations {
            let outcome = match v.outcome {
                Outcome::Met => "met",
                Outcome::Failed => "**failed**",
                Outcome::Skipped => "skipped",
            };
            text += &format!(
                "| `{}` | `{}` | {} | {} | {} | {outcome} | {} |\n",
                s.scene,
                v.observable,
                v.measured,
                v.found.map_or("none".into(), number),
                allowed(v),
                v.source.replace('|', "\\|").replace('\n', " ")
            );
        }
    }
    text
}
