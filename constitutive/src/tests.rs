//! Every law against differences of its energy, at random and at degenerate stretches, in both precisions.

use nalgebra::{Matrix3, Rotation3, Vector3};
use proptest::prelude::*;

use crate::*;

/// Any 3×3 matrix of moderate size, inverted ones included.
pub(crate) fn matrix() -> impl Strategy<Value = Matrix3<f64>> {
    prop::array::uniform9(-2.0..2.0f64).prop_map(|a| Matrix3::from_row_slice(&a))
}

/// Two rotations.
pub(crate) fn rotations() -> [Matrix3<f64>; 2] {
    [[0.3, 1.2, -0.4], [-2.0, 0.1, 0.8]].map(|w| Rotation3::new(w.into()).into_inner())
}

/// F of these stretches, between two rotations.
pub(crate) fn gradient(stretches: [f64; 3]) -> Matrix3<f64> {
    let [U, V] = rotations();
    U * Matrix3::from_diagonal(&stretches.into()) * V.transpose()
}

/// At rest, repeated, flat, and reflected stretches.
pub(crate) const DEGENERATE: [[f64; 3]; 12] = [
    [1.0, 1.0, 1.0],
    [1.0 + 1e-9, 1.0, 1.0 - 1e-9],
    [1.0, 1.0 + 1e-15, 1.0 - 1e-15],
    [2.0, 2.0, 1.0],
    [2.0, 1.0, 1.0],
    [1e3, 1.0, 1e-3],
    [3.0, 1.0, -0.5],
    [1.0, 1.0, -1.0],
    [1.0, 1.0, 1e-12],
    [1.0, 1.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0],
];

/// Upright stretches in descending order: at rest, repeated, nearly repeated, strongly compressed.
const UPRIGHT: [[f64; 3]; 8] = [
    [1.0, 1.0, 1.0],
    [1.0 + 1e-9, 1.0, 1.0 - 1e-9],
    [1.00007, 1.0, 0.99995],
    [1.3, 1.3, 1.3],
    [1.5, 1.5, 0.6],
    [1.5, 0.6, 0.6],
    [2.0, 1.1, 0.3],
    [1.2, 0.9, 0.05],
];

/// Reflections: the last stretch is negative.
const INVERTED: [[f64; 3]; 4] = [
    [1.2, 0.9, -1e-3],
    [1.0, 0.8, -0.3],
    [1.0, 1.0, -0.5],
    [1.5, 0.7, -0.6],
];

/// A law in both precisions.
trait Law: PrincipalLaw<f64> + PrincipalLaw<f32> {}
impl<L: PrincipalLaw<f64> + PrincipalLaw<f32>> Law for L {}

fn laws() -> Vec<Box<dyn Law>> {
    let rubber = Lame::new(0.4, 0.9).unwrap();
    let auxetic = Lame::from_young_poisson(1.0, -0.4).unwrap();
    let mut laws: Vec<Box<dyn Law>> = vec![
        Box::new(NeoHookean::new(rubber).unwrap()),
        Box::new(FixedCorotated::new(rubber).unwrap()),
        Box::new(MooneyRivlin::new(0.13, 0.07, 1.2).unwrap()),
    ];
    for lame in [rubber, auxetic] {
        laws.push(Box::new(Corotational::new(lame)));
        laws.push(Box::new(Hencky::new(lame)));
        laws.push(Box::new(StableNeoHookean::new(lame)));
        laws.push(Box::new(StVenantKirchhoff::new(lame)));
    }
    laws
}

fn wide(law: &dyn Law) -> &dyn PrincipalLaw<f64> {
    law
}

