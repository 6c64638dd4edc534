//! Newton's method of the free motion: full Hessian, line search, a shift by M where the matrix is indefinite.

use super::{FreeMotion, sum_of_pairs};
use crate::elasticity::DerivativeOrder;
use crate::free_motion_settings::Linearised;
use crate::impossible::Impossible;
use crate::rod_matrix::Pivots;
use crate::rod_parts::RodParts;

/// Why the iteration stopped.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{BodyStep, DeformableModel, StartLinearisation, StepInput};
/// # use pliant_der::{Centreline, End, EndCondition, Material, RodBuilder, Section};
/// use pliant_der::{FreeMotionSettings, FreeMotionStop, RodError, RodStep};
///
/// // A cantilever of rubber that falls for 50 ms in one step, with one Newton iteration and with as many as it takes.
/// let stop = |iterations_max| {
///     let settings = FreeMotionSettings { iterations_max, ..FreeMotionSettings::default() };
/// #     let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 20);
/// #     let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// #     let clamped = EndCondition::Clamped { tangent: None };
/// #     let rod = RodBuilder::new(line).section(section, rubber).end(End::Start, clamped).free_motion(settings).build()?;
///     let (mut step, mut v, control) = (RodStep::new(&rod), Vec::new(), rod.default_control());
///     step.begin(&rod.default_state(), &StepInput::new(0.05, Vector3::new(0.0, 0.0, -9.81), &control))?;
///     step.linearise_start(&mut v)?;
///     Ok::<_, RodError>(step.report().stop)
/// };
/// assert_eq!(stop(1)?, FreeMotionStop::IterationLimit);
/// assert_eq!(stop(60)?, FreeMotionStop::Converged);
/// # Ok::<(), RodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FreeMotionStop {
    /// The residual fell below the tolerance.
    #[default]
    Converged,
    /// The potential cannot be reduced any further because of round-off.
    RoundOff,
    /// The largest number of iterations was reached.
    IterationLimit,
}

/// Statistics of the free-motion solve of one step, from [`RodStep::report`](crate::RodStep::report).
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{BodyStep, DeformableModel, StartLinearisation, StepInput};
/// # use pliant_der::{Centreline, End, EndCondition, Material, RodBuilder, Section};
/// use pliant_der::RodStep;
///
/// // A cantilever of rubber that falls for 50 ms in one step.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 20);
/// # let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// # let clamped = EndCondition::Clamped { tangent: None };
/// # let rod = RodBuilder::new(line).section(section, rubber).end(End::Start, clamped).build()?;
/// let (mut step, mut v, control) = (RodStep::new(&rod), Vec::new(), rod.default_control());
/// step.begin(&rod.default_state(), &StepInput::new(0.05, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// step.linearise_start(&mut v)?;
/// let report = step.report();
/// assert!(report.residual <= 1e-4 && report.iterations >= 2);
/// assert!(report.evaluations > report.iterations);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeMotionReport {
    /// Newton iterations; the linearised step that follows is one more.
    pub iterations: u32,
    /// Evaluations of energy and derivatives: one more than iterations, plus those of rejected line search steps.
    pub evaluations: u32,
    /// Number of indefinite matrices that were shifted.
    pub shifts: u32,
    /// Final residual of the momentum balance relative to inertia, elastic forces and loads; compared with
    /// [`FreeMotionSettings::relative_tolerance`](crate::FreeMotionSettings::relative_tolerance).
    pub residual: f64,
    /// Why the iteration stopped.
    pub stop: FreeMotionStop,
}

impl FreeMotion {
    /// A at the velocity last evaluated, shifted by multiples of M until it is positive definite, and factored.
    fn assemble_and_factor(&mut self, rod: &RodParts, report: &mut FreeMotionReport) {
        self.assemble(rod);
        let mut shift = 0.0;
        // Each shift is four times the last: 50 of them cover the range of any stiffness.
        for _ in 0..50 {
            if self.factor.factor(&self.matrix, Pivots::Positive).is_ok() {
                break;
            }
            let increment = if shift == 0.0 { 1.0 } else { 3.0 * shift };
            shift += increment;
            for (i, m) in rod.mass.iter().enumerate() {
                if !self.held[i] {
                    self.matrix.add(i, i, increment * m);
                }
            }
        }
        report.shifts += u32::from(shift > 0.0);
    }

    /// Linearises at `v`, such as a velocity after contact: computes m and the factored A there.
    pub(crate) fn linearise(&mut self, rod: &RodParts, v: &[f64]) -> Result<(), Impossible> {
        self.velocity = self.with_held(v);
        let velocity = std::mem::take(&mut self.velocity);
        let evaluated = self.evaluate(rod, &velocity, DerivativeOrder::Hessian);
        self.velocity = velocity;
        evaluated?;
        self.assemble_and_factor(rod, &mut FreeMotionReport::default());
        Ok(())
    }

    /// Residual relative to the norms of its terms, and whether it is below the round-off of elastic forces.
    fn relative_residual(&self) -> (f64, bool) {
        let residual = self.norm(&self.residual);
        let scale = self.norm(&self.inertial) + self.norm(&self.elastic) + self.impulse_norm;
        let relative = if scale > 0.0 { residual / scale } else { 0.0 };
        (relative, residual <= self.round_off)
    }

    /// The largest fraction of `direction`, at most 1, that changes no edge by more than half its length.
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

    /// Minimises Φ from `self.velocity`, which becomes v; leaves m and the factored A at v.
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
        let mut merit = match self.evaluate(rod, v, DerivativeOrder::Hessian) {
            Ok(merit) => merit,
            // The start velocity leads to an inadmissible configuration: start from rest instead.
            Err(_) if self.scale() > 0.0 => {
                for (i, v) in v.iter_mut().enumerate() {
                    *v = if self.held[i] { self.start[i] } else { 0.0 };
                }
                self.evaluate(rod, v, DerivativeOrder::Hessian)?
            }
            Err(impossible) => return Err(impossible),
        };
        report.evaluations += 1;
        loop {
            self.assemble_and_factor(rod, report);
            let (relative, is_round_off) = self.relative_residual();
            report.residual = relative;
            if settings.linearised == Linearised::AtStart {
                return Ok(());
            }
            if relative <= settings.relative_tolerance || is_round_off {
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
            // The predicted decrease is below the resolution of the potential.
            if descent.abs() <= f64::EPSILON * merit.size {
                report.stop = FreeMotionStop::RoundOff;
                return Ok(());
            }
            let mut step_length = self.longest_step(rod);
            let mut accepted = false;
            // Shorter steps than 2⁻³⁰ of a Newton step do not change v.
            for _ in 0..30 {
                for ((next, v), d) in next.iter_mut().zip(v.iter()).zip(&self.direction) {
                    *next = v + step_length * d;
                }
                report.evaluations += 1;
                if let Ok(found) = self.evaluate(rod, next, DerivativeOrder::Hessian) {
                    // Armijo condition, with a margin for cancellation.
                    let enough = merit.value + 1e-4 * step_length * descent;
                    if found.value <= enough + 64.0 * f64::EPSILON * (merit.size + found.size) {
                        merit = found;
                        accepted = true;
                        break;
                    }
                }
                step_length *= 0.5;
            }
            if !accepted {
                // Restore the residual and the derivatives at v.
                self.evaluate(rod, v, DerivativeOrder::Hessian)?;
                report.stop = FreeMotionStop::RoundOff;
                return Ok(());
            }
            report.iterations += 1;
            std::mem::swap(v, next);
        }
    }
}
