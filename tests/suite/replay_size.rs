//! A replay of particles stays small enough to play: 200,000 of them over 300 frames below 100 MB.

use nalgebra::{Point3, Vector3};
use pliant::recording::{
    Anchor, Color, Deformed, Frame, PointsLook, Recording, ValueScale, Visual, VisualShape,
};
use pliant::scene::{Matter, Scene, SceneOptions};

/// How many of a scene's 200,000 particles are drawn unless it says otherwise.
fn drawn() -> usize {
    let text = r#"
schema = 1
title = "Sand"
description = "Much of it."
[simulation]
smoke_s = 1
[grid]
spacing = 0.01
[[material_points]]
name = "sand"
shape = { box = { size = [0.25, 0.25, 0.4] } }
constitutive_material = "dry-sand"
"#;
    let scene = Scene::parse("sand", text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    match &scene.soft.entries[0].matter {
        Matter::Points(points) => points.drawn_max,
        _ => unreachable!("it is made of points"),
    }
}

#[test]
fn replay_of_200_000_particles_over_300_frames_stays_under_100_megabytes() {
    let n = drawn();
    let look = VisualShape::Points {
        radius: 0.005,
        look: PointsLook::Grains,
        scale: Some(ValueScale {
            name: "speed".into(),
            unit: "m/s".into(),
            min: 0.0,
            max: 3.0,
        }),
    };
    let visual = Visual {
        name: "sand".into(),
        anchor: Anchor::World,
        X_BG: nalgebra::Isometry3::identity(),
        shape: look,
        color: Color::palette(0),
    };
    let mut recording = Recording::new("sand", Vec::new(), vec![visual], Vec::new())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut state = 1_u64;
    let mut noise = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    // Every particle swerves at random at up to 3 m/s: nothing to predict.
    let mut points: Vec<Point3<f64>> = (0..n)
        .map(|_| Point3::from(Vector3::from_fn(|_, _| noise())))
        .collect();
    let mut velocities = vec![Vector3::zeros(); n];
    for k in 0..300 {
        for (p, v) in points.iter_mut().zip(&mut velocities) {
            *v = *v * 0.9 + Vector3::from_fn(|_, _| noise());
            *p += *v / 30.0;
        }
        let frame = Frame {
            time_s: f64::from(k) / 30.0,
            deformed: vec![Deformed {
                points: points.clone(),
                values: velocities.iter().map(Vector3::norm).collect(),
                states: None,
            }],
            ..Frame::default()
        };
        recording
            .push_frame(frame)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let size = recording.replay_html().expect("a page").len();
    assert!(size < 100_000_000, "{size} bytes");
}
