//! Free motion: the velocity of a rod at the end of a step without contact, by minimisation of an incremental potential Φ.
//!
//! A step of the θ-method with q^θ = a + s v, s = θ θ_vq δt, solves m(v) = 0 with
//!
//! ```text
//! m(v) = M (v − v0) + δt (αM + βK̂) v^θ + δt ∇E(a + s v) − δt f,      m = ∇Φ
//! A    = ∂m/∂v = (1 + αθδt) M + βθδt K̂ + δt s ∇²E
//! ```
//!
//! with K̂ the material part of the stiffness at the start of the step. Newton's method with the full Hessian minimises Φ.
//! A is positive semidefinite at a minimum, but may be indefinite at an iterate; multiples of M are then added until it is
//! positive definite. Projecting each joint's Hessian to a positive semidefinite one instead needs five times the
//! iterations, because the indefinite parts of neighbouring joints cancel.
//!
//! # Source
//! Li and Chou 2025, eqs. 8-14. The potential Φ as merit function and the exact derivatives are additions.

use pliant_contact_sap::TimeStep;

use crate::elasticity::{DerivativeOrder, Elasticity, Reference};
use crate::free_motion_settings::FreeMotionSettings;
use crate::impossible::Impossible;
use crate::rod_matrix::{RodFactor, RodMatrix};
use crate::rod_parts::RodParts;

mod newton;

pub use newton::{FreeMotionReport, FreeMotionStop};

/// The minimisation problem of one step, with its workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeMotion {
    pub(crate) time_step: TimeStep,
    pub(crate) settings: FreeMotionSettings,
    pub(crate) reference: Reference,
    /// v0, with held velocities at their prescribed values.
    pub(crate) start: Vec<f64>,
    pub(crate) held: Vec<bool>,
    /// a.
    base: Vec<f64>,
    /// m(v0) without elastic forces, negated.
    impulse: Vec<f64>,
    /// βθδt K̂.
    damping: Option<RodMatrix>,
    round_off: f64,
    /// Weight of each unknown in norms: 0 if it is held, 1 for nodes, 1/√(I_p/A) for angles.
    weights: Vec<f64>,
    /// ‖impulse‖.
    impulse_norm: f64,

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

