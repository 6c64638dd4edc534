//! `docs/gallery.md` shows every bundled scene.
//!
//! `PLIANT_UPDATE_DOCS=1 cargo test --workspace --test suite -- gallery` prints the page anew and renders the pictures that are
//! missing in `docs/images/gallery`, and the picture of the README; `PLIANT_UPDATE_DOCS=pictures` renders all: each shows the end of the
//! scene's short run, or a later instant of [`INSTANTS`]. It needs Chromium, as the tests of the replay do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pliant::browser::{Browser, Window};
use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, bundled};
use serde_json::Value;

use crate::replay_in_browser::{browser, open, screenshot};

const PAGE: &str = "docs/gallery.md";
const PICTURES: &str = "docs/images/gallery";
const RESULTS: &str = "docs/results";
const README_PICTURE: &str = "docs/images/scenes.jpg";

/// Scenes in the picture of the README, row by row.
const MONTAGE: [&str; 12] = [
    "arm-pushes-boxes",
    "bubble-gripper-teddy",
    "dough-and-sand-at-scale",
    "hand-holds-ball",
    "liquid-pouring",
    "sandbox",
    "laundry",
    "shoelace",
    "masonry-arch",
    "crowned-pulley",
    "penalty-tori",
    "dam-break",
];

/// Scenes whose short run ends before what they are about, and the instant of their picture, s.
const INSTANTS: [(&str, f64); 22] = [
    ("async-dough-rolling", 0.8),
    ("ball-on-slope", 0.8),
    ("box-bagging", 1.5),
    ("clutter", 4.0),
    ("dam-break", 0.15),
    ("dough-and-sand-at-scale", 4.5),
    ("dough-kneading", 4.0),
    ("dough-rolling", 0.8),
    ("entangling-gripper", 8.6),
    ("knot-tightening", 0.6),
    ("laundry", 1.6),
    ("liquid-pouring", 2.4),
    ("penalty-bowl", 1.0),
    ("penalty-cloth", 1.0),
    ("penalty-cube-on-sand", 1.0),
    ("penalty-goo-on-sphere", 1.0),
    ("penalty-sand-on-sphere", 0.6),
    ("penalty-sandbox", 1.0),
    ("penalty-tori", 1.0),
    ("sandbox", 1.6),
    ("shoelace", 4.5),
    ("t-shirt", 6.5),
];

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn scene(name: &str) -> Scene {
    Scene::load(name, &SceneOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn picture(name: &str) -> String {
    format!("{name}.jpg")
}

/// The first sentence of a description, on one line.
fn first_sentence(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    let text = words.join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].to_owned()
}

/// The scene's full run in `docs/results`, if there is one.
fn full_run(name: &str) -> Option<Value> {
    let text = fs::read_to_string(root(RESULTS).join(format!("{name}.json"))).ok()?;
    let result: Value = serde_json::from_str(&text).expect("a result is JSON");
    Some(result["run"].clone())
}

/// How fast the full run was.
fn pace(run: &Value) -> String {
    let [simulated_s, rate] = ["simulated_s", "realtime_rate"].map(|key| &run[key]);
    let [simulated_s, rate] = [simulated_s, rate].map(|n| n.as_f64().expect("a number"));
    let rate = match rate {
        fast if fast >= 10.0 => format!("{fast:.0}"),
        near if near >= 0.1 => format!("{near:.1}"),
        slow => format!("{slow:.4}"),
    };
    format!("{rate} × real time over {simulated_s:.1} s")
}

/// What is checked of the scene: its expectations, and how many the full run met.
fn checks(scene: &Scene, run: Option<&Value>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for expectation in &scene.expectations {
        let name = expectation.observable.name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let found = run.and_then(|run| run["expectations"].as_array());
    let met = found.map_or(String::new(), |found| {
        let met = found.iter().filter(|e| e["outcome"] == "met").count();
        format!(", {met} of {} met", found.len())
    });
    format!("Checked{met}: {}", listed.join(", "))
}

fn page() -> String {
    let mut page = String::from(
        "# Gallery\n\nThe bundled scenes. `pliant run NAME` runs one and writes a replay; the pictures show the end of the short run, or a later instant of \
         the full one. Speed and checks are those of the full run in [results](results/README.md), if it is there. The page, its pictures and that of the README are made by\n\n\
         ```sh\nPLIANT_UPDATE_DOCS=pictures cargo test --workspace --test suite -- gallery\n```\n\n\
         | | scene |\n|---|---|\n",
    );
    for (name, _) in bundled::SCENES {
        let scene = scene(name);
        let run = full_run(name);
        let pace = run.as_ref().map_or(String::new(), |run| pace(run) + ". ");
        page += &format!(
            "| ![{}](images/gallery/{}) | **{}**<br>{}<br>`pliant run {name}` ([file](../scenes/{name}.toml))<br>{pace}{} |\n",
            scene.title,
            picture(name),
            scene.title,
            first_sentence(&scene.description),
            checks(&scene, run.as_ref())
        );
    }
    page
}

/// Which pictures are made anew.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewed {
    Missing,
    All,
}

/// The picture of the README: some of the others, side by side.
fn render_montage(browser: &Browser) {
    let pictures = MONTAGE.map(|name| {
        let file = root(PICTURES).join(picture(name));
        format!("<img src=\"file://{}\">", file.display())
    });
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("montage.html");
    let html = format!(
        "<!doctype html><style>body {{ margin: 0; display: grid; grid-template-columns: repeat(4, 240px); gap: 2px; background: #fff }} \
         img {{ width: 240px; height: 160px; display: block }}</style>{}",
        pictures.concat()
    );
    fs::write(&page, html).expect("written");
    let window = Window {
        size: [4 * 240 + 6, 3 * 160 + 4],
        scale: 1.0,
    };
    let page = browser.open(&page, "", window);
    screenshot(
        &mut page.unwrap_or_else(|error| panic!("{error}")),
        &root(README_PICTURE),
    );
}

/// What is simulated for the picture of a scene.
fn length(name: &str) -> RunLength {
    let instant = INSTANTS.iter().find(|(scene, _)| *scene == name);
    instant.map_or(RunLength::Smoke, |(_, t)| RunLength::Until(*t))
}

/// Renders the end of a run of the scene.
fn render(browser: &Browser, name: &str, renewed: Renewed) {
    let file = root(PICTURES).join(picture(name));
    if renewed == Renewed::Missing && file.exists() {
        return;
    }
    let options = RunOptions {
        length: length(name),
        ..RunOptions::default()
    };
    let outcome = run(&scene(name), &options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("gallery")
        .join(name);
    let pages = outcome.recording.write_to(&folder).expect("written");
    let end = outcome.summary.simulated_s;
    let settings = format!("still&theme=light&forces=off&moments=off&t={end}");
    screenshot(&mut open(browser, &pages[0], &settings), &file);
}

#[test]
fn the_page_shows_every_bundled_scene() {
    if let Some(asked) = std::env::var_os("PLIANT_UPDATE_DOCS") {
        let renewed = match asked == "pictures" {
            true => Renewed::All,
            false => Renewed::Missing,
        };
        if let Some(browser) = browser() {
            for (name, _) in bundled::SCENES {
                render(&browser, name, renewed);
            }
            render_montage(&browser);
        }
        fs::write(root(PAGE), page()).unwrap_or_else(|e| panic!("{PAGE}: {e}"));
    }
    let text = fs::read_to_string(root(PAGE)).unwrap_or_else(|e| panic!("{PAGE}: {e}"));
    assert_eq!(text, page(), "{PAGE}: run with PLIANT_UPDATE_DOCS=1");
    let found: BTreeSet<String> = fs::read_dir(root(PICTURES))
        .expect("the folder exists")
        .map(|file| {
            file.expect("a readable entry")
                .file_name()
                .to_string_lossy()
                .into()
        })
        .collect();
    let expected = bundled::SCENES
        .iter()
        .map(|(name, _)| picture(name))
        .collect();
    assert_eq!(found, expected, "{PICTURES}");
}
