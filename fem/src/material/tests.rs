//! Derivatives of every law compared with hyper-dual numbers, and conformance checks.

mod hyper_dual;

use nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_constitutive::{
    Corotational, Domain, FixedCorotated, Lame, MooneyRivlin, NeoHookean, StVenantKirchhoff,
    StableNeoHookean,
};

use self::hyper_dual::{Gradient, HyperDual, derivatives};
use super::*;
use crate::conformance::check_material;

const MU: f64 = 4e4;
const LAMBDA: f64 = 9e4;

fn lame() -> Lame {
    Lame::new(MU, LAMBDA).unwrap()
}

fn rotated(stretches: [f64; 3]) -> Matrix3<f64> {
    let rotation = |a, b, c| *Rotation3::new(Vector3::new(a, b, c)).matrix();
    rotation(0.7, -0.4, 1.9)
        * Matrix3::from_diagonal(&stretches.into())
        * rotation(-0.3, 0.9, 0.2).transpose()
}

/// At rest, at equal stretches, near inversion.
const UPRIGHT: [[f64; 3]; 9] = [
    [1.0, 1.0, 1.0],
    [1.0 + 1e-9, 1.0, 1.0 - 1e-9],
    [1.3, 1.3, 1.3],
    [0.4, 0.4, 0.4],
    [1.5, 1.5, 0.6],
    [1.5, 0.6, 0.6],
    [2.0, 1.1, 0.3],
    [1.2, 0.9, 1e-3],
    [3.0, 0.5, 0.05],
];
const INVERTED: [[f64; 3]; 4] = [
    [1.2, 0.9, -1e-3],
    [1.0, 0.8, -0.3],
    [1.0, 1.0, -0.5],
    [1.5, 0.7, -0.6],
];

/// Ψ as a function of the nine entries of F, for dual numbers.
type Energy = fn(&Gradient) -> HyperDual;

fn check_by_duals(law: &dyn Material, energy: Energy, stretches: &[[f64; 3]]) {
    check_by_duals_about(&Lag::default(), law, energy, stretches);
}

#[track_caller]
fn check_by_duals_about(lag: &Lag, law: &dyn Material, energy: Energy, stretches: &[[f64; 3]]) {
    for F in stretches.iter().map(|s| rotated(*s)) {
        let exact = derivatives(&F, energy);
        let size = MU + LAMBDA + exact.hessian.norm();
        let found = law.energy_density(&F, lag);
        assert!(
            (found - exact.value).abs() <= 1e-12 * size,
            "Ψ {found} {}",
            exact.value
        );
        let stress = law.first_piola(&F, lag);
        assert!((stress - exact.gradient).norm() <= 1e-12 * size, "P at {F}");
        let tangent = law.tangent(&F, lag).to_matrix();
        let error = (tangent - exact.hessian).norm();
        // Cancellation at equal stretches costs digits.
        assert!(error <= 1e-11 * size, "∂P at {F}: {error:e} of {size:e}");
    }
}

fn shear_modulus() -> HyperDual {
    MU.into()
}

fn lambda() -> HyperDual {
    LAMBDA.into()
}

/// μ‖ε‖² + λ/2 tr²ε.
fn hooke(strain: &[[HyperDual; 3]; 3]) -> HyperDual {
    let (mut square, mut trace) = (HyperDual::from(0.0), HyperDual::from(0.0));
    for (i, row) in strain.iter().enumerate() {
        trace = trace + row[i];
        for entry in row {
            square = square + *entry * *entry;
        }
    }
    shear_modulus() * square + lambda() * 0.5.into() * trace * trace
}

/// A rotation different from those of the tested F, and a rest stretch of a rotating element.
fn some_lag() -> Lag {
    Lag {
        rotation: rotated([1.0; 3]),
        target: Matrix3::new(0.98, 0.01, 0.0, 0.01, 0.97, 0.0, 0.0, 0.0, 1.0),
    }
}

