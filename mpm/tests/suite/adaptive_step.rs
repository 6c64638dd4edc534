//! Adaptive steps: a soft cube of material points that falls on the floor and rebounds, and one that vibrates.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Accuracy, Adaptive, AdaptiveReport, ErrorMeasure, Exclusion, Geometry, Mount, State, Stepper,
    StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    LinearCorotated, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, fill,
};

const H: f64 = 0.05;

fn cube(modulus: f64, z: f64) -> MaterialPoints {
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, z);
    let set = fill("cube", &shape, &pose, H, Sampling::default()).unwrap();
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(modulus, 0.3).unwrap(),
    ));
    let mut builder = MpmBuilder::new(MpmSettings::new(H));
    builder.object(ObjectSpec::new("cube", material, 1000.0, set));
    builder.build().unwrap()
}

fn adaptive(accuracy: Accuracy) -> Adaptive<StrongImplicit<Box<dyn ConvexContactSolver>>> {
    let solver = SolverKind::Newton.build(StopCriteria::default());
    Adaptive::new(StrongImplicit::new(solver), accuracy).unwrap()
}

/// A cube that hits the floor at 0.3 m/s after 3 ms.
fn falling() -> (World, State) {
    let contact = ContactMaterial {
        stiffness: 1e4,
        friction: 0.3,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("points", Box::new(cube(1e5, 0.051)));
    builder.add_geometry(Geometry::of_vertices("points", body, contact));
    builder.exclude(Exclusion::Bodies(body, body));
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), contact));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    for v in state.bodies[0].v.chunks_exact_mut(3) {
        (v[0], v[2]) = (0.1, -0.3);
    }
    (world, state)
}

