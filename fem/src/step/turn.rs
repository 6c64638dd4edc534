//! The rotation of an element within a step, predicted from its velocities at the start.
//!
//! A nonlinear law is extrapolated from the start with its stress and tangent there. Along a rotation that fails: the chord of a turn by θ stretches
//! an element by θ²/2, and the tangent answers with a stress that brakes the turn. An objective law has P(QF) = Q P(F), so it is extrapolated
//! from QF₀ with QP₀ and the turned tangent:
//!
//! ```text
//! P(F) ≈ Q (P₀ + A₀:(QᵀF − F₀)),     error of strain ½δ², with δ the angle by which Q misses the rotation
//! ```
//!
//! Damping resists the rate of deformation relative to the turn: Ḟ^θ − (QF₀ − F₀)/δt, with Q that of the whole step.
//!
//! Q repeats the rotation of the last step. With Ḟ = ∂v₀/∂X, backward Euler has δt Ḟ = (I − Q⁻¹) F₀ in a rigid rotation, whose axial vector
//! δt axial(ḞF₀⁻¹) is the axis times sin θ.

use nalgebra::{Matrix3, Rotation3, Vector3};
use pliant_constitutive::axial_vector;

use super::motion::Motion;

/// Longest sine of a predicted turn. A faster spin is rather the collapse of an element, which no rotation describes.
const SINE_MAX: f64 = 0.6;

/// Q of an element with F₀, from the start of the step to a share of it.
pub(super) fn predicted(
    motion: &Motion,
    element: usize,
    F0: &Matrix3<f64>,
    share: f64,
) -> Matrix3<f64> {
    let Some(inverse) = F0.try_inverse().filter(|_| F0.determinant() > 0.0) else {
        return Matrix3::identity();
    };
    let rate = motion.parts.elements[element].gradient(&motion.v) * inverse;
    *rotation(&(axial_vector(&rate) * motion.time_step.length_s), share).matrix()
}

/// A share of the turn whose axis times its sine is `sine`.
fn rotation(sine: &Vector3<f64>, share: f64) -> Rotation3<f64> {
    let length = sine.norm();
    if length > SINE_MAX || length == 0.0 {
        return Rotation3::identity();
    }
    Rotation3::from_scaled_axis(sine * (share * length.asin() / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_follows_from_its_chord() {
        let turn = Rotation3::from_scaled_axis(Vector3::new(0.1, -0.2, 0.15));
        let F0 = Matrix3::new(1.2, 0.1, 0.0, 0.0, 0.9, -0.2, 0.1, 0.0, 1.1);
        let chord = F0 - turn.inverse().matrix() * F0;
        let sine = axial_vector(&(chord * F0.try_inverse().expect("a deformation")));
        assert!((rotation(&sine, 1.0).matrix() - turn.matrix()).norm() < 1e-14);
        assert!((rotation(&sine, 0.5).powf(2.0).matrix() - turn.matrix()).norm() < 1e-14);
        assert_eq!(rotation(&sine, 0.0), Rotation3::identity());
        assert_eq!(rotation(&Vector3::x(), 1.0), Rotation3::identity());
    }
}
