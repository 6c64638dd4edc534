//! The papers' tables, and what `compare.py` and `compare_fem.py` call: one command line for all that is timed.
#![allow(
    clippy::print_stdout,
    reason = "tables and answers to a script are its output"
)]

mod fem;
mod mpm;
mod rigid;
mod rods;

use clap::{Parser, Subcommand, ValueEnum};
use pliant::runner::RunLength;
use pliant_bench::{MeasuredRow, Paper};

/// Speed of pliant, beside its peers and beside what papers print.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A paper's examples on one thread, beside the rates that it prints.
    Table {
        /// Whose.
        paper: PaperName,
        /// Rows by name; all of them unless given.
        rows: Vec<String>,
        /// The scenes' full lengths, with all of their checks.
        #[arg(long)]
        full: bool,
        /// Simulated time of every row in place of its own, s.
        #[arg(long, conflicts_with = "full")]
        seconds: Option<f64>,
    },
    /// Rigid bodies and robots: scenes that every engine runs.
    #[command(subcommand)]
    Rigid(rigid::Command),
    /// Soft bodies: scenes that Drake runs, too, and how time grows.
    #[command(subcommand)]
    Fem(fem::Command),
    /// Filaments: how time grows.
    #[command(subcommand)]
    Rods(rods::Command),
    /// Material points: transfers alone, cost by their number, two threads.
    #[command(subcommand)]
    Mpm(mpm::Command),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PaperName {
    /// Han, Masterjohn and Castro (2023): finite elements.
    Fem,
    /// Zong, Jiang and Han (2024): material points.
    Mpm,
    /// Li and Chou (2025): filaments.
    Rods,
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
                PaperName::Fem => Paper::Fem,
                PaperName::Mpm => Paper::Mpm,
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
        Command::Fem(command) => command.run(),
        Command::Rods(command) => command.run(),
        Command::Mpm(command) => command.run(),
    }
}

/// Runs the rows whose names are given, or all, and prints each as it is done.
fn table(
    paper: Paper,
    names: &[String],
    length: RunLength,
) -> Result<(), Box<dyn std::error::Error>> {
    let rows = paper.rows_named(names)?;
    println!("{}", MeasuredRow::HEADING);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut sound = true;
    for row in rows {
        let measured = pool.install(|| row.measure(length))?;
        sound &= measured.result.is_sound();
        println!("{}", measured.line());
    }
    match sound {
        true => Ok(()),
        false => Err("a scene did not go as it expects: its rate does not count".into()),
    }
}
