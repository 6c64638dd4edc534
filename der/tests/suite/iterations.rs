//! Iterations of Newton's method for the free motion.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, StartLinearisation, StepInput};
use pliant_der::{
    Centreline, End, EndCondition, FreeMotionSettings, Linearised, Material, RodBuilder, RodStep,
    Section, known_answers,
};

#[test]
fn newton_takes_no_more_iterations_than_the_prototype_with_the_full_hessian() {
    // With eigenvalues projected joint by joint it takes 20.
    for motion in known_answers::newton_iterations().unwrap() {
        assert!(motion.found <= motion.reference, "{motion:?}");
        assert!(motion.shifts <= 0.05, "{motion:?}");
    }
}

#[test]
fn linearisation_at_the_start_takes_no_iteration_and_its_error_is_of_second_order() {
    let build = |linearised| {
        let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 20);
        let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
        RodBuilder::new(line)
            .section(Section::Circle { radius: 5e-3 }, rubber)
            .end(End::Start, EndCondition::Clamped { tangent: None })
            .free_motion(FreeMotionSettings {
                relative_tolerance: 1e-10,
                linearised,
                ..FreeMotionSettings::default()
            })
            .build()
            .unwrap()
    };
    let [free, start] = [Linearised::AtFreeMotion, Linearised::AtStart].map(build);
    let control = free.default_control();
    let input = |time_step_s: f64| StepInput {
        time_step: time_step_s.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    // A rod that swings down from the horizontal.
    let (mut step, mut velocity) = (RodStep::new(&free), Vec::new());
    let (mut state, mut next) = (free.default_state(), BodyState::default());
    for _ in 0..200 {
        step.begin(&state, &input(1e-3)).unwrap();
        step.linearise_start(&mut velocity).unwrap();
        step.free_velocity(&mut velocity);
        let _ = step.advance(&velocity, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    let difference = |time_step_s: f64| {
        let [exact, linear] = [&free, &start].map(|rod| {
            let (mut step, mut velocity) = (RodStep::new(rod), Vec::new());
            step.begin(&state, &input(time_step_s)).unwrap();
            step.linearise_start(&mut velocity).unwrap();
            step.free_velocity(&mut velocity);
            (velocity, step.report().iterations)
        });
        assert_eq!(linear.1, 0);
        let squares = exact.0.iter().zip(&linear.0).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let [coarse, fine] = [2e-4, 1e-4].map(difference);
    assert!(fine > 0.0 && coarse > 3.5 * fine, "{coarse} {fine}");
}
