//! Headless Chromium: opens a page and returns what the page says of itself.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// SwiftShader draws a few pictures of a small page in about 5 s on one core; this leaves room for a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

pub(crate) fn browser() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PLIANT_CHROMIUM").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders)
        .flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| folder.join(name))
        })
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium on the PATH and PLIANT_CHROMIUM is not set");
    }
    found
}

struct Visit {
    page: String,
    log: String,
}

/// Opens `page` (with `settings` after its #) and returns the document as it stands after a while, and what the browser
/// logged. `options` are the browser's.
fn visit(browser: &Path, page: &Path, settings: &str, options: &[String]) -> Visit {
    let folder = page.parent().expect("a file in a folder");
    let name = page.file_stem().expect("a file name").to_string_lossy();
    let [document, log] = ["dom", "log"].map(|kind| folder.join(format!("{name}.{kind}")));
    let mut child = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ])
        .args([
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--window-size=960,720",
            "--virtual-time-budget=4000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join(format!("{name}.profile")).display()
        ))
        .args(options)
        .arg(format!("file://{}#{settings}", page.display()))
        .stdout(File::create(&document).expect("a file for the document"))
        .stderr(File::create(&log).expect("a file for the log"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", browser.display()));
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().expect("the browser's state") {
            Some(status) => break status,
            None if begin.elapsed() > PATIENCE => {
                child.kill().expect("the browser ends");
                panic!(
                    "{} did not finish {} within {PATIENCE:?}",
                    browser.display(),
                    page.display()
                );
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let read =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("readable")).into_owned();
    let visit = Visit {
        page: read(&document),
        log: read(&log),
    };
    assert!(
        status.success(),
        "{} ended with {status}:\n{}",
        browser.display(),
        visit.log
    );
    visit
}

/// Writes a picture of `page`, 480 × 320 pixels, with `settings` after its #, to `file`, whose ending names the format.
pub(crate) fn screenshot(browser: &Path, page: &Path, settings: &str, file: &Path) {
    let options = [
        "--window-size=960,640".to_owned(),
        "--force-device-scale-factor=0.5".to_owned(),
        format!("--screenshot={}", file.display()),
    ];
    visit(browser, page, settings, &options);
}

/// The value of an attribute of the page's root element.
fn attribute(page: &str, name: &str) -> Option<String> {
    let root = &page[page.find("<html")?..];
    let root = &root[..root.find('>')?];
    let value = root.split_once(&format!("{name}=\""))?.1;
    let value = value.split_once('"')?.0;
    Some(
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&"),
    )
}

/// Opens the page and returns its report on itself, after checking that nothing complained.
#[track_caller]
pub(crate) fn report(browser: &Path, page: &Path) -> Value {
    let visit = visit(
        browser,
        page,
        "selftest&theme=light",
        &["--dump-dom".to_owned()],
    );
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
    assert_eq!(attribute(&visit.page, "data-error"), None);
    let report = attribute(&visit.page, "data-report")
        .unwrap_or_else(|| panic!("no report; log:\n{}", visit.log));
    serde_json::from_str(&report).expect("the report is JSON")
}
