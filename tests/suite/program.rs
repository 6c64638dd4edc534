//! The program `pliant` in tests, and folders for what it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program with these arguments, to be started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
    command.args(arguments);
    command
}

/// Runs the program to its end.
pub(crate) fn pliant(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// A folder of the test's own, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().expect("test paths are UTF-8")
}