#[test]
fn linear_is_its_energy_s_derivatives() {
    let energy: Energy = |F| hooke(&F.strain(&Matrix3::identity(), &Matrix3::identity()));
    let law = Linear::new(lame());
    // It does not depend on the lagged state.
    for lag in [Lag::default(), some_lag()] {
        check_by_duals_about(&lag, &law, energy, &UPRIGHT);
        check_by_duals_about(&lag, &law, energy, &INVERTED);
    }
}

#[test]
fn linear_corotated_is_its_energy_s_derivatives() {
    let law = LinearCorotated::new(lame());
    let energy: Energy = |F| hooke(&F.strain(&some_lag().rotation, &some_lag().target));
    check_by_duals_about(&some_lag(), &law, energy, &UPRIGHT);
    check_by_duals_about(&some_lag(), &law, energy, &INVERTED);
}

#[test]
fn stable_neo_hookean_is_its_energy_s_derivatives() {
    let energy: Energy = |F| {
        let (mu, stiffness) = (shear_modulus(), lambda() + shear_modulus());
        let dilation = F.determinant() - 1.0.into() - mu / stiffness;
        mu * 0.5.into() * (F.first_invariant() - 3.0.into())
            + stiffness * 0.5.into() * dilation * dilation
            - mu * mu / (stiffness * 2.0.into())
    };
    let law = StableNeoHookean::new(lame());
    check_by_duals(&law, energy, &UPRIGHT);
    check_by_duals(&law, energy, &INVERTED);
}

#[test]
fn neo_hookean_is_its_energy_s_derivatives() {
    let energy: Energy = |F| {
        let log = F.determinant().ln();
        shear_modulus() * 0.5.into() * (F.first_invariant() - 3.0.into()) - shear_modulus() * log
            + lambda() * 0.5.into() * log * log
    };
    check_by_duals(&NeoHookean::new(lame()).unwrap(), energy, &UPRIGHT);
}

#[test]
fn st_venant_kirchhoff_is_its_energy_s_derivatives() {
    let energy: Energy = |F| hooke(&F.green());
    let law = StVenantKirchhoff::new(lame());
    check_by_duals(&law, energy, &UPRIGHT);
    check_by_duals(&law, energy, &INVERTED);
}

#[test]
fn mooney_rivlin_is_its_energy_s_derivatives() {
    const C1: f64 = 1.3e4;
    const C2: f64 = 0.7e4;
    const K: f64 = 1.2e5;
    let energy: Energy = |F| {
        let kappa = K + (2.0 * C1 - 4.0 * C2) / 3.0;
        let shift = (2.0 * C1 + 4.0 * C2) / kappa;
        let dilation = F.determinant() - (1.0 + shift).into();
        HyperDual::from(C1) * (F.first_invariant() - 3.0.into())
            + HyperDual::from(C2) * (F.second_invariant() - 3.0.into())
            + HyperDual::from(0.5 * kappa) * dilation * dilation
            - HyperDual::from(0.5 * kappa * shift * shift)
    };
    let law = MooneyRivlin::new(C1, C2, K).unwrap();
    check_by_duals(&law, energy, &UPRIGHT);
    check_by_duals(&law, energy, &INVERTED);
    assert!((Material::lame(&law).bulk_modulus() / K - 1.0).abs() < 1e-14);
}

#[test]
fn corotational_is_its_energy_s_derivatives() {
    let energy: Energy = |F| {
        let trace = F.stretch_trace();
        // ‖S − I‖² = ‖F‖² − 2 tr S + 3.
        let square = F.first_invariant() - trace * 2.0.into() + 3.0.into();
        let dilation = trace - 3.0.into();
        shear_modulus() * square + lambda() * 0.5.into() * dilation * dilation
    };
    let law = Corotational::new(lame());
    check_by_duals(&law, energy, &UPRIGHT);
    check_by_duals(&law, energy, &INVERTED);
}

