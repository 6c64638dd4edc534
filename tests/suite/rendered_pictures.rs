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
fn cameras_of_a_scene_are_chosen_by_name_and_a_video_has_a_frame_for_each_time() {
    if browser().is_none() {
        return;
    }
    let folder = folder("rendered_videos");
    let replay = folder.join("replay.html");
    let run = pliant(&[
        "run",
        "box-on-incline",
        "--until",
        "0.2",
        "--out",
        path(&folder),
    ]);
    assert!(run.status.success());
    let render = |more: &[&str]| {
        let output = pliant(&[&["render", path(&replay), "--size", "120x80"], more].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    let [first, beside, none] = ["first.png", "beside.png", "none.png"].map(|n| folder.join(n));
    assert_eq!(render(&["--out", path(&first)]).0, Some(0));
    let beside_the_box = ["--camera", "beside-the-box", "--out", path(&beside)];
    assert_eq!(render(&beside_the_box).0, Some(0));
    assert_ne!(
        fs::read(&first).expect("there"),
        fs::read(&beside).expect("there")
    );
    let (code, message) = render(&["--camera", "above", "--out", path(&none)]);
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("no camera has the name \"above\""),
        "{message}"
    );

    let video = folder.join("video.gif");
    let (code, message) = render(&["--video", "--out", path(&video)]);
    assert_eq!(code, Some(0), "{message}");
    let video = fs::read(&video).expect("the video is there");
    assert_eq!(video[..6], *b"GIF89a");
    assert_eq!(video[6..10], [120, 0, 80, 0]);
    // The extension of a frame with its delay of five hundredths: at 0, 0.05, 0.1, 0.15 and 0.2 s.
    let delays = video
        .windows(6)
        .filter(|b| b[..3] == [0x21, 0xf9, 4] && b[4..] == [5, 0]);
    assert_eq!(delays.count(), 5);
}

#[test]
fn what_cannot_be_rendered_is_refused_with_a_remedy() {
    for (arguments, expected) in [
        (["--at", "-1"], "zero or more"),
        (["--size", "0x5"], "such as 1200x800"),
        (["--out", "picture.gif"], "ends in .png"),
        (["--video", "--out=video.png"], "ends in .gif"),
        (["--video", "--speed=0"], "greater than 0"),
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
