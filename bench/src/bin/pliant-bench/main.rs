//! Command line of the benchmarks: the papers' tables, and the commands for `compare.py` and `compare_fem.py`.
#![allow(
    clippy::print_stdout,
    reason = "tables and answers to a script are its output"
)]

mod fem;
mod mpm;
mod rigid;
mod rods;

use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use pliant::runner::RunLength;
use pliant_bench::penalty_sweep::{FRICTIONS, STIFFNESSES, SweepCell};
use pliant_bench::penalty_table::{
    Limits, MeasuredPenaltyRow, PenaltyRow, growth_rows, rows_named,
};
use pliant_bench::{MeasuredRow, Paper};

/// Speed of pliant, beside other engines and published numbers.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A paper's examples on one thread, beside the published rates.
    Table {
        /// The paper.
        paper: PaperName,
        /// Names of rows; all by default.
        rows: Vec<String>,
        /// Full length of the scenes, with all expectations.
        #[arg(long)]
        full: bool,
        /// Simulated time, s; each row has a default.
        #[arg(long, conflicts_with = "full")]
        seconds: Option<f64>,
    },
    /// Rigid bodies and robots, beside other engines.
    #[command(subcommand)]
    Rigid(rigid::Command),
    /// Penalty forces: growth of the time per step with contacts and with particles.
    PenaltyGrowth,
    /// Tori on penalty forces, over friction and stiffness: a table of stable cells.
    PenaltySweep {
        /// Simulated time of each cell, s.
        #[arg(long, default_value_t = 0.5)]
        seconds: f64,
    },
    /// Finite elements, beside Drake, and growth with size.
    #[command(subcommand)]
    Fem(fem::Command),
    /// Rods: growth with size.
    #[command(subcommand)]
    Rods(rods::Command),
    /// Material points: transfers, threads.
    #[command(subcommand)]
    Mpm(mpm::Command),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PaperName {
    /// Han, Masterjohn and Castro (2023): finite elements.
    Fem,
    /// Zong, Jiang and Han (2024): material points.
    Mpm,
    /// Yu, Du, Zong, Castro, Jiang and Han (2025): explicit substeps of material points.
    Async,
    /// Li and Chou (2025): rods.
    Rods,
    /// Ding and Schroeder (2020): penalty forces, seconds a frame.
    Penalty,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Arguments::parse().command {
        Command::Table {
            paper,
            rows,
            full,
            seconds,
        } => {
            let paper = match paper {
                PaperName::Penalty => return penalty_rows(&rows_named(&rows)?, seconds),
                PaperName::Fem => Paper::Fem,
                PaperName::Mpm => Paper::Mpm,
                PaperName::Async => Paper::Asynchronous,
                PaperName::Rods => Paper::Rods,
            };
            let length = match seconds {
                Some(seconds) => RunLength::Until(seconds),
                None if full => RunLength::Full,
                None => RunLength::Smoke,
            };
            table(paper, &rows, length)
        }
        Command::Rigid(command) => command.run(),
        Command::PenaltyGrowth => penalty_rows(&growth_rows(), None),
        Command::PenaltySweep { seconds } => penalty_sweep(seconds),
        Command::Fem(command) => command.run(),
        Command::Rods(command) => command.run(),
        Command::Mpm(command) => command.run(),
    }
}

/// Runs the named rows, or all, and prints each when it is finished; then where the time of their steps went.
fn table(
    paper: Paper,
    names: &[String],
    length: RunLength,
) -> Result<(), Box<dyn std::error::Error>> {
    let rows = paper.rows_named(names)?;
    println!("{}", MeasuredRow::HEADING);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut sound = true;
    let mut splits = Vec::new();
    for row in rows {
        let measured = pool.install(|| row.measure(length))?;
        sound &= measured.result.is_sound();
        println!("{}", measured.line());
        splits.extend(measured.split());
    }
    if !splits.is_empty() {
        println!("\n{}\n{}", MeasuredRow::SPLIT_HEADING, splits.join("\n"));
    }
    match sound {
        true => Ok(()),
        false => Err("a scene did not meet its expectations; its rate does not count".into()),
    }
}

/// Wall time after which a row takes no more steps.
const PENALTY_ROW_MAX: Duration = Duration::from_secs(60);

/// Steps rows on penalty forces and prints each when it is finished.
fn penalty_rows(
    rows: &[PenaltyRow],
    seconds: Option<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits {
        simulated_s: seconds,
        wall: PENALTY_ROW_MAX,
    };
    println!("{}", MeasuredPenaltyRow::HEADING);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for row in rows {
        let measured = pool.install(|| row.measure(&limits))?;
        println!("{}", measured.line());
    }
    Ok(())
}

/// Runs the tori for all pairs of friction and stiffness, and prints a row for each friction.
fn penalty_sweep(seconds: f64) -> Result<(), Box<dyn std::error::Error>> {
    let heads = STIFFNESSES.map(|k| format!("k = {k}"));
    println!("| μ | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(STIFFNESSES.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut is_stable = true;
    for friction in FRICTIONS {
        let mut cells = Vec::with_capacity(STIFFNESSES.len());
        for stiffness in STIFFNESSES {
            let cell = pool.install(|| SweepCell::run(friction, stiffness, seconds))?;
            is_stable &= cell.passes();
            cells.push(cell.text());
        }
        println!("| {friction} | {} |", cells.join(" | "));
    }
    match is_stable {
        true => Ok(()),
        false => Err("a cell is not stable".into()),
    }
}
