//! The command line: `pliant run SCENE` and what belongs to it.

use std::process::ExitCode;

fn main() -> ExitCode {
    pliant::cli::main(&pliant::Registry::default())
}