/// A free cube, soft and slow, whose sides move apart at 1 cm/s: C and v of all particles are those of v = 0.2x e_x.
fn vibrating() -> (World, State) {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("points", Box::new(cube(100.0, 0.0)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let body = &mut state.bodies[0];
    for (v, p) in body.v.chunks_exact_mut(3).zip(body.q.chunks_exact(3)) {
        v[0] = 0.2 * p[0];
    }
    // C comes first in the 22 numbers of a particle, behind the two of the body.
    let stretching = Matrix3::from_diagonal(&Vector3::new(0.2, 0.0, 0.0));
    for record in body.history[2..].chunks_exact_mut(22) {
        record[..9].copy_from_slice(stretching.as_slice());
    }
    (world, state)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(x, y)| (x - y).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn rejected_steps_of_material_points_have_no_influence() {
    let (world, mut state) = falling();
    let accuracy = Accuracy {
        tolerance: 5e-3,
        ..Accuracy::default()
    };
    let mut stepper = adaptive(accuracy);
    let (mut next, mut rejected) = (State::default(), 0);
    for _ in 0..6 {
        let before = state.clone();
        let report = stepper.step(&world, &state, 0.003, &mut next).unwrap();
        assert_eq!(state, before, "the initial state is unchanged");
        rejected += report.adaptive.unwrap().rejected;
        // A new stepper from a state read from a file gives the same bits.
        let saved = serde_json::to_string(&state).unwrap();
        let copy: State = serde_json::from_str(&saved).unwrap();
        let mut other = State::default();
        let again = adaptive(accuracy).step(&world, &copy, 0.003, &mut other);
        assert_eq!(again.unwrap().adaptive, report.adaptive);
        assert_eq!(other, next);
        std::mem::swap(&mut state, &mut next);
    }
    assert!(rejected > 3, "{rejected}");
    let lowest = state.bodies[0].q.chunks_exact(3).map(|p| p[2]);
    assert!(lowest.fold(f64::INFINITY, f64::min) < 0.0125, "it touched");
}

/// Positions after each interval.
fn run(
    (world, start): &(World, State),
    accuracy: Accuracy,
    stretch_s: f64,
    stretches: usize,
) -> (Vec<Vec<f64>>, AdaptiveReport) {
    let mut stepper = adaptive(accuracy);
    let (mut state, mut next) = (start.clone(), State::default());
    let mut sum = AdaptiveReport::default();
    let mut places = Vec::new();
    for _ in 0..stretches {
        let report = stepper.step(world, &state, stretch_s, &mut next).unwrap();
        assert!(report.is_trusted());
        let done = report.adaptive.unwrap();
        sum.accepted += done.accepted;
        sum.forced += done.forced;
        sum.error_max = sum.error_max.max(done.error_max);
        std::mem::swap(&mut state, &mut next);
        places.push(state.bodies[0].q.clone());
    }
    (places, sum)
}

/// Positions after each interval by backward Euler of Δt, Δt/2 and Δt/4, whose errors in Δt and Δt² cancel.
fn extrapolated(
    (world, start): &(World, State),
    stretch_s: f64,
    stretches: usize,
) -> Vec<Vec<f64>> {
    let fixed = |steps: usize| -> Vec<Vec<f64>> {
        let solver = SolverKind::Newton.build(StopCriteria::default());
        let mut stepper = StrongImplicit::new(solver);
        let (mut state, mut next) = (start.clone(), State::default());
        let after = (0..stretches).map(|_| {
            for _ in 0..steps {
                let dt = stretch_s / steps as f64;
                let report = stepper.step(world, &state, dt, &mut next).unwrap();
                assert!(report.is_trusted());
                std::mem::swap(&mut state, &mut next);
            }
            state.bodies[0].q.clone()
        });
        after.collect()
    };
    let [long, half, quarter] = [50, 100, 200].map(fixed);
    let all = long.iter().zip(&half).zip(&quarter);
    let limit = all.map(|((a, b), c)| {
        let coordinates = a.iter().zip(b).zip(c);
        let limits = coordinates.map(|((a, b), c)| (a - 6.0 * b + 8.0 * c) / 3.0);
        limits.collect()
    });
    limit.collect()
}

/// The largest error after any interval, m, at each accuracy.
fn errors_of(
    start: &(World, State),
    truth: &[Vec<f64>],
    tolerances: &[f64],
    stretch_s: f64,
) -> Vec<f64> {
    let error = |tolerance: &f64| {
        let accuracy = Accuracy {
            tolerance: *tolerance,
            measure: ErrorMeasure::PerSecond,
            shortest_s: 1e-7,
        };
        let (places, sum) = run(start, accuracy, stretch_s, truth.len());
        let each = places.iter().zip(truth);
        let error = each
            .map(|(a, b)| largest_difference(a, b))
            .fold(0.0, f64::max);
        eprintln!("{tolerance:.0e}: {error:.3e} m in {} steps", sum.accepted);
        assert!(sum.error_max <= *tolerance && sum.forced == 0, "{sum:?}");
        error
    };
    tolerances.iter().map(error).collect()
}

#[test]
fn the_error_of_vibrating_material_points_follows_the_accuracy_over_three_decades() {
    const STRETCH_S: f64 = 0.025;
    let start = vibrating();
    let truth = extrapolated(&start, STRETCH_S, 2);
    let tolerances = [1e-4, 1e-5, 1e-6, 1e-7];
    let errors = errors_of(&start, &truth, &tolerances, STRETCH_S);
    for (error, tolerance) in errors.iter().zip(tolerances) {
        let share = error / (tolerance * 2.0 * STRETCH_S);
        assert!((0.5..4.5).contains(&share), "{tolerance}: {share}");
    }
    // Less than ten, by the logarithm in `ErrorMeasure::PerSecond` for a single frequency.
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((5.0..11.0).contains(&ratio), "a decade: {errors:?}");
    }
}

#[test]
fn the_error_of_rebounding_material_points_follows_the_accuracy() {
    let start = falling();
    let accuracy = Accuracy {
        tolerance: 1e-3,
        ..Accuracy::default()
    };
    let (truth, _) = run(&start, accuracy, 0.005, 2);
    let errors = errors_of(&start, &truth, &[5e-2, 1e-2], 0.005);
    // Of 10 ms in all, the impact among them.
    assert!(
        errors[0] < 1.5 * 5e-4 && errors[1] < 1.5 * 1e-4,
        "{errors:?}"
    );
    assert!(errors[1] < 0.5 * errors[0], "{errors:?}");
}
