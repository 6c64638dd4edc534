//! What a run did, in numbers.

use std::time::Duration;

use pliant_contact_sap::{LinearSystems, StageTimes};
use pliant_coupling::{AsynchronousReport, StepReport, StepTimes, Untrusted};
use serde::{Deserialize, Serialize};

use super::expectations::{Outcome, Verdict};

/// Statistics of a run: the object that `pliant run --json` prints.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
/// let summary = run(&scene, &options, &mut |_| {})?.summary;
/// // 50 steps of 2 ms of one body.
/// assert_eq!((summary.steps, summary.dofs), (50, 6));
/// assert_eq!((summary.unconverged_steps, summary.missed_contact_steps), (0, 0));
/// assert!(summary.contacts_mean <= summary.contacts_max as f64);
/// // Its expectations are of later times.
/// assert!(summary.is_as_expected());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Name of the scene.
    pub scene: String,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time, s.
    pub simulated_s: f64,
    /// Time it took, writing files left out, s.
    pub wall_s: f64,
    /// Simulated over real time.
    pub realtime_rate: f64,
    /// Velocities solved for, in the last step.
    pub dofs: usize,
    /// The same, mean over the steps: a grid of material points grows and shrinks.
    pub dofs_mean: f64,
    /// Contact points in the problem, mean over the steps.
    pub contacts_mean: f64,
    /// Most of them in one step.
    pub contacts_max: usize,
    /// Iterations of the solver, mean over the steps.
    pub iterations_mean: f64,
    /// Most of them in one step.
    pub iterations_max: usize,
    /// How the solver's linear systems were solved, and how many by each method.
    pub linear_systems: LinearSystems,
    /// Steps whose solver missed its tolerance.
    pub unconverged_steps: u64,
    /// Steps whose solver converged, but where two bodies may have passed into each other: see
    /// [`Convergence::missed_contact`](pliant_coupling::Convergence::missed_contact).
    pub missed_contact_steps: u64,
    /// Steps of penalty forces that converged, but whose contacts gave more energy than they had.
    #[serde(default)]
    pub energy_gain_steps: u64,
    /// Steps whose solver converged, but not the lagged rotations of a soft body in contact.
    pub unconverged_rotation_steps: u64,
    /// Steps whose solver converged, but not the friction bounds of a pair.
    pub unconverged_friction_steps: u64,
    /// Where the time went.
    pub stages: Stages,
    /// The substeps of the asynchronous stepper; `None` for other steppers.
    pub substeps: Option<SubstepSummary>,
    /// What was expected, and found.
    pub expectations: Vec<Verdict>,
}

/// Time by stage, s, over the whole run. The solver's stages are summed over its threads.
///
/// ```
/// use pliant::runner::{RunLength, RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-stack", &SceneOptions::default())?;
/// let options = RunOptions { length: RunLength::Until(0.1), ..RunOptions::default() };
/// let summary = run(&scene, &options, &mut |_| {})?.summary;
/// // Steps and recording are parts of the run.
/// let stages = &summary.stages;
/// assert!(stages.solver_assembly_s > 0.0 && stages.step_s > 0.0);
/// assert!(stages.drives_s + stages.step_s + stages.recording_s <= summary.wall_s);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stages {
    /// Targets, inverse kinematics, loads.
    pub drives_s: f64,
    /// Whole steps: bodies, contact geometry, solver, advance.
    pub step_s: f64,
    /// Of implicit steps: linearising and advancing bodies, elements included.
    pub bodies_s: f64,
    /// Of implicit steps: factors of the bodies' matrices for the predicted motion.
    pub factors_s: f64,
    /// Of implicit steps: contact geometry.
    pub geometry_s: f64,
    /// Of the solver: checks, islands, memory.
    pub solver_set_up_s: f64,
    /// Of the solver: costs, impulses, gradients.
    pub solver_gradient_s: f64,
    /// Of the solver: Hessians.
    pub solver_assembly_s: f64,
    /// Of the solver: factorisations.
    pub solver_linear_solve_s: f64,
    /// Of the solver: searches along directions.
    pub solver_line_search_s: f64,
    /// Observables and pictures.
    pub recording_s: f64,
}

