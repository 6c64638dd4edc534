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

/// Rigid bodies and a robot with frame targets, particles in explicit substeps, attachments of penalty forces, and steps that are divided.
#[test]
fn a_resumed_run_has_the_bits_of_one_without_a_break() {
    for (scene, setting, half, whole) in [
        ("box-stack", "simulation.time_step_s=0.005", "0.2", "0.4"),
        (
            "dough-rolling",
            "materials.default.friction=0.5",
            "0.05",
            "0.1",
        ),
        (
            "async-panels",
            "materials.default.friction=0.5",
            "0.05",
            "0.1",
        ),
        (
            "penalty-rolling",
            "materials.default.friction=0.5",
            "0.2",
            "0.4",
        ),
        ("box-stack", "simulation.accuracy=1e-3", "0.2", "0.4"),
        ("box-on-incline", "simulation.accuracy=1e-4", "0.2", "0.4"),
        ("rolling-sphere", "simulation.accuracy=1e-4", "0.2", "0.4"),
    ] {
        let [broken, resumed, straight] = ["broken", "resumed", "straight"]
            .map(|part| folder(&format!("{part}_{scene}_{setting}")));
        let mut first = vec!["run", scene, "--until", half, "--out", path(&broken)];
        first.extend(["--set", setting]);
        first.extend(["--checkpoint-every", half]);
        let _ = command(&first).output().expect("the program starts");
        let checkpoint = broken.join("checkpoint.json");
        assert!(checkpoint.is_file(), "{scene}");
        let mut second = vec!["run", scene, "--until", whole, "--out", path(&resumed)];
        second.extend(["--resume", path(&checkpoint), "--set", setting]);
        let _ = command(&second).output().expect("the program starts");
        let mut third = vec!["run", scene, "--until", whole, "--out", path(&straight)];
        third.extend(["--set", setting]);
        let _ = command(&third).output().expect("the program starts");
        let half: f64 = half.parse().expect("a time");
        // Forces of the step before are no part of a state: from the first row after it on.
        let [resumed, straight] = [resumed, straight].map(|out| rows_from(&out, half + 1e-6));
        assert!(resumed.len() > 1, "{scene}: {resumed:?}");
        assert_eq!(resumed, straight, "{scene}");
        let last = straight.last().and_then(|row| row.split(',').next());
        let last: f64 = last.and_then(|time| time.parse().ok()).expect("a time");
        let whole: f64 = whole.parse().expect("a time");
        assert!((last - whole).abs() < 1e-9, "{scene} ends at {last} s");
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
    let second = folder("checkpoint_refused_second");
    fs::write(&broken, "{\"scene\": 3}").expect("written");
    for (scene, until, file, expected) in [
        ("box-on-incline", "1", &checkpoint, "box-stack"),
        ("box-stack", "0.1", &checkpoint, "--until"),
        ("box-stack", "1", &broken, "is no checkpoint"),
        ("box-stack", "1", &out.join("none.json"), "none.json"),
    ] {
        let arguments = ["run", scene, "--until", until, "--out", path(&second)];
        let arguments: Vec<&str> = (arguments.into_iter())
            .chain(["--resume", path(file)])
            .collect();
        let refused = output(&arguments, 2);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(message.contains(expected), "{message}");
    }
    // Of the same name, with other bodies.
    let clutter = |into: &Path, count: &str, rest: &[&str], code: i32| {
        let first = ["run", "clutter", "--set", count, "--out", path(into)];
        let all: Vec<&str> = first.iter().chain(rest).copied().collect();
        let output = command(&all).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code != 2 || output.status.code() == Some(2), "{message}");
        message
    };
    clutter(
        &out,
        "count=6",
        &["--until", "0.02", "--checkpoint-every", "0.02"],
        0,
    );
    let resume = ["--until", "1", "--resume", path(&checkpoint)];
    let message = clutter(&second, "count=8", &resume, 2);
    assert!(
        message.contains("`parameters.count` was 6.0 and is 8.0"),
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
    let message = clutter(&second, "count=6", &resume, 2);
    let words: Vec<&str> = message.split_whitespace().collect();
    let message = words.join(" ");
    assert!(
        message.contains("`parameters.seed` was 1.0 and is 2.0"),
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

/// A disk that is full, by a limit on the size of each file: the replay reaches it at the end of the first run, the frames of the second on its way.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_table_and_a_checkpoint() {
    let folder = folder("full_disk");
    let cube = folder.join("cube.toml");
    let text = "schema = 1\ntitle = \"a cube falls\"\n[simulation]\nsmoke_s = 1\n[recording]\nframes_per_s = 1000\n[[fem]]\nname = \"cube\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [8, 8, 8] } }\ndensity = 1000\nconstitutive_material = { law = \"corotational\", youngs_modulus = 1e5, poissons_ratio = 0.3 }\n";
    fs::write(&cube, text).expect("written");
    for (scene, until, half_kilobytes, ends_early) in [
        ("box-on-incline", "0.05", 120, false),
        (path(&cube), "1", 400, true),
    ] {
        let out = folder.join(if ends_early { "early" } else { "whole" });
        let limited = format!("trap '' XFSZ; ulimit -f {half_kilobytes}; exec \"$@\"");
        let ended = Command::new("sh")
            .args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_pliant")])
            .args(["run", scene, "--until", until, "--out", path(&out)])
            .output()
            .expect("a shell");
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{scene}: {message}");
        assert!(message.contains("File too large"), "{scene}: {message}");
        assert!(rows_from(&out, 0.0).len() > 2, "{scene}");
        let saved = out.join("checkpoint.json").is_file();
        assert_eq!(saved, ends_early, "{scene}: {message}");
        let names = fs::read_dir(&out).expect("a folder").flatten();
        let partial: Vec<_> = (names.map(|entry| entry.file_name()))
            .filter(|name| name.to_string_lossy().ends_with(".partial"))
            .collect();
        assert!(partial.is_empty(), "{scene}: {partial:?}");
    }
}

/// A step of some minutes.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_step_that_takes_long() {
    let out = folder("signal_in_step");
    let scene = out.join("slow.toml");
    let text = "schema = 1\ntitle = \"slow\"\n[simulation]\nsmoke_s = 1\ntime_step_s = 0.01\nstepper = \"asynchronous\"\nsubsteps = 100000\n[grid]\nspacing = 0.01\n[[material_points]]\nname = \"dough\"\nconstitutive_material = \"pizza-dough\"\nshape = { box = { size = [0.2, 0.2, 0.2] } }\n";
    fs::write(&scene, text).expect("written");
    let results = out.join("results");
    let mut child = command(&["run", path(&scene), "--out", path(&results)])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    // The set of signals that it takes says that it listens; it has SIGTERM, number 15, then.
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))?;
        let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
        (caught & 1 << 14 != 0).then_some(())
    };
    let begin = Instant::now();
    while listens().is_none() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "it does not listen"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, "-TERM");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    for file in ["replay.html", "observables.csv", "checkpoint.json"] {
        assert!(results.join(file).is_file(), "{file}");
    }
}

