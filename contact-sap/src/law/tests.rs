//! Derivatives and cones of the contact laws in all regions.

mod model_properties;
mod validation;

use nalgebra::{Matrix3, Vector3};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::conformance::check_potential;
use crate::time_step::{Integration, TimeStep};

const DT: f64 = 0.01;

fn parameters(signed_distance: f64, stiffness: f64) -> ContactParameters {
    ContactParameters {
        time_step: DT.into(),
        signed_distance,
        start_velocity: 0.0,
        stiffness,
        dissipation: Dissipation::HuntCrossley(10.0),
        friction: 0.5,
        stiction_speed: 1e-4,
        inverse_inertia: 0.8,
        near_rigid: NEAR_RIGID_CONTACT,
    }
}

/// The three models for the same contact.
fn models(p: &ContactParameters, normal: Vector3<f64>, n0: f64) -> [ContactLaw; 3] {
    [
        ContactLaw::Lagged(Lagged::new(p, normal, n0)),
        ContactLaw::Similar(Similar::new(p, normal, n0)),
        ContactLaw::Sap(Sap::new(p, normal)),
    ]
}

/// A right-handed frame with `n` last.
fn frame(n: &Vector3<f64>) -> Matrix3<f64> {
    let least = n.iamin();
    let mut e = Vector3::zeros();
    e[least] = 1.0;
    let t = n.cross(&e).normalize();
    Matrix3::from_columns(&[t, n.cross(&t), *n])
}

/// Velocities in every region of the laws, on and near their boundaries, and at zero slip.
fn velocities(p: &ContactParameters, n: &Vector3<f64>, rng: &mut ChaCha8Rng) -> Vec<Vector3<f64>> {
    let r = frame(n);
    let hat = p.normal_force().release_velocity();
    let hat = if hat.is_finite() { hat } else { 0.0 };
    let eps = p.stiction_speed;
    let mut at = vec![
        Vector3::zeros(),
        r * Vector3::new(0.0, 0.0, hat),
        r * Vector3::new(0.0, 0.0, hat - 1e-9),
        r * Vector3::new(0.0, 0.0, -1.0),
        r * Vector3::new(1e-12, 0.0, -1.0),
        r * Vector3::new(eps, 0.0, hat - 1e-2),
        r * Vector3::new(0.3, -0.4, hat),
        r * Vector3::new(0.3, -0.4, hat + 1e-9),
        r * Vector3::new(3.0, 4.0, hat + 1.0),
        r * Vector3::new(-3.0, 4.0, hat - 1.0),
    ];
    for _ in 0..4 {
        let mut log_uniform = || {
            let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
            sign * 10f64.powf(rng.random_range(-7.0..1.0))
        };
        let offset = Vector3::new(log_uniform(), log_uniform(), log_uniform());
        at.push(r * (offset + Vector3::z() * hat));
    }
    at
}

#[track_caller]
fn check_models(p: &ContactParameters, normal: Vector3<f64>, n0: f64, rng: &mut ChaCha8Rng) {
    let at = velocities(p, &normal, rng);
    for law in models(p, normal, n0) {
        law.validate(|| "contact".into()).unwrap();
        if let Err(violation) = check_potential::<3>(&law, &at) {
            panic!("{law:?}\n{p:?}\n{violation}");
        }
        for v in &at {
            assert!(law.cost(v) >= 0.0, "{law:?} at {v:?}");
            let gamma = law.impulse(v);
            let (gamma_n, gamma_t) = (gamma.dot(&normal), gamma - normal * gamma.dot(&normal));
            let limit = if matches!(law, ContactLaw::Lagged(_)) {
                n0
            } else {
                gamma_n
            };
            // v_t is a difference with round-off eps·‖v‖, which stiction amplifies by the friction stiffness.
            let slack = 1e-14 * gamma.norm() + 1e-15 * law.hessian(v).norm() * v.norm();
            assert!(gamma_n >= -slack, "{law:?} pulls at {v:?}");
            assert!(
                gamma_t.norm() <= p.friction * limit + slack,
                "{law:?} at {v:?} leaves its cone"
            );
            let v_t = v - normal * normal.dot(v);
            let noise = 1e-14 * gamma.norm() * v.norm();
            assert!(
                gamma_t.dot(&v_t) <= noise,
                "{law:?} at {v:?}: friction does work"
            );
        }
    }
}

