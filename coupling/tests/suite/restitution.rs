//! Impacts with a coefficient of restitution, against the mechanics of colliding bodies.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::Integration;
use pliant_coupling::{
    BodyIdx, ContactModel, ContactSettings, Geometry, LaggedModel, Mount, PairRule, RigidSurface,
    SapModel, SimilarModel, State, Stepper, StrongImplicit, StrongImplicitSettings, World,
    WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use proptest::prelude::*;

use crate::rigid_contact::{material, solver};

const G: f64 = 9.81;
const RADIUS: f64 = 0.05;
const MASS: f64 = 0.4;

struct Scene {
    builder: WorldBuilder,
    surface: RigidSurface,
    friction: f64,
    n_bodies: usize,
}

impl Scene {
    fn new(restitution: f64) -> Self {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.0, 0.0, -G));
        let surface = RigidSurface {
            restitution: Some(restitution),
            ..RigidSurface::default()
        };
        Self {
            builder,
            surface,
            friction: 0.0,
            n_bodies: 0,
        }
    }

    fn floor(&mut self) -> &mut Self {
        let mount = Mount::World(Isometry3::identity());
        let material = material(self.friction);
        let floor = Geometry::new("floor", mount, Shape::half_space(), material);
        self.builder.add_geometry(floor);
        self
    }

    fn body(
        &mut self,
        shape: Shape,
        inertia: SpatialInertia,
        at: Vector3<f64>,
        v: [f64; 6],
    ) -> BodyIdx {
        let name = format!("body {}", self.n_bodies);
        self.n_bodies += 1;
        let mut model = ModelBuilder::new(&*name);
        model.root(Root::Floating);
        model.link(LinkSpec::new("link", inertia));
        let q = [at.x, at.y, at.z, 1.0, 0.0, 0.0, 0.0];
        let model = Arc::new(model.build().expect("a legal model"));
        let body = RigidTree::new(model).starting_at(&q, &v);
        let body = self.builder.add_body(&name, Box::new(body));
        let mount = Mount::Frame {
            body,
            frame: 0,
            X_FG: Isometry3::identity(),
        };
        self.builder.add_geometry(Geometry {
            rigid_surface: self.surface,
            ..Geometry::new(name, mount, shape, material(self.friction))
        });
        body
    }

    fn ball(&mut self, at: Vector3<f64>, v: Vector3<f64>) -> BodyIdx {
        let v = [0.0, 0.0, 0.0, v.x, v.y, v.z];
        let inertia = SpatialInertia::solid_sphere(MASS, RADIUS);
        self.body(Shape::sphere(RADIUS).expect("a radius"), inertia, at, v)
    }
}

/// Steps `state` for `time`, and calls `visit` after every step, which must be trusted.
fn run(
    world: &World,
    integration: Integration,
    dt: f64,
    time: f64,
    mut visit: impl FnMut(&State),
) -> State {
    let settings = StrongImplicitSettings {
        integration,
        ..StrongImplicitSettings::default()
    };
    let mut stepper = StrongImplicit::new(solver())
        .with_settings(settings)
        .expect("legal settings");
    let (mut state, mut next) = (world.default_state(), State::default());
    for _ in 0..(time / dt).round() as usize {
        let report = stepper
            .step(world, &state, dt, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.convergence);
        std::mem::swap(&mut state, &mut next);
        visit(&state);
    }
    state
}

/// The heights of the first `n` turning points above the floor, m.
fn heights(world: &World, integration: Integration, dt: f64, time: f64, n: usize) -> Vec<f64> {
    let mut heights = Vec::new();
    let (mut highest, mut was_rising) = (0.0_f64, false);
    run(world, integration, dt, time, |state| {
        let body = &state.bodies[0];
        assert!(body.q[2] > RADIUS - 2e-3, "{}", body.q[2] - RADIUS);
        let rising = body.v[5] > 0.0;
        if rising {
            highest = if was_rising {
                highest.max(body.q[2])
            } else {
                body.q[2]
            };
        } else if was_rising {
            heights.push(highest.max(body.q[2]) - RADIUS);
        }
        was_rising = rising;
    });
    heights.truncate(n);
    heights
}

