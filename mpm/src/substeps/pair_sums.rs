//! Impulses between objects and obstacles, summed over the substeps of a time step.

use nalgebra::Vector3;

use super::PairImpulse;
use super::contact_problem::ContactProblem;

/// Impulses between objects and obstacles.
pub(super) struct PairSums {
    n_obstacles: usize,
    sums: Vec<PairSum>,
}

#[derive(Clone, Copy)]
struct PairSum {
    impulse: Vector3<f64>,
    /// Σ |γ| p and Σ |γ|.
    moment: Vector3<f64>,
    size: f64,
    friction: f64,
    friction_excess: f64,
    normal: Vector3<f64>,
    signed_distance: f64,
}

impl PairSums {
    pub(super) fn new(n_objects: usize, n_obstacles: usize) -> Self {
        let none = PairSum {
            impulse: Vector3::zeros(),
            moment: Vector3::zeros(),
            size: 0.0,
            friction: 0.0,
            friction_excess: 0.0,
            normal: Vector3::zeros(),
            signed_distance: f64::INFINITY,
        };
        Self {
            n_obstacles,
            sums: vec![none; n_objects * n_obstacles],
        }
    }

    pub(super) fn add(&mut self, problem: &ContactProblem) {
        for (contact, state) in problem.contacts.iter().zip(&problem.states) {
            let pair = contact.object as usize * self.n_obstacles + contact.obstacle as usize;
            let sum = &mut self.sums[pair];
            let size = state.impulse.norm();
            sum.impulse += state.impulse;
            sum.moment += contact.p_WC * size;
            sum.size += size;
            let (friction, excess) = state.friction(contact);
            sum.friction += friction;
            sum.friction_excess += excess;
            sum.normal += contact.normal * size;
            sum.signed_distance = sum.signed_distance.min(contact.signed_distance);
        }
    }

    pub(super) fn write(&self, out: &mut Vec<PairImpulse>) {
        out.clear();
        let touching = self
            .sums
            .iter()
            .enumerate()
            .filter(|(_, sum)| sum.size > 0.0);
        out.extend(touching.map(|(pair, sum)| PairImpulse {
            object: (pair / self.n_obstacles) as u32,
            obstacle: (pair % self.n_obstacles) as u32,
            impulse_W: sum.impulse,
            friction: sum.friction,
            friction_excess: sum.friction_excess,
            p_WC: sum.moment / sum.size,
            normal_W: sum.normal.try_normalize(0.0).unwrap_or_else(Vector3::z),
            signed_distance: sum.signed_distance,
        }));
    }
}
