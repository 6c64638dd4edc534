//! Worlds with soft bodies in contact, and their steps.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{Integration, SolverKind, StepInput, StopCriteria};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit,
    StrongImplicitSettings, World, WorldBuilder, Wrench,
};
use pliant_fem::{FemBody, FemBuilder};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};

use super::{built, corotated};

pub(crate) fn surface(friction: f64) -> ContactMaterial {
    ContactMaterial {
        friction,
        stiffness: 1e5,
        relaxation_time_s: 0.01,
        ..ContactMaterial::default()
    }
}

/// Contact geometry of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Vertices,
    Surface,
}

pub(crate) const TOUCHES: [Touch; 2] = [Touch::Vertices, Touch::Surface];

pub(crate) fn add_soft(
    builder: &mut WorldBuilder,
    name: &str,
    body: FemBody,
    material: ContactMaterial,
    touch: Touch,
) -> (BodyIdx, GeometryIdx) {
    let body = builder.add_body(name, Box::new(body));
    let geometry = builder.add_geometry(match touch {
        Touch::Vertices => Geometry::of_vertices(name, body, material),
        Touch::Surface => Geometry::of_surface(name, body, material),
    });
    (body, geometry)
}

pub(crate) fn add_floor(builder: &mut WorldBuilder, material: ContactMaterial) -> GeometryIdx {
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material))
}

/// A cube of 0.1 m, 1 kg, standing with its lower corner at the origin of `X_WM`.
pub(crate) fn cube(youngs_modulus: f64, X_WM: Isometry3<f64>) -> FemBody {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let builder = FemBuilder::new(mesh, corotated(youngs_modulus, 0.3), 1000.0);
    built(builder.pose(X_WM))
}

/// Steps `state`, showing each report and the state after it to `watch`; every step must be trusted.
pub(crate) fn run(
    world: &World,
    state: &mut State,
    time_step_s: f64,
    seconds: f64,
    watch: impl FnMut(&StepReport, &State),
) {
    run_by(
        Integration::default(),
        world,
        state,
        time_step_s,
        seconds,
        watch,
    );
}

/// [`run`] by a given integration.
pub(crate) fn run_by(
    integration: Integration,
    world: &World,
    state: &mut State,
    time_step_s: f64,
    seconds: f64,
    mut watch: impl FnMut(&StepReport, &State),
) {
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    };
    let settings = StrongImplicitSettings {
        integration,
        ..StrongImplicitSettings::default()
    };
    let stepper = StrongImplicit::new(SolverKind::Newton.build(tight));
    let mut stepper = stepper.with_settings(settings).unwrap();
    let mut next = State::default();
    for _ in 0..(seconds / time_step_s).round() as usize {
        let report = stepper.step(world, state, time_step_s, &mut next).unwrap();
        assert!(
            report.is_trusted(),
            "{:?}: {:?}",
            report.untrusted(),
            report.convergence.solve
        );
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

pub(crate) fn center(state: &State, body: BodyIdx) -> Vector3<f64> {
    let q = &state.bodies[body.0].q;
    let sum: Vector3<f64> = q.chunks_exact(3).map(Vector3::from_column_slice).sum();
    sum / (q.len() / 3) as f64
}

pub(crate) fn center_velocity(state: &State, body: BodyIdx) -> Vector3<f64> {
    let v = &state.bodies[body.0].v;
    let sum: Vector3<f64> = v.chunks_exact(3).map(Vector3::from_column_slice).sum();
    sum / (v.len() / 3) as f64
}

/// The external wrench about the world's origin on a soft body without fixed vertices in the backward Euler step from `before` to
/// `after`: A v − b over δt, vertex by vertex, from the balance of momentum of the body alone.
pub(crate) fn wrench_from_outside(
    world: &World,
    body: BodyIdx,
    (before, after): (&State, &State),
    time_step_s: f64,
) -> Wrench {
    let mut step = world.model(body).new_step();
    let input = StepInput {
        time_step: time_step_s.into(),
        gravity: *world.gravity(),
        control: &before.controls[body.0],
    };
    let (start, end) = (&before.bodies[body.0], &after.bodies[body.0]);
    // That of the solution, to which the state's adds a rigid motion.
    let moved = end.q.iter().zip(&start.q);
    let v: Vec<f64> = moved.map(|(q, q0)| (q - q0) / time_step_s).collect();
    step.begin(start, &input).unwrap();
    step.linearise_start(&mut Vec::new()).unwrap();
    assert_eq!(step.start_velocity(), start.v);
    let dynamics = step.dynamics();
    let mut impulse = vec![0.0; v.len()];
    dynamics.apply(&v, &mut impulse);
    let mut sum = Wrench::default();
    let vertices = impulse.chunks_exact(3).zip(start.q.chunks_exact(3));
    for ((p, q), b) in vertices.zip(dynamics.right_hand_side().chunks_exact(3)) {
        let impulse = Vector3::from_column_slice(p) - Vector3::from_column_slice(b);
        let place = Point3::from(Vector3::from_column_slice(q));
        sum.add_force(impulse / time_step_s, &place, &Point3::origin());
    }
    sum
}

pub(crate) fn soft_cube() -> FemBuilder {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0)
}
