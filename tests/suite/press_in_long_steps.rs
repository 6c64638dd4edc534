//! A press in time steps so long that its load alone would carry it through the pressed body.

use pliant::runner::check;
use pliant::scene::{Scene, SceneOptions};
use pliant_contact_sap::{LinearAlgebra, Newton, NewtonSettings};
use pliant_coupling::{State, Stepper, StrongImplicit};

/// The load of the first step, 70 N, would send the 10 kg of the plate 1.7 m in its half second.
#[test]
fn a_press_in_long_steps_stops_at_the_cylinder() {
    let time_step_s = 0.5;
    for rings in ["rings=7", "rings=8"] {
        let options = SceneOptions {
            parameters: vec![rings.parse().unwrap()],
            time_step_s: Some(time_step_s),
            ..SceneOptions::default()
        };
        let scene = Scene::load("cylinder-press", &options).unwrap();
        let assembly = check(&scene).unwrap();
        let newton = NewtonSettings {
            linear_algebra: LinearAlgebra::Direct,
            ..NewtonSettings::default()
        };
        let mut stepper = StrongImplicit::new(Newton::new(newton));
        let (mut state, mut next) = (assembly.state.clone(), State::default());
        let press = state.controls.iter().position(|c| c.effort.len() == 1);
        let press = press.unwrap();
        for step in 1..=20 {
            let load = 140.0 * f64::from(step) * time_step_s;
            state.controls[press].effort[0] = load;
            let report = stepper
                .step(&assembly.world, &state, time_step_s, &mut next)
                .unwrap();
            std::mem::swap(&mut state, &mut next);
            assert!(
                report.is_trusted(),
                "{rings}, {step}: {:?}",
                report.untrusted()
            );
            // 14 mm under 1400 N, nearly as the force.
            let stroke = state.bodies[press].q[0];
            assert!(
                (0.0..0.015).contains(&stroke),
                "{rings}, step {step}: {stroke} m"
            );
            // Contact of the first two steps is predicted from a first solution. Points that are open near the press take part.
            let normal_force = |c: &pliant_coupling::ContactForce| c.force_W.dot(&c.normal_W);
            let pressing = report.contacts.iter().filter(|c| normal_force(c) > 0.0);
            let (pressing, all) = (pressing.count(), report.contacts.len());
            assert!(
                step < 4 || all <= 3 * pressing,
                "{rings}, step {step}: {pressing} of {all} contacts press"
            );
        }
    }
}
