//! Runs that are ended, and runs that go on from a checkpoint.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::program::{command, folder, path};

#[track_caller]
fn output(arguments: &[&str], code: i32) -> Output {
    let output = command(arguments).output().expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    output
}

/// The rows of the table of a run from some time on.
fn rows_from(out: &Path, time_s: f64) -> Vec<String> {
    let table = fs::read_to_string(out.join("observables.csv")).expect("a table");
    let rows = table.lines().skip(1);
    let late = rows.filter(|row| {
        let time = row.split(',').next().expect("a column");
        time.parse::<f64>().expect("a time") > time_s - 1e-9
    });
    late.map(str::to_owned).collect()
}

/// Rigid bodies and a robot with frame targets, particles in explicit substeps, and attachments of penalty forces.
#[test]
fn a_resumed_run_has_the_bits_of_one_without_a_break() {
    for (scene, half, whole) in [
        ("box-stack", "0.2", "0.4"),
        ("dough-rolling", "0.05", "0.1"),
        ("async-panels", "0.05", "0.1"),
        ("penalty-rolling", "0.2", "0.4"),
    ] {
        let [broken, resumed, straight] =
            ["broken", "resumed", "straight"].map(|part| folder(&format!("{part}_{scene}")));
        let mut first = vec!["run", scene, "--until", half, "--out", path(&broken)];
        first.extend(["--checkpoint-every", half]);
        let _ = command(&first).output().expect("the program starts");
        let checkpoint = broken.join("checkpoint.json");
        assert!(checkpoint.is_file(), "{scene}");
        let mut second = vec!["run", scene, "--until", whole, "--out", path(&resumed)];
        second.extend(["--resume", path(&checkpoint)]);
        let _ = command(&second).output().expect("the program starts");
        let third = ["run", scene, "--until", whole, "--out", path(&straight)];
        let _ = command(&third).output().expect("the program starts");
        let half: f64 = half.parse().expect("a time");
        // Forces of the step before are no part of a state: from the first row after it on.
        let [resumed, straight] = [resumed, straight].map(|out| rows_from(&out, half + 1e-6));
        assert!(resumed.len() > 1, "{scene}: {resumed:?}");
        assert_eq!(resumed, straight, "{scene}");
    }
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused() {
    let out = folder("checkpoint_refused");
    let first = ["run", "box-stack", "--until", "0.1", "--out", path(&out)];
    let all: Vec<&str> = first
        .into_iter()
        .chain(["--checkpoint-every", "0.1"])
        .collect();
    let _ = command(&all).output().expect("the program starts");
    let checkpoint = out.join("checkpoint.json");
    let broken = out.join("broken.json");
    fs::write(&broken, "{\"scene\": 3}").expect("written");
    for (scene, until, file, expected) in [
        ("box-on-incline", "1", &checkpoint, "box-stack"),
        ("box-stack", "0.1", &checkpoint, "--until"),
        ("box-stack", "1", &broken, "is no checkpoint"),
        ("box-stack", "1", &out.join("none.json"), "none.json"),
    ] {
        let arguments = ["run", scene, "--until", until, "--out", path(&out)];
        let arguments: Vec<&str> = (arguments.into_iter())
            .chain(["--resume", path(file)])
            .collect();
        let refused = output(&arguments, 2);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains(expected), "{message}");
    }
    // Of the same name, with other bodies.
    let clutter = |count: &str, rest: &[&str], code: i32| {
        let first = ["run", "clutter", "--set", count, "--out", path(&out)];
        let all: Vec<&str> = first.iter().chain(rest).copied().collect();
        let output = command(&all).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code != 2 || output.status.code() == Some(2), "{message}");
        message
    };
    clutter(
        "count=6",
        &["--until", "0.02", "--checkpoint-every", "0.02"],
        0,
    );
    let resume = ["--until", "1", "--resume", path(&checkpoint)];
    let message = clutter("count=8", &resume, 2);
    assert!(
        message.contains("the state has 6 bodies and 0 constraints, the scene's world 8 bodies"),
        "{message}"
    );
    assert_eq!(message.matches("clutter").count(), 1, "{message}");
    let resume = [
        "--set",
        "seed=2",
        "--until",
        "0.04",
        "--resume",
        path(&checkpoint),
    ];
    let message = clutter("count=6", &resume, 0);
    let words: Vec<&str> = message.split_whitespace().collect();
    let message = words.join(" ");
    assert!(
        message.contains("had the settings count=6, this one has count=6, seed=2"),
        "{message}"
    );
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_with_its_files() {
    for name in ["-INT", "-TERM"] {
        let out = folder(&format!("signal{name}"));
        let mut child = command(&[
            "run",
            "box-on-incline",
            "--until",
            "1e5",
            "--out",
            path(&out),
        ])
        .args(["--checkpoint-every", "0.1"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
        // The first checkpoint says that it runs.
        let begin = Instant::now();
        while !out.join("checkpoint.json").is_file() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no checkpoint");
            std::thread::sleep(Duration::from_millis(10));
        }
        signal(&child, name);
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{name}");
        for file in ["replay.html", "observables.csv", "checkpoint.json"] {
            assert!(out.join(file).is_file(), "{name}: {file}");
        }
        assert!(rows_from(&out, 0.05).len() > 1);
    }
}
