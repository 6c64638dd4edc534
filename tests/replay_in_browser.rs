//! The replay plays in a real browser: headless Chromium opens pages, which look at their own pictures
//! (`src/replay/selftest.js`) and report.
//!
//! The browser is `PLIANT_CHROMIUM`, or a Chromium found on the PATH; without one these tests say so and are skipped.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant::recording::{
    Anchor, BodyIdx, Color, ContactArrow, Deformed, Frame, Observable, Recording, ThreadEnds,
    ValueScale, Visual, VisualShape,
};
use serde_json::Value;

/// SwiftShader draws a few pictures of a small page in about 5 s on one core; this leaves room for a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

fn browser() -> Option<PathBuf> {
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
fn report(browser: &Path, page: &Path) -> Value {
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

/// Checks that every picture shows something, has no WebGL error, and that time and forces change it.
#[track_caller]
fn check_pictures(report: &Value) {
    let pictures = report["pictures"].as_array().expect("pictures");
    assert_eq!(pictures.len(), 3);
    for picture in pictures {
        assert_eq!(picture["glError"], 0, "{picture}");
        // An empty picture is one gradient: a dozen colours of the 4096 told apart here.
        assert!(
            picture["colors"].as_u64().expect("a count") > 40,
            "{picture}"
        );
        assert!(
            picture["largestShare"].as_f64().expect("a share") < 0.8,
            "{picture}"
        );
    }
    let sums: Vec<_> = pictures
        .iter()
        .map(|picture| picture["sum"].as_u64())
        .collect();
    assert!(
        sums[0] != sums[1] && sums[1] != sums[2],
        "time does not change the picture: {sums:?}"
    );
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder for the pages");
    folder
}

fn visual(name: &str, anchor: Anchor, shape: VisualShape, color: Color) -> Visual {
    Visual {
        name: name.into(),
        anchor,
        X_BG: Isometry3::identity(),
        shape,
        color,
    }
}

/// One of every shape, hopping and turning on a floor.
fn one_of_everything() -> Recording {
    let pyramid = VisualShape::Mesh {
        vertices: [
            [-0.1, -0.1, -0.1],
            [0.1, -0.1, -0.1],
            [0.1, 0.1, -0.1],
            [-0.1, 0.1, -0.1],
            [0.0, 0.0, 0.12],
        ]
        .map(Point3::from)
        .to_vec(),
        triangles: vec![
            [0, 2, 1],
            [0, 3, 2],
            [0, 1, 4],
            [1, 2, 4],
            [2, 3, 4],
            [3, 0, 4],
        ],
    };
    let solids = [
        (
            "box",
            VisualShape::Box {
                half_extents: Vector3::new(0.13, 0.1, 0.1),
            },
        ),
        ("sphere", VisualShape::Sphere { radius: 0.1 }),
        (
            "cylinder",
            VisualShape::Cylinder {
                radius: 0.08,
                length: 0.2,
            },
        ),
        (
            "capsule",
            VisualShape::Capsule {
                radius: 0.06,
                length: 0.12,
            },
        ),
        (
            "ellipsoid",
            VisualShape::Ellipsoid {
                semi_axes: Vector3::new(0.15, 0.1, 0.08),
            },
        ),
        (
            "cone",
            VisualShape::Cone {
                radius: 0.1,
                height: 0.2,
            },
        ),
        ("pyramid", pyramid),
    ];
    let n = solids.len();
    let mut visuals = vec![visual(
        "floor",
        Anchor::World,
        VisualShape::HalfSpace,
        Color::GROUND,
    )];
    visuals.extend(solids.into_iter().enumerate().map(|(i, (name, shape))| {
        visual(name, Anchor::Body(BodyIdx(i)), shape, Color::palette(i))
    }));
    let side: u32 = 16;
    let triangles = (0..side * side).flat_map(|cell| {
        let corner = cell / side * (side + 1) + cell % side;
        [
            [corner, corner + 1, corner + side + 2],
            [corner, corner + side + 2, corner + side + 1],
        ]
    });
    let scale = ValueScale {
        name: "height".into(),
        unit: "m".into(),
        min: 0.0,
        max: 0.4,
    };
    let n_vertices = (side + 1) * (side + 1);
    let sheet = VisualShape::DeformingMesh {
        n_vertices,
        triangles: triangles.collect(),
        scale: Some(scale.clone()),
    };
    visuals.push(visual("sheet", Anchor::World, sheet, Color::palette(6)));
    let grains = VisualShape::Points {
        radius: 0.012,
        scale: Some(scale),
    };
    visuals.push(visual("grains", Anchor::World, grains, Color::palette(2)));
    let rope = VisualShape::Thread {
        radius: 0.012,
        ends: ThreadEnds::Open,
        scale: None,
    };
    visuals.push(visual("rope", Anchor::World, rope, Color::palette(4)));
    visuals.push(Visual {
        X_BG: Isometry3::translation(0.0, 0.0, 0.35),
        ..visual(
            "glass",
            Anchor::World,
            VisualShape::Box {
                half_extents: Vector3::new(0.12, 0.12, 0.12),
            },
            Color {
                opacity: 0.35,
                ..Color::palette(1)
            },
        )
    });

    let names = [
        "box",
        "sphere",
        "cylinder",
        "capsule",
        "ellipsoid",
        "cone",
        "pyramid",
    ];
    let observables = vec![
        Observable::new("box.z", "m"),
        Observable::new("sphere.z", "m"),
        Observable::new("floor force", "N"),
        Observable::new("energy", "J"),
    ];
    let bodies = names.map(str::to_owned).to_vec();
    let mut recording =
        Recording::new("One of everything", bodies, visuals, observables).expect("sound");
    for k in 0..=120 {
        let t = f64::from(k) / 60.0;
        let hop = |i: usize| 0.1 + 0.25 * (2.5 * t + 0.8 * i as f64).sin().abs();
        let around = |i: usize| {
            let angle = i as f64 / n as f64 * std::f64::consts::TAU + 0.2 * t;
            Vector3::new(0.55 * angle.cos(), 0.55 * angle.sin(), hop(i))
        };
        let X_WB = (0..n).map(|i| {
            let turn =
                UnitQuaternion::from_scaled_axis(Vector3::new(0.3 * t, 0.2, 1.5 * t + i as f64));
            Isometry3::from_parts(Translation3::from(around(i)), turn)
        });
        let contacts = (0..n).filter(|&i| hop(i) < 0.2).map(|i| ContactArrow {
            p_WC: Point3::new(around(i).x, around(i).y, 0.0),
            f_W: Vector3::new(1.0, 0.5, 12.0 * (0.25 - hop(i)) / 0.15),
        });
        let sheet_height =
            |x: f64, y: f64| 0.12 + 0.05 * (9.0 * x + 4.0 * t).sin() * (9.0 * y).cos();
        let sheet: Vec<Point3<f64>> = (0..n_vertices)
            .map(|v| {
                let [x, y] = [v % (side + 1), v / (side + 1)]
                    .map(|i| 0.4 * (f64::from(i) / f64::from(side) - 0.5));
                Point3::new(x, y, sheet_height(x, y))
            })
            .collect();
        let grains: Vec<Point3<f64>> = (0..60 + 2 * k)
            .map(|i| {
                let (i, turn) = (f64::from(i), 2.4 * f64::from(i));
                Point3::new(
                    0.9 + 0.01 * i.sqrt() * turn.cos(),
                    0.01 * i.sqrt() * turn.sin(),
                    0.012 + 0.4 * (-0.02 * i).exp(),
                )
            })
            .collect();
        let rope = (0..40).map(|i| {
            let s = f64::from(i) / 39.0;
            Point3::new(
                -0.9 + 0.08 * (12.0 * s + 3.0 * t).sin(),
                s - 0.5,
                0.2 + 0.08 * (12.0 * s + 3.0 * t).cos(),
            )
        });
        let colored = |points: Vec<Point3<f64>>| Deformed {
            values: points.iter().map(|p| p.z).collect(),
            points,
        };
        let deformed = vec![
            colored(sheet),
            colored(grains),
            Deformed {
                points: rope.collect(),
                values: vec![],
            },
        ];
        recording
            .push_frame(Frame {
                time_s: t,
                X_WB: X_WB.collect(),
                contacts: contacts.collect(),
                deformed,
            })
            .expect("a sound frame");
        let force = if t < 0.5 {
            f64::NAN
        } else {
            98.1 + 5.0 * (8.0 * t).sin()
        };
        recording
            .push_observables(t, &[hop(0), hop(1), force, 3.0 - t])
            .expect("a sound row");
    }
    recording
}

#[test]
fn every_shape_plays_without_complaint_and_arrives_within_its_rounding() {
    let Some(browser) = browser() else { return };
    let recording = one_of_everything();
    let folder = folder("replay-everything");
    let page = recording.write_to(&folder).expect("written").swap_remove(0);
    let report = report(&browser, &page);
    check_pictures(&report);
    for (key, acts) in report["keys"].as_object().expect("keys") {
        assert_eq!(*acts, true, "the key {key} does nothing");
    }
    check_controls(&report);
    assert_eq!(report["curves"], true);
    assert_eq!(
        report["soughtBack"], 0.0,
        "pressing at the left end of a plot goes to the beginning"
    );
    assert_eq!(report["frames"], 121);
    // The middle of the picture is the middle of the scene: the glass, or the sheet under it.
    assert!(
        ["glass", "sheet"].contains(&report["center"].as_str().expect("a name")),
        "{}",
        report["center"]
    );
    let last = recording.frames().last().expect("frames");
    assert_eq!(report["pictures"][2]["contacts"], last.contacts.len());
    for (body, pose) in report["lastPoses"]
        .as_array()
        .expect("poses")
        .iter()
        .zip(&last.X_WB)
    {
        let numbers: Vec<f64> = body["pose"]
            .as_array()
            .expect("numbers")
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        let off = Vector3::new(numbers[0], numbers[1], numbers[2]) - pose.translation.vector;
        // Bodies travel less than 2 m: half a step is 2 / 2^21.
        assert!(off.amax() < 1e-6, "{body}: off by {off}");
        let q = nalgebra::Quaternion::new(numbers[3], numbers[4], numbers[5], numbers[6]);
        assert!(
            UnitQuaternion::from_quaternion(q).angle_to(&pose.rotation) < 4e-5,
            "{body}"
        );
    }
    let columns = report["columns"].as_array().expect("columns");
    assert_eq!(
        columns
            .iter()
            .map(|c| c["name"].as_str().expect("a name"))
            .collect::<Vec<_>>(),
        ["box.z", "sphere.z", "floor force", "energy"]
    );
    assert_eq!(columns[3]["rows"], 121);
    assert!((columns[3]["last"].as_f64().expect("a number") - 1.0).abs() < 1e-6);
}

/// Checks that pointers and buttons do to the picture what the help of the page says.
#[track_caller]
fn check_controls(report: &Value) {
    let did = |what: &str| {
        let change = &report["steering"][what];
        let number = |value: &Value| value.as_f64().expect("a number");
        (
            [&change["turned"][0], &change["turned"][1]].map(number),
            number(&change["moved"]),
            number(&change["zoomed"]),
        )
    };
    for turn in ["drag", "finger"] {
        let (turned, moved, zoomed) = did(turn);
        // 60 pixels to the right and 30 down: the eye goes to the left and up, twice as far aside as up.
        assert!(turned[0] < -0.05 && turned[1] > 0.025, "{turn} {turned:?}");
        assert!(
            (turned[0] + 2.0 * turned[1]).abs() < 1e-9,
            "{turn} {turned:?}"
        );
        assert_eq!((moved, zoomed), (0.0, 1.0), "{turn}");
    }
    for shift in ["shiftDrag", "rightDrag", "together"] {
        let (turned, moved, _) = did(shift);
        assert!(
            moved > 0.0 && turned == [0.0; 2],
            "{shift} {turned:?} {moved}"
        );
    }
    // Fingers that end twice as far apart halve the distance; those that stay apart as they were leave it.
    assert!((did("spread").2 - 0.5).abs() < 0.01, "{}", did("spread").2);
    assert!(
        (did("together").2 - 1.0).abs() < 1e-9,
        "{}",
        did("together").2
    );
    assert!(did("wheelIn").2 < 0.95 && did("wheelOut").2 > 1.05);

    let buttons = &report["buttons"];
    assert_eq!(buttons["play"], serde_json::json!([false, true]));
    assert_eq!(buttons["pause"], serde_json::json!([true, false]));
    assert_eq!(buttons["speed"], serde_json::json!([1, 0.25]));
    for switch in ["forces", "grid", "plots-switch"] {
        assert_eq!(
            buttons[switch],
            serde_json::json!([true, false]),
            "{switch}"
        );
    }
    assert_eq!(buttons["theme"], serde_json::json!(["light", "dark"]));
    let end = report["pictures"][2]["t"].as_f64().expect("a time");
    let sought = buttons["slider"][1].as_f64().expect("a time");
    assert!((sought - 0.25 * end).abs() < 1e-9 * end, "{buttons}");
}

#[test]
fn pages_of_bundled_scenes_play_and_obey_pointers_and_buttons() {
    let Some(browser) = browser() else { return };
    for (scene, bodies) in [("arm-pushes-boxes", 24), ("gripper-holds-box", 4)] {
        let folder = folder(&format!("replay-{scene}"));
        let output = Command::new(env!("CARGO_BIN_EXE_pliant"))
            .args(["run", scene, "--out"])
            .arg(&folder)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{scene} does not run as expected");
        let report = report(&browser, &folder.join("replay.html"));
        check_pictures(&report);
        check_controls(&report);
        let poses = report["lastPoses"].as_array().expect("poses");
        assert_eq!(poses.len(), bodies, "{scene}");
        for picture in &report["pictures"].as_array().expect("pictures")[1..] {
            assert!(
                picture["contacts"].as_u64().expect("a count") > 3,
                "{scene}"
            );
        }
        for (key, acts) in report["keys"].as_object().expect("keys") {
            assert_eq!(*acts, true, "{scene}: the key {key} does nothing");
        }
    }
}

#[test]
fn a_page_with_one_frame_and_nothing_in_it_still_opens() {
    let Some(browser) = browser() else { return };
    let mut recording = Recording::new("nothing", vec![], vec![], vec![]).expect("sound");
    recording
        .push_frame(Frame::default())
        .expect("a sound frame");
    let page = folder("replay-nothing").join("replay.html");
    recording.write_replay(&page).expect("written");
    let report = report(&browser, &page);
    assert_eq!(report["frames"], 1);
    assert_eq!(report["keys"]["f"], false, "there are no forces to hide");
    assert_eq!(report["keys"]["0"], true, "the first view comes back");
}

#[test]
fn a_body_that_flies_off_does_not_spoil_the_view_of_the_others() {
    let Some(browser) = browser() else { return };
    let cube = || VisualShape::Box {
        half_extents: Vector3::repeat(0.1),
    };
    let bodies: Vec<String> = (0..5).map(|i| format!("cube {i}")).collect();
    let visuals = (0..5)
        .map(|i| {
            visual(
                &bodies[i],
                Anchor::Body(BodyIdx(i)),
                cube(),
                Color::palette(i),
            )
        })
        .collect();
    let mut recording = Recording::new("one flies off", bodies, visuals, vec![]).expect("sound");
    for k in 0..60 {
        let t = f64::from(k) / 60.0;
        let X_WB = (0..5).map(|i| match i {
            4 => Isometry3::translation(1e6 * t, 0.0, 1e5 * t),
            _ => Isometry3::new(Vector3::new(0.3 * f64::from(i), 0.0, 0.1), Vector3::z() * t),
        });
        recording
            .push_frame(Frame {
                time_s: t,
                X_WB: X_WB.collect(),
                ..Frame::default()
            })
            .expect("a sound frame");
    }
    let page = folder("replay-flies-off").join("replay.html");
    recording.write_replay(&page).expect("written");
    let report = report(&browser, &page);
    check_pictures(&report);
    let poses = report["lastPoses"].as_array().expect("poses");
    let x = poses[3]["pose"][0].as_f64().expect("a number");
    assert!(
        (x - 0.9).abs() < 1e-6,
        "the others keep their precision: {x}"
    );
}
