//! Pictures of bundled scenes, checked by figures: what deforms, or else what moves, is in the picture and large enough, arrows are not longer
//! than their limit, the subject is neither black nor white, and no text overlaps another.
//!
//! Three scenes are drawn; `PLIANT_PICTURES=all` draws all of them, `PLIANT_PICTURES=NAME,NAME` these.

use std::fs;
use std::path::{Path, PathBuf};

use pliant::browser::{Browser, Window};
use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, bundled};
use serde_json::Value;

use crate::replay_in_browser::{browser, screenshot};

/// A robot, filaments, and a continuum.
const SCENES: [&str; 3] = ["gripper-holds-box", "shoelace-pull", "dam-break"];

/// Windows of a desktop, and of a telephone upright and sideways, and the instants that are drawn in them, as shares of the run.
const WINDOWS: [([u32; 2], &[f64]); 3] = [
    ([960, 640], &[0.0, 0.5, 1.0]),
    ([390, 844], &[0.5]),
    ([844, 390], &[0.5]),
];

/// The replay of the scene's short run.
fn replay(name: &str) -> PathBuf {
    let scene = Scene::load(name, &SceneOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures_of_scenes");
    fs::create_dir_all(&folder).expect("a folder for the pages");
    let page = folder.join(format!("{name}.html"));
    let written = outcome.recording.write_replay(&page);
    written.unwrap_or_else(|e| panic!("{e}"));
    page
}

/// What is wrong with a picture.
fn faults(figures: &Value) -> Vec<String> {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str, found: &Value| {
        if !holds {
            faults.push(format!("{what}: {found}"));
        }
    };
    let inside = &figures["inside"];
    check(
        number(inside) >= 0.9,
        "a part of the subject is outside",
        inside,
    );
    let [width, height] = ["width", "height"].map(|side| number(&figures[side]));
    check(
        width.max(height) >= 0.2,
        "less than a fifth of the picture",
        figures,
    );
    let arrow = &figures["longestArrow"];
    check(number(arrow) < 0.334, "an arrow beyond its limit", arrow);
    let light = &figures["brightness"]["mean"];
    check(
        light.is_null() || (0.08..0.94).contains(&number(light)),
        "the subject is black or white",
        light,
    );
    check(figures["glError"] == 0, "WebGL error", &figures["glError"]);
    let overlaps = &figures["overprints"];
    check(*overlaps == serde_json::json!([]), "texts", overlaps);
    faults
}

/// The figures of the pictures of a scene. With `PLIANT_PICTURES` set, those of the first window are kept beside its replay.
fn check_scene(browser: &Browser, name: &str) -> Result<(), String> {
    let file = replay(name);
    let window = |size| Window { size, scale: 0.5 };
    let text = |error: pliant::browser::BrowserError| format!("{name}: {error}");
    let (first, _) = WINDOWS[0];
    let mut page = browser
        .open(&file, "theme=light", window(first))
        .map_err(text)?;
    let end = page.evaluate("replay.last").map_err(text)?;
    let mut failed = Vec::new();
    for (size, shares) in WINDOWS {
        page.resize(window(size)).map_err(text)?;
        for (number, share) in shares.iter().enumerate() {
            page.show(share * end.as_f64().unwrap_or_default())
                .map_err(text)?;
            let figures = page.evaluate("replay.figures()").map_err(text)?;
            let faults = faults(&figures);
            if !faults.is_empty() {
                let t = &figures["t"];
                failed.push(format!("{name}, {size:?}, t = {t}: {}", faults.join("; ")));
            }
            if size == first && std::env::var_os("PLIANT_PICTURES").is_some() {
                screenshot(&mut page, &file.with_extension(format!("{number}.jpg")));
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("\n")),
    }
}

#[test]
fn pictures_show_their_subject_and_no_text_overlaps() {
    let Some(browser) = browser() else { return };
    let asked = std::env::var("PLIANT_PICTURES").unwrap_or_default();
    let names: Vec<&str> = match asked.as_str() {
        "" => SCENES.to_vec(),
        "all" => bundled::SCENES.iter().map(|(name, _)| *name).collect(),
        names => names.split(',').collect(),
    };
    let failed = names
        .iter()
        .filter_map(|name| check_scene(&browser, name).err());
    let failed: Vec<String> = failed.collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn figures_of_a_bad_picture_are_found_out() {
    let sound = serde_json::json!({
        "t": 0.0, "inside": 1.0, "width": 0.5, "height": 0.3, "brightness": { "mean": 0.5 },
        "longestArrow": 0.2, "glError": 0, "overprints": [],
    });
    assert_eq!(faults(&sound), Vec::<String>::new());
    for (key, value) in [
        ("inside", serde_json::json!(0.4)),
        ("width", serde_json::json!(0.1)),
        ("brightness", serde_json::json!({ "mean": 0.99 })),
        ("longestArrow", serde_json::json!(0.5)),
        ("glError", serde_json::json!(1281)),
        ("overprints", serde_json::json!(["h1 and scales overlap"])),
    ] {
        let mut bad = sound.clone();
        bad[key] = value;
        if key == "width" {
            bad["height"] = serde_json::json!(0.1);
        }
        assert_eq!(faults(&bad).len(), 1, "{key}");
    }
}
