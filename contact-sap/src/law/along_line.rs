//! Contact laws along a search line v_c + αΔv_c, evaluated by a few scalar products.

use nalgebra::Vector3;

use super::ContactLaw;

/// v_c and Δv_c of a contact, split into normal and slip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactLine {
    v_n: f64,
    dv_n: f64,
    v_t: Vector3<f64>,
    dv_t: Vector3<f64>,
    /// ‖Δv_t‖².
    dv_t_squared: f64,
}

/// A point of a [`ContactLine`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinePoint {
    /// Normal velocity, and its derivative by α.
    pub(crate) v_n: f64,
    pub(crate) dv_n: f64,
    /// ‖v_t‖², half its derivative by α, half its second derivative.
    pub(crate) slip_squared: f64,
    pub(crate) slip_slope: f64,
    pub(crate) slip_curvature: f64,
}

impl ContactLine {
    /// The line through `v_c` along `dv_c`, split by the normal of `law`; custom laws use the whole vectors.
    #[inline]
    pub(crate) fn new(law: &ContactLaw, v_c: &Vector3<f64>, dv_c: &Vector3<f64>) -> Self {
        let zero = Vector3::zeros();
        let n = match law {
            ContactLaw::Lagged(law) => law.normal(),
            ContactLaw::Similar(law) => law.normal(),
            ContactLaw::Sap(law) => law.normal(),
            ContactLaw::Custom(_) => &zero,
        };
        let (v_n, dv_n) = (n.dot(v_c), n.dot(dv_c));
        let dv_t = dv_c - n * dv_n;
        Self {
            v_n,
            dv_n,
            v_t: v_c - n * v_n,
            dv_t,
            dv_t_squared: dv_t.norm_squared(),
        }
    }

    /// ∂ℓ/∂α and ∂²ℓ/∂α² at α.
    #[inline]
    pub(crate) fn slope(&self, law: &ContactLaw, alpha: f64) -> (f64, f64) {
        let v_t = self.v_t + self.dv_t * alpha;
        let at = LinePoint {
            v_n: self.v_n + alpha * self.dv_n,
            dv_n: self.dv_n,
            slip_squared: v_t.norm_squared(),
            slip_slope: v_t.dot(&self.dv_t),
            slip_curvature: self.dv_t_squared,
        };
        match law {
            ContactLaw::Lagged(law) => law.slope_along(&at),
            ContactLaw::Similar(law) => law.slope_along(&at),
            ContactLaw::Sap(law) => law.slope_along(&at),
            ContactLaw::Custom(law) => {
                let slope = -law.impulse(&v_t).dot(&self.dv_t);
                (slope, self.dv_t.dot(&(law.hessian(&v_t) * self.dv_t)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{ContactParameters, Dissipation, Lagged, NEAR_RIGID_CONTACT, Sap, Similar};
    use crate::potential::Potential;

    #[test]
    fn slopes_along_a_line_are_those_of_impulse_and_hessian() {
        let n = Vector3::new(1.0, 2.0, -0.5).normalize();
        let v = Vector3::new(0.3, -1.2, 0.4);
        let velocities = [
            (Vector3::new(0.02, -0.3, 0.1), v),
            (n * -0.4, v),
            (n * -0.4 + n.cross(&v) * 1e-4, v * 0.01),
            (n * 3.0, v),
            (n * 3.0 + n.cross(&v) * 4e3, v),
        ];
        for friction in [0.0, 0.4, 3.0] {
            let p = ContactParameters {
                time_step: 1e-2.into(),
                signed_distance: -1e-3,
                start_velocity: 0.0,
                stiffness: 1e5,
                dissipation: Dissipation::HuntCrossley(2.0),
                friction,
                stiction_speed: 1e-4,
                inverse_inertia: 0.7,
                near_rigid: NEAR_RIGID_CONTACT,
            };
            let laws = [
                ContactLaw::Lagged(Lagged::new(&p, n, 0.2)),
                ContactLaw::Similar(Similar::new(&p, n, 0.2)),
                ContactLaw::Sap(Sap::new(&p, n)),
                ContactLaw::Custom(std::sync::Arc::new(Similar::new(&p, n, 0.2))),
            ];
            for law in &laws {
                for (v_c, dv_c) in &velocities {
                    let line = ContactLine::new(law, v_c, dv_c);
                    for alpha in [0.0, 0.25, 1.0, 1.5] {
                        let at = v_c + dv_c * alpha;
                        let expected = -law.impulse(&at).dot(dv_c);
                        let curvature = dv_c.dot(&(law.hessian(&at) * dv_c));
                        let (slope, second) = line.slope(law, alpha);
                        // Round-off of v_c, through G, and of γ.
                        let g = law.hessian(&at).norm();
                        let size = v_c.norm() + dv_c.norm();
                        let scale = (g * size + law.impulse(&at).norm()) * dv_c.norm();
                        assert!((slope - expected).abs() <= 1e-14 * scale, "{law:?}");
                        let scale = g * dv_c.norm_squared();
                        assert!(
                            (second - curvature).abs() <= 1e-10 * scale,
                            "{law:?} {alpha}"
                        );
                    }
                }
            }
        }
    }
}
