//! The scenes of the tutorials are what their pages show, and run.

use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/tutorials")
}

fn scenes() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("a readable folder");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect()
}

#[test]
fn every_page_shows_its_scene() {
    for path in scenes() {
        let scene = fs::read_to_string(&path).expect("a readable scene");
        let page = fs::read_to_string(path.with_extension("md")).expect("a page of this name");
        assert!(page.contains(scene.trim()), "{}", path.display());
    }
}

#[test]
fn every_scene_runs() {
    assert_eq!(scenes().len(), 5);
    for path in scenes() {
        let name = path.to_string_lossy();
        let scene = Scene::load(&name, &SceneOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let options = RunOptions {
            length: RunLength::Until(0.1),
            ..RunOptions::default()
        };
        let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(outcome.summary.is_as_expected(), "{name}");
    }
}