#[test]
fn scaling_the_stiffness_of_a_law_equals_the_law_of_the_scaled_stiffness() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let n = Vector3::new(0.3, -0.2, 0.9).normalize();
    for (signed_distance, share) in [(-1e-3, 1e-3), (1e-4, 0.1), (-0.2, 0.5)] {
        let stiff = parameters(signed_distance, 1e3);
        let soft = parameters(signed_distance, share * 1e3);
        let pairs = models(&stiff, n, 0.2)
            .into_iter()
            .zip(models(&soft, n, 0.2));
        for (stiff_law, expected) in pairs {
            let law = stiff_law.with_stiffness_times(share);
            for v in velocities(&stiff, &n, &mut rng) {
                let (found, mode) = (law.impulse(&v), expected.impulse(&v));
                let off = (found - mode).norm();
                assert!(off <= 1e-12 * mode.norm(), "{law:?}: {found} for {mode}");
            }
        }
    }
}

#[test]
fn every_model_is_consistent_at_the_edges_of_its_parameters() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let oblique = Vector3::new(0.48, -0.6, 0.64);
    let plain = parameters(-1e-3, 1e4);
    for p in [
        plain,
        ContactParameters {
            friction: 0.0,
            ..plain
        },
        ContactParameters {
            friction: 10.0,
            ..plain
        },
        ContactParameters {
            stiffness: f64::INFINITY,
            ..plain
        },
        ContactParameters {
            stiffness: 0.0,
            ..plain
        },
        ContactParameters {
            stiffness: 1e-6,
            ..plain
        },
        ContactParameters {
            signed_distance: 0.0,
            ..plain
        },
        ContactParameters {
            signed_distance: 0.02,
            ..plain
        },
        ContactParameters {
            dissipation: Dissipation::HuntCrossley(0.0),
            ..plain
        },
        ContactParameters {
            dissipation: Dissipation::HuntCrossley(1e3),
            ..plain
        },
        ContactParameters {
            dissipation: Dissipation::RelaxationTime(0.0),
            ..plain
        },
        ContactParameters {
            dissipation: Dissipation::RelaxationTime(0.1),
            ..plain
        },
        ContactParameters {
            dissipation: Dissipation::RelaxationTime(0.1),
            stiffness: f64::INFINITY,
            ..plain
        },
        ContactParameters {
            inverse_inertia: 1e-6,
            stiffness: 1e10,
            ..plain
        },
        ContactParameters {
            inverse_inertia: 1e6,
            ..plain
        },
    ] {
        check_models(&p, Vector3::z(), 0.3, &mut rng);
        check_models(&p, oblique, 0.0, &mut rng);
    }
}

#[test]
fn every_model_is_consistent_for_random_parameters() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for k in 0..60 {
        let decade =
            |rng: &mut ChaCha8Rng, low: f64, high: f64| 10f64.powf(rng.random_range(low..high));
        let p = ContactParameters {
            time_step: TimeStep {
                length_s: decade(&mut rng, -4.0, -1.0),
                integration: Integration::ALL[k % 3],
            },
            signed_distance: rng.random_range(-0.01..0.01),
            start_velocity: rng.random_range(-1.0..1.0),
            stiffness: decade(&mut rng, 2.0, 14.0),
            dissipation: if rng.random_bool(0.5) {
                Dissipation::HuntCrossley(decade(&mut rng, -2.0, 3.0))
            } else {
                Dissipation::RelaxationTime(decade(&mut rng, -4.0, 0.0))
            },
            friction: decade(&mut rng, -2.0, 1.0),
            stiction_speed: 1e-4,
            inverse_inertia: decade(&mut rng, -4.0, 4.0),
            near_rigid: NEAR_RIGID_CONTACT,
        };
        let normal = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
        let n0 = rng.random_range(0.0..1.0) / p.inverse_inertia;
        check_models(&p, normal, n0, &mut rng);
    }
}

