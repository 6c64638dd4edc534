//! F = R S: the rotation nearest to a deformation gradient.

use nalgebra::Matrix3;

use crate::signed_svd::SignedSvd;

/// The rotation R of F = R S, S symmetric.
///
/// det F > 0: Newton's iteration X ← ½(gX + X⁻ᵀ/g) with the scale g = √(‖X⁻¹‖/‖X‖), which converges in three to five rounds
/// to round-off; X⁻ᵀ is the cofactor matrix over det X. Source: Higham (1986), "Computing the polar decomposition".
///
/// det F ≤ 0, or F nearly singular: from the signed singular value decomposition, R = U Vᵀ, in which the smallest
/// stretch carries the sign. R then is a rotation, too, and the element is pushed back the shortest way.
pub(crate) fn rotation_of(F: &Matrix3<f64>) -> Matrix3<f64> {
    // Below this share of ‖F‖³, of which a third root's worth of digits is lost, Newton takes many rounds.
    const SINGULAR: f64 = 1e-9;
    const ROUNDS_MAX: usize = 20;
    let size = F.norm_squared();
    let det = F.determinant();
    if det.is_nan() || det <= SINGULAR * size * size.sqrt() {
        return SignedSvd::of(F).rotation();
    }
    let mut X = *F;
    for _ in 0..ROUNDS_MAX {
        let cofactors = cofactors(&X);
        let det = X.column(0).dot(&cofactors.column(0));
        // ‖X⁻¹‖ = ‖cof X‖/det.
        let (x, c) = (X.norm_squared(), cofactors.norm_squared());
        // Near a rotation both norms are √3: no scale is needed, and without one the end is quadratic.
        let near = (x - 3.0).abs() < 1e-2 && (det - 1.0).abs() < 1e-2;
        let g = if near {
            1.0
        } else {
            (c / (x * det * det)).sqrt().sqrt()
        };
        let next = X * (0.5 * g) + cofactors * (0.5 / (g * det));
        let change = (next - X).norm_squared();
        X = next;
        // Quadratic convergence: the round after a change of 1e-9 would change 1e-18.
        if change < 1e-18 {
            break;
        }
    }
    X
}

/// cof F = det F · F⁻ᵀ, which is ∂ det F / ∂F.
pub(crate) fn cofactors(F: &Matrix3<f64>) -> Matrix3<f64> {
    let [a, b, c] = [F.column(0), F.column(1), F.column(2)];
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Vector3};

    #[track_caller]
    fn check(F: &Matrix3<f64>) {
        let R = rotation_of(F);
        assert!(
            (R.transpose() * R - Matrix3::identity()).norm() < 1e-14,
            "{R}"
        );
        assert!((R.determinant() - 1.0).abs() < 1e-14);
        let S = R.transpose() * F;
        assert!(
            (S - S.transpose()).norm() < 1e-13 * F.norm().max(1.0),
            "{S}"
        );
    }

    fn turned(axis: [f64; 3], stretch: [f64; 3]) -> Matrix3<f64> {
        let U = Rotation3::new(Vector3::from(axis));
        let V = Rotation3::new(Vector3::new(0.3, -1.1, 0.7));
        U.matrix() * Matrix3::from_diagonal(&stretch.into()) * V.matrix().transpose()
    }

    #[test]
    fn rotation_is_orthogonal_and_leaves_a_symmetric_stretch() {
        for stretch in [
            [1.0, 1.0, 1.0],
            [1.0 + 1e-9, 1.0, 1.0 - 1e-9],
            [3.0, 0.2, 0.05],
            [1e3, 1.0, 1e-3],
            [2.0, 2.0, 0.5],
            [1.0, 1.0, 1e-12],
            [1.0, 0.0, 0.0],
        ] {
            check(&turned([0.4, -0.2, 2.0], stretch));
        }
    }

    #[test]
    fn an_inverted_gradient_has_a_rotation_with_the_sign_in_the_smallest_stretch() {
        let F = turned([1.0, 0.5, -0.3], [1.2, 0.9, -0.4]);
        check(&F);
        let S = rotation_of(&F).transpose() * F;
        let mut stretches: Vec<f64> = S.symmetric_eigenvalues().iter().copied().collect();
        stretches.sort_by(f64::total_cmp);
        for (found, expected) in stretches.iter().zip([-0.4, 0.9, 1.2]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn zero_and_nan_do_not_hang() {
        check(&Matrix3::zeros());
        let _ = rotation_of(&Matrix3::repeat(f64::NAN));
    }

    #[test]
    fn cofactors_are_the_determinant_s_derivative() {
        let F = turned([0.1, 0.2, 0.3], [1.5, 0.7, -0.2]);
        let h = 1e-6;
        for k in 0..9 {
            let (mut up, mut down) = (F, F);
            up[k] += h;
            down[k] -= h;
            let slope = (up.determinant() - down.determinant()) / (2.0 * h);
            assert!((slope - cofactors(&F)[k]).abs() < 1e-9);
        }
    }
}
