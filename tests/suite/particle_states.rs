//! States of particles as other programs read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pliant::runner::{ParticleDetail, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

use crate::npz::{self, Array};

/// Two cubes of 216 particles of 1 cm³ in free motion: one translates, one rotates; only the second is plastic.
const CUBES: &str = r#"
schema = 1
title = "cubes"
[simulation]
smoke_s = 0.1
time_step_s = 0.001
gravity = [0, 0, 0]
[grid]
spacing = 0.02
[[material_points]]
name = "light"
shape = { box = { size = [0.06, 0.06, 0.06] } }
constitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }
density = 500
velocity = [-1, 0, 0]
[[material_points]]
name = "heavy"
shape = { box = { size = [0.06, 0.06, 0.06] } }
pose = { position = [0.4, 0, 0] }
constitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3, yield_stress = 1e9 }
density = 2000
angular_velocity = [0, 0, 2]
"#;

const N: usize = 216;

fn archive(particles: ParticleDetail) -> BTreeMap<String, Array> {
    let scene = Scene::parse("cubes.toml", CUBES, &SceneOptions::default());
    let scene = scene.unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        particles,
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let file = format!("particle_states_{particles:?}.npz");
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
    let written = outcome.recording.write_deformed_npz(&file);
    assert!(written.expect("it can be written"));
    let bytes = fs::read(&file).expect("just written");
    npz::read(&bytes)
}

/// The values of the last frame of an array with these numbers for each particle.
#[track_caller]
fn last<T: Copy>(array: &Array, values: &[T], each: &[usize]) -> Vec<T> {
    assert_eq!(array.shape[1..], *each);
    let of_a_frame = N * each.iter().product::<usize>();
    assert!(values.len() > of_a_frame && values.len().is_multiple_of(of_a_frame));
    values[values.len() - of_a_frame..].to_vec()
}

#[track_caller]
fn check_all(values: &[f64], expected: f64, within: f64) {
    let close = |x: &f64| (x - expected).abs() <= within;
    assert!(values.iter().all(close), "{expected}: {values:?}");
}

#[test]
fn states_are_in_the_archive_on_request() {
    let archive = archive(ParticleDetail::States);
    for (body, name, mass) in [(0, "light", 0.5e-3), (1, "heavy", 2e-3)] {
        let of = |what: &str| &archive[&format!("{name}.{what}")];
        let count = |what| last(of(what), &of(what).u32s(), &[]);
        let ids = count("id");
        let first = body * N as u32;
        assert!(ids.into_iter().eq(first..first + N as u32));
        assert_eq!(count("body"), [body; N]);
        let real = |what, each: &[usize]| last(of(what), &of(what).f64s(), each);
        assert_eq!(real("points", &[3]).len(), 3 * N);
        check_all(&real("mass", &[]), mass, 1e-12);
        check_all(&real("volume", &[]), 1e-6, 1e-9);
        let (v, f) = (
            real("velocity", &[3]),
            real("deformation_gradient", &[3, 3]),
        );
        let plastic = real("plastic_strain", &[]);
        match name {
            "light" => {
                check_all(
                    &v.iter().copied().step_by(3).collect::<Vec<_>>(),
                    -1.0,
                    1e-9,
                );
                let off = |(k, f): (usize, &f64)| (f - f64::from(u8::from(k % 4 == 0))).abs();
                assert!((0..N).all(|p| {
                    f[9 * p..][..9]
                        .iter()
                        .enumerate()
                        .map(off)
                        .all(|x| x < 1e-9)
                }));
                assert!(plastic.iter().all(|x| x.is_nan()));
            }
            _ => {
                assert!(v.iter().copied().fold(0.0, f64::max) > 0.05);
                // Rotated by 0.2 rad about z: in a row of the world's x, y comes with −sin.
                let column = |k: usize| f.iter().copied().skip(k).step_by(9).collect::<Vec<_>>();
                check_all(&column(0), 0.2_f64.cos(), 2e-3);
                check_all(&column(1), -0.2_f64.sin(), 2e-3);
                check_all(&column(3), 0.2_f64.sin(), 2e-3);
                check_all(&plastic, 0.0, 0.0);
            }
        }
    }
}

#[test]
fn a_run_keeps_no_states_without_request() {
    let archive = archive(ParticleDetail::Shown);
    let names: Vec<&String> = archive.keys().collect();
    assert!(archive.contains_key("light.points"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.ends_with(".velocity")),
        "{names:?}"
    );
}
