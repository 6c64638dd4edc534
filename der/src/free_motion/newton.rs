//! Newton's method of the free motion: full Hessian, line search, pivots shifted where the matrix is indefinite.

use super::{FreeMotion, sum_of_pairs};
use crate::elasticity::{Depth, Impossible};
use crate::error::RodError;
use crate::rod::RodParts;
use crate::rod_matrix::Pivots;
use crate::section::parameter;

/// How free motion is solved for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMotionSettings {
    /// The residual relative to inertia, elastic forces and loads at which Newton stops. The linearised step that follows
    /// is one more Newton step, so that the velocity is better than this by its square.
    pub relative_tolerance: f64,
    /// Newton iterations before a step is taken with a warning.
    pub iterations_max: u32,
    /// Where the momentum balance is linearised for the contact solve.
    pub linearised: Linearised,
}

/// Where the momentum balance is linearised for the contact solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linearised {
    /// At the free motion, as Li and Chou (2025) do: exact to the tolerance where nothing touches.
    #[default]
    AtFreeMotion,
    /// At the velocity of the start, without iterations: for ropes under tension over posts and through loops. Freed of contact they would
    /// fly far within a step, where their stiffness is another.
    AtStart,
}

impl Default for FreeMotionSettings {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-4, // the linearised step after it leaves the square: 1e-7 and less
            iterations_max: 60,
            linearised: Linearised::AtFreeMotion,
        }
    }
}

impl FreeMotionSettings {
    pub(crate) fn validate(&self) -> Result<(), RodError> {
        if !(self.relative_tolerance > 0.0 && self.relative_tolerance < 1.0) {
            return Err(parameter(
                "relative tolerance of the free motion",
                self.relative_tolerance,
                "must lie in (0, 1)",
            ));
        }
        if self.iterations_max == 0 {
            return Err(parameter(
                "largest number of iterations of the free motion",
                0.0,
                "must be at least 1",
            ));
        }
        Ok(())
    }
}

/// Why the iterations ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeMotionStop {
    /// The residual fell below the tolerance.
    #[default]
    Converged,
    /// No step reduces the potential any more: round-off.
    RoundOff,
    /// Too many iterations.
    IterationLimit,
}

/// How the free motion of one step was found.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeMotionReport {
    /// Newton steps taken; the linearised step that follows is one more.
    pub iterations: u32,
    /// Evaluations of energy and derivatives: one more than iterations unless the line search had to work.
    pub evaluations: u32,
    /// Matrices that were indefinite and got shifted.
    pub shifts: u32,
    /// Residual left, relative.
    pub residual: f64,
    /// Why it ended.
    pub stop: FreeMotionStop,
}

impl FreeMotion {
    /// A at the velocity last evaluated, shifted by multiples of M until it is positive definite, and factored.
    fn assemble_and_factor(&mut self, rod: &RodParts, report: &mut FreeMotionReport) {
        self.assemble(rod);
        let mut shift = 0.0;
        // Each try is four times the last: 50 of them span every stiffness that a number can hold.
        for _ in 0..50 {
            if self.factor.factor(&self.matrix, Pivots::Positive).is_ok() {
                break;
            }
            let more = if shift == 0.0 { 1.0 } else { 3.0 * shift };
            shift += more;
            for (i, m) in rod.mass.iter().enumerate() {
                if !self.held[i] {
                    self.matrix.add(i, i, more * m);
                }
            }
        }
        report.shifts += u32::from(shift > 0.0);
    }

    /// A and m at `v`; A is factored.
    pub(crate) fn linearise(&mut self, rod: &RodParts, v: &[f64]) -> Result<(), Impossible> {
        self.velocity = self.with_held(v);
        let velocity = std::mem::take(&mut self.velocity);
        let evaluated = self.evaluate(rod, &velocity, Depth::Hessian);
        self.velocity = velocity;
        evaluated?;
        self.assemble_and_factor(rod, &mut FreeMotionReport::default());
        Ok(())
    }