/// The substeps of a run, means over all substeps but for their number.
///
/// ```
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a jelly in free fall"
///     simulation = { stepper = "asynchronous", smoke_s = 0.02, time_step_s = 0.01 }
///     grid = { spacing = 0.02 }
///     [[material_points]]
///     name = "jelly"
///     shape = { box = { size = [0.06, 0.06, 0.06] } }
///     constitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }
/// "#;
/// let scene = Scene::parse("jelly.toml", text, &SceneOptions::default())?;
/// let summary = run(&scene, &RunOptions::default(), &mut |_| {})?.summary;
/// let substeps = summary.substeps.ok_or("the stepper has substeps")?;
/// // An elastic wave passes a cell in less than a step; nothing is touched.
/// assert!(substeps.per_step_mean > 1.0);
/// assert_eq!(substeps.contacts_max, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubstepSummary {
    /// Substeps of a step, mean over the steps.
    pub per_step_mean: f64,
    /// Passes over the substeps of a step: [`AsynchronousReport::passes`](pliant_coupling::AsynchronousReport::passes).
    pub passes_mean: f64,
    /// The largest [`AsynchronousReport::linearisation_error`](pliant_coupling::AsynchronousReport::linearisation_error) of a step.
    pub linearisation_error_max: f64,
    /// Contacts of particles.
    pub contacts_mean: f64,
    /// Most of them in one substep.
    pub contacts_max: u32,
    /// Iterations of the contact solver.
    pub iterations_mean: f64,
    /// Time of sorting particles, s over the whole run, as are the others.
    pub sort_s: f64,
    /// Of stress and scatter.
    pub scatter_s: f64,
    /// Of finding contacts.
    pub detect_s: f64,
    /// Of solving contacts.
    pub solve_s: f64,
    /// Of gather, deformation and return mapping.
    pub gather_s: f64,
}

/// Sums over the substeps of a run.
#[derive(Clone, Copy, Debug, Default)]
struct SubstepTally {
    substeps: u64,
    passes: u64,
    linearisation_error_max: f64,
    contacts: u64,
    contacts_max: u32,
    iterations: u64,
    times: pliant_mpm::StageTimes,
}

impl SubstepTally {
    fn add(&mut self, asynchronous: &AsynchronousReport) {
        self.passes += u64::from(asynchronous.passes);
        let error = asynchronous.linearisation_error;
        self.linearisation_error_max = self.linearisation_error_max.max(error);
        let report = &asynchronous.substeps;
        self.substeps += u64::from(report.substeps);
        self.contacts += report.contacts;
        self.contacts_max = self.contacts_max.max(report.contacts_max);
        self.iterations += report.iterations;
        self.times += report.times;
    }

    fn summary(&self, steps: f64) -> SubstepSummary {
        let substeps = self.substeps.max(1) as f64;
        SubstepSummary {
            per_step_mean: self.substeps as f64 / steps,
            passes_mean: self.passes as f64 / steps,
            linearisation_error_max: self.linearisation_error_max,
            contacts_mean: self.contacts as f64 / substeps,
            contacts_max: self.contacts_max,
            iterations_mean: self.iterations as f64 / substeps,
            sort_s: self.times.sort_s,
            scatter_s: self.times.scatter_s,
            detect_s: self.times.detect_s,
            solve_s: self.times.solve_s,
            gather_s: self.times.gather_s,
        }
    }
}

impl RunSummary {
    /// Whether no expectation failed. Those that were skipped, as the run ended before their time, count as no failure.
    pub fn is_as_expected(&self) -> bool {
        self.expectations
            .iter()
            .all(|verdict| verdict.outcome != Outcome::Failed)
    }
}

