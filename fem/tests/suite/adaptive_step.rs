//! Adaptive steps: a soft cube that vibrates, and one that falls on the floor and rebounds.

use crate::support::{UNDAMPED, built, corotated};
use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Accuracy, Adaptive, ErrorMeasure, Geometry, Mount, State, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_fem::FemBuilder;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};

const SECONDS: f64 = 0.03;

/// A cube of 0.1 m that hits the floor at 0.3 m/s after a tenth of the time.
fn world() -> World {
    let material = ContactMaterial {
        stiffness: 1e4,
        ..ContactMaterial::default()
    };
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.001);
    let cube = built(FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0).pose(pose));
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("cube", Box::new(cube));
    builder.add_geometry(Geometry::of_vertices("cube", body, material));
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    builder.build().unwrap()
}

fn end(world: &World, tolerance: f64) -> Vec<f64> {
    let solver = SolverKind::Newton.build(StopCriteria::default());
    let accuracy = Accuracy {
        tolerance,
        shortest_s: 1e-6,
        ..Accuracy::default()
    };
    let mut stepper = Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap();
    let (mut state, mut next) = (world.default_state(), State::default());
    for v in state.bodies[0].v.chunks_exact_mut(3) {
        v[2] = -0.3;
    }
    for _ in 0..3 {
        let report = stepper
            .step(world, &state, SECONDS / 3.0, &mut next)
            .unwrap();
        assert!(report.adaptive.unwrap().accepted > 0 && report.is_trusted());
        std::mem::swap(&mut state, &mut next);
    }
    state.bodies.remove(0).q
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(x, y)| (x - y).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn the_error_of_a_rebounding_cube_follows_the_accuracy() {
    let world = world();
    let truth = end(&world, 5e-5);
    let lowest = truth
        .chunks_exact(3)
        .map(|p| p[2])
        .fold(f64::INFINITY, f64::min);
    assert!(lowest < 0.0, "it is in contact: {lowest}");
    let mut last = f64::INFINITY;
    for tolerance in [1e-2, 2e-3, 4e-4] {
        let error = largest_difference(&end(&world, tolerance), &truth);
        eprintln!("{tolerance}: {error:e}");
        assert!(error < tolerance * SECONDS, "{tolerance}: {error}");
        assert!(error < last, "{tolerance}: {error} after {last}");
        last = error;
    }
}

#[test]
fn rejected_steps_of_a_rebounding_cube_leave_no_trace() {
    let world = world();
    let accuracy = Accuracy {
        tolerance: 2e-3,
        shortest_s: 1e-6,
        ..Accuracy::default()
    };
    let fresh = || {
        let solver = SolverKind::Newton.build(StopCriteria::default());
        Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap()
    };
    let mut stepper = fresh();
    let (mut state, mut next) = (world.default_state(), State::default());
    for v in state.bodies[0].v.chunks_exact_mut(3) {
        v[2] = -0.3;
    }
    let mut rejected = 0;
    for _ in 0..6 {
        let before = state.clone();
        let report = stepper
            .step(&world, &state, SECONDS / 6.0, &mut next)
            .unwrap();
        assert_eq!(state, before, "what is stepped from stays as it is");
        rejected += report.adaptive.unwrap().rejected;
        // A stepper that has seen nothing yet, the state alone: the same bits.
        let mut other = State::default();
        let again = fresh().step(&world, &before, SECONDS / 6.0, &mut other);
        assert_eq!(again.unwrap().adaptive, report.adaptive);
        assert_eq!(other, next);
        std::mem::swap(&mut state, &mut next);
    }
    assert!(rejected > 3, "{rejected}");
}

/// About two thirds of a period of the vibrating cube's slowest stretching, in stretches longer than any step asked for.
const STRETCHES: usize = 4;
const STRETCH_S: f64 = 0.01;

/// A cube of 0.1 m, afloat and undamped, whose sides move apart at 0.1 m/s.
fn vibrating() -> (World, State) {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [1, 1, 1]).unwrap();
    let cube = FemBuilder::new(mesh, corotated(1e4, 0.3), 1000.0).damping(UNDAMPED);
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("cube", Box::new(built(cube)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let body = &mut state.bodies[0];
    for (v, p) in body.v.chunks_exact_mut(3).zip(body.q.chunks_exact(3)) {
        v[0] = 2.0 * p[0];
    }
    (world, state)
}

/// Positions after each stretch by backward Euler of Δt, Δt/2 and Δt/4, whose errors in Δt and Δt² cancel.
fn extrapolated(world: &World, start: &State) -> Vec<Vec<f64>> {
    let fixed = |steps: usize| -> Vec<Vec<f64>> {
        let solver = SolverKind::Newton.build(StopCriteria::default());
        let mut stepper = StrongImplicit::new(solver);
        let (mut state, mut next) = (start.clone(), State::default());
        let stretches = (0..STRETCHES).map(|_| {
            for _ in 0..steps {
                let dt = STRETCH_S / steps as f64;
                let report = stepper.step(world, &state, dt, &mut next).unwrap();
                assert!(report.is_trusted());
                std::mem::swap(&mut state, &mut next);
            }
            state.bodies[0].q.clone()
        });
        stretches.collect()
    };
    let [long, half, quarter] = [200, 400, 800].map(fixed);
    let stretches = long.iter().zip(&half).zip(&quarter);
    let limit = stretches.map(|((a, b), c)| {
        let coordinates = a.iter().zip(b).zip(c);
        let limits = coordinates.map(|((a, b), c)| (a - 6.0 * b + 8.0 * c) / 3.0);
        limits.collect()
    });
    limit.collect()
}

/// The largest error after any stretch, m; no step was forced, and none as long as its stretch.
fn error_of_vibration(
    world: &World,
    start: &State,
    truth: &[Vec<f64>],
    tolerance: f64,
    measure: ErrorMeasure,
) -> f64 {
    let accuracy = Accuracy {
        tolerance,
        measure,
        shortest_s: 1e-8,
    };
    let solver = SolverKind::Newton.build(StopCriteria::default());
    let mut stepper = Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap();
    let (mut state, mut next) = (start.clone(), State::default());
    let (mut error, mut steps) = (0.0_f64, 0);
    for truth in truth {
        let report = stepper.step(world, &state, STRETCH_S, &mut next).unwrap();
        let done = report.adaptive.unwrap();
        assert!(report.is_trusted() && done.forced == 0 && done.accepted > 1);
        assert!(done.error_max <= tolerance, "{done:?}");
        std::mem::swap(&mut state, &mut next);
        error = error.max(largest_difference(&state.bodies[0].q, truth));
        steps += done.accepted;
    }
    eprintln!("{measure:?} {tolerance:.0e}: {error:.3e} m in {steps} steps");
    error
}

#[test]
fn the_error_of_a_vibrating_cube_follows_the_accuracy_over_three_decades() {
    let (world, start) = vibrating();
    let truth = extrapolated(&world, &start);
    let tolerances = [5e-3, 5e-4, 5e-5, 5e-6];
    let errors = tolerances
        .map(|it| error_of_vibration(&world, &start, &truth, it, ErrorMeasure::PerSecond));
    for (error, tolerance) in errors.iter().zip(tolerances) {
        let share = error / (tolerance * STRETCH_S * STRETCHES as f64);
        assert!((0.5..2.0).contains(&share), "{tolerance}: {share}");
    }
    // Less than ten by the logarithm that `ErrorMeasure::PerSecond` speaks of.
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((7.0..11.0).contains(&ratio), "a decade: {errors:?}");
    }
}

#[test]
fn the_error_of_a_vibrating_cube_goes_with_the_root_of_the_accuracy_of_a_step() {
    let (world, start) = vibrating();
    let truth = extrapolated(&world, &start);
    let errors = [1e-5, 1e-6, 1e-7, 1e-8]
        .map(|it| error_of_vibration(&world, &start, &truth, it, ErrorMeasure::PerStep));
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!(
            (2.5..4.0).contains(&ratio),
            "a decade gives half of one: {errors:?}"
        );
    }
}
