//! Steps that follow their error: rigid bodies.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Accuracy, Adaptive, AdaptiveReport, ErrorMeasure, Geometry, Mount, State, Stepper,
    StrongImplicit, World, WorldBuilder, WorldError,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

fn adaptive(accuracy: Accuracy) -> Adaptive<StrongImplicit<Box<dyn ConvexContactSolver>>> {
    let solver = SolverKind::Newton.build(StopCriteria::default());
    Adaptive::new(StrongImplicit::new(solver), accuracy).expect("a legal accuracy")
}

fn per_second(tolerance: f64) -> Accuracy {
    Accuracy {
        tolerance,
        ..Accuracy::default()
    }
}

/// A box of 1 kg at height `z`, thrown along x and turning.
fn thrown(z: f64, v: [f64; 6]) -> RigidTree {
    let mut model = ModelBuilder::new("box");
    model.root(Root::Floating);
    let lengths = Vector3::new(0.2, 0.1, 0.05);
    model.link(LinkSpec::new(
        "body",
        SpatialInertia::solid_box(1.0, lengths),
    ));
    let model = Arc::new(model.build().expect("a legal model"));
    RigidTree::new(model).starting_at(&[0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0], &v)
}

fn flight(v: [f64; 6]) -> World {
    let mut builder = WorldBuilder::default();
    builder.add_body("box", Box::new(thrown(1.0, v)));
    builder.build().expect("a legal world")
}

/// A box that slides on the floor, on which it falls first from a height.
fn slide(z: f64) -> World {
    let mut builder = WorldBuilder::default();
    let body = builder.add_body("box", Box::new(thrown(z, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])));
    let material = ContactMaterial::default();
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(Vector3::new(0.2, 0.1, 0.05)).expect("positive lengths");
    builder.add_geometry(Geometry::new("box", mount, shape, material));
    builder.build().expect("a legal world")
}

fn run(
    world: &World,
    accuracy: Accuracy,
    seconds: f64,
    stretch_s: f64,
) -> (State, Vec<AdaptiveReport>) {
    let mut stepper = adaptive(accuracy);
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut reports = Vec::new();
    for _ in 0..(seconds / stretch_s).round() as usize {
        let report = stepper
            .step(world, &state, stretch_s, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted());
        reports.push(report.adaptive.expect("of an adaptive step"));
        std::mem::swap(&mut state, &mut next);
    }
    (state, reports)
}

#[test]
fn the_error_follows_the_accuracy_over_three_decades() {
    // Free fall, of which everything is known: z = z0 − g t²/2.
    let world = flight([0.0; 6]);
    let exact = 1.0 - 0.5 * 9.81 * 0.25;
    for decade in [1e-2, 1e-3, 1e-4, 1e-5] {
        let (state, reports) = run(&world, per_second(decade), 0.5, 0.1);
        let error = (state.bodies[0].q[2] - exact).abs();
        // Errors of half a second; the steps stay within nine tenths of the accuracy, most near it.
        let share = error / (0.5 * decade);
        assert!((0.2..1.01).contains(&share), "{decade}: {share}");
        assert!(
            reports
                .iter()
                .all(|r| r.forced == 0 && r.error_max <= decade)
        );
    }
}

#[test]
fn the_error_per_step_goes_with_the_root_of_the_accuracy() {
    let world = flight([0.0; 6]);
    let exact = 1.0 - 0.5 * 9.81 * 0.25;
    let error = |tolerance: f64| {
        let accuracy = Accuracy {
            tolerance,
            measure: ErrorMeasure::PerStep,
            ..Accuracy::default()
        };
        let (state, _) = run(&world, accuracy, 0.5, 0.5);
        (state.bodies[0].q[2] - exact).abs()
    };
    let errors = [1e-3, 1e-5, 1e-7].map(error);
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!(
            (6.0..16.0).contains(&ratio),
            "two decades give one: {ratio}"
        );
    }
}

