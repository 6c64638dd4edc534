//! The sparse grid: particles that are far apart, and more blocks than there is room for.

use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel};
use pliant_mpm::{
    MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, ParticleSet, Preset, SubstepBackend,
    SubstepReport,
};

use crate::adapter::Gpu;
use crate::backend::GpuSubsteps;
use crate::function_tests::device;
use crate::test_scene::{FoamOnFloor, no_links};

fn foam(points: Vec<Point3<f64>>) -> MaterialPoints {
    let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
    let set = ParticleSet {
        points,
        particle_volume: 1e-6,
    };
    builder.object(ObjectSpec::new(
        "foam",
        Preset::FoamCube.material(),
        400.0,
        set,
    ));
    builder.build().expect("foam")
}

/// A time step of 1 ms in four substeps, without obstacles.
fn step(gpu: &Arc<Gpu>, model: &MaterialPoints, state: &BodyState) -> BodyState {
    step_of(&mut GpuSubsteps::new(gpu, model).expect("foam"), state)
}

fn step_of(backend: &mut GpuSubsteps, state: &BodyState) -> BodyState {
    let scene = FoamOnFloor::new();
    let mut input = scene.input(4);
    input.obstacles = &[];
    let mut next = BodyState::default();
    backend.begin(state).expect("its own state");
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    (backend.run(&input, &mut no_links(), &mut memory, &mut report)).expect("a step");
    let _ = backend.end(&mut next).expect("an end");
    next
}

#[test]
fn particles_far_apart_move_as_alone() {
    let name = "particles_far_apart_move_as_alone";
    if device(name).is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    // Eight particles with a velocity gradient, and the same 500 m away along two axes: 39 million blocks, of which a few are used.
    let corner = |k: usize| Vector3::new((k / 4) as f64, (k / 2 % 2) as f64, (k % 2) as f64);
    let cube = |origin: Point3<f64>| (0..8).map(move |k| origin + 0.01 * corner(k));
    let (here, there) = (
        Point3::new(0.005, 0.005, 0.005),
        Point3::new(500.005, 500.005, 0.005),
    );
    let stretched = |mut state: BodyState| {
        for (k, v) in state.v.chunks_mut(3).enumerate() {
            v[0] = corner(k % 8).x;
        }
        state
    };
    let alone = foam(cube(here).collect());
    let pair = foam(cube(here).chain(cube(there)).collect());
    let moved = step(&gpu, &alone, &stretched(alone.default_state()));
    let both = step(&gpu, &pair, &stretched(pair.default_state()));
    for k in 0..24 {
        assert_eq!(moved.v[k].to_bits(), both.v[k].to_bits());
        // Positions there are known to 1e-13 m only.
        assert!((moved.v[k] - both.v[24 + k]).abs() < 1e-6);
    }
    assert!(
        moved.v[0] > 0.0 && moved.v[12] < 1.0,
        "they pull on each other"
    );
}

#[test]
fn a_step_with_more_blocks_than_there_is_room_for_is_taken_again() {
    let name = "a_step_with_more_blocks_than_there_is_room_for_is_taken_again";
    if device(name).is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    // A thousand particles ten cells apart have blocks of their own, up to eight each; there is room for 271 at first.
    let at = |k: usize| 0.2 * k as f64 + 0.013;
    let points = (0..1000).map(|k| Point3::new(at(k / 100), at(k / 10 % 10), at(k % 10)));
    let model = foam(points.collect());
    let moved = step(&gpu, &model, &model.default_state());
    for v in moved.v.chunks(3) {
        assert!((v[2] + 9.81e-3).abs() < 1e-7 && v[0].abs() < 1e-12, "{v:?}");
    }
}

#[test]
fn room_for_blocks_follows_what_was_needed_and_changes_no_bit() {
    if device("room_for_blocks_follows_what_was_needed_and_changes_no_bit").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    // Ten by ten by ten particles in five cells along each axis: eight blocks, or a few more.
    let at = |k: usize| 0.01 * k as f64 + 0.003;
    let points = (0..1000).map(|k| Point3::new(at(k / 100), at(k / 10 % 10), at(k % 10)));
    let model = foam(points.collect());
    let mut backend = GpuSubsteps::new(&gpu, &model).expect("foam");
    let near = step_of(&mut backend, &model.default_state());
    // The same particles in a thousand blocks of their own: 32 more than before are not enough.
    let mut far = near.clone();
    far.q.iter_mut().for_each(|x| *x *= 20.0);
    let bits = |state: &BodyState| -> Vec<u64> { state.v.iter().map(|v| v.to_bits()).collect() };
    for state in [near, far] {
        assert_eq!(
            bits(&step_of(&mut backend, &state)),
            bits(&step(&gpu, &model, &state))
        );
    }
}
