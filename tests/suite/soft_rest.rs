//! Soft bodies come to rest in the default stepper: their support carries their weight, and a step at rest takes no iteration or one.

use pliant::runner::{RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

/// A cube of 1 kg falls 1 mm onto a floor.
const CUBE: &str = include_str!("soft_rest/cube.toml");
const WEIGHT: f64 = 9.81;
const ON_A_FLOOR: &str = "shape = { half_space = {} }";

/// Forces (N), speeds (m/s) and iterations of the last half second.
fn last_half_second(text: &str, modulus: f64, time_step_s: f64) -> [Vec<f64>; 3] {
    let options = SceneOptions {
        parameters: vec![format!("E={modulus}").parse().expect("a parameter")],
        time_step_s: Some(time_step_s),
        ..SceneOptions::default()
    };
    let scene = Scene::parse("soft_rest.toml", text, &options).expect("a sound scene");
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).expect("a run");
    let recording = &outcome.recording;
    let n = (0.5 / time_step_s).round() as usize;
    ["F", "KE", "iterations"].map(|name| {
        let column = recording.observables().iter().position(|o| o.name == name);
        let values = recording
            .column(column.expect("a known name"))
            .expect("numbers");
        let values = values[values.len() - n.min(values.len())..].iter();
        match name {
            "KE" => values.map(|energy| (2.0 * energy).sqrt()).collect(),
            _ => values.copied().collect(),
        }
    })
}

fn assert_rests(of: &str, text: &str, modulus: f64, time_step_s: f64) {
    let of = format!("{of}, E = {modulus} Pa, {time_step_s} s");
    let [forces, speeds, iterations] = last_half_second(text, modulus, time_step_s);
    for force in forces {
        assert!((force / WEIGHT - 1.0).abs() < 1e-5, "{of}: {force} N");
    }
    for speed in speeds {
        assert!(speed < 1e-6, "{of}: {speed} m/s");
    }
    let most = iterations.iter().copied().fold(0.0, f64::max);
    assert!(most <= 1.0, "{of}: {most} iterations");
}

#[test]
fn a_soft_cube_on_a_floor_comes_to_rest_at_every_time_step_and_modulus() {
    for (modulus, time_step_s) in [
        (2e4, 2e-3),
        (2e4, 5e-3),
        (2e4, 1e-2),
        (2e4, 2e-2),
        (1e4, 1e-2),
        (1e5, 1e-2),
        (1e6, 1e-2),
    ] {
        assert_rests("a floor", CUBE, modulus, time_step_s);
    }
}

#[test]
fn a_soft_cube_comes_to_rest_on_shapes_wider_and_narrower_than_itself() {
    for support in [
        "shape = { box = { size = [0.3, 0.3, 0.1] } }\npose = { position = [0, 0, -0.05] }",
        "shape = { box = { size = [0.1, 0.1, 0.1] } }\npose = { position = [0, 0, -0.05] }",
        "shape = { box = { size = [0.07, 0.05, 0.1] } }\npose = { position = [0, 0, -0.05] }",
        "shape = { cylinder = { radius = 0.04, length = 0.1 } }\npose = { position = [0, 0, -0.05] }",
        "shape = { half_space = {} }
material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e6, slab_thickness = 0.05 }",
        "shape = { box = { size = [0.3, 0.3, 0.1] } }\npose = { position = [0, 0, -0.05] }
material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e6 }",
    ] {
        let text = CUBE.replace(ON_A_FLOOR, support);
        assert_ne!(text, CUBE);
        assert_rests(support, &text, 2e4, 1e-2);
    }
}
