//! Table 1 of Ding and Schroeder (2020): seconds a frame of their scenes, beside the published ones.
//!
//! The paper prints seconds a frame and not how long a frame is; here it is 1/24 s. If a frame were one step, the ratios would be higher by 1/(24 Δt).

mod rows;

use std::time::{Duration, Instant};

use pliant::runner::check;
use pliant_contact_sap::SolverKind;
use pliant_coupling::{PenaltyForceTimes, State, StepReport, WalkCounts};

use crate::error::BenchError;
use crate::scene_run::{SceneRun, particles_and_vertices};

/// Length of a frame of the paper, s.
pub const FRAME_S: f64 = 1.0 / 24.0;

/// A row of the paper's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyRow {
    /// The scene at the paper's time step.
    pub run: SceneRun,
    /// Seconds a frame as printed, if legible.
    pub frame_s: Option<f64>,
    /// Threads of the printed time.
    pub threads: u32,
    /// Particles as printed, if any.
    pub particles: Option<usize>,
}

/// How long a measurement may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Simulated time, s; that of the row by default.
    pub simulated_s: Option<f64>,
    /// Wall time of a row, after which no further step begins.
    pub wall: Duration,
}

/// A measured row.
#[derive(Clone, Debug)]
pub struct MeasuredPenaltyRow {
    row: PenaltyRow,
    /// Steps taken and simulated time, s.
    pub steps: u64,
    simulated_s: f64,
    time_step_s: f64,
    dofs: usize,
    particles: usize,
    contacts: u64,
    iterations: u64,
    krylov: u64,
    untrusted: u64,
    wall: Duration,
    times: PenaltyForceTimes,
    /// Relaxations on triangle meshes, at the end of each step.
    pub walks: WalkCounts,
}

/// All rows, fast ones first.
#[must_use]
pub fn rows() -> Vec<PenaltyRow> {
    rows::rows()
}

/// Scenes with more and more contacts, and with more and more particles.
#[must_use]
pub fn growth_rows() -> Vec<PenaltyRow> {
    rows::growth()
}

/// The rows with these names; all rows if there are none.
///
/// # Errors
/// [`BenchError::NoSuchRow`] for a name without a row.
pub fn rows_named(names: &[String]) -> Result<Vec<PenaltyRow>, BenchError> {
    let mut rows = rows();
    let known: Vec<&str> = rows.iter().map(|row| row.run.name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(BenchError::NoSuchRow {
            name: name.clone(),
            known: known.join(", "),
        });
    }
    rows.retain(|row| names.is_empty() || names.iter().any(|name| row.run.name == name));
    Ok(rows)
}

impl PenaltyRow {
    /// Steps the scene on the current thread pool. The first step is not timed: it makes the workspaces.
    ///
    /// # Errors
    /// [`BenchError::Scene`] for a scene that cannot be run.
    pub fn measure(&self, limits: &Limits) -> Result<MeasuredPenaltyRow, BenchError> {
        let failed = |e: &dyn std::error::Error| BenchError::Scene {
            name: self.run.name.into(),
            reason: e.to_string(),
        };
        let scene = self.run.load()?;
        let assembly = check(&scene).map_err(|e| failed(&e))?;
        let solver = SolverKind::Newton.build(pliant_contact_sap::StopCriteria::default());
        let stepper = scene.stepper.build(solver);
        let mut stepper = stepper.map_err(|e| failed(&e))?;
        let dt = scene.simulation.time_step_s;
        let (mut state, mut next) = (assembly.state.clone(), State::default());
        let mut report = StepReport::default();
        let simulated_s = limits.simulated_s.unwrap_or(self.run.length_s);
        let planned = ((simulated_s / dt).round() as u64).max(1);
        let mut measured = MeasuredPenaltyRow {
            row: *self,
            steps: 0,
            simulated_s: 0.0,
            time_step_s: dt,
            dofs: 0,
            particles: particles_and_vertices(&assembly),
            contacts: 0,
            iterations: 0,
            krylov: 0,
            untrusted: 0,
            wall: Duration::ZERO,
            times: PenaltyForceTimes::default(),
            walks: WalkCounts::default(),
        };
        let mut step = |state: &mut State, report: &mut StepReport| {
            stepper
                .step_into(&assembly.world, state, dt, &mut next, report)
                .map_err(|e| failed(&e))?;
            std::mem::swap(state, &mut next);
            Ok::<(), BenchError>(())
        };
        step(&mut state, &mut report)?;
        while measured.steps < planned && measured.wall < limits.wall {
            let clock = Instant::now();
            step(&mut state, &mut report)?;
            measured.wall += clock.elapsed();
            measured.steps += 1;
            measured.untrusted += u64::from(!report.is_trusted());
            measured.dofs = report.n_dofs;
            measured.contacts += report.contacts.len() as u64;
            if let Some(penalty) = &report.penalty_force {
                measured.iterations += penalty.iterations as u64;
                measured.krylov += penalty.krylov_vectors as u64;
                measured.times = measured.times + penalty.times;
                measured.walks = measured.walks + penalty.walks;
            }
        }
        measured.simulated_s = measured.steps as f64 * dt;
        Ok(measured)
    }
}

