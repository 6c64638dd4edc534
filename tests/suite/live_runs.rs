//! `pliant run --live`: the server, what it refuses, and what a page can do to a run.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::folder;

const PATIENCE: Duration = Duration::from_secs(60);
/// The scene `box-on-incline` records 30 frames a second, each at a whole number of its steps of 2 ms.
const FRAME_S: f64 = 0.034;

/// A run with a window; it is ended when this is dropped.
struct Live {
    child: Child,
    host: String,
    path: String,
}

impl Drop for Live {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Live {
    fn run(scene: &str, out: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .args(["run", scene, "--live", "--out"])
            .arg(out)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = lines
            .by_ref()
            .map(|line| line.expect("text"))
            .find_map(|line| line.strip_prefix("live: open ").map(str::to_owned))
            .expect("an address");
        // The pipe stays open and empty.
        std::thread::spawn(move || lines.for_each(drop));
        let rest = address.strip_prefix("http://").expect("a loopback address");
        let (host, path) = rest.split_once('/').expect("a path");
        Self {
            child,
            host: host.into(),
            path: format!("/{path}"),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends a request and returns status and body.
    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).expect("a status line");
        let body = answer.split_once("\r\n\r\n").expect("a head").1;
        (status.parse().expect("a number"), body.into())
    }

    fn get(&self, path: &str, host: &str, more: &str) -> (u16, String) {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"
        ))
    }

    fn post(&self, path: &str, origin: &str, body: &str) -> (u16, String) {
        let (host, length) = (&self.host, body.len());
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    #[track_caller]
    fn command(&self, command: &Value) {
        let path = format!("{}command", self.path);
        let (status, body) = self.post(
            &path,
            &format!("http://{}", self.host),
            &command.to_string(),
        );
        assert_eq!(status, 204, "{command}: {body}");
    }

    fn listen(&self) -> Events {
        let mut stream = self.connect();
        let (path, host) = (&self.path, &self.host);
        let request = format!("GET {path}stream HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut lines = BufReader::new(stream);
        let mut line = String::from("-");
        while line.trim() != "" {
            line.clear();
            lines.read_line(&mut line).expect("a head");
        }
        Events { lines }
    }

    #[cfg(unix)]
    fn interrupt(&mut self) -> Option<i32> {
        let sent = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
        self.child.wait().expect("it ends").code()
    }
}

/// Server-sent events.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    /// The next event, its name and data; remarks are left out.
    fn next(&mut self) -> (String, Value) {
        let (mut name, mut data) = (String::new(), Value::Null);
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < PATIENCE, "no event comes");
            let mut line = String::new();
            let n = self.lines.read_line(&mut line).expect("the stream goes on");
            assert!(n > 0, "the stream has ended");
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => name = value.into(),
                Some(("data", value)) => data = serde_json::from_str(value).expect("JSON"),
                None if !name.is_empty() => return (name, data),
                _ => {}
            }
        }
    }

    fn frame(&mut self) -> Value {
        loop {
            let (name, data) = self.next();
            if name == "frame" {
                return data;
            }
        }
    }

    fn status(&mut self) -> Value {
        loop {
            let (name, data) = self.next();
            if name == "status" {
                return data;
            }
        }
    }
}

fn time_s(frame: &Value) -> f64 {
    use base64::Engine as _;
    let text = frame["times"].as_str().expect("times");
    let bytes = base64::prelude::BASE64_STANDARD
        .decode(text)
        .expect("base64");
    f64::from_le_bytes(bytes.try_into().expect("one time"))
}

/// The origin of a frame's grid: the position of a body, as one frame has no extent.
fn position(frame: &Value, body: usize) -> [f64; 3] {
    let origin = frame["poses"][body]["origin"].clone();
    serde_json::from_value(origin).expect("three numbers")
}

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
    let controls = checkpoint["state"]["controls"]
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