/// Derivatives of the f64 formulas at `s` by differences of width h, each compared to `scale`.
fn check_derivatives(law: &dyn PrincipalLaw, s: &Vector3<f64>) {
    let spectrum = law.spectrum(s);
    let stresses = law.stresses(s);
    let scale = 1.0 + stresses.amax() + spectrum.stretching.amax();
    let h = 1e-5 * s.amin();
    for k in 0..3 {
        let (mut up, mut down) = (*s, *s);
        up[k] += h;
        down[k] -= h;
        let slope = (law.energy(&up) - law.energy(&down)) / (2.0 * h);
        assert!(
            (slope - stresses[k]).abs() < 1e-6 * scale,
            "{law:?}: stress {k} at {s}"
        );
        let slope = (law.stresses(&up) - law.stresses(&down)) / (2.0 * h);
        let error = (slope - spectrum.stretching.column(k)).amax();
        assert!(
            error < 1e-6 * scale,
            "{law:?}: stretching {k} at {s}: {error:e}"
        );

        let (i, j) = principal_pair(k);
        let sum = spectrum.antisymmetric[k] * (s[i] + s[j]);
        let error = (sum - stresses[i] - stresses[j]).abs();
        assert!(error < 1e-12 * scale, "{law:?}: antisymmetric {k} at {s}");
        let difference = s[i] - s[j];
        let error = if difference.abs() < 1e-5 {
            // The limit of equal stretches, to first order at their midpoint.
            let mut middle = *s;
            middle[i] = 0.5 * (s[i] + s[j]);
            middle[j] = middle[i];
            let at = law.spectrum(&middle).stretching;
            spectrum.symmetric[k] - (at[(i, i)] - at[(i, j)])
        } else {
            spectrum.symmetric[k] - (stresses[i] - stresses[j]) / difference
        };
        assert!(
            error.abs() < 1e-7 * scale,
            "{law:?}: symmetric {k} at {s}: {error:e}"
        );
    }
}

/// The f32 formulas against the f64 ones.
fn check_precisions(law: &dyn Law, s: &Vector3<f64>) {
    let narrow: &dyn PrincipalLaw<f32> = law;
    let law = wide(law);
    let t = s.map(|x| x as f32);
    // The same rounded stretches in both.
    let s = t.map(f64::from);
    let (spectrum, rounded) = (law.spectrum(&s), narrow.spectrum(&t));
    let stresses = law.stresses(&s);
    let scale = 1.0
        + stresses.amax()
        + spectrum.stretching.amax()
        + spectrum.symmetric.amax()
        + spectrum.antisymmetric.amax();
    // Hencky's quotient loses half of the digits where its series ends.
    let tolerance = 2e-3 * scale;
    assert!((f64::from(narrow.energy(&t)) - law.energy(&s)).abs() < 1e-5 * scale);
    let error = (narrow.stresses(&t).map(f64::from) - stresses).amax();
    assert!(error < 1e-5 * scale, "{law:?} at {s}: {error:e}");
    for (narrow, wide) in [
        (rounded.symmetric, spectrum.symmetric),
        (rounded.antisymmetric, spectrum.antisymmetric),
    ] {
        let error = (narrow.map(f64::from) - wide).amax();
        assert!(error < tolerance, "{law:?} at {s}: {error:e}");
    }
    let error = (rounded.stretching.map(f64::from) - spectrum.stretching).amax();
    assert!(error < 1e-5 * scale, "{law:?} at {s}: {error:e}");
}

fn check(law: &dyn Law, s: [f64; 3]) {
    let s = Vector3::from(s);
    check_derivatives(wide(law), &s);
    check_precisions(law, &s);
}

#[test]
fn derivatives_are_those_of_the_energy_at_degenerate_stretches() {
    for law in laws() {
        UPRIGHT.iter().for_each(|s| check(law.as_ref(), *s));
        if wide(law.as_ref()).domain() == Domain::Everywhere {
            INVERTED.iter().for_each(|s| check(law.as_ref(), *s));
        }
    }
}

proptest! {
    #[test]
    fn derivatives_are_those_of_the_energy(mut s in prop::array::uniform3(0.2..2.0f64), inverted: bool) {
        s.sort_by(|a, b| b.total_cmp(a));
        for law in laws() {
            let everywhere = wide(law.as_ref()).domain() == Domain::Everywhere;
            let flipped = inverted && everywhere && s[1] - s[2] > 1e-2;
            let last = if flipped { -s[2] } else { s[2] };
            check(law.as_ref(), [s[0], s[1], last]);
        }
    }

    #[test]
    fn stresses_are_derivatives_by_the_deformation_gradient(F in matrix(), dF in matrix()) {
        prop_assume!(F.determinant() > 0.3);
        let h = 1e-5;
        for law in laws() {
            let law = wide(law.as_ref());
            let slope = law.strain_energy(&(F + dF * h)) - law.strain_energy(&(F - dF * h));
            let stress = law.piola_stress(&F);
            let scale = (1.0 + stress.norm()) * dF.norm();
            prop_assert!((slope / (2.0 * h) - stress.dot(&dF)).abs() < 1e-5 * scale, "{:?}", law);
            let tau = law.kirchhoff_stress(&F);
            prop_assert!((tau - stress * F.transpose()).norm() < 1e-12 * (1.0 + tau.norm()));
        }
    }
}

