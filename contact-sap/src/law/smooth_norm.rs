//! The softened length of the slip velocity.

use nalgebra::{Matrix3, Vector3};

/// s(v_t) = √(‖v_t‖² + ε²) − ε and its derivatives, v_t = (I − n nᵀ)v_c the slip velocity in the contact plane.
///
/// ```text
/// t̂ = ∂s/∂v_t = v_t/S,   ∂²s/∂v_t² = (P − t̂ t̂ᵀ)/S,   S = √(‖v_t‖² + ε²),  P = I − n nᵀ
/// ```
///
/// Below ‖v_t‖ ≈ ε friction acts like a damper: ε is the creep speed of a contact in stiction.
/// Source: Castro, Han, Masterjohn (2023), "Irrotational Contact Fields".
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::SmoothNorm;
///
/// let slip = SmoothNorm::new(&Vector3::new(3.0, 0.0, 0.0), 4.0);
/// assert_eq!(slip.length, 5.0); // √(3² + 4²)
/// assert!((slip.value() - 1.0).abs() < 1e-15); // less 4
/// assert!((slip.direction.x - 0.6).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SmoothNorm {
    /// S = √(‖v_t‖² + ε²), m/s.
    pub length: f64,
    /// t̂ = v_t/S, ‖t̂‖ < 1.
    pub direction: Vector3<f64>,
    epsilon: f64,
}

impl SmoothNorm {
    /// At slip velocity `v_t` (m/s, world axes, in the contact plane), softened by `epsilon` (m/s, positive).
    #[must_use]
    #[inline]
    pub fn new(v_t: &Vector3<f64>, epsilon: f64) -> Self {
        let length = (v_t.norm_squared() + epsilon * epsilon).sqrt();
        Self {
            length,
            direction: v_t * (1.0 / length),
            epsilon,
        }
    }

    /// s = S − ε, computed as ‖v_t‖²/(S + ε), which loses no digits at small slip.
    #[must_use]
    #[inline]
    pub fn value(&self) -> f64 {
        let slip_squared = self.direction.norm_squared() * self.length * self.length;
        slip_squared / (self.length + self.epsilon)
    }

    /// ∂²s/∂v_t² in the plane with unit normal `normal`.
    #[must_use]
    #[inline]
    pub fn hessian(&self, normal: &Vector3<f64>) -> Matrix3<f64> {
        let t = &self.direction;
        let plane = Matrix3::identity() - normal * normal.transpose();
        (plane - t * t.transpose()) * (1.0 / self.length)
    }

    /// ∂²s/∂v_t² with the direction estimate `y` in place of one t̂: the primal-dual tangent.
    ///
    /// Also ⪰ 0, provided `y` lies in the contact plane and ‖y‖ ≤ 1.
    ///
    /// ```text
    /// (P − ½(y t̂ᵀ + t̂ yᵀ))/S
    /// ```
    ///
    /// Source: Chan, Golub, Mulet (1999), for total variation.
    #[must_use]
    #[inline]
    pub fn primal_dual_hessian(&self, normal: &Vector3<f64>, y: &Vector3<f64>) -> Matrix3<f64> {
        let yt = 0.5 * y * self.direction.transpose();
        let plane = Matrix3::identity() - normal * normal.transpose();
        (plane - yt - yt.transpose()) * (1.0 / self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_keeps_its_digits_at_small_slip() {
        let (slip, epsilon) = (1e-12, 1e-4);
        let found = SmoothNorm::new(&Vector3::new(slip, 0.0, 0.0), epsilon).value();
        let series = 0.5 * slip * slip / epsilon;
        assert!(
            (found / series - 1.0).abs() < 1e-14,
            "√(s² + ε²) − ε itself would be zero"
        );
    }

    #[test]
    fn zero_slip_has_no_direction_and_the_hessian_of_a_damper() {
        let norm = SmoothNorm::new(&Vector3::zeros(), 1e-4);
        assert_eq!((norm.value(), norm.direction), (0.0, Vector3::zeros()));
        let g = norm.hessian(&Vector3::z());
        assert_eq!(g, Matrix3::from_diagonal(&Vector3::new(1e4, 1e4, 0.0)));
    }
}