fn check_bounces(e: f64, dt: f64, integration: Integration, model: Arc<dyn ContactModel>) {
    let drop = 1.0;
    let mut scene = Scene::new(e);
    scene
        .floor()
        .ball(Vector3::new(0.0, 0.0, drop + RADIUS), Vector3::zeros());
    scene.builder.contact(ContactSettings {
        model,
        ..ContactSettings::default()
    });
    let world = scene.builder.build().expect("a legal world");
    let found = heights(&world, integration, dt, 2.4, 3);
    assert!(found.len() >= 2, "{found:?}");
    for (k, height) in found.iter().enumerate() {
        let expected = drop * e.powi(2 * (k as i32 + 1));
        // Sampled at whole steps: the highest point is missed by up to g δt²/8.
        let allowed = 0.01 * expected + G * dt * dt / 4.0;
        assert!(
            (height - expected).abs() < allowed,
            "bounce {k} at e = {e}, {dt} s, {integration:?}: {height} for {expected}"
        );
    }
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height_at_any_step() {
    for dt in [1e-4, 1e-3, 3e-3, 1e-2] {
        for e in [0.5, 0.8, 1.0] {
            let model = Arc::new(LaggedModel::default());
            check_bounces(e, dt, Integration::BackwardEuler, model);
        }
    }
}

#[test]
fn bounces_do_not_depend_on_the_contact_model_or_the_integration() {
    for integration in Integration::ALL {
        check_bounces(0.8, 5e-3, integration, Arc::new(LaggedModel::default()));
        check_bounces(0.8, 5e-3, integration, Arc::new(SimilarModel));
        check_bounces(0.8, 5e-3, integration, Arc::new(SapModel));
    }
}

#[test]
fn bounces_do_not_depend_on_stiffness() {
    for stiffness in [1e4, 1e8, f64::INFINITY] {
        let mut scene = Scene::new(0.7);
        scene
            .floor()
            .ball(Vector3::new(0.0, 0.0, 0.5 + RADIUS), Vector3::zeros());
        for g in 0..2 {
            scene
                .builder
                .geometry_mut(pliant_coupling::GeometryIdx(g))
                .material
                .stiffness = stiffness;
        }
        let world = scene.builder.build().expect("a legal world");
        let found = heights(&world, Integration::BackwardEuler, 2e-3, 0.8, 1);
        assert!((found[0] / 0.245 - 1.0).abs() < 0.01, "{found:?}");
    }
}

#[test]
fn a_ball_that_does_not_rebound_stays_where_it_lands() {
    for dt in [1e-4, 1e-2] {
        let mut scene = Scene::new(0.0);
        scene
            .floor()
            .ball(Vector3::new(0.0, 0.0, 0.3 + RADIUS), Vector3::zeros());
        let world = scene.builder.build().expect("a legal world");
        let mut landed = false;
        run(&world, Integration::BackwardEuler, dt, 0.4, |state| {
            let body = &state.bodies[0];
            landed |= body.q[2] < RADIUS + 1e-4;
            assert!(!landed || (body.q[2] - RADIUS).abs() < 1e-3 && body.v[5].abs() < 0.02);
        });
        assert!(landed);
    }
}

#[test]
fn a_bouncing_ball_comes_to_rest() {
    let mut scene = Scene::new(0.6);
    scene
        .floor()
        .ball(Vector3::new(0.0, 0.0, 0.2 + RADIUS), Vector3::zeros());
    let world = scene.builder.build().expect("a legal world");
    let end = run(&world, Integration::BackwardEuler, 2e-3, 2.0, |_| {});
    assert!(
        end.bodies[0].v.iter().all(|v| v.abs() < 1e-6),
        "{:?}",
        end.bodies[0].v
    );
    assert!((end.bodies[0].q[2] - RADIUS).abs() < 1e-4);
}

/// Speeds along x after five balls in a row were hit by the first with 1 m/s.
fn cradle(e: f64, gap: f64, dt: f64) -> Vec<f64> {
    let mut scene = Scene::new(e);
    scene.builder.gravity(Vector3::zeros());
    for k in 0..5 {
        let (x, v) = match k {
            0 => (-0.1, 1.0),
            _ => (f64::from(k) * (2.0 * RADIUS + gap), 0.0),
        };
        scene.ball(Vector3::x() * x, Vector3::x() * v);
    }
    let world = scene.builder.build().expect("a legal world");
    let end = run(&world, Integration::BackwardEuler, dt, 0.2, |_| {});
    end.bodies.iter().map(|body| body.v[3]).collect()
}

#[test]
fn the_last_ball_of_a_cradle_takes_the_velocity_of_the_first() {
    for dt in [1e-4, 1e-3, 1e-2] {
        for gap in [0.0, 1e-5, 1e-4] {
            let v = cradle(1.0, gap, dt);
            assert!((v[4] - 1.0).abs() < 1e-3, "{gap} {dt}: {v:?}");
            assert!(v[..4].iter().all(|v| v.abs() < 1e-3), "{gap} {dt}: {v:?}");
        }
    }
    let v = cradle(0.9, 1e-4, 1e-3);
    assert!((v[4] - 0.95_f64.powi(4)).abs() < 2e-3, "{v:?}");
}

#[test]
fn balls_of_different_mass_follow_the_law_of_impact() {
    let (e, u) = (0.6, 2.0);
    let mut scene = Scene::new(e);
    scene.builder.gravity(Vector3::zeros());
    scene.ball(Vector3::zeros(), Vector3::x() * u);
    let heavy = SpatialInertia::solid_sphere(3.0 * MASS, RADIUS);
    let at = Vector3::x() * 0.3;
    scene.body(
        Shape::sphere(RADIUS).expect("a radius"),
        heavy,
        at,
        [0.0; 6],
    );
    let world = scene.builder.build().expect("a legal world");
    let end = run(&world, Integration::BackwardEuler, 4e-3, 0.2, |_| {});
    // m₁v₁ + m₂v₂ = m₁u, v₂ − v₁ = e u.
    let expected = [u * (1.0 - 3.0 * e) / 4.0, u * (1.0 + e) / 4.0];
    for (body, expected) in end.bodies.iter().zip(expected) {
        assert!(
            (body.v[3] - expected).abs() < 1e-4,
            "{} {expected}",
            body.v[3]
        );
    }
    // They met after 0.1 m, at t = 0.2/2 s.
    let positions = [0.2 + expected[0] * 0.1, 0.3 + expected[1] * 0.1];
    for (body, expected) in end.bodies.iter().zip(positions) {
        assert!(
            (body.q[0] - expected).abs() < 1e-5,
            "{} {expected}",
            body.q[0]
        );
    }
}

#[test]
fn friction_acts_on_the_impulse_of_the_whole_impact() {
    // A ball arrives at 45 degrees, without spin: it slides through the impact.
    let (mu, e, u) = (0.1, 0.8, 2.0);
    let mut scene = Scene::new(e);
    scene.friction = mu;
    scene.builder.gravity(Vector3::zeros());
    scene
        .floor()
        .ball(Vector3::new(0.0, 0.0, 0.105), Vector3::new(u, 0.0, -u));
    let world = scene.builder.build().expect("a legal world");
    let end = run(&world, Integration::BackwardEuler, 2e-4, 0.05, |_| {});
    let v = &end.bodies[0].v;
    let change = mu * (1.0 + e) * u;
    assert!((v[5] - e * u).abs() < 1e-3, "{v:?}");
    assert!((v[3] - (u - change)).abs() < 1e-2 * change, "{v:?}");
    // I ω = R μ N for a solid ball: ω = 5/2 Δv/R.
    assert!(
        (v[1] - 2.5 * change / RADIUS).abs() < 1e-2 * 2.5 * change / RADIUS,
        "{v:?}"
    );
}

#[test]
fn the_rule_of_a_pair_replaces_the_coefficients_of_its_surfaces() {
    let mut scene = Scene::new(0.9);
    scene
        .floor()
        .ball(Vector3::new(0.0, 0.0, 0.5 + RADIUS), Vector3::zeros());
    let rule = PairRule {
        restitution: Some(0.5),
        ..PairRule::default()
    };
    let [a, b] = [0, 1].map(pliant_coupling::GeometryIdx);
    scene.builder.pair_rule(a, b, rule);
    let world = scene.builder.build().expect("a legal world");
    let found = heights(&world, Integration::BackwardEuler, 1e-3, 0.6, 1);
    assert!((found[0] / 0.125 - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn a_coefficient_out_of_range_is_refused() {
    for e in [-0.1, 1.1, f64::NAN] {
        let mut scene = Scene::new(e);
        scene.floor().ball(Vector3::zeros(), Vector3::zeros());
        let error = scene.builder.build().err().expect("no such coefficient");
        let text = error.to_string();
        assert!(
            text.contains("restitution") && text.contains("from 0 to 1"),
            "{text}"
        );
    }
}

/// Kinetic plus potential energy, with the velocities on the parabolas of free motion, J.
fn energy(state: &State, dt: f64) -> f64 {
    let of = |body: &pliant_contact_sap::BodyState| {
        let v = Vector3::new(body.v[3], body.v[4], body.v[5] - 0.5 * G * dt);
        let spin = Vector3::new(body.v[0], body.v[1], body.v[2]);
        let inertia = 0.4 * MASS * RADIUS * RADIUS;
        0.5 * MASS * v.norm_squared() + 0.5 * inertia * spin.norm_squared() + MASS * G * body.q[2]
    };
    state.bodies.iter().map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn falling_stacks_gain_no_energy(
        e in 0.0..=1.0f64,
        friction in 0.0..0.8f64,
        gaps in prop::collection::vec(0.0..0.1f64, 3),
        offsets in prop::collection::vec(-0.01..0.01f64, 3),
        dt in 5e-4..5e-3f64,
    ) {
        let mut scene = Scene::new(e);
        scene.friction = friction;
        scene.floor();
        let mut z = RADIUS;
        for (gap, offset) in gaps.iter().zip(&offsets) {
            z += gap;
            scene.ball(Vector3::new(*offset, 0.0, z), Vector3::zeros());
            z += 2.0 * RADIUS;
        }
        let world = scene.builder.build().expect("a legal world");
        let start = energy(&world.default_state(), 0.0);
        let mut most = f64::NEG_INFINITY;
        run(&world, Integration::BackwardEuler, dt, 0.6, |state| most = most.max(energy(state, dt)));
        prop_assert!(most < start * 1.01 + 1e-3, "{most} J from {start} J");
    }
}