    /// Residual relative to the terms it is the sum of, and whether all that is left of it is round-off.
    fn relative_residual(&self) -> (f64, bool) {
        let residual = self.norm(&self.residual);
        let scale = self.norm(&self.inertial) + self.norm(&self.elastic) + self.impulse_norm;
        let relative = if scale > 0.0 { residual / scale } else { 0.0 };
        (relative, residual <= self.round_off)
    }

    /// The largest share of `direction` that changes no edge by more than half its length.
    fn longest_step(&self, rod: &RodParts) -> f64 {
        let s = self.scale();
        let mut longest = 1.0_f64;
        for (i, edge) in self.elasticity.edges.iter().enumerate() {
            let (a, b) = rod.nodes_of_edge(i);
            let at = |node| crate::elasticity::node(&self.direction, node);
            let change = s * s * (at(b) - at(a)).norm_squared();
            let allowed = 0.25 * edge.length * edge.length;
            if change * longest * longest > allowed {
                longest = (allowed / change).sqrt();
            }
        }
        longest
    }

    /// Minimises Φ from `self.velocity`. Leaves there v, m and the factored A at v.
    pub(crate) fn solve(&mut self, rod: &RodParts) -> Result<FreeMotionReport, Impossible> {
        let mut report = FreeMotionReport::default();
        let mut v = std::mem::take(&mut self.velocity);
        let mut candidate = std::mem::take(&mut self.candidate);
        candidate.clone_from(&v);
        let outcome = self.minimise(rod, &mut v, &mut candidate, &mut report);
        self.velocity = v;
        self.candidate = candidate;
        outcome.map(|()| report)
    }

    fn minimise(
        &mut self,
        rod: &RodParts,
        v: &mut Vec<f64>,
        next: &mut Vec<f64>,
        report: &mut FreeMotionReport,
    ) -> Result<(), Impossible> {
        let settings = self.settings;
        let mut merit = match self.evaluate(rod, v, Depth::Hessian) {
            Ok(merit) => merit,
            // Where coasting leads cannot be: from the start, then.
            Err(_) if self.scale() > 0.0 => {
                for (i, v) in v.iter_mut().enumerate() {
                    *v = if self.held[i] { self.start[i] } else { 0.0 };
                }
                self.evaluate(rod, v, Depth::Hessian)?
            }
            Err(impossible) => return Err(impossible),
        };
        report.evaluations += 1;
        loop {
            self.assemble_and_factor(rod, report);
            let (relative, is_noise) = self.relative_residual();
            report.residual = relative;
            if settings.linearised == Linearised::AtStart {
                return Ok(());
            }
            if relative <= settings.relative_tolerance || is_noise {
                report.stop = FreeMotionStop::Converged;
                return Ok(());
            }
            if report.iterations >= settings.iterations_max {
                report.stop = FreeMotionStop::IterationLimit;
                return Ok(());
            }
            for (d, m) in self.direction.iter_mut().zip(&self.residual) {
                *d = -m;
            }
            self.factor.solve(&mut self.direction);
            let descent = sum_of_pairs(&self.direction, &self.residual, |d, m| d * m);
            // What Newton promises is less than the potential can show.
            if descent.abs() <= f64::EPSILON * merit.size {
                report.stop = FreeMotionStop::RoundOff;
                return Ok(());
            }
            let mut share = self.longest_step(rod);
            let mut accepted = false;
            // 2⁻³⁰ of a Newton step moves nothing.
            for _ in 0..30 {
                for ((next, v), d) in next.iter_mut().zip(v.iter()).zip(&self.direction) {
                    *next = v + share * d;
                }
                report.evaluations += 1;
                if let Ok(found) = self.evaluate(rod, next, Depth::Hessian) {
                    // Armijo, with room for the rounding of the terms that cancel.
                    let enough = merit.value + 1e-4 * share * descent;
                    if found.value <= enough + 64.0 * f64::EPSILON * (merit.size + found.size) {
                        merit = found;
                        accepted = true;
                        break;
                    }
                }
                share *= 0.5;
            }
            if !accepted {
                // Back to where the matrix and the residual belong.
                self.evaluate(rod, v, Depth::Hessian)?;
                report.stop = FreeMotionStop::RoundOff;
                return Ok(());
            }
            report.iterations += 1;
            std::mem::swap(v, next);
        }
    }
}
