//! The rod passes the conformance checks of a body of the contact problem.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{BodyState, Control, DeformableModel, Load, MaterialPoint, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, NaturalShape, NaturalShapeSchedule, NaturalStrain,
    Rayleigh, Rod, RodBuilder, Schedule, Section,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn soft() -> Material {
    Material::isotropic(1e5, 0.4, 1000.0).unwrap()
}

fn perturbed(rod: &Rod, position: f64, velocity: f64) -> BodyState {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut state = rod.default_state();
    for (i, q) in state.q.iter_mut().enumerate() {
        let scale = if i % 4 == 3 { 100.0 } else { 1.0 };
        *q += scale * position * rng.random_range(-1.0..1.0);
    }
    for v in &mut state.v {
        *v += velocity * rng.random_range(-1.0..1.0);
    }
    state
}

#[track_caller]
fn check(rod: &Rod, control: &Control) {
    let input = StepInput {
        time_step: 2e-3.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control,
    };
    check_body(rod, &perturbed(rod, 1e-3, 0.3), &input).unwrap();
}

fn strip() -> Section {
    Section::Rectangle {
        extent_1: 0.02,
        extent_2: 0.008,
    }
}

#[test]
fn an_open_rod_conforms() {
    let line = Centreline::helix(0.1, 0.05, 0.6, 9);
    let rod = RodBuilder::new(line)
        .section(strip(), soft())
        .damping(Rayleigh {
            mass: 1.0,
            stiffness: 1e-3,
        })
        .frame("start", 0, 0.0)
        .frame("middle", 4, 0.3)
        .build()
        .unwrap();
    check(&rod, &Control::default());
}

#[test]
fn a_closed_rod_conforms() {
    let rod = RodBuilder::new(Centreline::circle(0.1, 12))
        .section(Section::Circle { radius: 0.01 }, soft())
        .natural_shape(NaturalShape::AsBuilt)
        .initial_twist(std::f64::consts::TAU)
        .frame("closing", 11, 0.5)
        .build()
        .unwrap();
    check(&rod, &Control::default());
}

#[test]
fn a_clamped_rod_with_held_velocities_and_loads_conforms() {
    let line = Centreline::straight(Point3::origin(), Point3::new(0.3, 0.0, 0.1), 8);
    let rod = RodBuilder::new(line)
        .section(strip(), soft())
        .natural_shape(NaturalShape::Uniform(NaturalStrain {
            curvature_1: 3.0,
            curvature_2: 1.0,
            twist_rate: 2.0,
        }))
        .natural_shape_schedule(NaturalShapeSchedule {
            curvature: Schedule::ramp(0.0, 1.0, 0.2, 1.0),
            twist: Schedule::default(),
        })
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .end(End::Finish, EndCondition::Welded { tangent: None })
        .pin(5)
        .frame_at_end("hand", End::Finish)
        .frame_at_end("wall", End::Start)
        .build()
        .unwrap();
    let mut control = rod.default_control();
    let omega = Vector3::new(0.3, 0.1, -0.4);
    rod.set_clamp_velocity(
        End::Start,
        &rod.default_state(),
        &omega,
        &Vector3::new(0.1, 0.0, 0.2),
        &mut control,
    )
    .unwrap();
    control.loads.push(Load {
        point: MaterialPoint::on_vertex(8),
        force_W: Vector3::new(0.01, 0.02, -0.01),
        torque_W: Vector3::new(1e-4, 2e-4, 1e-4),
    });
    control.loads.push(Load {
        point: MaterialPoint::on_frame(0, Vector3::new(0.01, 0.0, 0.005)),
        force_W: Vector3::new(-0.01, 0.0, 0.01),
        torque_W: Vector3::new(1e-4, 0.0, -3e-4),
    });
    control.effort = vec![1e-4; rod.n_dofs()];
    check(&rod, &control);
}
