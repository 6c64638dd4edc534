//! The command line of `pliant`, and of programs that add parts of their own to it.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 an expectation failed, 2 the command could not
//! be carried out.

mod check;
mod compare;
mod devices;
mod interrupt;
mod list;
mod live;
mod notes;
mod output;
mod packages;
mod render;
mod results;
mod run;
#[cfg(feature = "validate")]
mod validate;

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::registry::Registry;
use crate::scene::SceneOptions;

/// Convex frictional contact between rigid robots and deformable bodies.
#[derive(Parser)]
#[command(name = "pliant", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run a scene; write a replay and tables, and check its expectations
    Run(run::RunArguments),
    /// Read a scene, robot or mesh and report its content
    Check(check::CheckArguments),
    /// List the bundled scenes
    Scenes(list::ScenesArguments),
    /// List the GPUs that the asynchronous stepper may run on
    Devices,
    /// Compare cases with known answers against those answers
    #[cfg(feature = "validate")]
    Validate(validate::ValidateArguments),
    /// Draw a scene or a replay at one time into a PNG file
    Render(render::RenderArguments),
    /// Run a scene with several solvers and time steps, and print a table
    Compare(compare::CompareArguments),
    /// Run every bundled scene in full and write the results into a folder
    Results(results::ResultsArguments),
}

/// Outcome of a command that was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// All expectations are met.
    AsExpected,
    /// An expectation failed.
    NotAsExpected,
    /// A run was ended by a signal.
    Interrupted,
}

/// Why a command could not be carried out.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Reads the arguments of the program and carries out their command; scenes may name the parts of `registry`.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     let registry = pliant::Registry::default();
///     // Register parts here.
///     pliant::cli::main(&registry)
/// }
/// ```
pub fn main(registry: &Registry) -> ExitCode {
    let matches = command(registry).get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match arguments.task {
        Task::Run(arguments) => run::main(&arguments, registry),
        Task::Check(arguments) => check::main(&arguments, registry),
        Task::Scenes(arguments) => list::main(&arguments, registry),
        Task::Devices => devices::main(),
        #[cfg(feature = "validate")]
        Task::Validate(arguments) => validate::main(&arguments),
        Task::Compare(arguments) => compare::main(&arguments, registry),
        Task::Render(arguments) => render::main(&arguments, registry),
        Task::Results(arguments) => results::main(&arguments, registry),
    };
    match result {
        Ok(Ending::AsExpected) => ExitCode::SUCCESS,
        Ok(Ending::NotAsExpected) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(interrupt::EXIT_CODE),
        Err(failure) => {
            output::say!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// The command line, with the registered solvers as values of `--solver`.
fn command(registry: &Registry) -> Command {
    let solvers = || {
        let names = registry.solvers().names();
        PossibleValuesParser::new(names.into_iter().map(str::to_owned))
    };
    let with_solvers =
        |command: Command| command.mut_arg("solver", |argument| argument.value_parser(solvers()));
    Arguments::command()
        .mut_subcommand("run", with_solvers)
        .mut_subcommand("compare", with_solvers)
        .mut_subcommand("render", with_solvers)
}

/// Options for reading a scene with the parts of `registry`.
fn with(registry: &Registry) -> SceneOptions {
    SceneOptions {
        registry: registry.clone(),
        ..SceneOptions::default()
    }
}
