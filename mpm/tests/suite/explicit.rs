//! Symplectic steps: conserved quantities, and the limit of stability.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::{DeformableModel, Energy, Integration};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    GradientForm, LinearCorotated, Liquid, Material, MpmBuilder, MpmSettings, ObjectSpec, Sampling,
    TransferScheme, fill,
};

use crate::support::Run;

const H: f64 = 0.025;

/// A rotating and expanding cube.
fn whirl(material: Arc<dyn Material>, gradient: GradientForm) -> Run {
    let mut settings = MpmSettings::new(H);
    // Affine FLIP conserves angular momentum in transfers, but not where particles move otherwise than their velocity.
    settings.transfer = TransferScheme::Apic;
    settings.gradient = gradient;
    let shape = Shape::cuboid(Vector3::new(0.1, 0.075, 0.05)).unwrap();
    let pose = Isometry3::translation(0.003, 0.001, 0.002);
    let set = fill("cube", &shape, &pose, H, Sampling::default()).unwrap();
    let mut object = ObjectSpec::new("cube", material, 1000.0, set);
    object.velocity_W = Vector3::new(0.5, -0.2, 0.1);
    object.angular_velocity_W = Vector3::new(3.0, 5.0, -8.0);
    let mut builder = MpmBuilder::new(settings);
    builder.object(object);
    let mut run = Run::new(builder.build().unwrap());
    for (k, v) in run.state.v.iter_mut().enumerate() {
        *v += 2.0 * run.state.q[k];
    }
    run
}

fn energy(run: &Run) -> Energy {
    run.model.energy(&run.state, &Vector3::zeros())
}

#[test]
fn symplectic_steps_conserve_momentum_and_angular_momentum_to_round_off() {
    let materials: [Arc<dyn Material>; 3] = [
        Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(1e5, 0.3).unwrap(),
        )),
        Arc::new(NeoHookean::new(Lame::from_young_poisson(1e5, 0.3).unwrap()).unwrap()),
        Arc::new(Liquid::new(2e4, 7.0).unwrap().with_viscosity(1.0).unwrap()),
    ];
    for material in materials {
        for gradient in [GradientForm::True, GradientForm::Mls] {
            let mut run = whirl(Arc::clone(&material), gradient);
            let before = energy(&run);
            let dt = 0.9 * run.model.substep_limit().expect("an object").length_s;
            for _ in 0..150 {
                run.step(dt, Integration::Symplectic, 0.0);
            }
            let after = energy(&run);
            let name = material.name();
            let (p, l) = (before.linear_momentum_W, before.angular_momentum_W);
            let off = (after.linear_momentum_W - p).norm() / p.norm();
            assert!(off < 1e-10, "{name}, {gradient:?}: momentum {off:e}");
            let off = (after.angular_momentum_W - l).norm() / l.norm();
            assert!(
                off < 1e-10,
                "{name}, {gradient:?}: angular momentum {off:e}"
            );
        }
    }
}

/// Kinetic and elastic energy after a hundred steps of a multiple of the limit, relative to that at the start.
fn energy_ratio(times: f64) -> f64 {
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(1e5, 0.3).unwrap(),
    ));
    let mut run = whirl(material, GradientForm::True);
    let total = |run: &Run| energy(run).kinetic + energy(run).potential;
    let before = total(&run);
    let dt = times * run.model.substep_limit().expect("an object").length_s;
    for _ in 0..100 {
        run.step(dt, Integration::Symplectic, 0.0);
        if total(&run) > 10.0 * before {
            break;
        }
    }
    total(&run) / before
}

#[test]
fn steps_up_to_the_limit_are_stable_and_longer_ones_are_refused() {
    let within = energy_ratio(1.0);
    assert!((0.5..1.02).contains(&within), "{within}");
    let material = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
    let speed = (material.wave_modulus() / 1000.0).sqrt();
    let mut run = whirl(Arc::new(material), GradientForm::True);
    // 0.4 h/c, c² = (λ + 2μ)/ρ.
    let limit = run.model.substep_limit().expect("an object");
    assert!((limit.length_s * speed / (0.4 * H) - 1.0).abs() < 1e-12);
    let error = run
        .begin(2.0 * limit.length_s, Integration::Symplectic, 0.0)
        .expect_err("too long");
    let text = error.to_string();
    assert!(
        text.contains("is unstable: \"cube\"") && text.contains("backward Euler"),
        "{text}"
    );
    run.step(2.0 * limit.length_s, Integration::BackwardEuler, 0.0);
}
