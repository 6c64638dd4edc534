//! Contact as a potential energy of the distance: the baseline that Li and Chou (2025) compare with.
//!
//! ```text
//! E = ½ k s(φ)²,   s(φ) = ln(1 + e^(−Kφ))/K,   K = 15/range       friction: μ n0 tanh(15 v_t/2ν)
//! ```
//!
//! A pair repels from the distance `range` on and, at larger overlap, like a spring k. k is the material's stiffness, not capped, and
//! paths are not swept: a body can pass through another within a step, or by a force larger than k times the depth.
//!
//! Source: Tong, Choi, Joo, Jawed (2023), "A fully implicit method for robust frictional contact handling in elastic rods". Friction there
//! follows the load at the end of the step, which has no potential; here it follows the load at its start, n0.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{ContactLaw, ContactParameters, Potential};

use super::{ContactInputs, ContactModel};

/// Over the range and over the slip tolerance: how sharply the softened laws bend.
const SHARPNESS: f64 = 15.0;

/// A baseline (Tong, Choi, Joo, Jawed 2023): an energy of the distance with the material's stiffness, acting from the distance
/// `range_m` (m) on. Paths are not swept and stiffness is not capped, so steps must be short.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_CONTACT, Potential};
/// use pliant_coupling::{ContactInputs, ContactModel, EnergyModel};
///
/// # let parameters = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: 0.0, start_velocity: 0.0, stiffness: 1e4, friction: 0.0,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// # let at_touch = ContactInputs { parameters, normal_W: Vector3::z(), normal_impulse: 0.0, slip_inertia: 1.0 };
/// let model = EnergyModel { range_m: 1e-3 };
/// // At φ = 0: s = ln 2/K and −s' = ½ with K = 15/range, so that γ = δt k s/2.
/// let gamma = model.law(&at_touch).impulse(&Vector3::zeros());
/// assert!((gamma.z - 1e-3 * 1e4 * 0.5 * 2f64.ln() / 15e3).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyModel {
    /// Distance below which a pair repels, m.
    pub range_m: f64,
}

impl ContactModel for EnergyModel {
    fn law(&self, contact: &ContactInputs) -> ContactLaw {
        let law = ContactEnergy::new(&contact.parameters, contact.normal_W, self.range_m);
        ContactLaw::Custom(Arc::new(law))
    }

    fn range_m(&self) -> Option<f64> {
        Some(self.range_m)
    }
}

/// The law of one contact, ν the stiction speed.
#[derive(Clone, Copy, Debug)]
struct ContactEnergy {
    normal: Vector3<f64>,
    /// δt, s.
    time_step_s: f64,
    /// φ at the end of the step is `coasted` + `lead` v_n.
    coasted: f64,
    lead_s: f64,
    stiffness: f64,
    /// K, 1/m.
    sharpness: f64,
    /// μ n0, N·s.
    friction_limit: f64,
    /// 15/2ν, s/m.
    slip_sharpness: f64,
}

impl ContactEnergy {
    fn new(p: &ContactParameters, normal_W: Vector3<f64>, range_m: f64) -> Self {
        let mut law = Self {
            normal: normal_W,
            time_step_s: p.time_step.length_s,
            coasted: p.coasted_distance(),
            lead_s: p.time_step.positions_s(),
            stiffness: match p.stiffness.is_finite() {
                true => p.stiffness,
                false => p.capped_stiffness(),
            },
            sharpness: SHARPNESS / range_m,
            friction_limit: 0.0,
            slip_sharpness: 0.5 * SHARPNESS / p.stiction_speed,
        };
        law.friction_limit = p.friction * law.push(p.signed_distance);
        law
    }

    /// s(φ) and −s'(φ).
    fn overlap(&self, distance: f64) -> (f64, f64) {
        let x = -self.sharpness * distance;
        let tail = (-x.abs()).exp();
        let share = if x >= 0.0 { 1.0 } else { tail } / (1.0 + tail);
        ((x.max(0.0) + tail.ln_1p()) / self.sharpness, share)
    }

    /// Impulse at a distance, N·s.
    fn push(&self, distance: f64) -> f64 {
        let (overlap, share) = self.overlap(distance);
        self.time_step_s * self.stiffness * overlap * share
    }

