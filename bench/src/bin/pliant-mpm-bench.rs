//! Material points, timed beside the printed times of Zong, Jiang and Han (2024).
#![allow(clippy::print_stdout, reason = "tables are its output")]

use clap::{Parser, Subcommand};
use pliant::runner::RunLength;
use pliant_bench::pick;
use pliant_bench::points::paper_rows;

/// Material points, timed.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The examples of Zong, Jiang and Han (2024) on one thread, beside the times that they print.
    Table {
        /// Rows by name; all of them unless given.
        rows: Vec<String>,
        /// The scenes' full lengths, with all of their checks.
        #[arg(long)]
        full: bool,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Command::Table { rows, full } = Arguments::parse().command;
    let length = if full {
        RunLength::Full
    } else {
        RunLength::Smoke
    };
    table(&rows, length)
}

/// Runs the rows whose names are given, or all, and prints each as it is done.
fn table(names: &[String], length: RunLength) -> Result<(), Box<dyn std::error::Error>> {
    let rows = pick(paper_rows(), names, |row| row.run)?;
    println!(
        "| scene | h (paper), m | particles (paper) | n_v (paper) | steps | contacts mean, most (paper) | iterations mean, most | checks met | ms a step, wall | ms a step, processor | paper | times faster | target |\n|---|---|---|---|---:|---|---|---|---:|---:|---:|---:|---:|"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut sound = true;
    for row in rows {
        let spacing = row.run.load()?.soft.grid.map(|grid| grid.spacing);
        let particles = row.run.n_particles()?;
        let result = pool.install(|| row.run.run(length))?;
        sound &= result.is_sound();
        let s = &result.summary;
        let step_s = result.best_s() / s.steps as f64;
        println!(
            "| {} | {} ({}) | {particles} ({}) | {:.0} ({}) | {} | {:.1}, {} ({}, {}) | {:.1}, {} | {} | {:.1} | {:.1} | {:.0} | {:.1} | {} |",
            row.run.name,
            spacing.unwrap_or_default(),
            row.spacing_m,
            row.particles,
            s.dofs_mean,
            row.velocities,
            s.steps,
            s.contacts_mean,
            s.contacts_max,
            row.contacts.0,
            row.contacts.1,
            s.iterations_mean,
            s.iterations_max,
            result.verdict(),
            1e3 * s.stages.step_s / s.steps as f64,
            1e3 * step_s,
            1e3 * row.step_s,
            row.step_s / step_s,
            row.target,
        );
    }
    if !sound {
        return Err("a scene did not go as it expects: its time does not count".into());
    }
    Ok(())
}
