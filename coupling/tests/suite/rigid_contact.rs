//! Rigid bodies through the whole step: falling, resting, sliding, holding together.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Unit, UnitQuaternion, Vector3};
use pliant_contact_sap::{ConvexContactSolver, FrictionLimit, SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, ConstraintState,
    ContactModel, ContactSettings, Geometry, GeometryIdx, LaggedModel, Mount, SapModel,
    SimilarModel, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;
const DT: f64 = 1e-3;

/// A free body with the mass properties of a solid box.
fn box_body(lengths: Vector3<f64>, mass: f64, X_WB: Isometry3<f64>, v: [f64; 6]) -> RigidTree {
    let mut builder = ModelBuilder::new("box");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new(
        "body",
        SpatialInertia::solid_box(mass, lengths),
    ));
    let model = builder.build().expect("a box is a legal model");
    let p = X_WB.translation.vector;
    let r = X_WB.rotation;
    let q = [p.x, p.y, p.z, r.w, r.i, r.j, r.k];
    RigidTree::new(Arc::new(model)).starting_at(&q, &v)
}

pub(crate) fn material(friction: f64) -> ContactMaterial {
    ContactMaterial {
        friction,
        ..ContactMaterial::default()
    }
}

pub(crate) fn solver() -> Box<dyn ConvexContactSolver> {
    SolverKind::Newton.build(StopCriteria::default())
}

/// A floor and boxes.
struct Scene {
    builder: WorldBuilder,
    friction: f64,
}

impl Scene {
    fn new(friction: f64) -> Self {
        let mut builder = WorldBuilder::default();
        builder.add_geometry(Geometry::new(
            "floor",
            Mount::World(Isometry3::identity()),
            Shape::half_space(),
            material(friction),
        ));
        Self { builder, friction }
    }

    fn add_box(
        &mut self,
        name: &str,
        lengths: Vector3<f64>,
        mass: f64,
        X_WB: Isometry3<f64>,
        v: [f64; 6],
    ) -> BodyIdx {
        let body = box_body(lengths, mass, X_WB, v);
        let body = self.builder.add_body(name, Box::new(body));
        self.builder.add_geometry(Geometry::new(
            name,
            Mount::Frame {
                body,
                frame: 0,
                X_FG: Isometry3::identity(),
            },
            Shape::cuboid(lengths).expect("positive lengths"),
            material(self.friction),
        ));
        body
    }

    fn world(self) -> World {
        self.builder.build().expect("a legal world")
    }
}

/// Steps `state` until `until`, returning the last report; every step must be trusted.
fn run(world: &World, state: &mut State, until: f64) -> StepReport {
    let mut stepper = StrongImplicit::new(solver());
    let mut next = State::default();
    let mut last = StepReport::default();
    while state.time_s < until - 0.5 * DT {
        last = stepper
            .step(world, state, DT, &mut next)
            .expect("a step that can be taken");
        assert!(last.is_trusted(), "{:?}", last.convergence.solve);
        std::mem::swap(state, &mut next);
    }
    last
}

#[test]
fn free_flight_follows_the_scheme_and_keeps_momentum() {
    let mut scene = Scene::new(0.5);
    let X_WB = Isometry3::translation(0.0, 0.0, 10.0);
    scene.add_box(
        "box",
        Vector3::new(0.1, 0.2, 0.3),
        2.0,
        X_WB,
        [1.0, -2.0, 3.0, 0.5, 0.0, 0.0],
    );
    let world = scene.world();
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.1);
    let n = 100.0;
    let body = &state.bodies[0];
    assert!((body.v[5] + G * DT * n).abs() < 1e-12);
    assert!((body.v[3] - 0.5).abs() < 1e-12);
    let fall = G * DT * DT * n * (n + 1.0) / 2.0;
    assert!((body.q[2] - 10.0 + fall).abs() < 1e-12);
}

#[test]
fn a_box_at_rest_carries_its_weight() {
    let mut scene = Scene::new(0.5);
    let X_WB = Isometry3::translation(0.0, 0.0, 0.05);
    scene.add_box("box", Vector3::repeat(0.1), 1.0, X_WB, [0.0; 6]);
    let world = scene.world();
    let mut state = world.default_state();
    let report = run(&world, &mut state, 0.5);
    let force = report
        .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1))
        .force;
    // As exact as the solver was asked to be: 1e-6 of the momentum in play.
    assert!((force - Vector3::z() * G).norm() < 1e-5 * G, "{force}");
    assert!(state.bodies[0].v.iter().all(|v| v.abs() < 1e-9));
}