#[test]
fn primal_dual_tangent_is_semidefinite_and_tends_to_the_hessian() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let n = Vector3::new(0.48, -0.6, 0.64);
    let r = frame(&n);
    let p = parameters(-1e-3, 1e6);
    let lagged = Lagged::new(&p, n, 0.2);
    let similar = Similar::new(&p, n, 0.2);
    let sap = Sap::new(&p, n);
    type Tangent<'a> = &'a dyn Fn(&Vector3<f64>, f64) -> Matrix3<f64>;
    for v in velocities(&p, &n, &mut rng) {
        let tangents: [(Matrix3<f64>, SmoothNorm, f64, Tangent<'_>); 3] = [
            (lagged.hessian(&v), lagged.slip(&v), 0.0, &|y, _| {
                lagged.primal_dual_hessian(&v, y)
            }),
            (
                similar.hessian(&v),
                similar.slip(&v),
                similar.normal_impulses(&v, &Vector3::zeros()).0,
                &|y, load| similar.primal_dual_hessian(&v, y, load),
            ),
            (
                sap.hessian(&v),
                lagged.slip(&v),
                sap.normal_impulses(&v, &Vector3::zeros()).0,
                &|_, load| sap.primal_dual_hessian(&v, load),
            ),
        ];
        for (hessian, slip, load, tangent) in tangents {
            let at_convergence = tangent(&slip.direction, load);
            assert!((at_convergence - hessian).norm() <= 1e-14 * hessian.norm());
            for length in [0.0, 0.5, 1.0] {
                let angle = rng.random_range(0.0..std::f64::consts::TAU);
                let y = r * Vector3::new(angle.cos(), angle.sin(), 0.0) * length;
                let g = tangent(&y, 2.0 * length * load);
                assert!((g - g.transpose()).norm() <= 1e-15 * g.norm());
                let least = g.symmetric_eigenvalues().min();
                assert!(least >= -1e-14 * g.norm(), "{least} at {v:?}");
            }
        }
    }
}

#[test]
fn predicted_normal_impulses_are_the_linearisation_of_the_law() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let n = Vector3::new(0.48, -0.6, 0.64);
    let p = parameters(-1e-3, 1e6);
    let (similar, sap) = (Similar::new(&p, n, 0.2), Sap::new(&p, n));
    for v in velocities(&p, &n, &mut rng) {
        let dv = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        for ((found, predicted), law) in [
            (
                similar.normal_impulses(&v, &dv),
                ContactLaw::Similar(similar),
            ),
            (sap.normal_impulses(&v, &dv), ContactLaw::Sap(sap)),
        ] {
            let (gamma, change) = (law.impulse(&v), law.hessian(&v) * dv);
            let scale = 1e-13 * (gamma.norm() + law.hessian(&v).norm() * (v.norm() + dv.norm()));
            assert!((found - n.dot(&gamma)).abs() <= scale, "{law:?} at {v:?}");
            let expected = n.dot(&(gamma - change));
            assert!((predicted - expected).abs() <= scale, "{law:?} at {v:?}");
        }
    }
}

proptest! {
    #[test]
    fn impulses_are_continuous_across_every_boundary(
        x in -2.0..2.0f64, y in -2.0..2.0f64, z in -2.0..2.0f64, mu in 0.0..3.0f64, phi in -0.01..0.01f64,
    ) {
        let p = ContactParameters { friction: mu, ..parameters(phi, 1e4) };
        let v = Vector3::new(x, y, z);
        for law in models(&p, Vector3::z(), 0.1) {
            // The ray through v crosses all regions: no change of γ exceeds its stiffness times the step.
            let strides = 400;
            let most = Matrix3::norm(&law.hessian(&Vector3::new(0.0, 0.0, -2.0))).max(0.05 * mu / 1e-4 + 1.0 / (1e-3 * 0.8));
            for k in 0..strides {
                let (a, b) = (v * (k as f64 / strides as f64), v * ((k + 1) as f64 / strides as f64));
                let jump = (law.impulse(&b) - law.impulse(&a)).norm();
                prop_assert!(jump <= 4.0 * (1.0 + mu) * most * (b - a).norm(), "{law:?}: {a:?} {b:?} {jump}");
            }
        }
    }
}
