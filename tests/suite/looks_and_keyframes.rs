//! What the replay draws of a body or link, and named joint positions.

use std::fs;

use pliant::recording::VisualShape;
use pliant::runner::{RunLength, RunOptions, RunOutcome, check, run};
use pliant::scene::{Scene, SceneOptions};
use pliant_hydroelastic::AnalyticShape;

use crate::program::folder;

fn parse(text: &str) -> Result<Scene, String> {
    let scene = Scene::parse("t.toml", text, &SceneOptions::default());
    scene.map_err(|error| error.to_string())
}

fn text(fragment: &str) -> String {
    format!(
        "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.1\ngravity = [0, 0, 0]\n{fragment}"
    )
}

fn outcome(scene: &Scene) -> RunOutcome {
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    run(scene, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn check_refused(fragment: &str, part: &str) {
    let refused = parse(&text(fragment)).and_then(|scene| {
        let checked = check(&scene).map(|_| ());
        checked.map_err(|error| error.to_string())
    });
    let message = refused.expect_err(part);
    assert!(message.contains(part), "{message}");
}

const ARM: &str = "[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\n";

#[test]
fn a_mesh_is_drawn_in_place_of_the_shape_that_touches() {
    let folder = folder("visual_mesh");
    let scene = folder.join("scene.toml");
    // One open triangle: no solid, but a picture.
    fs::write(
        folder.join("flag.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    )
    .expect("written");
    let body = "[[bodies]]\nname = \"ball\"\nmass = 1\nshape = { sphere = { radius = 0.1 } }\nvisual = { mesh = { file = \"flag.obj\", scale = 2 } }\n[[fixed]]\nname = \"wall\"\nshape = { half_space = {} }\npose = { position = [0, 0, -1] }\nvisual = { box = { size = [1, 1, 0.1] } }\n";
    fs::write(&scene, text(body)).expect("written");
    let path = scene.to_str().expect("UTF-8");
    let scene = Scene::load(path, &SceneOptions::default()).expect("a scene");
    let outcome = outcome(&scene);
    let visuals = outcome.recording.visuals();
    let of = |name: &str| &visuals.iter().find(|v| v.name == name).expect(name).shape;
    match of("ball") {
        VisualShape::Mesh { vertices, .. } => assert_eq!(vertices[1].x, 2.0),
        other => panic!("{other:?}"),
    }
    let VisualShape::Analytic(AnalyticShape::Box { size }) = of("wall") else {
        panic!("a box is drawn");
    };
    assert_eq!(size.z, 0.1);
    let near = text(&body.replace("flag.obj", "flg.obj"));
    let near = Scene::parse(path, &near, &SceneOptions::default()).map(|mut scene| {
        scene.folder = Some(folder.clone());
        check(&scene)
            .map(|_| ())
            .expect_err("no such file")
            .to_string()
    });
    let near = near.expect("a scene");
    assert!(near.contains("did you mean `flag.obj`?"), "{near}");
    let shapes = "[[bodies]]\nname = \"b\"\nvisual = { sphere = { radius = 1 } }\nshapes = [{ shape = { sphere = { radius = 1 } } }]\n";
    check_refused(shapes, "`visual` belongs to one shape");
    let missing = "[[bodies]]\nname = \"b\"\nshape = { sphere = { radius = 1 } }\nvisual = { mesh = { file = \"meshes/nothing.obj\" } }\n";
    check_refused(missing, "no file \"meshes/nothing.obj\"");
}

#[test]
fn links_have_colors_of_their_own() {
    let colored = format!("{ARM}color = [0, 0, 1]\ncolors = {{ upper = [1, 0, 0] }}\n");
    let scene = parse(&text(&colored)).expect("a scene");
    let outcome = outcome(&scene);
    let red = |name: &str| {
        let visual = outcome.recording.visuals().iter().find(|v| v.name == name);
        visual.expect(name).color.red
    };
    assert_eq!((red("p/upper"), red("p/lower")), (1.0, 0.0));
    check_refused(
        &format!("{ARM}colors = {{ uper = [1, 0, 0] }}\n"),
        "did you mean `upper`?",
    );
    check_refused(
        &format!("{ARM}colors = {{ upper = [1, 0, 2] }}\n"),
        "must lie in 0..1",
    );
}

const KEYFRAMES: &str =
    "keyframes = { bent = { shoulder = 0.3, elbow = -0.2 }, half = { shoulder = 1 } }\n";

#[test]
fn keyframes_are_starts_and_knots() {
    let motion = "[[joint_motions]]\nmodel = \"p\"\ninterpolation = \"linear\"\nknots = [{ at_s = 0, keyframe = \"bent\" }, { at_s = 0.1, positions = [0.5, 0.2] }]\n";
    let starts = format!("{ARM}{KEYFRAMES}positions = \"bent\"\n");
    let scene = parse(&text(&starts)).expect("a scene");
    let q = &check(&scene).expect("it begins").state.bodies[0].q;
    assert_eq!(q[..], [0.3, -0.2]);
    let scene = parse(&text(&format!("{ARM}{KEYFRAMES}{motion}"))).expect("a scene");
    let end = outcome(&scene).state;
    assert!((end.bodies[0].q[0] - 0.5).abs() < 1e-9 && (end.bodies[0].q[1] - 0.2).abs() < 1e-9);
}

#[test]
fn keyframes_that_do_not_fit_are_refused() {
    let knots = |rest: &str| format!("{ARM}{KEYFRAMES}[[joint_motions]]\nmodel = \"p\"\n{rest}\n");
    check_refused(
        &format!("{ARM}{KEYFRAMES}positions = \"bend\"\n"),
        "no keyframe \"bend\"; did you mean `bent`?",
    );
    check_refused(
        &knots("knots = [{ at_s = 0, keyframe = \"no\" }]"),
        "there is no keyframe \"no\"",
    );
    check_refused(
        &knots("joints = [\"elbow\"]\nknots = [{ at_s = 0, keyframe = \"half\" }]"),
        "no single value for the joint \"elbow\"",
    );
    check_refused(
        &knots(
            "joints = [\"elbow\"]\nknots = [{ at_s = 0, keyframe = \"bent\", positions = [1] }]",
        ),
        "both given; keep one",
    );
    check_refused(
        &knots("knots = [{ at_s = 0, positions = [1] }]"),
        "lacks the key `joints`",
    );
    check_refused(
        &knots("joints = [\"elbow\"]\nknots = [{ at_s = 0 }]"),
        "lacks the key `positions`",
    );
}

/// Rotations take the shorter way from knot to knot, which a turn of π or more does not have.
#[test]
fn turns_of_pi_or_more_between_knots_are_refused() {
    let motion = |interpolation: &str, turn: &str| {
        format!(
            "[[bodies]]\nname = \"table\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\n[[body_motions]]\nbody = \"table\"\ninterpolation = \"{interpolation}\"\nknots = [{{ at_s = 0, pose = {{}} }}, {{ at_s = 2, pose = {{ rpy = {turn} }} }}]\n"
        )
    };
    for turn in ["[0, 0, \"2*pi\"]", "[0, 0, \"-1.5*pi\"]", "[\"pi\", 0, 0]"] {
        for interpolation in ["linear", "cubic"] {
            check_refused(&motion(interpolation, turn), "add knots between");
        }
        parse(&text(&motion("hold", turn))).unwrap_or_else(|error| panic!("{error}"));
    }
    // 0.99 π in 2 s.
    let scene = text(&motion("linear", "[0, 0, \"0.99*pi\"]"));
    let scene = parse(&scene).unwrap_or_else(|error| panic!("{error}"));
    let rate = outcome(&scene).state.bodies[0].v[2];
    assert!(
        (rate - 0.99 * std::f64::consts::PI / 2.0).abs() < 1e-6,
        "{rate}"
    );
}