/// A box sliding on the floor at 1 m/s: each step takes μ g δt off its speed.
#[test]
fn a_sliding_box_stops_after_v2_over_2_mu_g() {
    let mu = 0.3;
    let mut scene = Scene::new(mu);
    let X_WB = Isometry3::translation(0.0, 0.0, 0.05);
    let v = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    scene.add_box("box", Vector3::new(0.4, 0.4, 0.1), 1.0, X_WB, v);
    let world = scene.world();
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.6);
    let distance = state.bodies[0].q[0];
    // δt Σ v_k with v_k = v − k μ g δt is v²/(2μg) − v δt/2 up to O(δt²); the first step may carry less load.
    let expected = 1.0 / (2.0 * mu * G) - 0.5 * DT;
    assert!((distance - expected).abs() < 2e-3, "{distance} {expected}");
    assert!(state.bodies[0].v[3].abs() < 1e-4);
}

/// The conveyor's mirror image: a belt drags a resting box up to its own speed.
#[test]
fn a_belt_drags_a_box_to_its_speed() {
    let mut builder = WorldBuilder::default();
    let mut belt = Geometry::new(
        "belt",
        Mount::World(Isometry3::identity()),
        Shape::half_space(),
        material(0.5),
    );
    belt.surface_velocity = Vector3::new(0.4, 0.0, 0.0);
    builder.add_geometry(belt);
    let mut scene = Scene {
        builder,
        friction: 0.5,
    };
    let X_WB = Isometry3::translation(0.0, 0.0, 0.05);
    scene.add_box("box", Vector3::new(0.4, 0.4, 0.1), 1.0, X_WB, [0.0; 6]);
    let world = scene.world();
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.05);
    assert!((state.bodies[0].v[3] - 0.05 * 0.5 * G).abs() < 0.02);
    let _ = run(&world, &mut state, 0.5);
    assert!((state.bodies[0].v[3] - 0.4).abs() < 1e-6);
}

/// An incline by tilted gravity: tan 20° = 0.364.
#[track_caller]
fn check_incline(model: &Arc<dyn ContactModel>, mu: f64, slides: bool) {
    let mut scene = Scene::new(mu);
    let angle = 20_f64.to_radians();
    scene
        .builder
        .gravity(Vector3::new(G * angle.sin(), 0.0, -G * angle.cos()))
        .contact(ContactSettings {
            model: model.clone(),
            ..ContactSettings::default()
        });
    let X_WB = Isometry3::translation(0.0, 0.0, 0.05);
    scene.add_box("box", Vector3::new(0.4, 0.4, 0.1), 1.0, X_WB, [0.0; 6]);
    let world = scene.world();
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.2);
    let before = state.bodies[0].v[3];
    let _ = run(&world, &mut state, 0.4);
    let acceleration = (state.bodies[0].v[3] - before) / 0.2;
    if slides {
        let expected = G * (angle.sin() - mu * angle.cos());
        let error = (acceleration - expected).abs();
        assert!(error < 2e-3 * G, "{model:?}: {acceleration} {expected}");
    } else {
        let speed = state.bodies[0].v[3].abs();
        assert!(speed < 1e-3, "{model:?}: creeps at {speed}");
    }
}

