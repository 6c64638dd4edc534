//! Free motion v*: the velocities of a step without constraints.

use pliant_contact_sap::{
    Cancellation, CgLimits, CgReport, CgStop, ConjugateGradients, ResidualNorm, forcing_term,
};

use crate::block_jacobi::BlockJacobi;
use crate::material::Definiteness;
use crate::system::{BlockMatrix, Blocks, GridSystem, StepMotion, Tangents};

/// Largest forcing term. Far from the minimum the quadratic model is inaccurate, and A is ill-conditioned where particles are strongly
/// compressed: accurate solves would take a thousand products.
const FORCING_MAX: f64 = 1e-2;

/// If projected tangents reduce the residual only to more than this fraction, the exact ones are tried. At the minimum the total energy is
/// convex, but that of single particles may not be; projection then makes Newton's method converge linearly, by 0.6 to 0.97 per
/// iteration in tests with extreme states (Longva et al. 2023, "Pitfalls of projection").
const SLOW_REDUCTION: f64 = 0.1;

/// Settings of the search for the free motion. Quadratic models do not need it: A and b define them completely.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_constitutive::{Lame, NeoHookean};
/// # use pliant_contact_sap::{BodyState, DeformableModel, SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, ObjectSpec, Sampling, fill};
/// use pliant_mpm::{FreeMotionSettings, MpmSettings};
///
/// // A rubber cube that turns at 20 rad/s, with one Newton iteration, which is not enough, or 100.
/// for (newton_iterations_max, converges) in [(1, false), (100, true)] {
///     let free_motion = FreeMotionSettings { newton_iterations_max, ..FreeMotionSettings::default() };
///     let settings = MpmSettings { free_motion, ..MpmSettings::new(0.02) };
/// #     let points = fill("rubber", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// #     let material = std::sync::Arc::new(NeoHookean::new(Lame::from_young_poisson(1e5, 0.4)?)?);
/// #     let mut rubber = ObjectSpec::new("rubber", material, 1000.0, points);
/// #     rubber.angular_velocity_W = Vector3::z() * 20.0;
/// #     let mut model = MpmBuilder::new(settings);
/// #     model.object(rubber);
/// #     let mut builder = WorldBuilder::default();
/// #     builder.add_body("rubber", Box::new(model.build()?));
/// #     let (world, mut next) = (builder.build()?, State::default());
/// #     let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
///     let report = stepper.step(&world, &world.default_state(), 0.01, &mut next)?;
///     assert_eq!(report.warnings.is_empty(), converges);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMotionSettings {
    /// Largest residual |M^(−½) m(v)| relative to max(|M^½ v|, |M^(−½) δt f|).
    pub rel_tolerance: f64,
    /// Largest number of Newton iterations; a result that has not converged by then is reported.
    pub newton_iterations_max: u32,
    /// Largest number of iterations of one linear solve.
    pub linear_iterations_max: u32,
}

impl Default for FreeMotionSettings {
    /// 10⁻⁶ as in the paper, and 100 Newton iterations of at most 1000 products each. Of thousands of random extreme states the worst takes
    /// 58 iterations, the median 10.
    fn default() -> Self {
        Self {
            rel_tolerance: 1e-6,
            newton_iterations_max: 100,
            linear_iterations_max: 1000,
        }
    }
}

/// Report on the search for the free motion.
///
/// ```
/// use pliant_mpm::FreeMotionReport;
///
/// let report = FreeMotionReport { newton_iterations: 100, residual: 2e-3, tolerance: 1e-5, ..FreeMotionReport::default() };
/// assert!(!report.is_converged());
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeMotionReport {
    /// Newton iterations.
    pub newton_iterations: u32,
    /// Products with A in all iterations.
    pub linear_iterations: u32,
    /// Final |M^(−½) m(v)|, √J.
    pub residual: f64,
    /// Largest residual of a converged motion.
    pub tolerance: f64,
}

impl FreeMotionReport {
    /// Whether the residual is within the tolerance.
    #[must_use]
    pub fn is_converged(&self) -> bool {
        self.residual <= self.tolerance
    }
}

