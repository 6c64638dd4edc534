//! Free motion: the velocity that a rod would have without contact, by minimisation.
//!
//! A step of the θ-family with q^θ = a + s v, s = θ θ_vq δt, makes m(v) = 0 of
//!
//! ```text
//! m(v) = M (v − v0) + δt (αM + βK̂) v^θ + δt ∇E(a + s v) − δt f,      m = ∇Φ
//! A    = ∂m/∂v = (1 + αθδt) M + βθδt K̂ + δt s ∇²E
//! ```
//!
//! with K̂ the material part of the stiffness at the start of the step. Newton's method with the full Hessian minimises Φ:
//! at a minimum A is positive semidefinite, on the way it may not be, and then M is added until it is. Clamping
//! eigenvalues joint by joint instead costs five times the iterations: the indefinite parts of neighbouring joints cancel.
//!
//! Source: Li and Chou 2025, eqs. 8-14; the merit function and the exact derivatives are this crate's own.

use pliant_contact_sap::TimeStep;

use crate::elasticity::{Depth, Elasticity, Impossible, Reference};
use crate::error::RodError;
use crate::rod::RodParts;
use crate::rod_matrix::{Pivots, RodFactor, RodMatrix};
use crate::section::parameter;

/// How free motion is solved for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMotionSettings {
    /// The residual relative to inertia, elastic forces and loads at which Newton stops. The linearised step that follows
    /// is one more Newton step, so that the velocity is better than this by its square.
    pub relative_tolerance: f64,
    /// Newton iterations before a step is taken with a warning.
    pub iterations_max: u32,
}

impl Default for FreeMotionSettings {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-4, // the linearised step after it leaves the square: 1e-7 and less
            iterations_max: 60,
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

/// What one free motion minimises, and the memory to do it in.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeMotion {
    pub(crate) time_step: TimeStep,
    pub(crate) settings: FreeMotionSettings,
    pub(crate) reference: Reference,
    /// v0, held velocities being what they are held at.
    pub(crate) start: Vec<f64>,
    pub(crate) held: Vec<bool>,
    /// a.
    base: Vec<f64>,
    /// m(v0) without elastic forces, negated.
    impulse: Vec<f64>,
    /// βθδt K̂.
    damping: Option<RodMatrix>,
    round_off: f64,

    pub(crate) elasticity: Elasticity,
    q: Vec<f64>,
    /// v.
    pub(crate) velocity: Vec<f64>,
    /// m.
    pub(crate) residual: Vec<f64>,
    inertial: Vec<f64>,
    elastic: Vec<f64>,
    trial: Vec<f64>,
    direction: Vec<f64>,
    candidate: Vec<f64>,
    /// A, positive definite.
    pub(crate) matrix: RodMatrix,
    /// Its factors.
    pub(crate) factor: RodFactor,
}

/// Value of the potential and the size of the terms it is the sum of.
#[derive(Clone, Copy, Debug)]
struct Merit {
    value: f64,
    size: f64,
}