    fn distance(&self, v_c: &Vector3<f64>) -> f64 {
        self.coasted + self.lead_s * self.normal.dot(v_c)
    }

    fn slip(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        v_c - self.normal * self.normal.dot(v_c)
    }

    /// tanh(a v)/v at slip speed v.
    fn drag(&self, speed: f64) -> f64 {
        let x = self.slip_sharpness * speed;
        match x < 1e-4 {
            true => self.slip_sharpness * (1.0 - x * x / 3.0),
            false => x.tanh() / speed,
        }
    }
}

impl Potential<3> for ContactEnergy {
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        let (overlap, _) = self.overlap(self.distance(v_c));
        let normal = 0.5 * self.time_step_s / self.lead_s * self.stiffness * overlap * overlap;
        // ∫ tanh(a v) dv = ln cosh(a v)/a.
        let x = self.slip_sharpness * self.slip(v_c).norm();
        let ln_cosh = x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2;
        normal + self.friction_limit * ln_cosh.max(0.0) / self.slip_sharpness
    }

    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        let slip = self.slip(v_c);
        let drag = self.friction_limit * self.drag(slip.norm());
        self.normal * self.push(self.distance(v_c)) - slip * drag
    }

    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        let n = &self.normal;
        let (overlap, share) = self.overlap(self.distance(v_c));
        let bend = overlap * self.sharpness * share * (1.0 - share);
        let along = self.time_step_s * self.lead_s * self.stiffness * (share * share + bend);
        let slip = self.slip(v_c);
        let speed = slip.norm();
        let drag = self.drag(speed);
        let plane = Matrix3::identity() - n * n.transpose();
        let mut friction = plane * drag;
        if speed > 0.0 {
            let t = slip / speed;
            let tanh = (self.slip_sharpness * speed).tanh();
            let steepness = self.slip_sharpness * (1.0 - tanh * tanh);
            friction += t * t.transpose() * (steepness - drag);
        }
        n * n.transpose() * along + friction * self.friction_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_contact_sap::conformance::check_potential;
    use pliant_contact_sap::{Dissipation, Integration, TimeStep};

    fn law(signed_distance: f64) -> ContactEnergy {
        let p = ContactParameters {
            time_step: TimeStep {
                length_s: 1e-3,
                integration: Integration::BackwardEuler,
            },
            signed_distance,
            start_velocity: 0.0,
            stiffness: 1e4,
            dissipation: Dissipation::HuntCrossley(0.0),
            friction: 0.5,
            stiction_speed: 1e-4,
            inverse_inertia: 10.0,
            near_rigid: 0.1,
        };
        ContactEnergy::new(&p, Vector3::new(0.6, 0.0, 0.8), 1e-4)
    }

    #[test]
    fn it_is_a_convex_potential_on_either_side_of_touching() {
        for distance in [-1e-3, -1e-5, 0.0, 2e-5, 1e-3] {
            let mut samples = vec![Vector3::zeros()];
            for scale in [1e-7, 1e-5, 1e-3, 0.05, 1.0] {
                samples.push(Vector3::new(0.3, -0.2, 0.5) * scale);
                samples.push(Vector3::new(-0.5, 0.4, -0.9) * scale);
                samples.push(Vector3::new(0.8, 0.1, -0.6) * scale);
            }
            check_potential(&law(distance), &samples).unwrap();
        }
    }

    #[test]
    fn deep_inside_it_is_a_spring_and_beyond_its_range_nothing() {
        let normal = Vector3::new(0.6, 0.0, 0.8);
        let load = |distance: f64| normal.dot(&law(distance).impulse(&Vector3::zeros())) / 1e-3;
        assert!((load(-1e-3) - 1e4 * 1e-3).abs() < 1e-9);
        assert!((load(0.0) - 1e4 * 0.5 * 2.0_f64.ln() * 1e-4 / 15.0).abs() < 1e-12);
        assert!(load(1e-4) < 1e-6 * load(0.0));
    }

    #[test]
    fn what_slides_is_held_back_by_mu_times_the_load_at_the_start() {
        let slide = Vector3::new(0.0, 1e-2, 0.0);
        let impulse = law(-1e-3).impulse(&slide);
        assert!((impulse.y + 0.5 * 1e4 * 1e-3 * 1e-3).abs() < 1e-12);
    }
}
