//! A step like the last one allocates nothing: every request of this thread is counted.

use allocation_counter::measure;
use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StartLinearisation, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, Rayleigh, Rod, RodBuilder, RodStep, Section,
};

/// Requests of ten steps after five, which lay out the memory.
fn requests_of_ten_steps(rod: &Rod) -> u64 {
    let control = rod.default_control();
    let input = StepInput {
        time_step: 1e-3.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let (mut step, mut velocity) = (RodStep::new(rod), Vec::new());
    let (mut state, mut next) = (rod.default_state(), BodyState::default());
    let mut take = || {
        step.begin(&state, &input).unwrap();
        step.linearise_start(&mut velocity).unwrap();
        assert!(step.dynamics().assembled().is_some());
        step.free_velocity(&mut velocity);
        let report = step.advance(&velocity, &mut next).unwrap();
        assert!(report.warnings.is_empty());
        std::mem::swap(&mut state, &mut next);
    };
    (0..5).for_each(|_| take());
    measure(|| (0..10).for_each(|_| take())).count_total
}

#[test]
fn a_step_of_a_rod_or_a_ring_allocates_nothing() {
    let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
    let straight = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 50);
    for (line, stiffness) in [
        (straight.clone(), 0.0),
        (straight, 1e-3),
        (Centreline::circle(0.2, 40), 0.0),
    ] {
        let ring = line.nodes.len() == 40;
        let damping = Rayleigh {
            mass: 0.1,
            stiffness,
        };
        let builder = RodBuilder::new(line)
            .section(Section::Circle { radius: 5e-3 }, rubber)
            .damping(damping);
        let builder = match ring {
            true => builder.pin(0),
            false => builder.end(End::Start, EndCondition::Clamped { tangent: None }),
        };
        let requests = requests_of_ten_steps(&builder.build().unwrap());
        assert_eq!(requests, 0, "ring: {ring}, damping: {stiffness} s");
    }
}
