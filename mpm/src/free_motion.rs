//! v*: the velocities of a step that nothing touches.

use nalgebra::Matrix3;

use pliant_contact_sap::{
    CgLimits, CgReport, CgStop, ConjugateGradients, ResidualNorm, forcing_term,
};

use crate::block_jacobi::BlockJacobi;
use crate::material::{Definiteness, Tangent};
use crate::system::{BlockMatrix, GridSystem};

/// What a linear solve may leave of its right-hand side at most; otherwise the square of how the residual last fell (Eisenstat and
/// Walker 1996, choice 2). Far from the minimum the model is off by more, and A, stiff where particles are crushed, takes a
/// thousand products to solve well.
const FORCING_MAX: f64 = 1e-2;

/// Where projected tangents bring the residual down by less than this part, the true ones are tried: at the minimum the sum of all
/// particles bends up, but single ones may bend down, and a model without their part converges linearly, by 0.6 to 0.97 an iteration
/// from wild states (Longva et al. 2023, "Pitfalls of projection").
const SLOW: f64 = 0.1;

/// How the free motion is found, where it must be: quadratic models never need it, their A and b say everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMotionSettings {
    /// Stop when the residual |M^(−½) m(v)| is below this part of max(|M^½ v|, |M^(−½) δt f|).
    pub rel_tolerance: f64,
    /// Newton iterations before the result is reported as suspicious.
    pub newton_iterations_max: u32,
    /// Iterations of one linear solve.
    pub linear_iterations_max: u32,
}

impl Default for FreeMotionSettings {
    /// 10⁻⁶ as in the paper, 100 Newton steps of at most 1000 products each: the worst of thousands of wild states takes 58, half of
    /// them take 10 at most.
    fn default() -> Self {
        Self {
            rel_tolerance: 1e-6,
            newton_iterations_max: 100,
            linear_iterations_max: 1000,
        }
    }
}

/// How a free motion was found.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeMotionReport {
    /// Newton iterations.
    pub newton_iterations: u32,
    /// Products with A in all of them.
    pub linear_iterations: u32,
    /// |M^(−½) m(v)| at the end, √J.
    pub residual: f64,
    /// What it had to be below.
    pub tolerance: f64,
}

impl FreeMotionReport {
    /// Whether the tolerance was met.
    #[must_use]
    pub fn is_converged(&self) -> bool {
        self.residual <= self.tolerance
    }
}

/// Memory of the search for v*.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeMotion {
    pub(crate) preconditioner: BlockJacobi,
    pub(crate) cg: ConjugateGradients,
    pub(crate) gradients: Vec<Matrix3<f64>>,
    pub(crate) trial_gradients: Vec<Matrix3<f64>>,
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    diagonal: Vec<f64>,
    true_tangents: Vec<Tangent<f64>>,
}

impl FreeMotion {
    /// Minimises E(v); `v` holds the result. Leaves the tangents of `system` at it, projected.
    pub(crate) fn solve(
        &mut self,
        system: &mut GridSystem,
        mut matrix: Option<&mut BlockMatrix>,
        settings: &FreeMotionSettings,
        v: &mut Vec<f64>,
    ) -> FreeMotionReport {
        let n = system.start.len();
        self.start(system, v);
        self.residual.resize(n, 0.0);
        self.step.resize(n, 0.0);
        let mut report = FreeMotionReport::default();
        let mut energy = f64::NAN;
        let mut before = 0.0;
        loop {
            system.residual(v, &self.gradients, &mut self.residual);
            report.residual = system.impulse_norm(&self.residual);
            report.tolerance = tolerance(system, settings, v);
            system.find_tangents(&self.gradients, Definiteness::Projected);
            let ended = report.newton_iterations >= settings.newton_iterations_max;
            if report.is_converged() || report.residual.is_nan() || ended {
                return report;
            }
            report.newton_iterations += 1;
            let needed = 0.3 * report.tolerance / report.residual;
            let fall = report.residual / before;
            let forcing = match system.is_quadratic() {
                true => needed,
                false => forcing_term(fall, needed, FORCING_MAX),
            };
            let is_slow = !system.is_quadratic() && fall.is_finite() && fall > SLOW;
            before = report.residual;
            system.diagonal(&system.tangents, &mut self.diagonal);
            self.preconditioner.factor(&self.diagonal);
            self.residual.iter_mut().for_each(|m| *m = -*m);
            let limits = CgLimits {
                norm: ResidualNorm::Preconditioned,
                relative_residual: forcing,
                iterations_max: settings.linear_iterations_max as usize,
            };
            let mut is_found = false;
            if is_slow {
                let mut tangents = std::mem::take(&mut self.true_tangents);
                system.tangents_into(&self.gradients, Definiteness::Exact, &mut tangents);
                let solved = self.solve_linear(system, matrix.as_deref_mut(), &tangents, limits);
                self.true_tangents = tangents;
                report.linear_iterations += solved.iterations as u32;
                is_found = solved.stop != CgStop::Indefinite;
            }
            if !is_found {
                let tangents = &system.tangents;
                let solved = self.solve_linear(system, matrix.as_deref_mut(), tangents, limits);
                report.linear_iterations += solved.iterations as u32;
            }
            if energy.is_nan() {
                energy = system.energy(v, &self.gradients);
            }
            match self.descend(system, v, energy, report.residual) {
                Some(lower) if is_slow && !is_found => {
                    energy = self.go_on(system, v, lower);
                }
                Some(lower) => energy = lower,
                // No step goes down: round-off has the last word.
                None => return report,
            }
        }
    }

