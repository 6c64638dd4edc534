//! The polar decomposition F = R S.

use nalgebra::Matrix3;

use crate::number::dot;
use crate::{Mask, Number, Real, SignedSvd, Tensor};

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
    polar_rotations(&Tensor::from(F)).into()
}

/// [`polar_rotation`] of one matrix or of several.
#[must_use]
#[inline(always)]
pub fn polar_rotations<N: Number>(F: &Tensor<N>) -> Tensor<N> {
    let size = F.dot(F);
    let (one, half) = (size.like(1.0), size.like(0.5));
    let epsilon = size.round_off();
    let is_regular = (size.like(SINGULAR) * size * size.root()).below(F.determinant());
    let mut done = is_regular.not();
    let mut X = Tensor::select(is_regular, F, &Tensor::diagonal(one));
    for _ in 0..ITERATIONS_MAX {
        let cofactor = X.cofactor();
        // Expanded along the first column.
        let det = dot(&X.columns[0], &cofactor.columns[0]);
        let x = X.dot(&X);
        // Both norms of a rotation are √3: unscaled, the iteration converges quadratically.
        let near = within_near(x, 3.0).and(within_near(det, 1.0));
        let next = if near.all() {
            X * half + cofactor * (half / det)
        } else {
            // ‖X⁻¹‖ = ‖cof X‖/det X.
            let scale = ((cofactor.dot(&cofactor) / x).root() / det).root();
            let scale = N::select(near, one, scale);
            X * (half * scale) + cofactor * (half / (scale * det))
        };
        let difference = next - X;
        let change = difference.dot(&difference);
        X = Tensor::select(done, &X, &next);
        // The next change would be of the order of this one squared.
        done = done.or(change.below(epsilon));
        if done.all() {
            break;
        }
    }
    if is_regular.all() {
        return X;
    }
    X.replace_lanes(is_regular.not(), |lane| {
        SignedSvd::of(&F.lane(lane)).rotation()
    })
}

/// Whether x differs from `from` by less than [`NEAR`].
#[inline(always)]
fn within_near<N: Number>(x: N, from: f64) -> N::Mask {
    let (low, high) = (x.like(from - NEAR), x.like(from + NEAR));
    low.below(x).and(x.below(high))
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
