//! Ten thousand heaps of random rigid bodies, a few steps each: they are solved, momentum is kept, and friction of every step that is
//! called trusted is what its loads allow.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    ContactSettings, FRICTION_TOLERANCE, Geometry, Mount, State, StepReport, Stepper,
    StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PROBLEMS: usize = 10_000;
const STEPS: usize = 5;
const G: f64 = 9.81;
/// Slip from here on is no creep, m/s.
const SLIPS: f64 = 0.5;

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

fn direction(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

/// A heap of up to five bodies on a floor, μ, and their mass in kg.
fn heap(rng: &mut ChaCha8Rng) -> (World, f64, f64) {
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        ..ContactSettings::default()
    });
    let friction = rng.random_range(0.0..1.5);
    let material = ContactMaterial {
        stiffness: log_uniform(rng, 1e3, 1e8),
        dissipation: log_uniform(rng, 1e-2, 1e2),
        friction,
        ..ContactMaterial::default()
    };
    let floor = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let mut mass_of_all = 0.0;
    for k in 0..rng.random_range(1..=5) {
        let lengths = Vector3::from_fn(|_, _| log_uniform(rng, 0.05, 0.3));
        let mass = log_uniform(rng, 0.1, 100.0);
        mass_of_all += mass;
        let (shape, inertia) = match rng.random_range(0..2) {
            0 => (
                Shape::sphere(0.5 * lengths.x).unwrap(),
                SpatialInertia::solid_sphere(mass, 0.5 * lengths.x),
            ),
            _ => (
                Shape::cuboid(lengths).unwrap(),
                SpatialInertia::solid_box(mass, lengths),
            ),
        };
        let mut model = ModelBuilder::new("body");
        model.root(Root::Floating);
        model.link(LinkSpec::new("body", inertia));
        let turn = match rng.random_range(0..2) {
            0 => UnitQuaternion::identity(),
            _ => UnitQuaternion::from_scaled_axis(direction(rng) * 3.0),
        };
        let p = direction(rng) * 0.05 + Vector3::z() * (0.15 + 0.25 * f64::from(k));
        let q = [p.x, p.y, p.z, turn.w, turn.i, turn.j, turn.k];
        let (v, omega) = (direction(rng) * 3.0, direction(rng) * 10.0);
        let v = [omega.x, omega.y, omega.z, v.x, v.y, v.z];
        let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(&q, &v);
        let name = format!("body {k}");
        let body = builder.add_body(&name, Box::new(tree));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        builder.add_geometry(Geometry::new(&name, mount, shape, material));
    }
    (builder.build().unwrap(), friction, mass_of_all)
}

/// Velocity of a point of a geometry's body, of its mean velocities in a step of `dt` and the place that it had before.
fn velocity_of(
    world: &World,
    (before, after, dt): (&State, &State, f64),
    geometry: usize,
    p_WQ: &Point3<f64>,
) -> Vector3<f64> {
    let Some(body) = world.geometries()[geometry].mount.body() else {
        return Vector3::zeros();
    };
    let v = &after.bodies[body.0].v;
    let [start, end] = [before, after].map(|state| &state.bodies[body.0].q);
    let [from, to] = [start, end].map(|q| {
        UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[3], q[4], q[5], q[6]))
    });
    let p_WB = Vector3::from_column_slice(&start[..3]);
    let omega = (to * from.inverse()).scaled_axis() / dt;
    Vector3::new(v[3], v[4], v[5]) + omega.cross(&(p_WQ.coords - p_WB))
}

/// The largest share by which friction of a pair is not Coulomb's, from forces and velocities alone.
fn worst_share(
    world: &World,
    mu: f64,
    states: (&State, &State, f64),
    report: &StepReport,
    counts: f64,
) -> f64 {
    let share = |pair: pliant_coupling::PairForce<'_>| {
        let (mut off, mut most) = (0.0, 0.0);
        for contact in pair.contacts {
            let load = contact.normal_W.dot(&contact.force_W).max(0.0);
            let found = (contact.force_W
                - contact.normal_W * contact.normal_W.dot(&contact.force_W))
            .norm();
            let v = velocity_of(world, states, contact.a.0, &contact.p_WCa)
                - velocity_of(world, states, contact.b.0, &contact.p_WCb);
            let slip = (v - contact.normal_W * contact.normal_W.dot(&v)).norm();
            // What is apart acts at two places and may meet later in the step.
            let lacks = if slip > SLIPS && contact.signed_distance < 0.0 {
                (mu * load - found).max(0.0)
            } else {
                0.0
            };
            off += (found - mu * load).max(0.0) + lacks;
            most += found.max(mu * load);
        }
        if most > counts { off / most } else { 0.0 }
    };
    report.pairs().map(share).fold(0.0, f64::max)
}

#[test]
fn friction_bounds_of_every_trusted_step_have_converged() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    };
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(tight));
    let (mut contacts, mut updates, mut untrusted, mut worst) = (0, 0, 0, 0.0_f64);
    for problem in 0..PROBLEMS {
        let (world, mu, mass) = heap(&mut rng);
        let dt = log_uniform(&mut rng, 1e-4, 2e-2);
        let (mut state, mut next) = (world.default_state(), State::default());
        for step in 0..STEPS {
            let report = stepper.step(&world, &state, dt, &mut next).unwrap();
            let on_bodies = report.contact_wrench(&Point3::origin(), |geometry| geometry.0 > 0);
            let before = world.energy(&state).linear_momentum_W;
            let change = world.energy(&next).linear_momentum_W - before;
            let impulse = (on_bodies.force - Vector3::z() * (G * mass)) * dt;
            let error = (change - impulse).norm() / (before.norm() + impulse.norm());
            assert!(
                error < 1e-5,
                "problem {problem}, step {step}: momentum off by {error:e}"
            );
            contacts += report.contacts.len();
            updates += report.convergence.friction.updates;
            // Forces too small to move a body are round-off.
            let counts = 1e-3 * (before.norm() + impulse.norm()) / dt;
            let share = worst_share(&world, mu, (&state, &next, dt), &report, counts);
            if report.is_trusted() {
                worst = worst.max(share);
                assert!(
                    share <= FRICTION_TOLERANCE + 0.02,
                    "problem {problem}, step {step}: {share}, {:?}",
                    report.convergence.friction
                );
            } else {
                untrusted += 1;
            }
            std::mem::swap(&mut state, &mut next);
        }
    }
    eprintln!(
        "{PROBLEMS} problems, {contacts} contacts, {updates} updates of friction bounds, {untrusted} untrusted steps, of the others friction is \
         off by {worst:.3} at most"
    );
    assert!(contacts > 2 * PROBLEMS);
    // With two updates of single contacts and no check of the rest, friction of 1,287 steps was wrong by more.
    // Most of these are fast bodies that may pass deep into each other.
    assert!(untrusted <= 120, "{untrusted} steps");
}
