//! Steps after the first few do not allocate: every allocation of this thread is counted.

use allocation_counter::measure;
use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StartLinearisation, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, Material, Rayleigh, Rod, RodBuilder, RodStep, Section,
};

/// Allocations of ten steps, after five that size the workspace.
fn allocations_of_ten_steps(rod: &Rod) -> u64 {
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
fn steps_of_open_and_closed_rods_do_not_allocate() {
    let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
    let straight = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 50);
    for (line, stiffness) in [
        (straight.clone(), 0.0),
        (straight, 1e-3),
        (Centreline::circle(0.2, 40), 0.0),
    ] {
        let is_closed = line.nodes.len() == 40;
        let damping = Rayleigh {
            mass: 0.1,
            stiffness,
        };
        let builder = RodBuilder::new(line)
            .section(Section::Circle { radius: 5e-3 }, rubber)
            .damping(damping);
        let builder = match is_closed {
            true => builder.pin(0),
            false => builder.end(End::Start, EndCondition::Clamped { tangent: None }),
        };
        let allocations = allocations_of_ten_steps(&builder.build().unwrap());
        assert_eq!(
            allocations, 0,
            "closed: {is_closed}, damping: {stiffness} s"
        );
    }
}
