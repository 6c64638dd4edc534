//! Quadratic upper bounds of contact laws, for solvers without a line search.
//!
//! A majorant of ℓ at v is a curvature C with
//!
//! ```text
//! ℓ(v') ≤ ℓ(v) + ∇ℓ(v)·(v' − v) + ½ (v' − v)ᵀC(v' − v)
//! ```
//!
//! for all v' whose normal component is at least a bound. The minimum of a sum of majorants lowers the sum of the laws.
//!
//! - Lagged, friction: μ n0/S in both directions of slip, since √(t² + ε²) is concave in t². It touches at v, unlike the bound μ n0/ε,
//!   and is smaller by S/ε in sliding. Source: Chan, Mulet (1999), "On the convergence of the lagged diffusivity fixed point method".
//! - Lagged, normal: the slope of Hunt-Crossley's force grows with the speed of approach. C is its slope at one and a half times the present
//!   one, and the bound is where that is.
//! - SAP: R⁻¹, since its impulse is a projection in the norm of R.

use nalgebra::{Matrix3, Vector3};

use super::ContactLaw;

/// A quadratic upper bound of a law.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::*;
///
/// # let contact = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-4, start_velocity: 0.0, stiffness: 1e4, friction: 0.5,
/// #     dissipation: Dissipation::RelaxationTime(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// let law = ContactLaw::Sap(Sap::new(&contact, Vector3::z()));
/// let (v, step) = (Vector3::new(0.1, 0.0, -0.2), Vector3::new(-0.3, 0.1, 0.2));
/// let c = law.majorant(&v).expect("SAP has one").curvature;
/// let bound = law.cost(&v) - law.impulse(&v).dot(&step) + 0.5 * step.dot(&(c * step));
/// assert!(law.cost(&(v + step)) <= bound);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Majorant {
    /// C, kg.
    pub curvature: Matrix3<f64>,
    /// The least normal velocity for which it holds, m/s; −∞ if it holds everywhere.
    pub normal_velocity_min: f64,
}

impl ContactLaw {
    /// The majorant at `v_c`; `None` for laws without a known one, which are the similar model and custom laws.
    #[must_use]
    pub fn majorant(&self, v_c: &Vector3<f64>) -> Option<Majorant> {
        match self {
            ContactLaw::Lagged(law) => {
                let n = law.normal();
                let (slope, normal_velocity_min) = law.normal_force.majorant(n.dot(v_c));
                let slip = law.friction_limit / law.slip(v_c).length;
                let plane = Matrix3::identity() - n * n.transpose();
                Some(Majorant {
                    curvature: n * n.transpose() * slope + plane * slip,
                    normal_velocity_min,
                })
            }
            ContactLaw::Sap(law) => Some(Majorant {
                curvature: law.stiffest_hessian(),
                normal_velocity_min: f64::NEG_INFINITY,
            }),
            ContactLaw::Similar(_) | ContactLaw::Custom(_) => None,
        }
    }

    /// Unit normal, world axes; `None` for custom laws.
    #[must_use]
    pub fn normal(&self) -> Option<&Vector3<f64>> {
        match self {
            ContactLaw::Lagged(law) => Some(law.normal()),
            ContactLaw::Similar(law) => Some(law.normal()),
            ContactLaw::Sap(law) => Some(law.normal()),
            ContactLaw::Custom(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::law::{ContactParameters, Dissipation, Lagged, Sap};
    use crate::potential::Potential;

    proptest! {
        #[test]
        fn it_is_above_the_law_and_touches_it(
            distance in -1e-3..1e-3f64,
            dissipation in 0.0..50.0f64,
            n0 in 0.0..0.1f64,
            at in prop::array::uniform3(-3.0..3.0f64),
            to in prop::array::uniform3(-3.0..3.0f64),
            scale in -4.0..0.0f64,
        ) {
            let p = ContactParameters {
                time_step: 1e-3.into(),
                signed_distance: distance,
                start_velocity: 0.0,
                stiffness: 1e5,
                dissipation: Dissipation::HuntCrossley(dissipation),
                friction: 0.5,
                stiction_speed: 1e-3,
                inverse_inertia: 3.0,
                near_rigid: 0.1,
            };
            let n = Vector3::new(0.6, 0.0, 0.8);
            let size = 10_f64.powf(scale);
            let (v, mut to) = (Vector3::from(at) * size, Vector3::from(to) * size);
            for law in [
                ContactLaw::Lagged(Lagged::new(&p, n, n0)),
                ContactLaw::Sap(Sap::new(&p, n)),
            ] {
                let majorant = law.majorant(&v).expect("a known one");
                let below = majorant.normal_velocity_min - n.dot(&to);
                if below > 0.0 {
                    to += n * below;
                }
                let change = to - v;
                let bound = law.cost(&v) - law.impulse(&v).dot(&change)
                    + 0.5 * change.dot(&(majorant.curvature * change));
                let cost = law.cost(&to);
                prop_assert!(cost <= bound + 1e-12 * (cost + law.cost(&v)), "{cost:e} above {bound:e}");
                prop_assert!(n.dot(&v) >= majorant.normal_velocity_min);
            }
        }
    }
}