/// Workspace of the search for v*.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeMotion {
    pub(crate) preconditioner: BlockJacobi,
    pub(crate) cg: ConjugateGradients,
    pub(crate) motion: StepMotion,
    pub(crate) trial_motion: StepMotion,
    residual: Vec<f64>,
    trial_residual: Vec<f64>,
    step: Vec<f64>,
    trial: Vec<f64>,
    diagonal: Vec<f64>,
    true_tangents: Tangents,
}

impl FreeMotion {
    /// Minimises E(v); `v` is overwritten with the result. The tangents of `system` are then the projected ones at `v`.
    pub(crate) fn solve(
        &mut self,
        system: &mut GridSystem,
        mut matrix: Option<&mut BlockMatrix>,
        settings: &FreeMotionSettings,
        cancellation: &Cancellation,
        v: &mut Vec<f64>,
    ) -> FreeMotionReport {
        let n = system.start.len();
        self.start(system, v);
        self.residual.resize(n, 0.0);
        self.step.resize(n, 0.0);
        let mut report = FreeMotionReport::default();
        let mut energy = f64::NAN;
        let mut last_residual = 0.0;
        loop {
            system.residual(v, &self.motion, &mut self.residual);
            report.residual = system.impulse_norm(&self.residual);
            report.tolerance = tolerance(system, settings, v);
            system.find_tangents(&self.motion, Definiteness::Projected);
            let at_limit = report.newton_iterations >= settings.newton_iterations_max;
            let is_at_end = at_limit || cancellation.is_requested();
            if report.is_converged() || report.residual.is_nan() || is_at_end {
                return report;
            }
            report.newton_iterations += 1;
            let forcing_min = 0.3 * report.tolerance / report.residual;
            let reduction = report.residual / last_residual;
            let forcing = match system.is_quadratic() {
                true => forcing_min,
                false => forcing_term(reduction, forcing_min, FORCING_MAX),
            };
            let is_slow =
                !system.is_quadratic() && reduction.is_finite() && reduction > SLOW_REDUCTION;
            last_residual = report.residual;
            system.diagonal(&system.tangents, Blocks::Near, &mut self.diagonal);
            self.preconditioner.factor(&self.diagonal);
            self.residual.iter_mut().for_each(|m| *m = -*m);
            let limits = CgLimits {
                norm: ResidualNorm::Preconditioned,
                relative_residual: forcing,
                iterations_max: settings.linear_iterations_max as usize,
            };
            let mut is_solved = false;
            if is_slow {
                let mut tangents = std::mem::take(&mut self.true_tangents);
                system.tangents_into(&self.motion, Definiteness::Exact, &mut tangents);
                let solved = self.solve_linear(system, matrix.as_deref_mut(), &tangents, limits);
                self.true_tangents = tangents;
                report.linear_iterations += solved.iterations as u32;
                is_solved = solved.stop != CgStop::Indefinite;
            }
            if !is_solved {
                let tangents = &system.tangents;
                let solved = self.solve_linear(system, matrix.as_deref_mut(), tangents, limits);
                report.linear_iterations += solved.iterations as u32;
            }
            if energy.is_nan() {
                energy = system.energy(v, &self.motion);
            }
            match self.search_line(system, v, energy, report.residual) {
                Some(lower) if is_slow && !is_solved => {
                    energy = self.extend_step(system, v, lower);
                }
                Some(lower) => energy = lower,
                // No decrease to round-off.
                None => return report,
            }
        }
    }

    /// Solves A s = −m with A of `tangents`.
    fn solve_linear(
        &mut self,
        system: &GridSystem,
        matrix: Option<&mut BlockMatrix>,
        tangents: &Tangents,
        limits: CgLimits<'_>,
    ) -> CgReport {
        let precondition = |r: &[f64], z: &mut [f64]| self.preconditioner.apply(r, z);
        let (b, x) = (&self.residual, &mut self.step);
        match matrix {
            Some(matrix) => {
                matrix.assemble(system, &tangents.particles);
                let apply = |x: &[f64], y: &mut [f64]| matrix.apply(x, y);
                self.cg.solve(&mut (apply, precondition), limits, b, x)
            }
            None => {
                let apply = |x: &[f64], y: &mut [f64]| system.apply(tangents, x, y);
                self.cg.solve(&mut (apply, precondition), limits, b, x)
            }
        }
    }

