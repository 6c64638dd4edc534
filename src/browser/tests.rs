//! Pages that stop answering.

use serde_json::json;

use super::*;
use crate::recording::{Frame, Recording};

/// Its clock reads the time that is shown.
fn replay(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new().expect("a folder");
    let mut recording = Recording::new(name, Vec::new(), Vec::new(), Vec::new()).expect("empty");
    for time_s in [0.0, 1.0, 2.0] {
        let frame = Frame {
            time_s,
            ..Frame::default()
        };
        recording.push_frame(frame).expect("a frame");
    }
    let page = folder.0.join("replay.html");
    recording.write_replay(&page).expect("written");
    (folder, page)
}

#[test]
fn a_page_that_is_no_longer_drawn_is_opened_again_for_each_picture() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let (_folder, file) = replay("a page that stops");
    let window = Window {
        size: [160, 120],
        scale: 1.0,
    };
    let open = || {
        let page = browser.open(&file, "still&theme=light", window);
        page.unwrap_or_else(|error| panic!("{error}"))
    };
    let mut page = open();
    let mut picture_at = |t_s| page.picture_at(t_s, PictureFormat::Png).expect("a picture");
    let expected = [picture_at(1.0), picture_at(2.0)];

    let mut page = open();
    // Its timers and frames end; an answer of such a page never comes.
    let frozen = json!({ "expression": "for (;;);", "timeout": 3_600_000 });
    page.tab.wait_at_most(Duration::from_millis(100));
    page.tab
        .call("Runtime.evaluate", frozen)
        .expect_err("no answer");
    page.picture_limit = Duration::from_secs(1);
    let begin = Instant::now();
    for (t_s, expected) in [1.0, 2.0].into_iter().zip(&expected) {
        let picture = page.picture_at(t_s, PictureFormat::Png);
        assert!(picture.expect("a picture") == *expected, "at {t_s} s");
        assert_eq!(page.life, PageLife::Spent);
    }
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_promise_that_nobody_keeps_is_one_error_in_time() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let (_folder, file) = replay("a promise");
    let window = Window {
        size: [160, 120],
        scale: 1.0,
    };
    let mut page = browser.open(&file, "still", window).expect("a page");
    page.tab.wait_at_most(Duration::from_secs(1));
    let begin = Instant::now();
    // Chromium collects a promise that nothing refers to, and says so at once.
    let error = page
        .evaluate("window.never = new Promise(() => {})")
        .expect_err("nobody keeps it");
    assert!(matches!(error, BrowserError::TooSlow { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}