#[test]
fn fixed_corotated_is_its_energy_s_derivatives() {
    let energy: Energy = |F| {
        let square = F.first_invariant() - F.stretch_trace() * 2.0.into() + 3.0.into();
        let dilation = F.determinant() - 1.0.into();
        shear_modulus() * square + lambda() * 0.5.into() * dilation * dilation
    };
    let law = FixedCorotated::new(lame()).unwrap();
    check_by_duals(&law, energy, &UPRIGHT);
    check_by_duals(&law, energy, &INVERTED);
}

fn laws() -> Vec<Box<dyn Material>> {
    vec![
        Box::new(LinearCorotated::new(lame())),
        Box::new(Linear::new(lame())),
        Box::new(Corotational::new(lame())),
        Box::new(FixedCorotated::new(lame()).unwrap()),
        Box::new(StableNeoHookean::new(lame())),
        Box::new(StVenantKirchhoff::new(lame())),
        Box::new(MooneyRivlin::new(1.3e4, 0.7e4, 1.2e5).unwrap()),
        Box::new(NeoHookean::new(lame()).unwrap()),
    ]
}

#[test]
fn every_law_passes_the_conformance_checks() {
    let lag = some_lag();
    for law in laws() {
        let smooth = UPRIGHT.iter().filter(|s| s[2] > 0.04);
        let mut at: Vec<_> = smooth.map(|s| (rotated(*s), lag)).collect();
        if law.domain() == Domain::Everywhere {
            at.extend(INVERTED.iter().map(|s| (rotated(*s), lag)));
        }
        check_material(&*law, &at).unwrap_or_else(|e| panic!("{law:?}: {e}"));
    }
}

#[test]
fn rotation_stores_no_energy_and_rotates_the_stress() {
    let rotation = *Rotation3::new(Vector3::new(2.0, -1.0, 0.5)).matrix();
    let F = rotated([1.4, 0.9, 0.7]);
    for law in laws() {
        if law.linearity() != Linearity::Nonlinear {
            continue;
        }
        let lag = Lag::default();
        assert!(law.energy_density(&rotation, &lag).abs() < 1e-9, "{law:?}");
        assert!(law.first_piola(&rotation, &lag).norm() < 1e-8, "{law:?}");
        let (straight, tilted) = (
            law.first_piola(&F, &lag),
            law.first_piola(&(rotation * F), &lag),
        );
        assert!((rotation * straight - tilted).norm() < 1e-12 * (MU + straight.norm()) * 10.0);
    }
}

#[test]
fn an_inconsistent_law_is_rejected() {
    #[derive(Debug)]
    struct Inconsistent(StableNeoHookean);
    impl Material for Inconsistent {
        fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64 {
            1.001 * self.0.energy_density(F, lag)
        }
        fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
            self.0.first_piola(F, lag)
        }
        fn tangent(&self, F: &Matrix3<f64>, lag: &Lag) -> Tangent {
            self.0.tangent(F, lag)
        }
        fn lame(&self) -> Lame {
            lame()
        }
    }
    let law = Inconsistent(StableNeoHookean::new(lame()));
    let at = [(rotated([1.3, 0.9, 0.8]), Lag::default())];
    let verdict = check_material(&law, &at).unwrap_err().to_string();
    assert!(verdict.contains("not the energy's derivative"), "{verdict}");
}

#[test]
fn a_full_tangent_agrees_with_the_structured_one() {
    let law = StableNeoHookean::new(lame());
    let F = rotated([1.8, 0.6, -0.2]);
    let principal = law.tangent(&F, &Lag::default());
    let full = Tangent::Full(Box::new(principal.to_matrix()));
    let (a, b) = (Vector3::new(3.0, -1.0, 0.4), Vector3::new(0.2, 5.0, -2.0));
    let scale = principal.to_matrix().norm();
    for (one, other) in [
        (principal.clone(), full.clone()),
        (principal.semidefinite(), full.semidefinite()),
    ] {
        assert!((one.block(&a, &b) - other.block(&a, &b)).norm() < 1e-11 * scale * 30.0);
    }
}
