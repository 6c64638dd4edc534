//! The strain of linear corotated elasticity, measured from a rotation that is known beforehand.

use nalgebra::Matrix3;

use crate::{Number, Real, Tensor, symmetric_part};

/// S = sym(R₀ᵀF), the stretch of F seen from the lagged rotation R₀; S − I is the strain ε of the linear corotated law
/// μ‖ε‖² + λ/2 tr²ε ([`Hooke`](crate::Hooke)).
///
/// S is linear in F, so the energy is quadratic. Source: Han, Masterjohn, Castro (2023), "A convex formulation of
/// frictional contact between rigid and deformable bodies", section V-B.
#[must_use]
#[inline(always)]
pub fn corotated_stretch<T: Real>(R0: &Matrix3<T>, F: &Matrix3<T>) -> Matrix3<T> {
    corotated_stretches(&Tensor::from(R0), &Tensor::from(F)).into()
}

/// [`corotated_stretch`] of one matrix or of several.
#[must_use]
#[inline(always)]
pub fn corotated_stretches<N: Number>(R0: &Tensor<N>, F: &Tensor<N>) -> Tensor<N> {
    R0.transposed_product(F).symmetric_part()
}

/// T = sym(Q), the stretch without stress for a body that rotates by Q = R₀ᵀR₁ within a step: with ε = S − T the strain of the
/// rotation R₁ vanishes, where S − I would be of second order in its angle.
///
/// T has the eigenvalues (1, cos θ, cos θ). It is kept invertible: the cosine of angles beyond about 73° counts as 0.3.
#[must_use]
pub fn rest_stretch<T: Real>(Q: &Matrix3<T>) -> Matrix3<T> {
    let stretch = symmetric_part(Q);
    let (cosine_min, identity) = (T::of(0.3), Matrix3::identity());
    let cosine = T::of(0.5) * (stretch.trace() - T::one());
    if cosine >= cosine_min {
        return stretch;
    }
    identity + (stretch - identity) * ((T::one() - cosine_min) / (T::one() - cosine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Vector3};

    fn check<T: Real>(tolerance: f64) {
        let axis = Vector3::new(1.0, 2.0, -0.5).normalize();
        let across = axis.cross(&Vector3::x()).normalize();
        for angle in [0.0_f64, 0.3, 1.2, 2.0, 3.1] {
            let Q = Rotation3::new(axis * angle).into_inner();
            let stretch = rest_stretch(&Q.map(T::of)).map(T::wide);
            assert!((stretch * axis - axis).norm() < tolerance);
            let expected = across * angle.cos().max(0.3);
            assert!((stretch * across - expected).norm() < tolerance, "{angle}");
        }
    }

    #[test]
    fn the_rest_stretch_has_the_cosine_across_the_axis_and_stays_invertible() {
        check::<f64>(1e-14);
        check::<f32>(1e-6);
    }
}