#[test]
fn a_tumbling_box_slides_to_rest_as_accurately_as_asked() {
    // Against a run of a hundredth of the finest accuracy.
    let world = slide(0.03);
    let end = |tolerance| run(&world, per_second(tolerance), 0.3, 0.01).0;
    let truth = end(3e-6);
    let mut errors = Vec::new();
    for decade in [3e-1, 3e-2, 3e-3, 3e-4] {
        let state = end(decade);
        let q = state.bodies[0].q.iter().zip(&truth.bodies[0].q);
        let error = q.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < decade, "{decade}: {error}");
        errors.push(error);
    }
    // The coarsest two take the longest steps that there are.
    assert!(errors[3] < 0.2 * errors[0], "{errors:?}");
}

#[test]
fn rejected_steps_leave_no_trace_and_a_saved_state_goes_on_with_the_same_bits() {
    let world = slide(0.2);
    let accuracy = per_second(5e-3);
    let mut stepper = adaptive(accuracy);
    let (mut state, mut next) = (world.default_state(), State::default());
    let (mut rejected, mut before) = (0, state.clone());
    // Through the impact at 0.19 s.
    for _ in 0..25 {
        before = state.clone();
        let report = stepper
            .step(&world, &state, 0.01, &mut next)
            .expect("a step that can be taken");
        rejected += report.adaptive.expect("of an adaptive step").rejected;
        assert_eq!(
            state, before,
            "the state that is stepped from stays as it is"
        );
        // A stepper that has rejected nothing, from a copy that went through a file.
        let saved = serde_json::to_string(&state).expect("plain data");
        let copy: State = serde_json::from_str(&saved).expect("as written");
        let mut other = State::default();
        let again = adaptive(accuracy).step(&world, &copy, 0.01, &mut other);
        assert!(again.is_ok());
        assert_eq!(other, next);
        std::mem::swap(&mut state, &mut next);
    }
    assert!(rejected > 5, "{rejected}");
    assert!(state.memory.proposed_step_s.is_some() && before.time_s < state.time_s);
    // The steps that counted give the same as taken one by one with the lengths that they had.
    let mut plain = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut single = adaptive(accuracy);
    let (mut here, mut end) = (world.default_state(), State::default());
    let report = single.step(&world, &here, 1e-4, &mut end).expect("falls");
    let done = report.adaptive.expect("of an adaptive step");
    assert_eq!((done.accepted, done.rejected), (1, 0));
    let mut half = State::default();
    for _ in 0..2 {
        let report = plain.step(&world, &here, 5e-5, &mut half).expect("falls");
        assert!(report.is_trusted());
        std::mem::swap(&mut here, &mut half);
    }
    assert_eq!(here.bodies, end.bodies);
}

#[test]
fn an_impact_takes_the_shortest_steps_and_says_so() {
    let world = slide(0.2);
    let accuracy = Accuracy {
        tolerance: 5e-3,
        shortest_s: 1e-4,
        ..Accuracy::default()
    };
    let (state, reports) = run(&world, accuracy, 0.3, 0.01);
    let forced: u32 = reports.iter().map(|r| r.forced).sum();
    assert!((1..20).contains(&forced), "{forced}");
    assert!(reports.iter().all(|r| r.shortest_s > 0.4e-4));
    // Long steps again once it slides.
    assert!(reports[29].accepted <= 8, "{:?}", reports[29]);
    assert!((state.time_s - 0.3).abs() < 1e-12);
    assert!((state.bodies[0].q[2] - 0.025).abs() < 1e-4);
}

#[test]
fn an_accuracy_that_is_none_is_refused_by_name() {
    let solver = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let wrong = [
        (
            Accuracy {
                tolerance: 0.0,
                ..Accuracy::default()
            },
            "tolerance",
        ),
        (
            Accuracy {
                shortest_s: f64::NAN,
                ..Accuracy::default()
            },
            "shortest",
        ),
    ];
    for (accuracy, name) in wrong {
        let refused = Adaptive::new(solver(), accuracy).err().expect("not legal");
        assert!(matches!(refused, WorldError::Parameter { .. }));
        assert!(refused.to_string().contains(name), "{refused}");
    }
    let world = flight([0.0; 6]);
    let (state, mut next) = (world.default_state(), State::default());
    let refused = adaptive(Accuracy::default()).step(&world, &state, -1.0, &mut next);
    assert!(refused.is_err());
}
