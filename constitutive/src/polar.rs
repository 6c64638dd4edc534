//! The polar decomposition F = R S.

use nalgebra::Matrix3;

use crate::{Real, SignedSvd, cofactor};

/// Below this share of ‖F‖³ the determinant counts as singular: Newton's iteration would lose digits, and take many rounds.
const SINGULAR: f64 = 1e-6;
/// Seven iterations suffice for condition numbers up to 10⁶.
const ITERATIONS_MAX: usize = 20;
/// Nearer to a rotation than this, by ‖X‖² and det X, the iteration is not scaled.
const NEAR: f64 = 1e-2;

/// The rotation R of F = R S, S symmetric; det R = 1 for every F.
///
/// det F > 0: Newton's iteration X ← ½(gX + X⁻ᵀ/g) with the scale g = √(‖X⁻¹‖/‖X‖), in which X⁻ᵀ is the cofactor matrix over
/// det X. Source: Higham (1986), "Computing the polar decomposition". The error is a few units of round-off times the
/// condition number.
///
/// det F ≤ 0, or F nearly singular: R = U Vᵀ of the [`SignedSvd`], so that the smallest stretch carries the sign.
#[must_use]
pub fn polar_rotation<T: Real>(F: &Matrix3<T>) -> Matrix3<T> {
    let size = F.norm();
    if !(F.determinant() > T::of(SINGULAR) * size * size * size) {
        return SignedSvd::of(F).rotation();
    }
    let (half, near) = (T::of(0.5), T::of(NEAR));
    let mut X = *F;
    for _ in 0..ITERATIONS_MAX {
        let cofactor = cofactor(&X);
        // Expanded along the first column.
        let det = X.column(0).dot(&cofactor.column(0));
        let (x, c) = (X.norm_squared(), cofactor.norm_squared());
        // Both norms of a rotation are √3: unscaled, the iteration converges quadratically.
        let g = if (x - T::of(3.0)).abs() < near && (det - T::one()).abs() < near {
            T::one()
        } else {
            // ‖X⁻¹‖ = ‖cof X‖/det X.
            ((c / x).sqrt() / det).sqrt()
        };
        let next = X * (half * g) + cofactor * (half / (g * det));
        let change = (next - X).norm_squared();
        X = next;
        // The next change would be of the order of this one squared.
        if change < T::default_epsilon() {
            break;
        }
    }
    X
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{DEGENERATE, gradient, matrix, rotations};
    use nalgebra::Vector3;
    use proptest::prelude::*;

    fn check<T: Real>(F: &Matrix3<T>) {
        let R = polar_rotation(F);
        let round_off = T::of(100.0) * T::default_epsilon();
        assert!(
            (R.transpose() * R - Matrix3::identity()).norm() < round_off,
            "{R}"
        );
        assert!((R.determinant() - T::one()).abs() < round_off);
        let S = R.transpose() * F;
        assert!((S - S.transpose()).norm() <= round_off * F.norm(), "{S}");
    }

    proptest! {
        #[test]
        fn the_stretch_is_symmetric(F in matrix()) {
            check::<f64>(&F);
            check::<f32>(&F.map(|x| x as f32));
        }
    }

    #[test]
    fn degenerate_gradients_have_a_rotation() {
        for stretches in DEGENERATE {
            let F = gradient(stretches);
            check::<f64>(&F);
            check::<f32>(&F.map(|x| x as f32));
        }
        check::<f64>(&-Matrix3::identity());
        // Bounded, whatever it is.
        let _ = polar_rotation(&Matrix3::repeat(f64::NAN));
    }

    #[test]
    fn an_inverted_gradient_has_its_sign_in_the_smallest_stretch() {
        let [U, V] = rotations();
        let s = Vector3::new(1.2, 0.9, -0.4);
        let F = U * Matrix3::from_diagonal(&s) * V.transpose();
        assert!((polar_rotation(&F) - U * V.transpose()).norm() < 1e-14);
    }
}
