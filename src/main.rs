//! The command line: `pliant run SCENE` and what belongs to it.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