    /// Starts at v0 + δt M⁻¹f, or at v0 if that would invert a particle.
    fn start(&mut self, system: &GridSystem, v: &mut Vec<f64>) {
        let mut guess = Vec::with_capacity(system.start.len());
        for scale in [1.0, 0.0] {
            guess.clear();
            let each = system.start.iter().zip(&system.external).enumerate();
            guess.extend(each.map(|(i, (v0, f))| v0 + scale * f / system.mass[i / 3]));
            system.admissible(&guess, v);
            system.motion(v, &mut self.motion);
            if scale == 0.0 || system.energy(v, &self.motion).is_finite() {
                break;
            }
        }
        // Velocities may be inadmissible altogether; rest is admissible.
        if !system.energy(v, &self.motion).is_finite() {
            guess.fill(0.0);
            system.admissible(&guess, v);
            system.motion(v, &mut self.motion);
        }
    }

    /// Line search by Armijo's condition; returns the energy, or `None` without sufficient decrease. Near the minimum, where the decrease
    /// is below round-off, a full step that halves the residual is accepted.
    fn search_line(
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
        let round_off = 1e-9 * (energy.abs() + kinetic);
        let mut length = 1.0;
        for _ in 0..30 {
            let lower = self.try_step(system, v, length);
            let mut decreases = lower <= energy + 1e-4 * length * slope;
            if !decreases && length == 1.0 && (lower - energy).abs() <= round_off {
                self.trial_residual.resize(v.len(), 0.0);
                system.residual(&self.trial, &self.trial_motion, &mut self.trial_residual);
                decreases = system.impulse_norm(&self.trial_residual) <= 0.5 * residual;
            }
            if decreases {
                self.accept_trial(v);
                return Some(lower);
            }
            length *= 0.5;
        }
        None
    }

    /// Energy at `v` plus `length` times the step.
    fn try_step(&mut self, system: &GridSystem, v: &[f64], length: f64) -> f64 {
        self.trial.clear();
        let each = v.iter().zip(&self.step);
        self.trial.extend(each.map(|(v, s)| v + length * s));
        system.motion(&self.trial, &mut self.trial_motion);
        system.energy(&self.trial, &self.trial_motion)
    }

    fn accept_trial(&mut self, v: &mut Vec<f64>) {
        std::mem::swap(v, &mut self.trial);
        std::mem::swap(&mut self.motion, &mut self.trial_motion);
    }

    /// Doubles the step while the energy decreases, and returns the energy. Where exact tangents have negative curvature, projected ones give
    /// no scale of the step, and unit steps leave a saddle slowly.
    fn extend_step(&mut self, system: &GridSystem, v: &mut Vec<f64>, energy: f64) -> f64 {
        let (mut lowest, mut length) = (energy, 1.0);
        for _ in 0..30 {
            let lower = self.try_step(system, v, length);
            if !(lower < lowest) {
                break;
            }
            self.accept_trial(v);
            lowest = lower;
            length *= 2.0;
        }
        lowest
    }
}

/// Largest |M^(−½) m| of a converged motion: relative to the present momentum, or the round-off of stress.
fn tolerance(system: &GridSystem, settings: &FreeMotionSettings, v: &[f64]) -> f64 {
    let momentum: f64 = v
        .iter()
        .enumerate()
        .map(|(i, v)| system.mass[i / 3] * v * v)
        .sum();
    let external = system.impulse_norm(&system.external);
    let particles = system.particles.iter().enumerate();
    let floor: f64 = particles
        .map(|(k, p)| p.volume * system.wave_modulus(k))
        .sum();
    // √(Σ m c²) is the momentum at the speed of sound.
    (settings.rel_tolerance * momentum.sqrt().max(external)).max(1e-13 * floor.sqrt())
}