impl FreeMotion {
    pub(crate) fn new(settings: FreeMotionSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Sets up the step from (`q0`, `self.start`) with generalised forces `force`; `self.reference`, `self.held` and
    /// `self.time_step` are to be set before.
    pub(crate) fn open(
        &mut self,
        rod: &RodParts,
        q0: &[f64],
        force: &[f64],
    ) -> Result<(), Impossible> {
        let step = &self.time_step;
        let (dt, theta) = (step.length_s, step.integration.theta());
        let lead = theta * dt * (1.0 - step.integration.theta_vq());
        self.base.clear();
        let places = q0.iter().zip(&self.start);
        self.base.extend(places.map(|(q, v)| q + lead * v));
        self.impulse.clear();
        let alpha = rod.damping.mass;
        let terms = force.iter().zip(&rod.mass).zip(&self.start);
        self.impulse
            .extend(terms.map(|((f, m), v)| dt * (f - alpha * m * v)));
        self.velocity.clone_from(&self.start);
        for values in [
            &mut self.residual,
            &mut self.inertial,
            &mut self.elastic,
            &mut self.trial,
            &mut self.direction,
        ] {
            values.clear();
            values.resize(q0.len(), 0.0);
        }
        if self.matrix.n() != q0.len() {
            self.matrix = rod.new_matrix();
        }
        // What rounding of positions makes of elastic forces.
        let reach = q0.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
        let stretch = rod.stretch.iter().zip(&rod.rest_length);
        let stretch = stretch.map(|(ea, l)| ea * (1.0 + reach / l));
        // A joint's moment over the length of an edge: what rules where edges are shorter than the section is wide.
        let bend = rod.joint_stiffness.iter().zip(&rod.voronoi);
        let bend = bend.map(|(w, v)| 4.0 * (w.bend_1.max(w.bend_2) / v) * (1.0 + reach / v));
        let stiffest = stretch.chain(bend).fold(0.0, f64::max);
        self.round_off = 4.0 * f64::EPSILON * dt * stiffest * (q0.len() as f64).sqrt();

        let beta = rod.damping.stiffness;
        if beta > 0.0 {
            self.elasticity
                .evaluate(rod, &self.reference, q0, Depth::Gradient)?;
            self.elasticity.keep_material_part(rod);
            let mut matrix = self.damping.take().unwrap_or_else(|| rod.new_matrix());
            matrix.fill(0.0);
            self.elasticity.add_hessian(rod, beta * dt, &mut matrix);
            matrix.apply(&self.start, &mut self.direction);
            for (p, damped) in self.impulse.iter_mut().zip(&self.direction) {
                *p -= damped;
            }
            matrix.values_mut().iter_mut().for_each(|a| *a *= theta);
            self.damping = Some(matrix);
        } else {
            self.damping = None;
        }
        Ok(())
    }

    /// The same problem with memory of its own to evaluate it in.
    pub(crate) fn apart(&self) -> Self {
        let n = self.start.len();
        Self {
            time_step: self.time_step,
            settings: self.settings,
            reference: self.reference.clone(),
            start: self.start.clone(),
            held: self.held.clone(),
            base: self.base.clone(),
            impulse: self.impulse.clone(),
            damping: self.damping.clone(),
            residual: vec![0.0; n],
            inertial: vec![0.0; n],
            elastic: vec![0.0; n],
            trial: vec![0.0; n],
            ..Self::default()
        }
    }

    fn scale(&self) -> f64 {
        self.time_step.integration.theta() * self.time_step.positions_s()
    }

    /// Φ and m at `v`, into `self.residual`.
    fn evaluate(&mut self, rod: &RodParts, v: &[f64], depth: Depth) -> Result<Merit, Impossible> {
        let (dt, s) = (self.time_step.length_s, self.scale());
        self.q.clear();
        let places = self.base.iter().zip(v);
        self.q.extend(places.map(|(a, v)| a + s * v));
        let energy = self
            .elasticity
            .evaluate(rod, &self.reference, &self.q, depth)?;
        let theta = self.time_step.integration.theta();
        let inertia = 1.0 + rod.damping.mass * theta * dt;
        // δ = v − v0.
        let mut merit = Merit {
            value: 0.0,
            size: 0.0,
        };
        for (delta, (v, v0)) in self.trial.iter_mut().zip(v.iter().zip(&self.start)) {
            *delta = v - v0;
        }
        match &self.damping {
            Some(damping) => damping.apply(&self.trial, &mut self.inertial),
            None => self.inertial.fill(0.0),
        }
        for (i, p) in self.inertial.iter_mut().enumerate() {
            let delta = self.trial[i];
            *p += inertia * rod.mass[i] * delta;
            let (quadratic, linear) = (0.5 * *p * delta, self.impulse[i] * delta);
            merit.value += quadratic - linear;
            merit.size += quadratic.abs() + linear.abs();
        }
        if s > 0.0 {
            let weight = dt / s;
            merit.value += weight * energy.total();
            merit.size += weight * energy.total();
        }
        self.elastic.fill(0.0);
        self.elasticity.add_gradient(rod, dt, &mut self.elastic);
        for i in 0..self.residual.len() {
            self.residual[i] = if self.held[i] {
                0.0
            } else {
                self.inertial[i] + self.elastic[i] - self.impulse[i]
            };
        }
        Ok(merit)
    }

    /// m(v) into `out`; rows of held velocities are M (v − what they are held at).
    pub(crate) fn residual_at(
        &mut self,
        rod: &RodParts,
        v: &[f64],
        out: &mut [f64],
    ) -> Result<(), Impossible> {
        let held_as_told = self.with_held(v);
        self.evaluate(rod, &held_as_told, Depth::Gradient)?;
        out.copy_from_slice(&self.residual);
        for (i, out) in out.iter_mut().enumerate() {
            if self.held[i] {
                *out = rod.mass[i] * (v[i] - self.start[i]);
            }
        }
        Ok(())
    }

    /// y = (∂m/∂v) x at `v`.
    pub(crate) fn tangent_at(
        &mut self,
        rod: &RodParts,
        v: &[f64],
        x: &[f64],
        y: &mut [f64],
    ) -> Result<(), Impossible> {
        let held_as_told = self.with_held(v);
        self.evaluate(rod, &held_as_told, Depth::Hessian)?;
        self.matrix = rod.new_matrix();
        self.assemble(rod);
        self.matrix.apply(x, y);
        Ok(())
    }

    /// `v` with held velocities as they are held.
    pub(crate) fn with_held(&self, v: &[f64]) -> Vec<f64> {
        let both = v.iter().zip(&self.start).zip(&self.held);
        both.map(|((v, v0), held)| if *held { *v0 } else { *v })
            .collect()
    }

    /// A at the velocity last evaluated, unshifted.
    fn assemble(&mut self, rod: &RodParts) {
        let (dt, s) = (self.time_step.length_s, self.scale());
        let inertia = 1.0 + rod.damping.mass * self.time_step.integration.theta() * dt;
        match &self.damping {
            Some(damping) => self.matrix.values_mut().copy_from_slice(damping.values()),
            None => self.matrix.fill(0.0),
        }
        if s > 0.0 {
            self.elasticity.add_hessian(rod, dt * s, &mut self.matrix);
        }
        for (i, m) in rod.mass.iter().enumerate() {
            self.matrix.add(i, i, inertia * m);
        }
        for (i, held) in self.held.iter().enumerate() {
            if *held {
                self.matrix.decouple(i, rod.mass[i]);
            }
        }
    }

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

    /// ‖x‖ over what is not held, angles divided by the polar radius: N·s.
    fn norm(&self, rod: &RodParts, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, x) in x.iter().enumerate() {
            if !self.held[i] {
                let x = if i % 4 == 3 {
                    x / rod.polar_radius[i / 4]
                } else {
                    *x
                };
                sum += x * x;
            }
        }
        sum.sqrt()
    }

