//! Chromium for tests: what a page reports of itself.

use std::path::Path;

use pliant::browser::{Browser, OpenPage, PictureFormat, Window};
use serde_json::Value;

/// A Chromium, or a note on stderr that there is none.
pub(crate) fn browser() -> Option<Browser> {
    let found = Browser::find();
    if found.is_none() {
        eprintln!("skipped: no Chromium on the PATH and PLIANT_CHROMIUM is not set");
    }
    found
}

/// Opens `page` with `settings` after its #, in a window of 960 × 640 CSS pixels with pictures of half as many.
#[track_caller]
pub(crate) fn open(browser: &Browser, page: &Path, settings: &str) -> OpenPage {
    let window = Window {
        size: [960, 640],
        scale: 0.5,
    };
    let page = browser.open(page, settings, window);
    page.unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a JPEG picture of a page to `file`.
#[track_caller]
pub(crate) fn screenshot(page: &mut OpenPage, file: &Path) {
    let picture = page.picture(PictureFormat::Jpeg);
    let picture = picture.unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(file, picture).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// Checks that nothing in the page complained.
#[track_caller]
pub(crate) fn check_silence(page: &mut OpenPage) {
    let complaints: Vec<&String> = (page.complaints().iter())
        .filter(|text| !text.contains("GL Driver Message (OpenGL, Performance"))
        .collect();
    assert!(complaints.is_empty(), "the page complains: {complaints:?}");
    let error = page.attribute("data-error");
    assert_eq!(error.unwrap_or_else(|error| panic!("{error}")), None);
}

/// Opens the page and returns its report on itself, after checking that nothing complained.
#[track_caller]
pub(crate) fn report(browser: &Browser, page: &Path) -> Value {
    let mut page = open(browser, page, "selftest&theme=light");
    check_silence(&mut page);
    let report = page.attribute("data-report");
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&report.expect("a report")).expect("the report is JSON")
}
