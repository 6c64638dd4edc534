//! `pliant run --live`: the server, what it refuses, and what a page can do to a run.

mod in_browser;
mod inputs;
mod window;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::window::{Events, Live, PATIENCE, position, time_s};
use crate::program::folder;

/// The scene `box-on-incline` records 30 frames a second, each at a whole number of its steps of 2 ms.
const FRAME_S: f64 = 0.034;

#[test]
fn strangers_are_refused() {
    let live = Live::run(
        "box-on-incline",
        &folder("live_strangers"),
        &["--live-paused"],
    );
    let ours = live.host.clone();
    assert!(ours.starts_with("127.0.0.1:"), "{ours}");
    assert!(live.path.len() > 30, "{}", live.path);
    let (status, page) = live.get(&live.path, &ours, "");
    assert_eq!(status, 200);
    assert!(page.contains("class LiveRun"));
    let foreign = "Origin: http://example.org\r\n";
    let short = &live.path[..live.path.len() - 2];
    for (path, host, more, expected) in [
        ("/", ours.as_str(), "", 403),
        (&format!("{short}/"), &ours, "", 403),
        (&live.path, "example.org", "", 421),
        (&live.path, &ours, foreign, 403),
        (&format!("{}stream", live.path), &ours, foreign, 403),
        (&format!("{}other", live.path), &ours, "", 404),
    ] {
        let (status, body) = live.get(path, host, more);
        assert_eq!(status, expected, "{path} {host} {more}");
        assert!(!body.contains("class LiveRun"));
    }
    let command = format!("{}command", live.path);
    let resume = r#"{"do": "resume"}"#;
    assert_eq!(live.post(&command, "http://example.org", resume).0, 403);
    assert_eq!(
        live.post("/command", &format!("http://{ours}"), resume).0,
        403
    );
    let (status, body) = live.post(&command, &format!("http://{ours}"), r#"{"do": "fly"}"#);
    assert_eq!(status, 422);
    assert!(body.contains("fly"), "{body}");
    // None of them has moved the run.
    let (name, status) = live.listen().next();
    assert_eq!(
        (name.as_str(), &status["running"]),
        ("status", &json!(false))
    );
}

#[test]
fn a_page_pauses_a_run_steps_it_and_lets_it_go_on() {
    let live = Live::run(
        "box-on-incline",
        &folder("live_pauses"),
        &["--live-paused", "--until", "1e4"],
    );
    let mut events = live.listen();
    assert_eq!(events.status()["running"], false);
    let mut last = 0.0;
    for _ in 0..3 {
        live.command(&json!({"do": "step"}));
        let now = time_s(&events.frame());

        assert!((now - last - FRAME_S).abs() < 1e-9, "{last} {now}");
        last = now;
    }
    live.command(&json!({"do": "resume"}));
    let begin = Instant::now();
    let first = time_s(&events.frame());
    assert!(
        (first - last - FRAME_S).abs() < 1e-9,
        "nothing passed while it was paused"
    );
    let mut now = first;
    while now < first + 0.5 {
        now = time_s(&events.frame());
    }
    // Not faster than real time.
    assert!(
        begin.elapsed() > Duration::from_millis(400),
        "{:?}",
        begin.elapsed()
    );
    live.command(&json!({"do": "pace", "rate": null}));
    live.command(&json!({"do": "pause"}));
    while events.status()["running"] != false {}
    // A page that comes later gets the frames before, and no more than those: the run stands still.
    std::thread::sleep(Duration::from_millis(100));
    let all = |mut events: Events| {
        let mut times = Vec::new();
        loop {
            match events.next() {
                (name, data) if name == "frame" => times.push(time_s(&data)),
                _ => return times,
            }
        }
    };
    let (one, two) = (all(live.listen()), all(live.listen()));
    assert_eq!(one, two);
    assert!(
        one.is_sorted_by(|a, b| a < b) && one.len() > 15 && one[0] < 0.05,
        "{one:?}"
    );
}

#[test]
fn a_drag_moves_a_body_and_ends() {
    let out = folder("live_drag");
    let mut live = Live::run(
        "box-stack",
        &out,
        &["--live-paused", "--until", "1e4", "--live-pace", "max"],
    );
    let mut events = live.listen();
    live.command(&json!({"do": "step"}));
    let start = position(&events.frame(), 9);
    let above = [start[0], start[1], start[2] + 1.0];
    live.command(
        &json!({"do": "drag", "grasp": 0, "body": 9, "point": [0, 0, 0], "target": above}),
    );
    live.command(&json!({"do": "resume"}));
    let begin = Instant::now();
    loop {
        let frame = events.frame();
        if (position(&frame, 9)[2] - above[2]).abs() < 0.15 {
            break;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "it stays at {:?}",
            position(&frame, 9)
        );
    }
    live.command(&json!({"do": "release"}));
    let begin = Instant::now();
    while position(&events.frame(), 9)[2] > start[2] + 0.05 {
        assert!(begin.elapsed() < PATIENCE, "it does not fall");
    }
    assert_eq!(live.interrupt(), Some(130));
    // The force has left no load in the state.
    let checkpoint = fs::read_to_string(out.join("checkpoint.json")).expect("a checkpoint");
    let checkpoint: Value = serde_json::from_str(&checkpoint).expect("JSON");
    let controls = checkpoint["checkpoint"]["state"]["controls"]
        .as_array()
        .expect("controls");
    assert!(
        controls.iter().all(|control| control["loads"] == json!([])),
        "{controls:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_live_run_with_its_files() {
    for more in [&["--live-paused"][..], &[]] {
        let out = folder("live_signal");
        let mut live = Live::run(
            "box-on-incline",
            &out,
            &[more, &["--until", "1e4"]].concat(),
        );
        let mut events = live.listen();
        if more.is_empty() {
            events.frame();
        } else {
            events.status();
        }
        assert_eq!(live.interrupt(), Some(130));
        for file in ["replay.html", "observables.csv", "checkpoint.json"] {
            assert!(out.join(file).is_file(), "{file}");
        }
        while events.status()["ended"] != "interrupted" {}
    }
}

#[test]
fn a_live_run_that_is_only_watched_has_the_same_files() {
    let [watched, alone] = ["live_watched", "live_alone"].map(folder);
    let length = ["--until", "0.3", "--live-pace", "max"];
    let mut live = Live::run("arm-pushes-boxes", &watched, &length);
    let mut events = live.listen();
    while events.next().1["ended"] != "ended" {}
    let _status = live.child.wait().expect("it ends");
    let _output = Command::new(env!("CARGO_BIN_EXE_pliant"))
        .args(["run", "arm-pushes-boxes", "--until", "0.3", "--out"])
        .arg(&alone)
        .output()
        .expect("the program starts");
    for file in ["replay.html", "observables.csv", "observables.npz"] {
        let [watched, alone] = [&watched, &alone].map(|out| fs::read(out.join(file)).expect(file));
        assert!(watched == alone, "{file} differs");
    }
}

#[test]
fn options_of_a_live_run_need_one() {
    for (arguments, expected) in [
        (&["--live-paused"][..], "--live"),
        (&["--live", "--live-pace", "0"], "positive"),
        (&["--live", "--live-pace", "fast"], "`max`"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .args(["run", "box-on-incline"])
            .args(arguments)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(expected), "{message}");
    }
}
