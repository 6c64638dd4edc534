//! Adaptive time steps: a vibrating rope, and one that falls onto a bar.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Accuracy, Adaptive, ErrorMeasure, Geometry, Mount, State, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_der::{Centreline, End, EndCondition, Material, Rayleigh, RodBuilder, Section};
use pliant_hydroelastic::{ContactMaterial, Shape};

const SECONDS: f64 = 0.05;

/// A rope of 10 cm that falls across a bar from 2 mm above it.
fn world() -> World {
    let line = Centreline::straight(
        Point3::new(-0.05, 0.0, 0.014),
        Point3::new(0.05, 0.0, 0.014),
        12,
    );
    let rubber = Material::isotropic(1e6, 0.49, 1100.0).unwrap();
    let rod = RodBuilder::new(line)
        .section(Section::Circle { radius: 0.002 }, rubber)
        .damping(Rayleigh {
            mass: 1.0,
            stiffness: 1e-3,
        })
        .build()
        .unwrap();
    let material = ContactMaterial {
        stiffness: 1e4,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("rope", Box::new(rod));
    builder.add_geometry(Geometry::of_segments("rope", body, material));
    let bar = Shape::cuboid(Vector3::new(0.012, 0.1, 0.02)).unwrap();
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("bar", mount, bar, material));
    builder.build().unwrap()
}

fn adaptive(accuracy: Accuracy) -> Adaptive<StrongImplicit<Box<dyn ConvexContactSolver>>> {
    let solver = SolverKind::Newton.build(StopCriteria::default());
    Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap()
}

fn end(world: &World, tolerance: f64) -> (Vec<f64>, u32) {
    let mut stepper = adaptive(Accuracy {
        tolerance,
        shortest_s: 1e-6,
        ..Accuracy::default()
    });
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut steps = 0;
    for _ in 0..5 {
        let report = stepper
            .step(world, &state, SECONDS / 5.0, &mut next)
            .unwrap();
        assert!(report.is_trusted());
        steps += report.adaptive.unwrap().accepted;
        std::mem::swap(&mut state, &mut next);
    }
    (state.bodies.remove(0).q, steps)
}

#[test]
fn the_error_of_a_rope_over_a_bar_falls_with_the_accuracy() {
    let world = world();
    let (truth, most) = end(&world, 8e-6);
    let mut errors = Vec::new();
    for tolerance in [3e-2, 3e-3, 3e-4, 3e-5] {
        let (q, steps) = end(&world, tolerance);
        let places = q.iter().zip(&truth).enumerate();
        let error = places
            .filter(|(i, _)| i % 4 != 3)
            .map(|(_, (x, y))| (x - y).abs())
            .fold(0.0, f64::max);
        eprintln!("{tolerance}: {error:e} m in {steps} steps");
        // Friction bounds are iterated to 5 % only, whatever the step: errors level off near 1e-5 m.
        assert!(error < tolerance * SECONDS + 1e-5, "{tolerance}: {error}");
        assert!(steps < most);
        errors.push(error);
    }
    assert!(
        (errors.windows(2)).all(|pair| pair[1] < pair[0] || pair[1] < 1e-5),
        "{errors:?}"
    );
    assert!(errors[3] < errors[0] / 20.0, "{errors:?}");
}

