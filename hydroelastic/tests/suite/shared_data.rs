//! Data outside the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A file or folder of `../shared`, next to the repository. Where it is missing, says so on standard error, past the test harness's
/// capture of `eprintln!`, so that CI can count skipped tests.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(path);
    if found.exists() {
        return Some(found);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or(module_path!());
    writeln!(std::io::stderr(), "SKIPPED {test}: ../shared is missing").expect("standard error");
    None
}
