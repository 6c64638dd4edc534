//! Recordings that are kept in files while they grow write the same bytes as those in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pliant::recording::Recording;
use pliant::runner::{ParticleDetail, RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

use crate::program::folder;
use crate::replay_in_browser::one_of_everything;

/// Everything that can be written, by file name.
fn files(recording: &Recording, out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    recording.write_to(out).expect("written");
    recording.write_paraview(out).expect("written");
    recording
        .write_deformed_npz(&out.join("deformed.npz"))
        .expect("written");
    recording
        .write_patches_npz(&out.join("patches.npz"))
        .expect("written");
    let mut files = BTreeMap::new();
    for folder in [out.to_owned(), out.join("vtu")] {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let bytes = fs::read(&path).expect("a file");
                files.insert(path.strip_prefix(out).expect("within").to_owned(), bytes);
            }
        }
    }
    files
}

#[track_caller]
fn check_equal(in_memory: &Recording, in_file: &Recording, name: &str) {
    let [one, two] = ["memory", "file"].map(|kind| folder(&format!("{name}_in_{kind}")));
    let (one, two) = (files(in_memory, &one), files(in_file, &two));
    assert!(one.len() > 4, "{:?}", one.keys());
    assert_eq!(
        one.keys().collect::<Vec<_>>(),
        two.keys().collect::<Vec<_>>()
    );
    for (path, bytes) in &one {
        assert!(*bytes == two[path], "{} differs", path.display());
    }
}

#[test]
fn one_of_everything_has_the_same_files() {
    let in_memory = one_of_everything();
    let mut in_file = Recording::new(
        in_memory.title(),
        in_memory.bodies().to_vec(),
        in_memory.visuals().to_vec(),
        in_memory.observables().to_vec(),
    )
    .expect("sound");
    in_file.name_parts(in_memory.parts().to_vec());
    in_file
        .keep_in(&folder("everything_kept"))
        .expect("writable");
    let frames = in_memory.frames();
    frames
        .each(|frame| in_file.push_frame(frame.clone()))
        .expect("sound frames");
    let columns = 0..in_memory.observables().len();
    let columns: Vec<Vec<f64>> = columns
        .map(|c| in_memory.column(c).expect("a column"))
        .collect();
    for (row, time_s) in in_memory
        .row_times_s()
        .expect("times")
        .into_iter()
        .enumerate()
    {
        let values: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        in_file
            .push_observables(time_s, &values)
            .expect("a sound row");
    }
    check_equal(&in_memory, &in_file, "everything");
}

/// Patches, and particles with their states.
#[test]
fn scenes_have_the_same_files() {
    for (scene, until_s) in [("dough-rolling", 0.1), ("gripper-holds-box", 0.5)] {
        let read = Scene::load(scene, &SceneOptions::default()).expect("a bundled scene");
        let options = |recording_in| RunOptions {
            length: RunLength::Until(until_s),
            particles: ParticleDetail::States,
            recording_in,
            inputs: None,
            saved_from: None,
            cancellation: pliant_contact_sap::Cancellation::default(),
        };
        let run = |kept| {
            run(&read, &options(kept), &mut |_| {})
                .expect("it runs")
                .recording
        };
        let kept = folder(&format!("{scene}_kept"));
        check_equal(&run(None), &run(Some(kept.clone())), scene);
        if cfg!(unix) {
            assert_eq!(fs::read_dir(kept).expect("a folder").count(), 0, "{scene}");
        }
    }
}