#[test]
fn rejected_steps_of_a_rope_leave_no_trace() {
    let world = world();
    let accuracy = Accuracy {
        tolerance: 1e-3,
        ..Accuracy::default()
    };
    let mut stepper = adaptive(accuracy);
    let (mut state, mut next) = (world.default_state(), State::default());
    // With rotation about its axis, so that angles, reference frames and twists change.
    for (i, v) in state.bodies[0].v.iter_mut().enumerate() {
        if i % 4 == 3 {
            *v = 3.0 * (i as f64).sin();
        }
    }
    let (start, mut rejected) = (state.clone(), 0);
    for _ in 0..6 {
        let before = state.clone();
        let report = stepper
            .step(&world, &state, SECONDS / 6.0, &mut next)
            .unwrap();
        assert_eq!(state, before, "what is stepped from stays as it is");
        rejected += report.adaptive.unwrap().rejected;
        // A new stepper, from a state that was saved and loaded, gives the same bits.
        let saved = serde_json::to_string(&state).unwrap();
        let copy: State = serde_json::from_str(&saved).unwrap();
        let mut other = State::default();
        let again = adaptive(accuracy).step(&world, &copy, SECONDS / 6.0, &mut other);
        assert_eq!(again.unwrap().adaptive, report.adaptive);
        assert_eq!(other, next);
        std::mem::swap(&mut state, &mut next);
    }
    assert!(rejected > 3, "{rejected}");
    let moved = start.bodies[0].history.iter().zip(&state.bodies[0].history);
    let moved = moved.filter(|(a, b)| a != b).count();
    assert!(moved > start.bodies[0].history.len() / 2, "{moved}");
}

/// About two thirds of the period of the lowest bending mode, in intervals longer than any requested step.
const STRETCHES: usize = 4;
const STRETCH_S: f64 = 0.01;

/// A clamped, undamped cord of 10 cm without gravity, whose tip moves at 0.2 m/s.
fn vibrating() -> (World, State) {
    let line = Centreline::straight(Point3::origin(), Point3::new(0.1, 0.0, 0.0), 6);
    let nylon = Material::isotropic(1e8, 0.4, 1100.0).unwrap();
    let rod = RodBuilder::new(line)
        .section(Section::Circle { radius: 0.002 }, nylon)
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .build()
        .unwrap();
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("cord", Box::new(rod));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let body = &mut state.bodies[0];
    for (v, q) in body.v.chunks_mut(4).zip(body.q.chunks(4)) {
        let x = (q[0] / 0.1).max(0.0);
        v[2] = 0.2 * x * x * (3.0 - x) / 2.0;
    }
    (world, state)
}

/// Positions after each interval, extrapolated from backward Euler with Δt, Δt/2 and Δt/4: errors in Δt and Δt² cancel.
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

#[test]
fn the_error_of_a_vibrating_cord_follows_the_accuracy_over_three_decades() {
    let (world, start) = vibrating();
    let truth = extrapolated(&world, &start);
    let error = |tolerance: f64| {
        let mut stepper = adaptive(Accuracy {
            tolerance,
            measure: ErrorMeasure::PerSecond,
            shortest_s: 1e-8,
        });
        let (mut state, mut next) = (start.clone(), State::default());
        let (mut error, mut steps) = (0.0_f64, 0);
        for truth in &truth {
            let report = stepper.step(&world, &state, STRETCH_S, &mut next).unwrap();
            let done = report.adaptive.unwrap();
            assert!(report.is_trusted() && done.forced == 0 && done.accepted > 1);
            assert!(done.error_max <= tolerance, "{done:?}");
            std::mem::swap(&mut state, &mut next);
            let apart = state.bodies[0].q.iter().zip(truth);
            error = apart.map(|(x, y)| (x - y).abs()).fold(error, f64::max);
            steps += done.accepted;
        }
        eprintln!("{tolerance:.0e}: {error:.3e} m in {steps} steps");
        error
    };
    let tolerances = [5e-3, 5e-4, 5e-5, 5e-6];
    let errors = tolerances.map(error);
    for (error, tolerance) in errors.iter().zip(tolerances) {
        let share = error / (tolerance * STRETCH_S * STRETCHES as f64);
        assert!((0.5..3.0).contains(&share), "{tolerance}: {share}");
    }
    // 6.3, 7.6, 9.6: ten, apart from the logarithm in the documentation of `ErrorMeasure::PerSecond`.
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((6.0..11.0).contains(&ratio), "a decade: {errors:?}");
    }
}
