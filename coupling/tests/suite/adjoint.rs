//! Gradients of a step by its adjoint system, against central differences of whole steps.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{FrictionLimit, Load, MaterialPoint, PdGains, SolverKind, StopCriteria};
use pliant_coupling::{
    Adaptive, AdjointError, BodyIdx, ContactModel, ContactSettings, Geometry, LaggedModel, Mount,
    SapModel, SimilarModel, Speculation, State, StepReport, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    JointIdx, JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DT: f64 = 0.01;
const G: f64 = 9.81;
const FRICTION: f64 = 0.4;
const RADIUS: f64 = 0.1;

fn vector(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// A ball, a box, and an arm of two links whose tip touches the box in some problems. The first joint of the arm has an actuator.
fn bodies(rng: &mut ChaCha8Rng) -> Vec<(&'static str, RigidTree, f64)> {
    let free = |inertia, q: [f64; 3], v: [f64; 6]| {
        let mut model = ModelBuilder::new("free");
        model.root(Root::Floating);
        model.link(LinkSpec::new("free", inertia));
        RigidTree::new(Arc::new(model.build().unwrap()))
            .starting_at(&[q[0], q[1], q[2], 1.0, 0.0, 0.0, 0.0], &v)
    };
    let mut motion = |speed: f64| {
        let (omega, v) = (vector(rng) * speed, vector(rng) * speed);
        // What approaches would be a contact that begins.
        [omega.x, omega.y, omega.z, v.x, v.y, 0.2 * v.z.abs()]
    };
    let (slow, fast) = (motion(0.01), motion(1.0));
    let size = Vector3::repeat(2.0 * RADIUS);
    // In contact at the start: what begins within the step is left out of the gradient.
    let depth = 1e-3 * rng.random_range(0.05..1.0);
    let ball = free(
        SpatialInertia::solid_sphere(2.0, RADIUS),
        [1.0, 0.0, RADIUS - depth],
        fast,
    );
    let cube = free(
        SpatialInertia::solid_box(3.0, size),
        [0.0, 0.0, RADIUS - 1e-3],
        slow,
    );
    let mut model = ModelBuilder::new("arm");
    model.link(LinkSpec::new("base", SpatialInertia::zero()));
    model.link(LinkSpec::new(
        "upper",
        SpatialInertia::solid_sphere(1.0, 0.05),
    ));
    model.link(LinkSpec::new(
        "lower",
        SpatialInertia::solid_sphere(0.5, 0.05),
    ));
    let above = 2.0 * RADIUS + 0.05 - 1e-3 * rng.random_range(1.05..2.0);
    let shoulder = JointSpec::new("shoulder", JointKind::Continuous, "base", "upper")
        .at(Isometry3::translation(-0.6, 0.0, above))
        .about(Vector3::y());
    let elbow = JointSpec::new("elbow", JointKind::Continuous, "upper", "lower")
        .at(Isometry3::translation(0.3, 0.0, 0.3))
        .about(Vector3::new(0.0, 1.0, 0.3));
    // The tip is 0.3 m along x and −0.3 m along z of the elbow.
    let tip = JointSpec::new("tip", JointKind::Fixed, "lower", "tip")
        .at(Isometry3::translation(0.3, 0.0, -0.3));
    model.link(LinkSpec::new(
        "tip",
        SpatialInertia::solid_sphere(0.2, 0.05),
    ));
    model.joint(shoulder).joint(elbow).joint(tip);
    let arm = RigidTree::new(Arc::new(model.build().unwrap()))
        .with_actuator(
            JointIdx(0),
            PdGains {
                proportional: 50.0,
                derivative: 2.0,
                effort_limit: 20.0,
            },
        )
        .unwrap();
    vec![("ball", ball, 2.0), ("cube", cube, 3.0), ("arm", arm, 0.0)]
}

fn world(seed: u64, model: &Arc<dyn ContactModel>, gravity: Vector3<f64>) -> World {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut builder = WorldBuilder::default();
    builder.gravity(gravity).contact(ContactSettings {
        model: Arc::clone(model),
        // Contacts that begin within the step would move with the controls.
        speculation: Speculation::RestingMargin,
        ..ContactSettings::default()
    });
    let material = ContactMaterial {
        stiffness: 1e4,
        dissipation: 0.5,
        relaxation_time_s: 0.01,
        friction: FRICTION,
    };
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    for (name, tree, _) in bodies(&mut rng) {
        let body = builder.add_body(name, Box::new(tree));
        let (frame, shape) = match name {
            "cube" => (0, Shape::cuboid(Vector3::repeat(2.0 * RADIUS)).unwrap()),
            "arm" => (3, Shape::sphere(0.05).unwrap()),
            _ => (0, Shape::sphere(RADIUS).unwrap()),
        };
        let X_FG = Isometry3::identity();
        let mount = Mount::Frame { body, frame, X_FG };
        builder.add_geometry(Geometry::new(name, mount, shape, material));
    }
    builder.build().unwrap()
}

/// An input of a step.
#[derive(Clone, Copy, Debug)]
enum Input {
    Gravity(usize),
    Force(BodyIdx, usize),
    Torque(BodyIdx, usize),
    Position(usize),
    Velocity(usize),
    Effort(usize),
}

const BALL: BodyIdx = BodyIdx(0);
const CUBE: BodyIdx = BodyIdx(1);
const ARM: BodyIdx = BodyIdx(2);

/// Where the loads act: off the origins, on the forearm of the arm.
fn load_point(body: BodyIdx) -> MaterialPoint {
    let frame = if body == ARM { 2 } else { 0 };
    MaterialPoint::on_frame(frame, Vector3::new(0.03, -0.02, 0.04))
}

fn inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for k in 0..3 {
        inputs.push(Input::Gravity(k));
        for body in [BALL, CUBE, ARM] {
            inputs.extend([Input::Force(body, k), Input::Torque(body, k)]);
        }
    }
    for k in 0..2 {
        inputs.extend([Input::Position(k), Input::Velocity(k), Input::Effort(k)]);
    }
    inputs
}

struct Problem {
    seed: u64,
    model: Arc<dyn ContactModel>,
    stepper: StrongImplicit<Box<dyn pliant_contact_sap::ConvexContactSolver>>,
    slopes: Vec<(BodyIdx, Vec<f64>)>,
    controls: Vec<pliant_contact_sap::Control>,
}

impl Problem {
    fn new(seed: u64, model: Arc<dyn ContactModel>) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
        let mut state = world(seed, &model, Vector3::zeros()).default_state();
        let mut slopes = Vec::new();
        for (b, body) in state.bodies.iter().enumerate() {
            let slope = body.v.iter().map(|_| rng.random_range(-1.0..1.0));
            slopes.push((BodyIdx(b), slope.collect()));
            let strength = rng.random_range(0.0..20.0);
            state.controls[b].loads.push(Load {
                point: load_point(BodyIdx(b)),
                force_W: vector(&mut rng) * strength,
                torque_W: vector(&mut rng) * (0.02 * strength),
            });
        }
        let mut pair = |scale: f64| {
            (0..2)
                .map(|_| scale * rng.random_range(-1.0..1.0))
                .collect()
        };
        let arm = &mut state.controls[ARM.0];
        arm.position = pair(0.5);
        arm.velocity = pair(1.0);
        arm.effort = pair(3.0);
        let tight = StopCriteria {
            relative_tolerance: 1e-13,
            absolute_tolerance: 0.0,
            ..StopCriteria::default()
        };
        Self {
            seed,
            model,
            stepper: StrongImplicit::new(SolverKind::Newton.build(tight)),
            slopes,
            controls: state.controls,
        }
    }

    /// L(v) after a step with one input increased by `h`.
    fn value(&mut self, increased: Option<(Input, f64)>) -> (f64, StepReport) {
        let mut gravity = Vector3::new(0.0, 0.0, -G);
        let mut controls = self.controls.clone();
        match increased {
            Some((Input::Gravity(k), h)) => gravity[k] += h,
            Some((Input::Force(body, k), h)) => controls[body.0].loads[0].force_W[k] += h,
            Some((Input::Torque(body, k), h)) => controls[body.0].loads[0].torque_W[k] += h,
            Some((Input::Position(k), h)) => controls[ARM.0].position[k] += h,
            Some((Input::Velocity(k), h)) => controls[ARM.0].velocity[k] += h,
            Some((Input::Effort(k), h)) => controls[ARM.0].effort[k] += h,
            None => {}
        }
        let world = world(self.seed, &self.model, gravity);
        let mut state = world.default_state();
        state.controls = controls;
        let mut next = State::default();
        let report = self.stepper.step(&world, &state, DT, &mut next).unwrap();
        let terms = self.slopes.iter().map(|(body, slope)| {
            let v = &next.bodies[body.0].v;
            v.iter().zip(slope).map(|(v, s)| v * s).sum::<f64>()
        });
        (terms.sum(), report)
    }

    fn quotient(&mut self, input: Input, h: f64) -> f64 {
        let (up, _) = self.value(Some((input, h)));
        let (down, _) = self.value(Some((input, -h)));
        (up - down) / (2.0 * h)
    }

    /// The gradient by the adjoint system, and the step that it is of.
    fn gradient(&mut self) -> (Vec<f64>, StepReport) {
        let (_, report) = self.value(None);
        let slopes: Vec<_> = (self.slopes.iter())
            .map(|(body, slope)| (*body, slope.as_slice()))
            .collect();
        let adjoint = self.stepper.adjoint(&slopes).unwrap();
        let controls = adjoint.controls();
        let origin = |frame| MaterialPoint::on_frame(frame, Vector3::zeros());
        let masses = [
            (BALL, 0, 2.0),
            (CUBE, 0, 3.0),
            (ARM, 1, 1.0),
            (ARM, 2, 0.5),
            (ARM, 3, 0.2),
        ];
        let weigh = |k: usize| -> f64 {
            let parts = masses.iter();
            parts
                .map(|(body, frame, mass)| {
                    mass * adjoint.load(*body, &origin(*frame)).unwrap().force_W[k]
                })
                .sum()
        };
        // Without an actuator in the step there are no entries.
        let entry = |values: &[f64], k: usize| values.get(k).copied().unwrap_or(0.0);
        let arm = &controls[ARM.0];
        let load = |body: BodyIdx| adjoint.load(body, &load_point(body)).unwrap();
        let of = |input: &Input| match *input {
            Input::Gravity(k) => weigh(k),
            Input::Force(body, k) => load(body).force_W[k],
            Input::Torque(body, k) => load(body).torque_W[k],
            Input::Position(k) => entry(&arm.position, k),
            Input::Velocity(k) => entry(&arm.velocity, k),
            Input::Effort(k) => entry(&arm.effort, k),
        };
        (inputs().iter().map(of).collect(), report)
    }
}

