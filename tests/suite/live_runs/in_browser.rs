//! The live page in headless Chromium: it shows frames as they come and steers the run.

use std::time::{Duration, Instant};

use pliant::browser::{OpenPage, Window};
use serde_json::{Value, json};

use super::window::{Live, PATIENCE};
use crate::program::folder;
use crate::replay_in_browser::browser;

/// A value in the page.
#[track_caller]
fn value(page: &mut OpenPage, expression: &str) -> Value {
    page.evaluate(expression)
        .unwrap_or_else(|error| panic!("{expression}: {error}"))
}

#[track_caller]
fn number(page: &mut OpenPage, expression: &str) -> f64 {
    value(page, expression)
        .as_f64()
        .unwrap_or_else(|| panic!("{expression}: no number"))
}

/// Waits until an expression holds in the page.
#[track_caller]
fn wait_for(page: &mut OpenPage, expression: &str) {
    let begin = Instant::now();
    while value(page, expression) != Value::Bool(true) {
        assert!(begin.elapsed() < PATIENCE, "in vain: {expression}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

const FRAMES: &str = "Number(document.documentElement.dataset.frames)";
/// The clock of the run: the time of the newest frame.
const NEWEST: &str = "replay.last";

#[test]
fn the_page_shows_a_run_and_steers_it() {
    let Some(browser) = browser() else { return };
    let out = folder("live_browser");
    let mut live = Live::run(
        "box-on-incline",
        &out,
        &["--until", "1e4", "--set", "mu=0.9"],
    );
    let window = Window {
        size: [800, 600],
        scale: 0.5,
    };

    // Without its token the server has no page.
    let (host, path) = (live.host.clone(), live.path.clone());
    let stranger = format!("http://{host}/{}/", "0".repeat(path.len() - 2));
    let mut page = browser
        .open_address(&stranger, window)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(value(&mut page, "typeof replay"), json!("undefined"));
    assert_eq!(
        value(&mut page, "document.querySelector('canvas')"),
        Value::Null
    );
    drop(page);

    let mut page = browser
        .open_address(&live.address(), window)
        .unwrap_or_else(|error| panic!("{error}"));
    wait_for(&mut page, &format!("{FRAMES} > 5"));

    // Pause: the clock stands still.
    value(&mut page, "document.getElementById('play').click()");
    wait_for(
        &mut page,
        "document.documentElement.dataset.run === 'paused'",
    );
    let paused = number(&mut page, NEWEST);
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(number(&mut page, NEWEST), paused);

    // One frame more: at most 18 steps of 2 ms.
    let frames = number(&mut page, FRAMES);
    value(
        &mut page,
        "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))",
    );
    wait_for(&mut page, &format!("{FRAMES} > {frames}"));
    let stepped = number(&mut page, NEWEST);
    assert!(
        stepped > paused && stepped < paused + 0.037,
        "{paused} {stepped}"
    );
    wait_for(
        &mut page,
        "document.documentElement.dataset.run === 'paused'",
    );

    // Back: the picture is that of an earlier frame, and the run stays where it is.
    value(
        &mut page,
        "(() => { const time = document.getElementById('time'); time.value = 0.1; time.dispatchEvent(new Event('input')); })()",
    );
    assert!((number(&mut page, "replay.t") - 0.1).abs() < 1e-6);
    assert_eq!(number(&mut page, NEWEST), stepped);
    value(&mut page, "document.getElementById('live').click()");
    assert_eq!(number(&mut page, "replay.t"), stepped);

    // Ctrl-drag from the middle of the box upwards: it leaves its place, which friction held.
    let place = "(() => { const { poses } = replay.recording.bodies[0]; const k = replay.recording.times.length - 1; return Math.hypot(...[0, 1, 2].map((i) => poses[7 * k + i] - poses[i])); })()";
    assert!(number(&mut page, place) < 1e-3);
    let drag = "(async () => { \
        const canvas = document.getElementById('picture'); \
        const { left, top, width, height } = canvas.getBoundingClientRect(); \
        let at = null; \
        for (let y = 0.1; y < 0.9 && !at; y += 0.05) for (let x = 0.1; x < 0.9 && !at; x += 0.05) { \
            const point = { clientX: left + x * width, clientY: top + y * height }; \
            if (replay.pickAt(point)?.visual.body === 0) at = point; \
        } \
        canvas.setPointerCapture = () => {}; \
        const act = (type, dy) => canvas.dispatchEvent(new PointerEvent(type, { clientX: at.clientX, clientY: at.clientY + dy, ctrlKey: true, button: 0, pointerId: 1, bubbles: true })); \
        act('pointerdown', 0); act('pointermove', -200); \
        return at !== null; })()";
    assert_eq!(value(&mut page, drag), Value::Bool(true));
    value(&mut page, "document.getElementById('play').click()");
    wait_for(&mut page, &format!("{place} > 0.02"));
    value(
        &mut page,
        "document.getElementById('picture').dispatchEvent(new PointerEvent('pointerup', { pointerId: 1 }))",
    );

    // The slider of the friction: the angle has none, as it enters poses.
    let names = "[...document.querySelectorAll('#parameters [data-parameter]')].map((row) => row.dataset.parameter).join()";
    assert_eq!(value(&mut page, names), json!("mu"));
    let slide = "(() => { const slider = document.querySelector('#parameters input[type=range]'); slider.value = 0; slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change')); })()";
    value(&mut page, slide);
    let status = "replay.live.status.parameters.mu === 0 && Object.keys(replay.live.status.asked).length === 0";
    wait_for(&mut page, status);
    // Without friction it slides away.
    wait_for(&mut page, &format!("{place} > 0.2"));
    // What the scene refuses is said.
    value(
        &mut page,
        "replay.live.send({ do: 'parameter', name: 'mu', value: -1 })",
    );
    wait_for(
        &mut page,
        "document.querySelector('#parameters p').textContent.includes('must not be negative')",
    );

    let complaints: Vec<&String> = (page.complaints().iter())
        .filter(|text| !text.contains("GL Driver Message"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    drop(page);
    #[cfg(unix)]
    {
        assert_eq!(live.interrupt(), Some(130));
        let inputs = std::fs::read_to_string(out.join("inputs.json")).expect("inputs");
        let inputs: Value = serde_json::from_str(&inputs).expect("JSON");
        assert_eq!(inputs["parameters"][0]["name"], "mu");
        assert_eq!(
            inputs["pulls"].as_array().map(Vec::len),
            Some(1),
            "one grasp is one pull"
        );
    }
}