/// Runs a short scene with the given stderr and stdout into a folder, and returns its exit code.
#[cfg(target_os = "linux")]
fn run_with(out: &Path, stdout: Stdio, stderr: Stdio) -> Option<i32> {
    let arguments = [
        "run",
        "box-on-incline",
        "--until",
        "0.1",
        "--out",
        path(out),
    ];
    let mut child = command(&arguments)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .expect("the program starts");
    // Closed pipes have no reader from here on.
    drop((child.stdout.take(), child.stderr.take()));
    child.wait().expect("it ends").code()
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_words_nobody_reads_has_its_files() {
    let full = || {
        let file = fs::File::options().write(true).open("/dev/full");
        Stdio::from(file.expect("a device of Linux"))
    };
    for (name, stdout, stderr, code) in [
        ("no-reader", Stdio::piped(), Stdio::piped(), 0),
        ("full-stderr", Stdio::null(), full(), 0),
        // The summary could not be said.
        ("full-stdout", full(), Stdio::null(), 2),
        ("full-both", full(), full(), 2),
    ] {
        let out = folder(name);
        assert_eq!(run_with(&out, stdout, stderr), Some(code), "{name}");
        for file in ["replay.html", "observables.csv", "observables.npz"] {
            assert!(out.join(file).is_file(), "{name}: {file}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_run_keeps_its_folder_to_itself_and_ends_with_its_files_when_its_terminal_is_gone() {
    let out = folder("held");
    let arguments = [
        "run",
        "box-on-incline",
        "--until",
        "1e5",
        "--out",
        path(&out),
    ];
    let mut child = command(&arguments)
        .args(["--checkpoint-every", "0.1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop((child.stdout.take(), child.stderr.take()));
    let begin = Instant::now();
    while !out.join("checkpoint.json").is_file() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(10));
    }
    let beside = output(&["run", "box-stack", "--out", path(&out)], 2);
    let message = String::from_utf8_lossy(&beside.stderr);
    assert!(
        message.contains("another run writes into this folder"),
        "{message}"
    );
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    for file in ["replay.html", "observables.csv", "checkpoint.json"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}

#[test]
fn results_until_a_checkpoint_are_not_overwritten_by_those_after_it() {
    let out = folder("first_part");
    let run = ["run", "box-on-incline", "--out", path(&out)];
    let first: Vec<&str> = (run.into_iter())
        .chain(["--until", "0.1", "--checkpoint-every", "0.1"])
        .collect();
    output(&first, 0);
    let table = fs::read(out.join("observables.csv")).expect("a table");
    let checkpoint = out.join("checkpoint.json");
    let second: Vec<&str> = (run.into_iter())
        .chain(["--until", "0.2", "--resume", path(&checkpoint)])
        .collect();
    let message = output(&second, 2).stderr;
    let message = String::from_utf8_lossy(&message);
    assert!(message.contains("would be overwritten"), "{message}");
    assert_eq!(
        fs::read(out.join("observables.csv")).expect("a table"),
        table
    );
}

#[test]
fn a_checkpoint_that_was_changed_or_has_other_steps_is_refused() {
    let [out, second] = ["changed_checkpoint", "changed_checkpoint_second"].map(folder);
    let first = [
        "run",
        "penalty-grasp",
        "--until",
        "0.02",
        "--out",
        path(&out),
    ];
    let all: Vec<&str> = (first.into_iter())
        .chain(["--checkpoint-every", "0.02"])
        .collect();
    let _ = command(&all).output().expect("the program starts");
    let checkpoint = out.join("checkpoint.json");
    let text = fs::read_to_string(&checkpoint).expect("a checkpoint");
    let resume = |file: &Path, more: &[&str], code: i32| {
        let all = [
            "run",
            "penalty-grasp",
            "--until",
            "0.04",
            "--resume",
            path(file),
        ];
        let all: Vec<&str> = (all.iter().chain(more).copied())
            .chain(["--out", path(&second)])
            .collect();
        String::from_utf8_lossy(&output(&all, code).stderr).into_owned()
    };
    let message = resume(&checkpoint, &["--time-step", "0.0031"], 2);
    assert!(
        message.contains("`simulation.time_step_s` was 0.01 and is 0.0031"),
        "{message}"
    );
    // Each tenth of the digits of the file, one at a time.
    let digits: Vec<usize> = (text.char_indices())
        .filter(|(_, c)| c.is_ascii_digit())
        .map(|(at, _)| at)
        .collect();
    let changed = out.join("changed.json");
    for at in digits.iter().step_by(digits.len() / 10 + 1) {
        let mut bytes = text.clone().into_bytes();
        bytes[*at] = if bytes[*at] == b'7' { b'3' } else { b'7' };
        fs::write(&changed, &bytes).expect("written");
        let all = [
            "run",
            "penalty-grasp",
            "--until",
            "0.04",
            "--resume",
            path(&changed),
        ];
        let refused = command(&all).args(["--out", path(&second)]).output();
        let refused = refused.expect("the program starts");
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(
            refused.status.code() == Some(2) && message.contains("is no checkpoint"),
            "{at}: {message}"
        );
    }
}

#[test]
fn an_image_sensor_is_not_called_as_a_file_of_the_run() {
    let out = folder("sensor_names");
    for (name, code) in [
        ("observables", 2),
        ("Deformed", 2),
        ("vtu", 2),
        ("eye.npz", 2),
        ("replay.html", 2),
        ("checkpoint.json", 2),
        ("observableS", 2),
        ("eye", 0),
    ] {
        let scene = out.join("scene.toml");
        let text = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.1\ntime_step_s = 0.01\n[[bodies]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\n[[image_sensors]]\nname = \"{name}\"\nsize = [8, 6]\n"
        );
        fs::write(&scene, text).expect("written");
        let refused = output(
            &["run", path(&scene), "--out", path(&out.join("out"))],
            code,
        );
        let message = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(
            message.contains("a file that every run writes"),
            code == 2,
            "{message}"
        );
    }
}