impl MeasuredPenaltyRow {
    /// The heading in Markdown.
    pub const HEADING: &'static str = "\
| row | DoFs | particles (paper) | Δt, ms | simulated | contacts mean | Newton iterations a step (paper 3.1) | vectors of GMRES an iteration (paper at most 20) \
| detection, forces, material, rest % | relaxations on meshes that end where they start, %; most states (paper 99.77; 5) | ms a step | s a frame | paper | times faster | untrusted steps |
|---|---:|---|---:|---:|---:|---:|---:|---|---|---:|---:|---:|---:|---:|";

    /// Seconds a frame of 1/24 s.
    #[must_use]
    pub fn frame_s(&self) -> f64 {
        self.wall.as_secs_f64() / self.simulated_s * FRAME_S
    }

    /// The row in Markdown.
    #[must_use]
    pub fn line(&self) -> String {
        let steps = self.steps.max(1) as f64;
        let wall = self.wall.as_secs_f64().max(1e-12);
        let share = |part: Duration| 100.0 * part.as_secs_f64() / wall;
        let parts = [self.times.detection, self.times.forces, self.times.material];
        let [detection, forces, material] = parts.map(share);
        let printed = match (self.row.frame_s, self.row.threads) {
            (None, _) => "-".into(),
            (Some(s), 1) => format!("{s}"),
            (Some(s), threads) => format!("{s}, {threads} threads"),
        };
        let cells = [
            self.row.run.name.into(),
            self.dofs.to_string(),
            match self.row.particles {
                Some(printed) => format!("{} ({printed})", self.particles),
                None => self.particles.to_string(),
            },
            format!("{}", 1e3 * self.time_step_s),
            format!("{:.3} s", self.simulated_s),
            format!("{:.1}", self.contacts as f64 / steps),
            format!("{:.2}", self.iterations as f64 / steps),
            format!("{:.1}", self.krylov as f64 / self.iterations.max(1) as f64),
            format!(
                "{detection:.1}, {forces:.1}, {material:.1}, {:.1}",
                100.0 - detection - forces - material
            ),
            match self.walks.most_states() {
                0 => "-".into(),
                most => {
                    let at_start = 100.0 * self.walks.share_ending_at_start();
                    format!("{at_start:.2}; {most}")
                }
            },
            format!("{:.3}", 1e3 * wall / steps),
            format!("{:.4}", self.frame_s()),
            printed,
            (self.row.frame_s).map_or("-".into(), |s| format!("{:.1}", s / self.frame_s())),
            self.untrusted.to_string(),
        ];
        format!("| {} |", cells.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_bundled_scene_at_the_papers_step() {
        for row in rows().into_iter().chain(growth_rows()) {
            let scene = row.run.load().unwrap();
            let name = row.run.name;
            assert_eq!(scene.stepper.name(), "penalty-force", "{name}");
            assert_eq!(
                Some(scene.simulation.time_step_s),
                row.run.time_step_s,
                "{name}"
            );
        }
    }

    #[test]
    fn the_rows_have_the_papers_particles() {
        check_particles(|printed| printed < LARGE);
    }

    #[test]
    #[ignore = "a minute"]
    fn the_large_rows_have_the_papers_particles() {
        check_particles(|printed| printed >= LARGE);
    }

    const LARGE: usize = 100_000;

    #[track_caller]
    fn check_particles(asked: impl Fn(usize) -> bool) {
        for row in rows() {
            let (name, Some(printed)) = (row.run.name, row.particles) else {
                continue;
            };
            if !asked(printed) {
                continue;
            }
            let assembly = check(&row.run.load().unwrap()).unwrap();
            let ours = particles_and_vertices(&assembly);
            let ratio = ours as f64 / printed as f64;
            assert!((ratio - 1.0).abs() < 0.05, "{name}: {ours} for {printed}");
        }
    }

    #[test]
    fn every_line_has_the_columns_of_the_heading() {
        let columns = |line: &str| line.matches('|').count();
        let limits = Limits {
            simulated_s: Some(0.02),
            wall: Duration::from_secs(5),
        };
        let measured = rows()[0].measure(&limits).unwrap();
        assert_eq!(measured.steps, 2);
        for line in MeasuredPenaltyRow::HEADING.lines() {
            assert_eq!(columns(line), columns(&measured.line()));
        }
    }
}
