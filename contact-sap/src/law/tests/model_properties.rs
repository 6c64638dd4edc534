//! Known properties of the models: limits, agreements and differences.

use nalgebra::Vector3;

use super::{DT, models, parameters};
use crate::law::*;

#[test]
fn softened_friction_tends_to_coulombs_law() {
    let (mu, n0, slip) = (0.7, 2.0, 0.05);
    let mut last = f64::INFINITY;
    for stiction_speed in [1e-2, 1e-3, 1e-4, 1e-5] {
        let p = ContactParameters {
            friction: mu,
            stiction_speed,
            inverse_inertia: 1e-6,
            near_rigid: NEAR_RIGID_CONTACT,
            ..parameters(-1e-3, 1e4)
        };
        let law = Lagged::new(&p, Vector3::z(), n0);
        let gamma = law.impulse(&Vector3::new(slip, 0.0, 0.0));
        let error = (gamma.x + mu * n0).abs() / (mu * n0);
        // 1 − s/√(s² + ε²) ≤ ½(ε/s)²
        assert!(error <= 0.5 * (stiction_speed / slip).powi(2) + f64::EPSILON);
        assert!(error < last);
        last = error;
    }
}

#[test]
fn friction_vanishes_with_its_coefficient() {
    let v = Vector3::new(0.3, 0.1, -0.2);
    for mu in [1e-3, 1e-9, 0.0] {
        let p = ContactParameters {
            friction: mu,
            ..parameters(-1e-3, 1e4)
        };
        for law in models(&p, Vector3::z(), 0.3) {
            let gamma = law.impulse(&v);
            assert!(gamma.xy().norm() <= mu * gamma.z.max(0.3), "{law:?}");
            let g = law.hessian(&v);
            assert!(
                g.fixed_view::<2, 2>(0, 0).norm() <= 1e3 * mu,
                "{law:?}: {g}"
            );
        }
    }
}

#[test]
fn all_models_agree_on_the_normal_impulse_of_a_contact_that_does_not_slip() {
    let v = Vector3::new(0.0, 0.0, -0.2);
    for stiffness in [1e2, 1e4, 1e9, f64::INFINITY] {
        for tau in [0.0, 0.05] {
            let p = ContactParameters {
                dissipation: Dissipation::RelaxationTime(tau),
                ..parameters(-1e-3, stiffness)
            };
            let [lagged, similar, sap] = models(&p, Vector3::z(), 0.3).map(|law| law.impulse(&v).z);
            assert!(
                (lagged - sap).abs() <= 1e-14 * sap,
                "{stiffness} {tau}: {lagged} {sap}"
            );
            assert!((similar - sap).abs() <= 1e-14 * sap);
        }
    }
}

#[test]
fn near_rigid_contact_oscillates_with_the_period_of_the_step() {
    let p = parameters(-1e-3, f64::INFINITY);
    let mass = 1.0 / p.inverse_inertia;
    let period = std::f64::consts::TAU * (mass / p.capped_stiffness()).sqrt();
    assert!((period - NEAR_RIGID_CONTACT * DT).abs() < 1e-15);
    let soft = parameters(-1e-3, 1e3);
    assert_eq!(soft.capped_stiffness(), 1e3);
}

#[test]
fn a_body_that_slides_hovers_in_the_similar_model_and_not_in_the_lagged() {
    let (slip, load, k) = (2.0, 0.05, 1e4);
    let gap = 0.5 * DT * slip;
    let v = Vector3::new(slip, 0.0, 0.0);
    // The penetration under the load is load/(δt k); softening reduces the slip by ε.
    let hovering = ContactParameters {
        dissipation: Dissipation::HuntCrossley(0.0),
        ..parameters(gap - load / (DT * k), k)
    };
    let similar = Similar::new(&hovering, Vector3::z(), load).impulse(&v);
    assert!((similar.z - load).abs() <= DT * DT * k * 0.5 * hovering.slip_softening(load));
    assert_eq!(
        Lagged::new(&hovering, Vector3::z(), load).impulse(&v).z,
        0.0
    );
}
