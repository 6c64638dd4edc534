//! The command line as a user meets it: results on stdout, everything else on stderr, exit codes.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::program::{folder, path, pliant};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

#[track_caller]
fn check_ends(output: &Output, code: i32) {
    assert_eq!(
        output.status.code(),
        Some(code),
        "stdout:\n{}\nstderr:\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// Fails, says so on stderr in these words, and keeps stdout clean.
#[track_caller]
fn check_refused(arguments: &[&str], expected: &[&str]) {
    let output = pliant(arguments);
    check_ends(&output, 2);
    let message = text(&output.stderr);
    for part in expected {
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
}

#[test]
fn run_leaves_replay_and_tables_and_says_what_it_found() {
    let out = folder("run_leaves");
    let output = pliant(&["run", "box-on-incline", "--out", path(&out)]);
    check_ends(&output, 0);
    for file in ["replay.html", "observables.csv", "observables.npz"] {
        assert!(out.join(file).is_file(), "{file} is missing");
        assert!(
            text(&output.stderr).contains(file),
            "{file} is not mentioned"
        );
    }
    assert!(text(&output.stdout).contains("box.speed"));
    let table = fs::read_to_string(out.join("observables.csv")).expect("just written");
    assert!(
        table.starts_with("time [s],box.distance [m],box.speed [m/s],"),
        "{table:.80}"
    );
}

#[test]
fn json_is_one_object_with_the_promised_fields() {
    let out = folder("json");
    let output = pliant(&[
        "run",
        "box-on-incline",
        "--json",
        "--until",
        "0.2",
        "--out",
        path(&out),
    ]);
    check_ends(&output, 0);
    let summary: Value =
        serde_json::from_slice(&output.stdout).expect("stdout is JSON and nothing else");
    let mut fields: Vec<&str> = summary
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    fields.sort_unstable();
    let promised = [
        "contacts_max",
        "contacts_mean",
        "dofs",
        "dofs_mean",
        "energy_gain_steps",
        "expectations",
        "iterations_max",
        "iterations_mean",
        "linear_systems",
        "missed_contact_steps",
        "notes",
        "realtime_rate",
        "scene",
        "simulated_s",
        "stages",
        "steps",
        "substeps",
        "unconverged_friction_steps",
        "unconverged_rotation_steps",
        "unconverged_steps",
        "wall_s",
        "warnings",
    ];
    assert_eq!(fields, promised);
    assert_eq!(summary["scene"], "box-on-incline");
    assert_eq!(summary["steps"], 100);
    assert_eq!(summary["dofs"], 6);
    assert_eq!(summary["contacts_max"], 4);
    assert!(summary["linear_systems"]["dense"].as_u64() > Some(0));
    assert_eq!(summary["expectations"][0]["outcome"], "skipped");
}

#[test]
fn a_short_run_says_what_it_did_not_judge() {
    let out = folder("unjudged");
    let run = |length: &[&str]| {
        let mut arguments = vec!["run", "box-on-incline", "--out", path(&out)];
        arguments.extend(length);
        let output = pliant(&arguments);
        check_ends(&output, 0);
        text(&output.stdout)
    };
    let short = run(&["--until", "0.2"]);
    let skipped = short.matches("skipped").count();
    assert!(skipped > 0, "{short}");
    let said = format!("{skipped} of {skipped} expectations are of times outside this run");
    assert!(short.contains(&said), "{short}");
    assert!(short.contains("`--full` takes about"), "{short}");
    assert!(!run(&["--full"]).contains("outside this run"));
}

#[test]
fn failed_expectation_gives_exit_code_1() {
    let folder = folder("failed");
    let scene = folder.join("wrong.toml");
    let written = "schema = 1\ntitle = \"x\"\n[simulation]\nsmoke_s = 0.1\n\
        [[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n\
        [[observables]]\nname = \"z\"\nquantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"\n\
        [[expect]]\nobservable = \"z\"\nat_least = 0\nsource = \"it would have to float\"\n";
    fs::write(&scene, written).expect("can be written");
    let output = pliant(&["run", path(&scene), "--out", path(&folder)]);
    check_ends(&output, 1);
    assert!(text(&output.stdout).contains("FAILED"));
}

#[test]
fn overrides_change_the_run() {
    let out = folder("overrides");
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "box-on-incline", "--json", "--out", path(&out)];
        arguments.extend(more);
        let output = pliant(&arguments);
        check_ends(&output, 0);
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let finer = run(&[
        "--time-step",
        "0.001",
        "--solver",
        "newton",
        "--threads",
        "1",
    ]);
    assert_eq!(finer["steps"], 1000);
    let sticks = run(&["--set", "angle=10*deg", "--set", "mu=0.5"]);
    let speed = sticks["expectations"][0]["found"]
        .as_f64()
        .expect("a number");
    assert!(speed.abs() < 1e-4, "{speed}");
}

#[test]
fn what_is_asked_wrongly_is_refused_with_a_remedy() {
    check_refused(
        &["run", "box-on-inclin"],
        &[
            "no scene \"box-on-inclin\"",
            "did you mean `box-on-incline`?",
        ],
    );
    check_refused(
        &["run", "box-on-incline", "--set", "nu=1"],
        &["no parameter \"nu\"", "did you mean `mu`?"],
    );
    check_refused(
        &["run", "box-on-incline", "--set", "mu"],
        &["must look like name=value"],
    );
    check_refused(
        &["run", "box-on-incline", "--solver", "magic"],
        &["invalid value 'magic' for '--solver <S>'", "newton"],
    );
    check_refused(
        &["run", "box-on-incline", "--time-step", "0"],
        &["a positive number of seconds"],
    );
    check_refused(
        &["run", "box-on-incline", "--until", "-1"],
        &["must be a positive time"],
    );
    check_refused(
        &["run", "box-on-incline", "--threads", "0"],
        &["--threads must be from 1 to 1024, not 0"],
    );
    check_refused(
        &["run", "box-on-incline", "--full", "--until", "1"],
        &["cannot be used with"],
    );
    check_refused(
        &["validate", "no-such-case"],
        &["no case contains \"no-such-case\"", "box-on-incline"],
    );
    check_refused(&["check", "no-such-file.urdf"], &["no-such-file.urdf"]);
    check_refused(
        &["compare", "box-on-incline", "--time-step", "1,x"],
        &["a positive number of seconds"],
    );
}

#[test]
fn names_that_robots_do_not_have_are_refused_at_their_place() {
    let folder = folder("robot_names");
    let check = |fragment: &str, expected: &[&str]| {
        let scene = folder.join("scene.toml");
        let head = "schema = 1\ntitle = \"x\"\n[simulation]\nsmoke_s = 0.1\n[[models]]\nname = \"arm\"\nfile = \"robots/arm7.urdf\"\n";
        fs::write(&scene, format!("{head}{fragment}")).expect("can be written");
        check_refused(&["run", path(&scene), "--out", path(&folder)], expected);
    };
    check(
        "positions = { joint_9 = 1 }\n",
        &[
            "scene.toml:8:15",
            "no joint \"joint_9\" in robot \"arm7\"",
            "did you mean `joint_",
        ],
    );
    check(
        "positions = { joint_2 = 3 }\n",
        &["positions.joint_2 = 3 lies outside the joint's limits [-2.0944, 2.0944]"],
    );
    check(
        "actuators = { elbow = { proportional = 1, derivative = 1 } }\n",
        &["scene.toml:8:15", "\"elbow\"", "known are `joint_1`"],
    );
    check(
        "packages = { a = \"nowhere\" }\n",
        &["scene.toml:8:18", "there is no folder \"nowhere\""],
    );
    check(
        "attached = [{ name = \"hand\", file = \"robots/gripper2.urdf\", on = \"flang\" }]\n",
        &["flang", "flange"],
    );
    check(
        "attached = [{ name = \"hand\", file = \"robots/gripper.urdf\", on = \"flange\" }]\n",
        &["no file \"robots/gripper.urdf\"", "robots/gripper2.urdf"],
    );
    check(
        "[[observables]]\nname = \"o\"\nquantity = \"position\"\nof = \"arm/hand\"\n",
        &["scene.toml:11:6", "there is no link or frame \"hand\""],
    );
    check(
        "[[observables]]\nname = \"o\"\nquantity = \"joint-position\"\nof = \"arm/joint1\"\n",
        &["\"joint1\" in robot \"arm7\"; did you mean `joint_1`?"],
    );
    check(
        "[[frame_targets]]\nframe = \"arm/flange\"\nknots = [{ at_s = 0, pose = {} }]\n",
        &["no actuated joint moves \"arm/flange\""],
    );
    check(
        "actuators = { \"*\" = { proportional = 1, derivative = 1 } }\n[[frame_targets]]\nframe = \"arm/flange\"\nknots = [{ at_s = 0, pose = { position = [3, 0, 0] } }]\n",
        &["does not reach its first pose"],
    );
    check(
        "[[loads]]\non = \"arm/joint_1\"\nknots = [{ at_s = 0, force = [1, 0, 0] }]\n",
        &["there is no link or frame \"joint_1\""],
    );
}

#[test]
fn check_tells_scenes_robots_and_meshes_apart() {
    let folder = folder("check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = |arguments: &[&str], expected: &str| {
        let output = pliant(arguments);
        check_ends(&output, 0);
        let said = text(&output.stdout);
        assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
    };
    found(
        &["check", path(&root.join("robots/arm7.urdf"))],
        "7 degrees of freedom",
    );
    found(
        &["check", path(&root.join("scenes/clutter.toml"))],
        "40 bodies",
    );
    found(&["check", "clutter"], "40 bodies");
    // A mesh whose name says nothing.
    let mesh = folder.join("tetrahedron");
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    fs::write(&mesh, obj).expect("can be written");
    let output = pliant(&["check", path(&mesh)]);
    assert!(output.status.code() != Some(101), "no panic");
    let mesh = folder.join("tetrahedron.obj");
    fs::write(&mesh, obj).expect("can be written");
    found(&["check", path(&mesh)], "closed surface of 4 triangles");
    fs::write(&mesh, obj.replace("f 3 1 4\n", "")).expect("can be written");
    found(&["check", path(&mesh)], "open surface of 3 triangles");
}

#[test]
fn scenes_lists_every_bundled_one() {
    let output = pliant(&["scenes"]);
    check_ends(&output, 0);
    let said = text(&output.stdout);
    for (name, _) in pliant::scene::bundled::SCENES {
        assert!(said.contains(name), "{name}");
    }
}

#[test]
fn bundled_lists_hold_every_file_of_their_folders() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (folder, extension, bundled) in [
        ("scenes", "toml", pliant::scene::bundled::SCENES),
        ("robots", "urdf", pliant::scene::bundled::ROBOTS),
        ("meshes", "obj", pliant::scene::bundled::MESHES),
    ] {
        for entry in fs::read_dir(root.join(folder)).expect("is there") {
            let file = entry.expect("can be read").path();
            if file.extension().is_some_and(|e| e == extension) {
                let text = fs::read_to_string(&file).expect("can be read");
                assert!(
                    bundled.iter().any(|(_, known)| *known == text),
                    "{} is not bundled",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn validate_lists_findings_as_json() {
    let output = pliant(&["validate", "rolling-sphere", "--json"]);
    check_ends(&output, 0);
    let findings: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let first = &findings[0];
    for field in ["name", "expected", "found", "tolerance", "source", "pass"] {
        assert!(!first[field].is_null(), "{field}");
    }
    assert_eq!(first["pass"], true);
}

#[test]
fn compare_prints_a_row_for_each_combination() {
    let output = pliant(&[
        "compare",
        "box-on-incline",
        "--solver",
        "newton",
        "--time-step",
        "0.002,0.001",
    ]);
    check_ends(&output, 0);
    let said = text(&output.stdout);
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(
        said.lines()
            .skip(1)
            .all(|line| line.contains(" newton ") && line.contains("4 of 4")),
        "{said}"
    );
}

#[test]
fn compare_shows_steppers_side_by_side() {
    let output = pliant(&[
        "compare",
        "async-panels",
        "--stepper",
        "asynchronous,strong-implicit",
    ]);
    check_ends(&output, 0);
    let said = text(&output.stdout);
    let mut rows = said.lines().skip(1);
    for stepper in ["asynchronous", "strong-implicit"] {
        let row = rows.next().expect("one row for each");
        assert!(row.starts_with(stepper) && row.contains("8 of 8"), "{said}");
    }
}

#[test]
fn compare_varies_parameters_and_keys() {
    let output = pliant(&[
        "compare",
        "box-on-incline",
        "--vary",
        "mu=0.3,0.4",
        "--vary",
        "contact.model=sap,lagged",
    ]);
    check_ends(&output, 0);
    let found = text(&output.stdout);
    let rows: Vec<Vec<&str>> = found
        .lines()
        .map(|line| line.split_whitespace().take(2).collect())
        .collect();
    assert_eq!(
        rows,
        [
            ["mu", "contact.model"],
            ["0.3", "sap"],
            ["0.3", "lagged"],
            ["0.4", "sap"],
            ["0.4", "lagged"]
        ]
    );
}

#[test]
fn results_are_written_with_machine_and_commit() {
    let out = folder("results");
    let output = pliant(&["results", "--scene", "box-on-incline", "--out", path(&out)]);
    check_ends(&output, 0);
    let text = fs::read_to_string(out.join("box-on-incline.json")).expect("written");
    let result: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(result["run"]["steps"], 500, "{text}");
    let commit = result["machine"]["commit"].as_str().expect("commit");
    let page = fs::read_to_string(out.join("README.md")).expect("written");
    let row = page
        .lines()
        .find(|line| line.starts_with("| `box-on-incline` |"))
        .unwrap_or_else(|| panic!("{page}"));
    assert!(row.contains(&commit[..commit.len().min(12)]), "{row}");
    assert!(row.ends_with("| 4 of 4 |"), "{row}");
}

#[test]
fn runs_repeat_their_bits_for_any_number_of_threads() {
    // Many small islands, one that several threads solve, and one Newton system of all bodies.
    for (scene, until) in [
        ("clutter", "0.4"),
        ("dough-rolling", "0.03"),
        ("penalty-rolling", "0.2"),
    ] {
        check_threads(scene, until);
    }
}

fn check_threads(scene: &str, until: &str) {
    let table = |name: &str, threads: &str| {
        let out = folder(&format!("{name}_{scene}"));
        let output = pliant(&[
            "run",
            scene,
            "--until",
            until,
            "--threads",
            threads,
            "--out",
            path(&out),
        ]);
        check_ends(&output, 0);
        fs::read(out.join("observables.csv")).expect("written")
    };
    let one = table("threads_one", "1");
    assert!(one == table("threads_again", "1"), "the same run twice");
    assert!(one == table("threads_two", "2"), "one thread and two");
}
