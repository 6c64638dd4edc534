//! `pliant render`: pictures by the replay player in headless Chromium.

use std::fs;
use std::path::Path;

use crate::program::{command, folder, path, pliant};
use crate::replay_in_browser::browser;

/// Renders `source` into `file` with an odd size, and returns the bytes of the picture.
#[track_caller]
fn rendered(source: &str, at: &str, file: &Path) -> Vec<u8> {
    let output = pliant(&[
        "render",
        source,
        "--at",
        at,
        "--size",
        "321x243",
        "--out",
        path(file),
    ]);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaints}");
    let picture = fs::read(file).expect("the picture is there");
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes"));
    assert_eq!([side(16), side(20)], [321, 243]);
    picture
}

#[test]
fn a_scene_and_its_replay_have_the_same_picture_which_changes_with_time() {
    if browser().is_none() {
        return;
    }
    let folder = folder("rendered_pictures");
    let end = rendered("box-on-incline", "0.5", &folder.join("end.png"));
    let start = rendered("box-on-incline", "0", &folder.join("start.png"));
    assert_ne!(start, end, "the box slides");
    let run = pliant(&[
        "run",
        "box-on-incline",
        "--until",
        "0.5",
        "--out",
        path(&folder),
    ]);
    assert!(run.status.success());
    let replay = folder.join("replay.html");
    assert!(end == rendered(path(&replay), "0.5", &folder.join("replay.png")));
    let other = folder.join("other.html");
    fs::write(&other, "<!doctype html><p>no replay").expect("written");
    for (source, at, expected) in [
        (&replay, "0.6", "ends at 0.5 s"),
        (&other, "0", "is not a replay of pliant"),
        (&folder.join("none.html"), "0", "No such file"),
    ] {
        let out = folder.join("refused.png");
        let output = pliant(&["render", path(source), "--at", at, "--out", path(&out)]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(!out.exists(), "{expected}");
    }
    let left = fs::read_dir(&folder).expect("the folder");
    let names = left.map(|file| file.expect("an entry").file_name());
    let partial = names.filter(|name| name.to_string_lossy().contains("partial"));
    assert_eq!(partial.count(), 0);
}

#[test]
fn what_cannot_be_rendered_is_refused_with_a_remedy() {
    for (arguments, expected) in [
        (["--at", "-1"], "zero or more"),
        (["--size", "0x5"], "such as 1200x800"),
        (["--out", "picture.gif"], "ends in .png"),
    ] {
        let output = pliant(&[["render", "box-on-incline"], arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let output = command(&["render", "box-on-incline"])
        .env("PATH", "")
        .env_remove("PLIANT_CHROMIUM")
        .output()
        .expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("set PLIANT_CHROMIUM"), "{message}");
}