    /// ‖∇E − f‖ relative to ‖∇E‖ + ‖f‖ at `q0`, and the node with the largest force left.
    pub(crate) fn static_residual(
        &mut self,
        rod: &RodParts,
        q0: &[f64],
        force: &[f64],
    ) -> Result<(f64, usize), Impossible> {
        self.elasticity
            .evaluate(rod, &self.reference, q0, Depth::Gradient)?;
        self.elastic.fill(0.0);
        self.elasticity.add_gradient(rod, 1.0, &mut self.elastic);
        for ((m, e), f) in self.residual.iter_mut().zip(&self.elastic).zip(force) {
            *m = e - f;
        }
        let scale = self.norm(rod, &self.elastic) + self.norm(rod, force);
        let residual = self.norm(rod, &self.residual);
        let mut worst = (0, 0.0);
        for (i, m) in self.residual.iter().enumerate() {
            if !self.held[i] && i % 4 != 3 && m.abs() > worst.1 {
                worst = (i / 4, m.abs());
            }
        }
        let relative = if scale > 0.0 { residual / scale } else { 0.0 };
        Ok((relative, worst.0))
    }

    /// Residual relative to the terms it is the sum of, and whether all that is left of it is round-off.
    fn relative_residual(&self, rod: &RodParts) -> (f64, bool) {
        let residual = self.norm(rod, &self.residual);
        let scale = self.norm(rod, &self.inertial)
            + self.norm(rod, &self.elastic)
            + self.norm(rod, &self.impulse);
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
            let change = s * (at(b) - at(a)).norm();
            if change * longest > 0.5 * edge.length {
                longest = 0.5 * edge.length / change;
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
            let (relative, is_noise) = self.relative_residual(rod);
            report.residual = relative;
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
            let descent: f64 = self
                .direction
                .iter()
                .zip(&self.residual)
                .map(|(d, m)| d * m)
                .sum();
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
