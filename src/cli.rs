//! Commands. Results go to stdout, everything else to stderr.
//!
//! Exit codes: 0 all well, 1 something expected did not happen, 2 it could not be done.

mod check;
mod compare;
mod list;
mod output;
mod results;
mod run;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Convex frictional contact between rigid robots and soft things.
#[derive(Parser)]
#[command(name = "pliant", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene and leave a replay, tables, and whether it went as expected
    Run(run::RunArguments),
    /// Read a scene, robot or mesh and say what was found in it
    Check(check::CheckArguments),
    /// List the bundled scenes
    Scenes,
    /// Compare cases with known answers against those answers
    Validate(validate::ValidateArguments),
    /// Run a scene with several solvers and time steps, and print a table
    Compare(compare::CompareArguments),
    /// Run every bundled scene in full and write the results into a folder
    Results(results::ResultsArguments),
}

/// How a command ended, where nothing was wrong with how it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// All well.
    AsExpected,
    /// Something expected did not happen.
    NotAsExpected,
}

/// Anything that keeps a command from being done.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Reads the arguments, does it, and says how it ended.
pub(crate) fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::main(&arguments),
        Command::Check(arguments) => check::main(&arguments),
        Command::Scenes => list::main(),
        Command::Validate(arguments) => validate::main(&arguments),
        Command::Compare(arguments) => compare::main(&arguments),
        Command::Results(arguments) => results::main(&arguments),
    };
    match result {
        Ok(Ending::AsExpected) => ExitCode::SUCCESS,
        Ok(Ending::NotAsExpected) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}