#[test]
fn every_law_agrees_with_hooke_s_at_rest() {
    for law in laws() {
        let law = wide(law.as_ref());
        let rest = Vector3::repeat(1.0);
        assert!(law.energy(&rest).abs() < 1e-15, "{law:?}");
        assert!(law.stresses(&rest).amax() < 1e-15, "{law:?}");
        let spectrum = law.spectrum(&rest);
        let Hooke { mu, lambda } = law.lame().hooke::<f64>();
        let hooke = Matrix3::from_diagonal_element(2.0 * mu) + Matrix3::repeat(lambda);
        assert!((spectrum.stretching - hooke).amax() < 1e-14, "{law:?}");
        assert!(
            (spectrum.symmetric.add_scalar(-2.0 * mu)).amax() < 1e-14,
            "{law:?}"
        );
        assert!(spectrum.antisymmetric.amax() < 1e-14, "{law:?}");
    }
}

#[test]
fn laws_with_a_barrier_are_infinite_at_and_beyond_inversion() {
    for law in laws() {
        let law = wide(law.as_ref());
        let barrier = law.domain() == Domain::PositiveVolume;
        for last in [0.0, -0.5] {
            let energy = law.energy(&Vector3::new(1.1, 0.9, last));
            assert_eq!(energy == f64::INFINITY, barrier, "{law:?}");
        }
    }
}

#[test]
fn the_neo_hookean_stress_is_that_of_its_principal_stretches() {
    let law = NeoHookean::new(Lame::new(0.4, 0.9).unwrap()).unwrap();
    let F = gradient([1.6, 0.9, 0.4]);
    let svd = SignedSvd::of(&F);
    let spectral = svd.rebuild(&law.stresses(&svd.stretches));
    assert!((law.piola_stress(&F) - spectral).norm() < 1e-14);
}

#[test]
fn laws_that_need_a_positive_lambda_reject_auxetic_solids() {
    let auxetic = Lame::from_young_poisson(1e5, -0.1).unwrap();
    for error in [
        NeoHookean::new(auxetic).unwrap_err(),
        FixedCorotated::new(auxetic).unwrap_err(),
    ] {
        assert_eq!(error.parameter, "poissons_ratio");
        assert!(error.to_string().contains("[0, 0.5)"), "{error}");
    }
    let cork = Lame::from_young_poisson(1e5, 0.0).unwrap();
    assert!(NeoHookean::new(cork).is_ok() && FixedCorotated::new(cork).is_ok());
}

#[test]
fn constants_of_mooney_and_rivlin_are_rejected_by_name() {
    for (c1, c2, bulk, parameter) in [
        (0.0, 1.0, 10.0, "c1"),
        (1.0, -1.0, 10.0, "c2"),
        (1.0, 1.0, f64::NAN, "bulk_modulus"),
        (1.0, 9.0, 1.0, "kappa"),
    ] {
        let error = MooneyRivlin::new(c1, c2, bulk).unwrap_err();
        assert_eq!(error.parameter, parameter);
    }
}

#[test]
fn the_semidefinite_spectrum_has_no_negative_eigenvalue_and_keeps_the_positive_ones() {
    for law in laws() {
        let law = wide(law.as_ref());
        let exact = law.spectrum(&Vector3::new(1.5, 0.7, 0.3));
        let projected = exact.semidefinite();
        assert!(projected.symmetric.min() >= 0.0 && projected.antisymmetric.min() >= 0.0);
        let (before, vectors) = symmetric_eigen(&exact.stretching);
        for k in 0..3 {
            let v: Vector3<f64> = vectors.column(k).into();
            let after = projected.stretching * v;
            assert!((after - v * before[k].max(0.0)).norm() < 1e-12 * before.amax());
        }
    }
}
