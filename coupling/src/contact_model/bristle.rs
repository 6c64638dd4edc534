//! Bristle deflections of the built-in models: the inverse of their friction laws.
//!
//! The deflection r is bounded by [`DEFLECTION_MAX`] ε δt: a contact holds up to the fraction 0.995 of its bound, and a sliding one that
//! stops springs back by no more than that, a micrometre for the default ε at 1 ms.

use nalgebra::Vector3;

/// Largest r in units of ε δt, where friction is 10/√101 = 0.995 of its bound.
const DEFLECTION_MAX: f64 = 10.0;

/// γ_n and γ_t of an impulse.
pub(super) fn in_plane(gamma: &Vector3<f64>, normal_W: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let gamma_n = normal_W.dot(gamma);
    (gamma_n, gamma - normal_W * gamma_n)
}

/// r/δt at which regularised Coulomb friction with the bound `limit` (μn, N·s) and `softening` (ε, m/s) is `gamma_t` (N·s):
///
/// ```text
/// r = −δt ε s/√(1 − s²),  s = γ_t/(μn)
/// ```
pub(super) fn regularised_bristle_rate(
    limit: f64,
    softening: f64,
    gamma_t: &Vector3<f64>,
) -> Vector3<f64> {
    let left = limit * limit - gamma_t.norm_squared();
    let slip = if left > 0.0 {
        -gamma_t * (softening / left.sqrt())
    } else {
        // Round-off at the bound: the largest deflection.
        -gamma_t * f64::MAX.sqrt()
    };
    bounded_bristle_rate(slip, softening)
}

/// `slip` (m/s), bounded by [`DEFLECTION_MAX`] times `softening` (ε, m/s).
pub(super) fn bounded_bristle_rate(slip: Vector3<f64>, softening: f64) -> Vector3<f64> {
    let most = DEFLECTION_MAX * softening;
    let speed = slip.norm();
    if speed > most {
        slip * (most / speed)
    } else {
        slip
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        ContactInputs, ContactModel, EnergyModel, LaggedModel, SapModel, SimilarModel,
    };
    use super::*;
    use pliant_contact_sap::{ContactParameters, Dissipation, Potential};

    #[test]
    fn the_deflection_carries_at_rest_the_friction_it_came_from() {
        let p = ContactParameters {
            time_step: 1e-3.into(),
            signed_distance: -1e-4,
            start_velocity: 0.0,
            stiffness: 1e5,
            dissipation: Dissipation::RelaxationTime(0.0),
            friction: 0.5,
            stiction_speed: 1e-4,
            inverse_inertia: 2.0,
            near_rigid: pliant_contact_sap::NEAR_RIGID_CONTACT,
        };
        let normal = Vector3::new(0.6, 0.0, 0.8);
        let along = Vector3::new(0.8, 0.3, -0.6);
        let along = (along - normal * normal.dot(&along)).normalize();
        let n = p.normal_force().impulse(0.0);
        let contact = ContactInputs {
            parameters: p,
            normal_W: normal,
            normal_impulse: n,
            slip_inertia: p.inverse_inertia,
        };
        let lagged = LaggedModel::default();
        let models: [(&dyn ContactModel, f64); 3] = [
            (&lagged, 3e-4),
            (&SimilarModel, 3e-4),
            // Within its stiction: σ w μ n is 1e-5 m/s.
            (&SapModel, 4e-6),
        ];
        for (model, slip) in models {
            let gamma = model.law(&contact).impulse(&(along * slip));
            let rate = model.bristle_rate(&contact, &gamma);
            let rate = rate.expect("the contact carries friction");
            assert!(
                (rate - along * slip).norm() < 1e-9 * slip,
                "{model:?} {rate}"
            );
        }
        let rate = |gamma| lagged.bristle_rate(&contact, &gamma);
        for share in [0.9999, 1.0, 1.0 + 1e-12] {
            let rate = rate(along * (0.5 * n * share)).expect("friction");
            assert!(
                (rate + along * (DEFLECTION_MAX * 1e-4)).norm() < 1e-12,
                "{rate}"
            );
        }
        assert_eq!(rate(Vector3::zeros()), Some(Vector3::zeros()));
        let energy = EnergyModel { range_m: 1e-4 };
        assert_eq!(energy.bristle_rate(&contact, &along), None);
    }
}
