//! One-sided limits: joint limits, ropes that can only pull.

use nalgebra::{Matrix1, Vector1};

use super::parameters::{NEAR_RIGID_ROW, near_rigid_regularisation};
use crate::potential::Potential;

/// γ = ((v̂ − v_c)/R)₊, ℓ = ½Rγ²: keeps a distance g ≥ 0 whose rate is v_c.
///
/// Source: Castro, Permenter, Han (2022), section V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    regularisation: f64,
    /// v̂, m/s or rad/s.
    stabilisation: f64,
}

impl Limit {
    /// Near-rigid limit of a distance `gap` = g at the start of the step (m or rad, negative when violated), for an inverse
    /// inertia `w` of its row. k = 1e12 N/m and τ = δt, so in practice R is the near-rigid one.
    #[must_use]
    pub fn near_rigid(time_step_s: f64, gap: f64, w: f64) -> Self {
        const STIFFNESS: f64 = 1e12;
        let compliance = 1.0 / (time_step_s * STIFFNESS * 2.0 * time_step_s);
        Self {
            regularisation: near_rigid_regularisation(NEAR_RIGID_ROW, w).max(compliance),
            // A gap closes in one step; a violation is undone in two, which adds no energy.
            stabilisation: if gap >= 0.0 {
                -gap / time_step_s
            } else {
                -gap / (2.0 * time_step_s)
            },
        }
    }

    /// From R (1/kg, positive) and v̂ directly.
    #[must_use]
    pub fn new(regularisation: f64, stabilisation: f64) -> Self {
        Self {
            regularisation,
            stabilisation,
        }
    }
}

impl Potential<1> for Limit {
    #[inline]
    fn cost(&self, v_c: &Vector1<f64>) -> f64 {
        let gamma = self.impulse(v_c).x;
        0.5 * self.regularisation * gamma * gamma
    }

    #[inline]
    fn impulse(&self, v_c: &Vector1<f64>) -> Vector1<f64> {
        Vector1::new(((self.stabilisation - v_c.x) / self.regularisation).max(0.0))
    }

    #[inline]
    fn hessian(&self, v_c: &Vector1<f64>) -> Matrix1<f64> {
        let active = v_c.x < self.stabilisation;
        Matrix1::new(if active {
            1.0 / self.regularisation
        } else {
            0.0
        })
    }
}
