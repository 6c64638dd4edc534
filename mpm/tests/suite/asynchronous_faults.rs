//! What the asynchronous stepper refuses: the message names body, value and remedy, and the state before the step is unchanged.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, State, Stepper, StrongImplicit, Substeps, World,
    WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LinearCorotated, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill,
};

use crate::support::substepped::{PRECISIONS, Substepped};

/// A rubber cube with edges of 0.1 m that flies along x at 2 m/s.
fn cube(settings: MpmSettings) -> MaterialPoints {
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let set = fill(
        "cube",
        &shape,
        &Isometry3::identity(),
        0.05,
        Sampling::default(),
    )
    .unwrap();
    let rubber = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
    let mut cube = ObjectSpec::new("cube", Arc::new(rubber), 1000.0, set);
    cube.velocity_W.x = 2.0;
    let mut builder = MpmBuilder::new(settings);
    builder.object(cube);
    builder.build().unwrap()
}

fn world(models: &[MpmSettings]) -> World {
    let mut builder = WorldBuilder::default();
    for (k, settings) in models.iter().enumerate() {
        builder.add_body(&format!("points {k}"), Box::new(cube(settings.clone())));
    }
    builder.build().unwrap()
}

/// The message of the step that `state` does not take.
fn refusal(world: &World, state: &State, settings: AsynchronousSettings) -> String {
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut stepper = Asynchronous::new(rigid, settings).unwrap();
    let error = stepper.step(world, state, 0.01, &mut State::default());
    error.expect_err("a fault").to_string()
}

#[test]
fn no_substeps_are_refused() {
    let settings = AsynchronousSettings {
        substeps: Substeps::Fixed(0),
        ..AsynchronousSettings::default()
    };
    let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let error = Asynchronous::new(rigid, settings).err().expect("N = 0");
    let text = error.to_string();
    assert!(
        text.contains("number of substeps") && text.contains("from 1 to 100000"),
        "{text}"
    );
}

#[test]
fn a_second_grid_is_refused_with_the_remedy() {
    let world = world(&[MpmSettings::new(0.05), MpmSettings::new(0.05)]);
    let text = refusal(
        &world,
        &world.default_state(),
        AsynchronousSettings::default(),
    );
    for part in ["\"points 1\"", "all objects on one grid"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_state_that_is_not_finite_is_refused_with_the_body() {
    let world = world(&[MpmSettings::new(0.05)]);
    for (precision, _) in PRECISIONS {
        for spoil in [
            (|s| s.bodies[0].q[4] = f64::NAN) as fn(&mut State),
            |s| s.bodies[0].v[7] = f64::INFINITY,
            |s| s.bodies[0].history[3] = f64::NAN,
        ] {
            let mut state = world.default_state();
            spoil(&mut state);
            let settings = AsynchronousSettings {
                precision,
                ..AsynchronousSettings::default()
            };
            let text = refusal(&world, &state, settings);
            assert!(
                text.contains("\"points 0\"") && text.contains("of \"cube\" is"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_particle_that_leaves_the_bounds_is_named_and_the_last_state_is_kept() {
    let mut settings = MpmSettings::new(0.05);
    settings.bounds = Some([Vector3::repeat(-0.1).into(), Vector3::repeat(0.1).into()]);
    let world = world(&[settings]);
    let mut run = Substepped::new(world, AsynchronousSettings::default());
    // The first particles are 62.5 mm from the bound and fly at 2 m/s.
    for _ in 0..3 {
        let _ = run.step(0.01);
    }
    let before = run.state.clone();
    let text = refusal(&run.world, &run.state, AsynchronousSettings::default());
    for part in ["step 3", "\"cube\"", "particle", "left the bounds"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(run.state, before);
}
