//! The line search on E = ½‖g‖², which has kinks where a contact opens, closes, sticks or slips.
//!
//! The full step comes first. Where it does not decrease E enough, the points along it at which the branch of a contact changes are next: undamped
//! Newton steps jump back and forth over the narrow range of velocities in which a stiff contact sticks, and these points are its ends. Then the step is
//! halved. The largest decrease among the branch points wins, otherwise the first step that satisfies Armijo's condition.

use nalgebra::Vector3;
use pliant_hydroelastic::Branch;

use super::BodyFault;
use super::gmres::dot;
use super::system::System;

/// Armijo's constant.
const DECREASE: f64 = 1e-4;
/// Branch points that are tried.
const BRANCH_POINTS_MAX: usize = 12;
const HALVINGS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Searched {
    /// The system is at a point with less E.
    Moved,
    /// The system is where it was.
    Failed,
}

#[derive(Default)]
pub(super) struct LineSearch {
    start: Vec<f64>,
    trial: Vec<f64>,
    residual: Vec<f64>,
    /// Of every contact at the start and at the full step: its branch, l and d.
    before: Vec<Sliding>,
    fractions: Vec<f64>,
    pub(super) evaluations: usize,
    /// The part of the direction that was taken; 0 where the search failed.
    pub(super) fraction: f64,
}

/// A contact in the tangential plane of its object: where its attachment is relative to the nearest point of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sliding {
    pub(super) branch: Branch,
    /// r = X − W, object axes.
    pub(super) offset: Vector3<f64>,
    /// d, negative outside.
    pub(super) depth: f64,
    /// μ.
    pub(super) friction: f64,
}

impl LineSearch {
    /// Searches along `direction` from the system's velocities, where L⁻¹g is `residual` and E has this slope.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        direction: &[f64],
        residual: &[f64],
        slope: f64,
    ) -> Result<Searched, BodyFault> {
        self.evaluations = 0;
        self.start.clone_from(&system.v);
        let start = 0.5 * dot(residual, residual);
        let decreases = |a: f64, e: f64| e <= start + DECREASE * a * slope;
        self.before.clear();
        self.before.extend(system.sliding());
        let full = self.energy(system, direction, 1.0);
        if decreases(1.0, full) {
            self.fraction = 1.0;
            return Ok(Searched::Moved);
        }
        self.branch_points(system);
        let mut best: Option<(f64, f64)> = None;
        for k in 0..self.fractions.len() {
            let a = self.fractions[k];
            let e = self.energy(system, direction, a);
            if decreases(a, e) && best.is_none_or(|(_, least)| e < least) {
                best = Some((a, e));
            }
        }
        if let Some((a, _)) = best {
            self.energy(system, direction, a);
            self.fraction = a;
            return Ok(Searched::Moved);
        }
        let mut a = 1.0;
        for _ in 0..HALVINGS {
            a *= 0.5;
            let e = self.energy(system, direction, a);
            if decreases(a, e) && e < start {
                self.fraction = a;
                return Ok(Searched::Moved);
            }
        }
        self.fraction = 0.0;
        let start = std::mem::take(&mut self.start);
        system.move_to(&start)?;
        self.start = start;
        Ok(Searched::Failed)
    }

    /// E at a part of the direction; infinite where a body has no forces.
    fn energy(&mut self, system: &mut System, direction: &[f64], a: f64) -> f64 {
        self.evaluations += 1;
        self.trial.clear();
        let terms = self.start.iter().zip(direction);
        self.trial.extend(terms.map(|(v, u)| v + a * u));
        if system.move_to(&self.trial).is_err() {
            return f64::INFINITY;
        }
        self.residual.clone_from(&system.g);
        system.metric.solve_lower(&mut self.residual);
        let e = 0.5 * dot(&self.residual, &self.residual);
        if e.is_nan() { f64::INFINITY } else { e }
    }

    /// Parts of the full step, which the system is at, where |r| = μ d or d = 0 if both change linearly; ascending, at most a dozen.
    fn branch_points(&mut self, system: &System) {
        self.fractions.clear();
        for (before, after) in self.before.iter().zip(system.sliding()) {
            if before.branch == after.branch {
                continue;
            }
            let depth_change = after.depth - before.depth;
            if (before.depth > 0.0) != (after.depth > 0.0) {
                self.fractions.push(-before.depth / depth_change);
            }
            // |r₀ + a r'|² = μ² (d₀ + a d')².
            let mu = before.friction;
            let r = before.offset;
            let r_change = after.offset - r;
            let a = r_change.norm_squared() - mu * mu * depth_change * depth_change;
            let half_b = r.dot(&r_change) - mu * mu * before.depth * depth_change;
            let c = r.norm_squared() - mu * mu * before.depth * before.depth;
            let discriminant = half_b * half_b - a * c;
            if discriminant >= 0.0 {
                let q = -(half_b + discriminant.sqrt().copysign(half_b));
                self.fractions.extend([q / a, c / q]);
            }
        }
        let kinks = std::mem::take(&mut self.fractions);
        let within = |a: &f64| *a > 0.0 && *a < 1.0;
        self.fractions.extend(kinks.into_iter().filter(within));
        self.fractions.sort_unstable_by(f64::total_cmp);
        self.fractions.dedup();
        let n = self.fractions.len();
        if n > BRANCH_POINTS_MAX {
            let chosen = (0..BRANCH_POINTS_MAX).map(|k| self.fractions[k * n / BRANCH_POINTS_MAX]);
            self.fractions = chosen.collect();
        }
    }
}
