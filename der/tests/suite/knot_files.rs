//! Rods on centrelines read from files.

use crate::shared_data::shared;
use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, StartLinearisation, StepInput,
};
use pliant_der::{Centreline, Closure, Material, RodBuilder, RodStep, Section};

#[test]
fn knot_files_of_one_to_four_turns_are_read_and_the_ropes_relax() {
    let Some(folder) = shared("data/meshes/drake_der") else {
        return;
    };
    // The published rope: E 18 MPa, G 6 MPa, 3 mm thick, naturally straight.
    let material = Material {
        youngs_modulus: 1.8e7,
        shear_modulus: 6e6,
        density: 1000.0,
    };
    for turns in 1..=4 {
        let line =
            Centreline::read(folder.join(format!("knot_n{turns}.txt")), Closure::Open).unwrap();
        let rod = RodBuilder::new(line)
            .section(Section::Circle { radius: 1.5e-3 }, material)
            .build()
            .unwrap();
        assert_eq!((rod.n_nodes(), rod.n_dofs()), (301, 1203));
        let start = rod.default_state();
        let before = rod.elastic_energy(&start).unwrap();
        assert!(
            before.bend > 10.0 * (before.stretch + before.twist),
            "{before:?}"
        );
        let control = Control::default();
        let input = StepInput {
            time_step: 1e-4.into(),
            gravity: Vector3::zeros(),
            control: &control,
        };
        let (mut step, mut velocity) = (RodStep::new(&rod), Vec::new());
        let (mut state, mut next) = (start, BodyState::default());
        for _ in 0..50 {
            step.begin(&state, &input).unwrap();
            step.linearise_start(&mut velocity).unwrap();
            step.free_velocity(&mut velocity);
            let _ = step.advance(&velocity, &mut next).unwrap();
            std::mem::swap(&mut state, &mut next);
        }
        let energy = rod.energy(&state, &Vector3::zeros());
        assert!(energy.kinetic > 0.0 && energy.kinetic + energy.potential < before.total());
    }
}