/// What contacts do.
#[derive(Default)]
struct Seen {
    separated: usize,
    sticking: usize,
    sliding: usize,
}

impl Seen {
    fn count(&mut self, report: &StepReport) {
        for contact in &report.contacts {
            let load = contact.normal_W.dot(&contact.force_W);
            let friction = (contact.force_W - contact.normal_W * load).norm();
            match load {
                load if load <= 0.0 => self.separated += 1,
                load if friction < 0.9 * FRICTION * load => self.sticking += 1,
                _ => self.sliding += 1,
            }
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    let published = LaggedModel {
        friction_limit: FrictionLimit::Lagged,
    };
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(SapModel),
        Arc::new(SimilarModel),
        Arc::new(published),
    ];
    for model in models {
        let (mut seen, mut checked, mut at_kinks) = (Seen::default(), 0, 0);
        for seed in 0..12 {
            let mut problem = Problem::new(seed, Arc::clone(&model));
            let (gradient, report) = problem.gradient();
            seen.count(&report);
            for (input, found) in inputs().into_iter().zip(gradient) {
                let (coarse, fine) = (problem.quotient(input, 2e-4), problem.quotient(input, 1e-4));
                let scale = 1e-3 + fine.abs();
                if (coarse - fine).abs() > 1e-3 * scale {
                    // A contact opens, or begins to slide, within the width.
                    at_kinks += 1;
                    continue;
                }
                assert!(
                    (found - fine).abs() < 3e-3 * scale,
                    "{model:?}, seed {seed}, {input:?}: {found:e}, {fine:e}"
                );
                checked += 1;
            }
        }
        assert!(checked > 10 * at_kinks, "{checked} checked, {at_kinks} not");
        let Seen {
            separated,
            sticking,
            sliding,
        } = seen;
        let all = [separated, sticking, sliding];
        assert!(all.iter().all(|n| *n > 3), "{model:?}: {all:?}");
    }
}

#[test]
fn a_saturated_actuator_and_a_held_joint_have_no_gradient() {
    let mut problem = Problem::new(0, Arc::new(SapModel));
    problem.controls[ARM.0].effort = vec![1e3, 0.0];
    problem.controls[ARM.0].held = vec![None, Some(0.1)];
    let (gradient, _) = problem.gradient();
    for (input, found) in inputs().into_iter().zip(gradient) {
        if let Input::Position(_) | Input::Velocity(_) | Input::Effort(_) = input {
            assert_eq!(found, 0.0, "{input:?}");
        }
    }
    // Without any velocity to solve for.
    problem.controls[ARM.0].held = vec![Some(0.0), Some(0.1)];
    let (gradient, _) = problem.gradient();
    assert!(gradient.iter().all(|x| x.is_finite()));
}

#[test]
fn without_a_step_or_with_a_wrong_slope_there_is_an_error() {
    let mut problem = Problem::new(0, Arc::new(SapModel));
    let none = problem.stepper.adjoint(&[]).err();
    assert_eq!(none, Some(AdjointError::NoStep));
    let _ = problem.value(None);
    let short = problem.stepper.adjoint(&[(ARM, &[1.0])]).err();
    let message = short.expect("too short").to_string();
    assert!(
        message.contains("body \"arm\" has 1 values; it takes 2"),
        "{message}"
    );
    let infinite = problem.stepper.adjoint(&[(ARM, &[f64::NAN, 0.0])]);
    assert!(matches!(infinite.err(), Some(AdjointError::Solve(_))));
    let adjoint = problem.stepper.adjoint(&[(ARM, &[1.0, 0.0])]).unwrap();
    let nowhere = adjoint.load(ARM, &MaterialPoint::on_vertex(0));
    assert!(matches!(nowhere, Err(AdjointError::Point { .. })));
}

#[test]
fn a_step_of_several_has_no_gradient() {
    let stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut adaptive = Adaptive::new(stepper, pliant_coupling::Accuracy::default()).unwrap();
    assert_eq!(adaptive.adjoint(&[]).err(), Some(AdjointError::Unsupported));
}
