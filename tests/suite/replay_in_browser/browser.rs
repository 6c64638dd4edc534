//! Chromium for tests: what a page reports of itself.

use std::path::Path;

use pliant::browser::{Browser, Picture};
use serde_json::Value;

/// A Chromium, or a note on stderr that there is none.
pub(crate) fn browser() -> Option<Browser> {
    let found = Browser::find();
    if found.is_none() {
        eprintln!("skipped: no Chromium on the PATH and PLIANT_CHROMIUM is not set");
    }
    found
}

/// Writes a picture of `page`, 480 × 320 pixels, with `settings` after its #, to `file`, whose ending names the format.
pub(crate) fn screenshot(browser: &Browser, page: &Path, settings: &str, file: &Path) {
    let picture = Picture {
        window: [960, 640],
        scale: 0.5,
        file: file.into(),
    };
    let visit = browser.visit(page, settings, Some(&picture));
    visit.unwrap_or_else(|error| panic!("{error}"));
}

/// Opens the page and returns its report on itself, after checking that nothing complained.
#[track_caller]
pub(crate) fn report(browser: &Browser, page: &Path) -> Value {
    let visit = browser
        .visit(page, "selftest&theme=light", None)
        .unwrap_or_else(|error| panic!("{error}"));
    let complaints: Vec<&str> = visit
        .log
        .lines()
        .filter(|line| {
            line.contains("CONSOLE") && !line.contains("GL Driver Message (OpenGL, Performance")
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "the console is not empty:\n{}",
        complaints.join("\n")
    );
    assert_eq!(visit.attribute("data-error"), None);
    let report = visit
        .attribute("data-report")
        .unwrap_or_else(|| panic!("no report; log:\n{}", visit.log));
    serde_json::from_str(&report).expect("the report is JSON")
}
