//! Image sensors in scene files: files of a run, and what is refused.

use std::fs;

use pliant::recording::Anchor;
use pliant::runner::{RunLength, RunOptions, check, run};
use pliant::scene::{Scene, SceneOptions};

use crate::program::{folder, path, pliant};

const BALL: &str = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.1\n[recording]\nframes_per_s = 20\n[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\npose = { position = [0, 0, 1] }\n";

fn with_sensor(rest: &str) -> String {
    format!("{BALL}[[image_sensors]]\nname = \"eye\"\n{rest}\n")
}

#[test]
fn a_run_leaves_depths_and_a_picture_of_each_frame() {
    let folder = folder("image_sensors");
    let scene = folder.join("scene.toml");
    let sensor = "pose = { position = [0, 0, -1] }\nsize = [16, 12]";
    fs::write(&scene, with_sensor(sensor)).expect("can be written");
    let output = pliant(&["run", path(&scene), "--out", path(&folder)]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("eye.npz"), "{said}");
    assert!(folder.join("eye.npz").is_file());
    // At 0, 0.05 and 0.1 s.
    let pictures = fs::read_dir(folder.join("eye")).expect("a folder").count();
    assert_eq!(pictures, 3);
    let picture = fs::read(folder.join("eye/00002.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
    assert_eq!(picture[16..24], [0, 0, 0, 16, 0, 0, 0, 12]);
}

#[test]
fn a_sensor_on_a_link_without_a_shape_moves_with_it() {
    // The tip of the pendulum: the link is recorded by its visuals; the frame is half a metre below its origin.
    let text = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.05\n[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\n[[image_sensors]]\nname = \"tip\"\non = \"p/tip\"\n";
    let scene = Scene::parse("t.toml", text, &SceneOptions::default()).expect("a scene");
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).expect("a run");
    let [sensor] = outcome.recording.image_sensors() else {
        panic!("one sensor");
    };
    let Anchor::Body(row) = sensor.anchor else {
        panic!("on a link");
    };
    assert_eq!(outcome.recording.bodies()[row.0], "p/lower");
    assert!((sensor.X_BS.translation.z + 0.5).abs() < 1e-12);
    assert_eq!(sensor.size, [320, 240]);
}

#[test]
fn sensors_that_cannot_be_are_refused() {
    let refused = |rest: &str, part: &str| {
        let scene = Scene::parse("t.toml", &with_sensor(rest), &SceneOptions::default());
        let checked = scene.map_err(|error| error.to_string()).and_then(|scene| {
            let checked = check(&scene).map(|_| ());
            checked.map_err(|error| error.to_string())
        });
        let message = checked.expect_err(part);
        assert!(message.contains(part), "{message}");
    };
    refused("on = \"bal\"", "did you mean `ball`?");
    refused("size = [0, 10]", "two whole numbers from 1 to 4096");
    refused("size = [10.5, 10]", "two whole numbers from 1 to 4096");
    refused("fov = 3", "fov");
    refused(
        "[[image_sensors]]\nname = \"eye\"",
        "the name \"eye\" is taken",
    );
    refused(
        "[[image_sensors]]\nname = \"..\"",
        "must not begin with a dot",
    );
}
