//! The replay plays in a real browser: headless Chromium opens pages, which look at their own pictures
//! (`src/replay/selftest.js`) and report.
//!
//! The browser is `PLIANT_CHROMIUM`, or a Chromium found on the PATH; without one these tests say so and are skipped.

mod browser;
mod everything;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant::recording::{Anchor, BodyIdx, Color, Frame, Recording, VisualShape};
use pliant_hydroelastic::AnalyticShape;
use serde_json::Value;

use browser::report;
pub(crate) use browser::{browser, open, screenshot};
pub(crate) use everything::one_of_everything;
use everything::visual;

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
    // The middle of the sheet shows the glass over it, or the sheet.
    assert!(
        ["glass", "sheet"].contains(&report["center"].as_str().expect("a name")),
        "{}",
        report["center"]
    );
    let last = recording.frames().last().expect("frames");
    assert_eq!(report["pictures"][2]["contacts"], last.contacts.len());
    assert_eq!(report["pictures"][2]["moments"], last.patch_forces.len());
    // With all contacts in patches, as the command line counts them.
    let facts = report["facts"].as_str().expect("a text");
    assert!(facts.ends_with(", 121 contacts"), "{facts}");
    assert_eq!(report["overprints"], serde_json::json!([]));
    // Without drawing; 1 to 4 ms on one busy core.
    let work_ms = report["frameTimes"]["median"].as_f64();
    assert!(work_ms.expect("a time") < 20.0, "{}", report["frameTimes"]);
    assert!(report["keys"]["m"] == true && report["buttons"]["moments"][1] == true);
    let arrows = &report["arrows"];
    assert_eq!(arrows["lasting"], 2.0, "an impact does not set the scale");
    assert_ne!(arrows["plain"], arrows["capped"]);
    assert_eq!(
        arrows["capped"], arrows["cappedAgain"],
        "no arrow is longer than its limit"
    );
    // Hexagons of four triangles each.
    let hexagons = last.patches.counts().len();
    assert!(hexagons > 0);
    assert_eq!(report["pictures"][2]["patchTriangles"], 4 * hexagons);
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
    for switch in ["patches", "forces", "grid", "plots-switch"] {
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
    let cube = || {
        VisualShape::from(AnalyticShape::Box {
            size: Vector3::repeat(0.2),
        })
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