/// Σ term(a_i, b_i) in four lanes, so that the bits do not depend on the width of the registers.
#[inline]
fn sum_of_pairs(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let (a_fours, a_rest) = a.as_chunks::<4>();
    let (b_fours, b_rest) = b.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (a, b) in a_fours.iter().zip(b_fours) {
        for k in 0..4 {
            lanes[k] += term(a[k], b[k]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| term(*a, *b)).sum();
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

/// Value of the potential, and the sum of the magnitudes of its terms.
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

    /// Sets up the step from (`q0`, `self.start`) with generalised forces `force`. `self.reference`, `self.held` and
    /// `self.time_step` must be set before.
    pub(crate) fn set_up(
        &mut self,
        rod: &RodParts,
        q0: &[f64],
        force: &[f64],
    ) -> Result<(), Impossible> {
        let step = &self.time_step;
        let (dt, theta) = (step.length_s, step.integration.theta());
        let lead = theta * dt * (1.0 - step.integration.theta_vq());
        self.base.clear();
        let states = q0.iter().zip(&self.start);
        self.base.extend(states.map(|(q, v)| q + lead * v));
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
        // Error of elastic forces due to the rounding of positions.
        let reach = q0.iter().fold(0.0_f64, |a, q| a.max(q.abs()));
        let stretch = rod.stretch.iter().zip(&rod.rest_length);
        let stretch = stretch.map(|(ea, l)| ea * (1.0 + reach / l));
        // A joint's moment over the length of an edge: dominates where edges are shorter than the section is wide.
        let bend = rod.joint_stiffness.iter().zip(&rod.voronoi);
        let bend = bend.map(|(w, v)| 4.0 * (w.bend_1.max(w.bend_2) / v) * (1.0 + reach / v));
        let stiffest = stretch.chain(bend).fold(0.0, f64::max);
        self.round_off = 4.0 * f64::EPSILON * dt * stiffest * (q0.len() as f64).sqrt();

        let beta = rod.damping.stiffness;
        if beta > 0.0 {
            self.elasticity
                .evaluate(rod, &self.reference, q0, DerivativeOrder::Gradient)?;
            self.elasticity.keep_material_part(rod);
            let mut matrix = self.damping.take().unwrap_or_else(|| rod.new_matrix());
            self.elasticity.write_hessian(rod, beta * dt, &mut matrix);
            matrix.apply(&self.start, &mut self.direction);
            for (p, damped) in self.impulse.iter_mut().zip(&self.direction) {
                *p -= damped;
            }
            matrix.values_mut().iter_mut().for_each(|a| *a *= theta);
            self.damping = Some(matrix);
        } else {
            self.damping = None;
        }
        self.weights.clear();
        let weights = self.held.iter().enumerate().map(|(i, held)| match i % 4 {
            _ if *held => 0.0,
            3 => 1.0 / rod.polar_radius[i / 4],
            _ => 1.0,
        });
        self.weights.extend(weights);
        self.impulse_norm = self.norm(&self.impulse);
        Ok(())
    }

    /// The same problem with a workspace of its own, to evaluate it in a method of `&self`.
    pub(crate) fn evaluation_copy(&self) -> Self {
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
    fn evaluate(
        &mut self,
        rod: &RodParts,
        v: &[f64],
        order: DerivativeOrder,
    ) -> Result<Merit, Impossible> {
        let (dt, s) = (self.time_step.length_s, self.scale());
        self.q.clear();
        let terms = self.base.iter().zip(v);
        self.q.extend(terms.map(|(a, v)| a + s * v));
        let energy = self
            .elasticity
            .evaluate(rod, &self.reference, &self.q, order)?;
        let theta = self.time_step.integration.theta();
        let inertia = 1.0 + rod.damping.mass * theta * dt;
        // δ = v − v0.
        for (delta, (v, v0)) in self.trial.iter_mut().zip(v.iter().zip(&self.start)) {
            *delta = v - v0;
        }
        match &self.damping {
            Some(damping) => damping.apply(&self.trial, &mut self.inertial),
            None => self.inertial.fill(0.0),
        }
        for ((p, m), delta) in self.inertial.iter_mut().zip(&rod.mass).zip(&self.trial) {
            *p += inertia * m * delta;
        }
        let of_each = |x: &[f64], term: fn(f64) -> f64| {
            sum_of_pairs(x, &self.trial, |x, delta| term(x * delta))
        };
        let mut merit = Merit {
            value: 0.5 * of_each(&self.inertial, |x| x) - of_each(&self.impulse, |x| x),
            size: 0.5 * of_each(&self.inertial, f64::abs) + of_each(&self.impulse, f64::abs),
        };
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

    /// m(v) into `out`; rows of held velocities are M (v − v0), with v0 their prescribed values.
    pub(crate) fn residual_at(
        &mut self,
        rod: &RodParts,
        v: &[f64],
        out: &mut [f64],
    ) -> Result<(), Impossible> {
        let v_held = self.with_held(v);
        self.evaluate(rod, &v_held, DerivativeOrder::Gradient)?;
        out.copy_from_slice(&self.residual);
        for (i, out) in out.iter_mut().enumerate() {
            if self.held[i] {
                *out = rod.mass[i] * (v[i] - self.start[i]);
            }
        }
        Ok(())
    }

    /// Whether elastic forces depend on the velocity at the end of the step, so that Φ contains the elastic energy.
    pub(crate) fn depends_on_end_velocity(&self) -> bool {
        self.scale() > 0.0
    }

    /// Φ at `v`, with ½ M (v − v0)² added for held velocities, consistently with [`FreeMotion::residual_at`].
    pub(crate) fn potential_at(&mut self, rod: &RodParts, v: &[f64]) -> Result<f64, Impossible> {
        let v_held = self.with_held(v);
        let mut potential = self
            .evaluate(rod, &v_held, DerivativeOrder::Gradient)?
            .value;
        for (i, held) in self.held.iter().enumerate() {
            if *held {
                potential += 0.5 * rod.mass[i] * (v[i] - self.start[i]).powi(2);
            }
        }
        Ok(potential)
    }

    /// ∂m/∂v at `v`.
    pub(crate) fn into_tangent(
        mut self,
        rod: &RodParts,
        v: &[f64],
    ) -> Result<RodMatrix, Impossible> {
        let v_held = self.with_held(v);
        self.evaluate(rod, &v_held, DerivativeOrder::Hessian)?;
        self.matrix = rod.new_matrix();
        self.assemble(rod);
        Ok(self.matrix)
    }

    /// `v` with held velocities at their prescribed values.
    pub(crate) fn with_held(&self, v: &[f64]) -> Vec<f64> {
        let both = v.iter().zip(&self.start).zip(&self.held);
        both.map(|((v, v0), held)| if *held { *v0 } else { *v })
            .collect()
    }

    /// A at the velocity last evaluated, unshifted.
    fn assemble(&mut self, rod: &RodParts) {
        let (dt, s) = (self.time_step.length_s, self.scale());
        let inertia = 1.0 + rod.damping.mass * self.time_step.integration.theta() * dt;
        let (elasticity, matrix) = (&self.elasticity, &mut self.matrix);
        if let Some(damping) = &self.damping {
            matrix.values_mut().copy_from_slice(damping.values());
            if s > 0.0 {
                elasticity.add_hessian(rod, dt * s, matrix);
            }
        } else if s > 0.0 {
            elasticity.write_hessian(rod, dt * s, matrix);
        } else {
            matrix.fill(0.0);
        }
        matrix.add_diagonal(inertia, &rod.mass);
        for (i, held) in self.held.iter().enumerate() {
            if *held {
                self.matrix.decouple(i, rod.mass[i]);
            }
        }
    }

    /// ‖x‖ over the unknowns that are not held, with angles divided by the polar radius, N·s.
    fn norm(&self, x: &[f64]) -> f64 {
        sum_of_pairs(x, &self.weights, |x, w| (x * w) * (x * w)).sqrt()
    }

    /// ‖∇E − f‖ relative to ‖∇E‖ + ‖f‖ at `q0`, and the node with the largest residual force.
    pub(crate) fn static_residual(
        &mut self,
        rod: &RodParts,
        q0: &[f64],
        force: &[f64],
    ) -> Result<(f64, usize), Impossible> {
        self.elasticity
            .evaluate(rod, &self.reference, q0, DerivativeOrder::Gradient)?;
        self.elastic.fill(0.0);
        self.elasticity.add_gradient(rod, 1.0, &mut self.elastic);
        for ((m, e), f) in self.residual.iter_mut().zip(&self.elastic).zip(force) {
            *m = e - f;
        }
        let scale = self.norm(&self.elastic) + self.norm(force);
        let residual = self.norm(&self.residual);
        let mut worst = (0, 0.0);
        for (i, m) in self.residual.iter().enumerate() {
            if !self.held[i] && i % 4 != 3 && m.abs() > worst.1 {
                worst = (i / 4, m.abs());
            }
        }
        let relative = if scale > 0.0 { residual / scale } else { 0.0 };
        Ok((relative, worst.0))
    }
}