/// Sums over the steps of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    pub(super) dofs: usize,
    dofs_sum: u64,
    contacts: u64,
    contacts_max: usize,
    iterations: u64,
    iterations_max: usize,
    systems: LinearSystems,
    unconverged: u64,
    missed_contact: u64,
    energy_gain: u64,
    unconverged_rotation: u64,
    unconverged_friction: u64,
    solver: StageTimes,
    of_step: StepTimes,
    substeps: SubstepTally,
    pub(super) drives: Duration,
    pub(super) step: Duration,
    pub(super) recording: Duration,
}

impl Tally {
    pub(super) fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.dofs = report.n_dofs;
        self.dofs_sum += report.n_dofs as u64;
        self.contacts += report.contacts.len() as u64;
        self.contacts_max = self.contacts_max.max(report.contacts.len());
        self.iterations += report.convergence.solve.iterations as u64;
        self.iterations_max = self.iterations_max.max(report.convergence.solve.iterations);
        self.systems = self.systems + report.convergence.solve.systems;
        match report.untrusted() {
            Some(Untrusted::Unsolved | Untrusted::Substeps(_) | Untrusted::ImplicitEquations) => {
                self.unconverged += 1
            }
            Some(Untrusted::MissedContact(_)) => self.missed_contact += 1,
            Some(Untrusted::EnergyGain(_)) => self.energy_gain += 1,
            Some(Untrusted::LaggedTerms(_)) => self.unconverged_rotation += 1,
            Some(Untrusted::Friction(_)) => self.unconverged_friction += 1,
            None => {}
        }
        self.solver = self.solver + report.convergence.solve.stages;
        self.of_step = self.of_step + report.times;
        if let Some(asynchronous) = &report.asynchronous {
            self.substeps.add(asynchronous);
        }
    }

    pub(super) fn iterations_mean(&self) -> f64 {
        self.iterations as f64 / self.steps.max(1) as f64
    }

    pub(super) fn summary(
        &self,
        scene: &str,
        simulated_s: f64,
        wall: Duration,
        verdicts: Vec<Verdict>,
    ) -> RunSummary {
        let steps = self.steps.max(1) as f64;
        RunSummary {
            scene: scene.into(),
            steps: self.steps,
            simulated_s,
            wall_s: wall.as_secs_f64(),
            realtime_rate: simulated_s / wall.as_secs_f64().max(1e-9),
            dofs: self.dofs,
            dofs_mean: self.dofs_sum as f64 / steps,
            contacts_mean: self.contacts as f64 / steps,
            contacts_max: self.contacts_max,
            iterations_mean: self.iterations_mean(),
            iterations_max: self.iterations_max,
            linear_systems: self.systems,
            unconverged_steps: self.unconverged,
            missed_contact_steps: self.missed_contact,
            energy_gain_steps: self.energy_gain,
            unconverged_rotation_steps: self.unconverged_rotation,
            unconverged_friction_steps: self.unconverged_friction,
            stages: Stages {
                drives_s: self.drives.as_secs_f64(),
                step_s: self.step.as_secs_f64(),
                bodies_s: self.of_step.bodies.as_secs_f64(),
                factors_s: self.of_step.factors.as_secs_f64(),
                geometry_s: self.of_step.geometry.as_secs_f64(),
                solver_set_up_s: self.solver.set_up.as_secs_f64(),
                solver_gradient_s: self.solver.gradient.as_secs_f64(),
                solver_assembly_s: self.solver.assembly.as_secs_f64(),
                solver_linear_solve_s: self.solver.linear_solve.as_secs_f64(),
                solver_line_search_s: self.solver.line_search.as_secs_f64(),
                recording_s: self.recording.as_secs_f64(),
            },
            substeps: (self.substeps.substeps > 0).then(|| self.substeps.summary(steps)),
            expectations: verdicts,
        }
    }
}
