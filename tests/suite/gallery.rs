//! `docs/gallery.md` shows every bundled scene.
//!
//! `PLIANT_UPDATE_DOCS=1 cargo test --workspace --test suite -- gallery` prints the page anew and renders the pictures that are
//! missing in `docs/images/gallery`: each shows the end of the scene's short run. It needs Chromium, as the tests of the replay do.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, bundled};

use crate::replay_in_browser::{browser, open, screenshot};

const PAGE: &str = "docs/gallery.md";
const PICTURES: &str = "docs/images/gallery";

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

fn page() -> String {
    let mut page = String::from(
        "# Gallery\n\nThe bundled scenes. `pliant run NAME` runs one and writes a replay; the pictures show the end of the short run. The page is\n\
         printed by `PLIANT_UPDATE_DOCS=1 cargo test --workspace --test suite -- gallery`, which also renders missing pictures.\n\n\
         | | scene |\n|---|---|\n",
    );
    for (name, _) in bundled::SCENES {
        let scene = scene(name);
        page += &format!(
            "| ![{}](images/gallery/{}) | **{}**<br>{}<br>`pliant run {name}` ([file](../scenes/{name}.toml)) |\n",
            scene.title,
            picture(name),
            scene.title,
            first_sentence(&scene.description)
        );
    }
    page
}

/// Renders the end of the scene's short run, if the picture is missing.
fn render(name: &str) {
    let file = root(PICTURES).join(picture(name));
    let Some(browser) = browser().filter(|_| !file.exists()) else {
        return;
    };
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    let outcome = run(&scene(name), &options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("gallery")
        .join(name);
    let pages = outcome.recording.write_to(&folder).expect("written");
    let end = outcome.summary.simulated_s;
    let settings = format!("still&theme=light&forces=off&moments=off&t={end}");
    screenshot(&mut open(&browser, &pages[0], &settings), &file);
}

#[test]
fn the_page_shows_every_bundled_scene() {
    if std::env::var_os("PLIANT_UPDATE_DOCS").is_some() {
        for (name, _) in bundled::SCENES {
            render(name);
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