    /// Solves A s = −m with A of `tangents`.
    fn solve_linear(
        &mut self,
        system: &GridSystem,
        matrix: Option<&mut BlockMatrix>,
        tangents: &[Tangent<f64>],
        limits: CgLimits<'_>,
    ) -> CgReport {
        let precondition = |r: &[f64], z: &mut [f64]| self.preconditioner.apply(r, z);
        let (b, x) = (&self.residual, &mut self.step);
        match matrix {
            Some(matrix) => {
                matrix.assemble(system, tangents);
                let apply = |x: &[f64], y: &mut [f64]| matrix.apply(x, y);
                self.cg.solve(&mut (apply, precondition), limits, b, x)
            }
            None => {
                let apply = |x: &[f64], y: &mut [f64]| system.apply(tangents, x, y);
                self.cg.solve(&mut (apply, precondition), limits, b, x)
            }
        }
    }

    /// v0 + δt M⁻¹f, or v0 where that would turn a particle inside out.
    fn start(&mut self, system: &GridSystem, v: &mut Vec<f64>) {
        let mut guess = Vec::with_capacity(system.start.len());
        for scale in [1.0, 0.0] {
            guess.clear();
            let each = system.start.iter().zip(&system.external).enumerate();
            guess.extend(each.map(|(i, (v0, f))| v0 + scale * f / system.mass[i / 3]));
            system.admissible(&guess, v);
            system.step_gradients(v, &mut self.gradients);
            if scale == 0.0 || system.energy(v, &self.gradients).is_finite() {
                break;
            }
        }
        // Deep in the forbidden, only rest is sure to be allowed.
        if !system.energy(v, &self.gradients).is_finite() {
            guess.fill(0.0);
            system.admissible(&guess, v);
            system.step_gradients(v, &mut self.gradients);
        }
    }

    /// Goes along the step until the energy has fallen enough (Armijo), and returns it. Near the minimum, where the fall is
    /// lost in round-off, a full step that halves the residual will do.
    fn descend(
        &mut self,
        system: &GridSystem,
        v: &mut Vec<f64>,
        energy: f64,
        residual: f64,
    ) -> Option<f64> {
        // The residual holds −m.
        let each = self.residual.iter().zip(&self.step);
        let slope: f64 = each.map(|(r, s)| -r * s).sum();
        let kinetic: f64 = v
            .iter()
            .enumerate()
            .map(|(i, v)| system.mass[i / 3] * v * v)
            .sum();
        let visible = 1e-9 * (energy.abs() + kinetic);
        let mut length = 1.0;
        for _ in 0..30 {
            self.trial.clear();
            let each = v.iter().zip(&self.step);
            self.trial.extend(each.map(|(v, s)| v + length * s));
            system.step_gradients(&self.trial, &mut self.trial_gradients);
            let lower = system.energy(&self.trial, &self.trial_gradients);
            let mut falls = lower <= energy + 1e-4 * length * slope;
            if !falls && length == 1.0 && (lower - energy).abs() <= visible {
                self.trial_residual.resize(v.len(), 0.0);
                system.residual(&self.trial, &self.trial_gradients, &mut self.trial_residual);
                falls = system.impulse_norm(&self.trial_residual) <= 0.5 * residual;
            }
            if falls {
                std::mem::swap(v, &mut self.trial);
                std::mem::swap(&mut self.gradients, &mut self.trial_gradients);
                return Some(lower);
            }
            length *= 0.5;
        }
        None
    }

    /// Goes on along the step, twice as far each time, while the energy falls, and returns it: where the true tangents bend down, projected
    /// ones know no length, and leave a saddle by small steps.
    fn go_on(&mut self, system: &GridSystem, v: &mut Vec<f64>, energy: f64) -> f64 {
        let (mut lowest, mut length) = (energy, 1.0);
        for _ in 0..30 {
            self.trial.clear();
            let each = v.iter().zip(&self.step);
            self.trial.extend(each.map(|(v, s)| v + length * s));
            system.step_gradients(&self.trial, &mut self.trial_gradients);
            let lower = system.energy(&self.trial, &self.trial_gradients);
            if !(lower < lowest) {
                break;
            }
            std::mem::swap(v, &mut self.trial);
            std::mem::swap(&mut self.gradients, &mut self.trial_gradients);
            lowest = lower;
            length *= 2.0;
        }
        lowest
    }
}

/// What |M^(−½) m| must be below: a part of the momentum at hand, or what round-off of stress makes of it.
fn tolerance(system: &GridSystem, settings: &FreeMotionSettings, v: &[f64]) -> f64 {
    let momentum: f64 = v
        .iter()
        .enumerate()
        .map(|(i, v)| system.mass[i / 3] * v * v)
        .sum();
    let external = system.impulse_norm(&system.external);
    let floor: f64 = system
        .particles
        .iter()
        .map(|p| p.volume * system.materials[p.object as usize].wave_modulus())
        .sum();
    // √(Σ m c²) is the momentum at the speed of sound.
    (settings.rel_tolerance * momentum.sqrt().max(external)).max(1e-13 * floor.sqrt())
}