#[test]
fn a_box_on_an_incline_sticks_below_the_cone_and_slides_above() {
    let published = LaggedModel {
        friction_limit: FrictionLimit::Lagged,
    };
    let models: [Arc<dyn ContactModel>; 4] = [
        Arc::new(LaggedModel::default()),
        Arc::new(published),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    for model in &models {
        check_incline(model, 0.4, false);
        check_incline(model, 0.3, true);
    }
}

#[test]
fn a_stack_carries_the_load_of_all_above() {
    let mut scene = Scene::new(0.5);
    for k in 0..5 {
        let X_WB = Isometry3::translation(0.0, 0.0, 0.05 + 0.1 * f64::from(k));
        scene.add_box(
            &format!("box {k}"),
            Vector3::repeat(0.1),
            1.0,
            X_WB,
            [0.0; 6],
        );
    }
    let world = scene.world();
    let mut state = world.default_state();
    let report = run(&world, &mut state, 1.0);
    for k in 1..=5 {
        let above = |g: GeometryIdx| g.0 >= k;
        let force = report.contact_wrench(&Point3::origin(), above).force;
        let expected = (6 - k) as f64 * G;
        assert!((force.z - expected).abs() < 1e-4 * expected, "{k}: {force}");
    }
}

#[test]
fn ties_hold_and_release() {
    let mut scene = Scene::new(0.5);
    let X_WB = Isometry3::from_parts(
        Vector3::new(0.0, 0.0, 2.0).into(),
        UnitQuaternion::from_axis_angle(&Unit::new_normalize(Vector3::new(1.0, 2.0, 3.0)), 0.7),
    );
    for (k, kind) in [
        ConstraintKind::Ball,
        ConstraintKind::Weld,
        ConstraintKind::Distance(0.5),
    ]
    .into_iter()
    .enumerate()
    {
        let X_WB = Isometry3::translation(k as f64, 0.0, 0.0) * X_WB;
        let name = format!("{kind:?}");
        let body = scene.add_box(&name, Vector3::repeat(0.1), 1.0, X_WB, [0.0; 6]);
        let up = match kind {
            ConstraintKind::Distance(length) => length,
            _ => 0.0,
        };
        scene.builder.add_constraint(Constraint {
            name,
            kind,
            a: Anchor::World(Isometry3::translation(0.0, 0.0, up) * X_WB),
            b: Anchor::Frame {
                body,
                frame: 0,
                X_FA: Isometry3::identity(),
            },
            compliance: ConstraintCompliance::NearRigid,
        });
    }
    let world = scene.world();
    let mut state = world.default_state();
    let report = run(&world, &mut state, 0.3);
    for body in &state.bodies {
        // Near-rigid: the constraint gives by g δt² (β/2π)² at most a few times.
        assert!((body.q[2] - 2.0).abs() < 1e-6, "{}", body.q[2]);
    }
    let weight: f64 = report
        .rows
        .iter()
        .map(|r| r.force.abs())
        .filter(|f| *f > 1.0)
        .sum();
    assert!((weight - 3.0 * G).abs() < 1e-3, "{weight}");
    state.constraints.fill(ConstraintState::Released);
    let start = state.time_s;
    let _ = run(&world, &mut state, start + 0.1);
    for body in &state.bodies {
        assert!((body.v[5] + G * 0.1).abs() < 1e-3);
    }
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits() {
    let mut scene = Scene::new(0.5);
    for k in 0..3 {
        let X_WB = Isometry3::translation(0.01 * f64::from(k), 0.0, 0.06 + 0.12 * f64::from(k));
        scene.add_box(
            &format!("box {k}"),
            Vector3::repeat(0.1),
            1.0,
            X_WB,
            [0.0; 6],
        );
    }
    let world = scene.world();
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.1);
    let text = serde_json::to_string(&state).expect("plain data");
    let mut loaded: State = serde_json::from_str(&text).expect("plain data");
    let _ = run(&world, &mut state, 0.2);
    let _ = run(&world, &mut loaded, 0.2);
    assert_eq!(state, loaded);
}

#[test]
fn eight_states_on_two_threads_give_the_serial_bits() {
    let mut scene = Scene::new(0.5);
    for k in 0..4 {
        let X_WB = Isometry3::translation(0.02 * f64::from(k), 0.0, 0.06 + 0.12 * f64::from(k));
        scene.add_box(
            &format!("box {k}"),
            Vector3::repeat(0.1),
            1.0,
            X_WB,
            [0.0; 6],
        );
    }
    let world = scene.world();
    let starts: Vec<State> = (0..8)
        .map(|k| {
            let mut state = world.default_state();
            state.bodies[0].v[3] = 0.1 * f64::from(k);
            state
        })
        .collect();
    let stepped = |mut state: State| {
        let _ = run(&world, &mut state, 0.05);
        state
    };
    let serial: Vec<State> = starts.iter().cloned().map(stepped).collect();
    let parallel: Vec<State> = std::thread::scope(|scope| {
        let halves: Vec<_> = starts
            .chunks(4)
            .map(|half| scope.spawn(|| half.iter().cloned().map(stepped).collect::<Vec<_>>()))
            .collect();
        halves
            .into_iter()
            .flat_map(|h| h.join().expect("no panic"))
            .collect()
    });
    assert_eq!(serial, parallel);
}

/// A held joint leaves the solve: a plate moved at a prescribed speed carries a box along and feels nothing.
#[test]
fn a_prescribed_body_moves_as_told_and_carries_what_lies_on_it() {
    let mut scene = Scene::new(0.5);
    let plate = scene.add_box(
        "plate",
        Vector3::new(1.0, 1.0, 0.1),
        1.0,
        Isometry3::translation(0.0, 0.0, 1.0),
        [0.0; 6],
    );
    let load = scene.add_box(
        "load",
        Vector3::repeat(0.1),
        5.0,
        Isometry3::translation(0.0, 0.0, 1.1),
        [0.0; 6],
    );
    let world = scene.world();
    let mut state = world.default_state();
    let velocity = [0.0, 0.0, 0.0, 0.2, 0.0, 0.1];
    state.controls[plate.0].held = velocity.map(Some).to_vec();
    let report = run(&world, &mut state, 0.5);
    let (plate, load) = (&state.bodies[plate.0], &state.bodies[load.0]);
    assert!((plate.q[0] - 0.1).abs() < 1e-12 && (plate.q[2] - 1.05).abs() < 1e-12);
    assert!((load.v[3] - 0.2).abs() < 1e-6 && (load.v[5] - 0.1).abs() < 1e-6);
    let force = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(2));
    assert!((force.force.z - 5.0 * G).abs() < 1e-3 * G);
}
