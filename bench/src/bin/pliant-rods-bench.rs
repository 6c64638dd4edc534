//! Filaments, timed beside the printed rates of Li and Chou (2025).
#![allow(clippy::print_stdout, reason = "tables are its output")]

use clap::{Parser, Subcommand};
use pliant::runner::RunLength;
use pliant_bench::pick;
use pliant_bench::rods::paper_rows;

/// Filaments, timed.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The examples of Li and Chou (2025) on one thread, beside the rates that they print.
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
        "| scene | DoFs (paper) | Δt, ms | simulated | contacts mean, most (paper) | iterations mean, most | checks met | rate, wall | rate, processor | paper | times the paper's | target |\n|---|---|---:|---:|---|---|---|---:|---:|---:|---:|---:|"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut sound = true;
    for row in rows {
        let result = pool.install(|| row.run.run(length))?;
        sound &= result.is_sound();
        let s = &result.summary;
        let rate = s.simulated_s / result.best_s();
        println!(
            "| {} | {} ({}) | {} | {:.2} s | {:.1}, {} ({}, {}) | {:.1}, {} | {} | {:.4} | {rate:.4} | {} | {:.1} | {} |",
            row.run.name,
            s.dofs,
            row.dofs,
            1e3 * row.run.time_step_s.unwrap_or_default(),
            s.simulated_s,
            s.contacts_mean,
            s.contacts_max,
            row.contacts.0,
            row.contacts.1,
            s.iterations_mean,
            s.iterations_max,
            result.verdict(),
            s.simulated_s / s.stages.step_s.max(1e-9),
            row.rate,
            rate / row.rate,
            row.target,
        );
    }
    if !sound {
        return Err("a scene did not go as it expects: its rate does not count".into());
    }
    Ok(())
}
