//! Creep in stiction: each model's regularisation of Coulomb's law inside the cone.

use nalgebra::{Matrix3, Vector3};

/// v_s of [`ContactSettings`](pliant_coupling::ContactSettings), m/s.
pub(super) const STICTION_SPEED: f64 = 1e-4;
/// σ of the SAP model: R_t = σ w.
const SAP_REGULARISATION: f64 = 1e-3;

/// Creep of the lagged and the similar model at the ratio `s` < 1 of load to friction bound, m/s.
///
/// The impulse is μN v/√(v² + v_s²), and equals s μN at v = v_s s/√(1 − s²).
pub(super) fn softened_creep(s: f64) -> f64 {
    STICTION_SPEED * s / (1.0 - s * s).sqrt()
}

/// Derivative of [`softened_creep`] by s: v_s (1 − s²)^(−3/2).
pub(super) fn softened_creep_slope(s: f64) -> f64 {
    STICTION_SPEED / (1.0 - s * s).powf(1.5)
}

/// Mean of 1 − v/√(v² + v_s²) while v grows evenly from `v1` to `v2` ≫ v_s: the relative loss of friction by regularisation.
///
/// ∫ v/√(v² + v_s²) dv = √(v² + v_s²), so the mean is 1 − (S₂ − S₁)/(v₂ − v₁) ≈ v_s²/(2 v₁ v₂).
pub(super) fn softening_loss(v1: f64, v2: f64) -> f64 {
    STICTION_SPEED * STICTION_SPEED / (2.0 * v1 * v2)
}

/// Creep of the SAP model under the tangential impulse `gamma_t` (N·s) at a contact of inverse inertia `w`: σ w γ_t.
pub(super) fn sap_creep(w: f64, gamma_t: f64) -> f64 {
    SAP_REGULARISATION * w * gamma_t
}

/// W of a point at `r` from the centre of mass of a free body, 1/kg: I/m − [r]× I⁻¹ [r]×.
///
/// `moments`: principal moments of inertia, kg m², about the axes of `r`.
pub(super) fn delassus_at(mass: f64, moments: Vector3<f64>, r: Vector3<f64>) -> Matrix3<f64> {
    let cross = r.cross_matrix();
    let inverse = Matrix3::from_diagonal(&moments.map(|i| 1.0 / i));
    Matrix3::identity() / mass - cross * inverse * cross
}

/// w = ‖W‖/3, Frobenius.
pub(super) fn inverse_inertia(W: &Matrix3<f64>) -> f64 {
    W.norm() / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softened_creep_carries_the_load_and_has_its_slope() {
        for s in [0.1, 0.5, 0.98] {
            let v = softened_creep(s);
            assert!((v / v.hypot(STICTION_SPEED) - s).abs() < 1e-14);
            let h = 1e-6;
            let difference = (softened_creep(s + h) - softened_creep(s - h)) / (2.0 * h);
            assert!((difference / softened_creep_slope(s) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn softening_loss_is_the_mean_over_the_window() {
        let (v1, v2, n) = (0.01, 0.05, 10_000);
        let mean = (0..n)
            .map(|k| v1 + (v2 - v1) * (f64::from(k) + 0.5) / f64::from(n))
            .map(|v| 1.0 - v / v.hypot(STICTION_SPEED))
            .sum::<f64>()
            / f64::from(n);
        assert!((softening_loss(v1, v2) / mean - 1.0).abs() < 1e-4);
    }
}
