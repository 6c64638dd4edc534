//! Splits a problem into connected components and solves them separately and in parallel, with the same bits for any number
//! of threads.

use std::time::Instant;

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::block_factors::BlockFactors;
use crate::cancellation::Cancellation;
use crate::error::SolveError;
use crate::island::{Island, IslandProblem, Start};
use crate::linear_algebra::LinearSystems;
use crate::participant::ParticipantIdx;
use crate::problem::ContactProblem;
use crate::problem_checks::{check_constraints, check_problem};
use crate::solver::{Solution, SolveMode, SolveReport, StageTimes, StopReason};

/// A method that solves one island; implemented by the settings of a solver.
pub(crate) trait IslandSolver: Default + Send + Sync {
    /// Memory of one island, reused between solves. Its content must not change results.
    type Workspace: Default + Send;

    /// Solves the island from `answer.velocity`, which is overwritten with the rest of `answer`.
    fn solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut Self::Workspace,
        answer: &mut IslandAnswer,
    ) -> Result<(), SolveError>;

    /// x ← H⁻¹x at `velocity`.
    fn hessian_solve(
        &self,
        p: &IslandProblem<'_>,
        workspace: &mut Self::Workspace,
        velocity: &[f64],
        x: &mut [f64],
    ) -> Result<(), SolveError>;
}

/// Solution and report of one island.
#[derive(Debug, Default)]
pub(crate) struct IslandAnswer {
    pub(crate) velocity: Vec<f64>,
    pub(crate) contact_impulse: Vec<Vector3<f64>>,
    pub(crate) row_impulse: Vec<f64>,
    pub(crate) residual_history: Vec<f64>,
    pub(crate) report: IslandReport,
}

impl IslandReport {
    /// Adds the work of an earlier solve of the same island.
    pub(crate) fn add_earlier(&mut self, before: &Self) {
        self.iterations += before.iterations;
        self.factorisations += before.factorisations;
        self.systems = self.systems + before.systems;
        self.inner_iterations += before.inner_iterations;
        self.line_search_evaluations += before.line_search_evaluations;
        self.stages = self.stages + before.stages;
    }
}

/// Counts, stop reason and times of one island.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IslandReport {
    pub(crate) stop: StopReason,
    pub(crate) iterations: usize,
    pub(crate) factorisations: usize,
    pub(crate) systems: LinearSystems,
    pub(crate) inner_iterations: usize,
    pub(crate) line_search_evaluations: usize,
    pub(crate) cost: f64,
    pub(crate) residual: f64,
    pub(crate) unsolved_velocities: usize,
    pub(crate) stages: StageTimes,
}

/// Solves every island of a problem with the method `S`.
///
/// The workspace of an island belongs to its first participant, so that symbolic factors are kept while other islands
/// change.
pub(crate) struct Islands<S: IslandSolver> {
    method: S,
    slots: Vec<Slot<S::Workspace>>,
    partition: Partition,
    factors: BlockFactors,
    /// Generation and number of velocities of the last dynamics.
    generation: u64,
    n_dofs: usize,
    cancellation: Cancellation,
}

#[derive(Default)]
struct Slot<W> {
    /// Whether the last partition has an island whose first participant is this slot's.
    used: bool,
    island: Island,
    workspace: W,
    answer: IslandAnswer,
    /// Right-hand side and result of a solve with the Hessian.
    x: Vec<f64>,
    outcome: Option<SolveError>,
}

/// Makes a [`ConvexContactSolver`](crate::ConvexContactSolver) of a struct that holds `islands` solved by its settings.
macro_rules! solver_by_islands {
    ($solver:ty, $settings:ty) => {
        impl $solver {
            /// A solver with the given settings.
            #[must_use]
            pub fn new(settings: $settings) -> Self {
                Self {
                    islands: $crate::islands::Islands::new(settings),
                }
            }
        }

        impl Default for $solver {
            fn default() -> Self {
                Self::new(<$settings>::default())
            }
        }

        impl $crate::solver::ConvexContactSolver for $solver {
            fn solve_for(
                &mut self,
                problem: &$crate::problem::ContactProblem<'_>,
                guess: &[f64],
                mode: $crate::solver::SolveMode,
                out: &mut $crate::solver::Solution,
            ) -> Result<$crate::solver::SolveReport, $crate::error::SolveError> {
                self.islands.solve(problem, guess, mode, out)
            }

            fn solve_again(
                &mut self,
                problem: &$crate::problem::ContactProblem<'_>,
                guess: &[f64],
                mode: $crate::solver::SolveMode,
                out: &mut $crate::solver::Solution,
            ) -> Result<$crate::solver::SolveReport, $crate::error::SolveError> {
                self.islands.solve_again(problem, guess, mode, out)
            }

            fn hessian_solve(
                &mut self,
                problem: &$crate::problem::ContactProblem<'_>,
                at: &$crate::solver::Solution,
                x: &mut [f64],
            ) -> Result<(), $crate::error::SolveError> {
                self.islands.hessian_solve(problem, at, x)
            }

            fn cancel_with(&mut self, cancellation: &$crate::cancellation::Cancellation) {
                self.islands.cancel_with(cancellation);
            }
        }
    };
}
pub(crate) use solver_by_islands;

/// Maps each participant to its island, which is named by its first participant.
#[derive(Default)]
struct Partition {
    first_participant: Vec<usize>,
    first_dof: Vec<usize>,
    global_dof: Vec<usize>,
}

/// Problems with fewer velocities are solved on one thread.
const PARALLEL_DOFS_MIN: usize = 48;

impl<S: IslandSolver> Islands<S> {
    pub(crate) fn new(method: S) -> Self {
        Self {
            method,
            slots: Vec::new(),
            partition: Partition::default(),
            factors: BlockFactors::default(),
            generation: 0,
            n_dofs: 0,
            cancellation: Cancellation::default(),
        }
    }

    pub(crate) fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    /// Finds the islands of `problem` and lays them out in their slots.
    fn partition(&mut self, problem: &ContactProblem<'_>) {
        let n = problem.dynamics.n_participants();
        self.partition.find(problem);
        // The last slot holds bases without participants: all their velocities are prescribed.
        self.slots.resize_with(n + 1, Default::default);
        for slot in &mut self.slots {
            slot.used = false;
            slot.outcome = None;
            slot.island.clear();
        }
        for (p, dynamics) in problem.dynamics.iter().enumerate() {
            let slot = &mut self.slots[self.partition.first_participant[p]];
            slot.used = true;
            let global = self.partition.global_dof[p];
            self.partition.first_dof[p] =
                slot.island
                    .add_participant(ParticipantIdx(p), dynamics, global);
        }
        let set = problem.constraints;
        for (b, basis) in set.bases.iter().enumerate() {
            let first = match set.blocks[basis.blocks.clone()].first() {
                Some((participant, _)) => self.partition.first_participant[participant.0],
                None => n,
            };
            let slot = &mut self.slots[first];
            slot.used = true;
            slot.island
                .add_basis(set, b, |p| self.partition.first_dof[p.0]);
        }
    }

    /// Runs `work` on every island, in parallel for problems of at least [`PARALLEL_DOFS_MIN`] velocities.
    fn for_each_island(
        &mut self,
        problem: &ContactProblem<'_>,
        start: Start,
        work: impl Fn(
            &S,
            &IslandProblem<'_>,
            &mut SlotParts<'_, S::Workspace>,
        ) -> Result<(), SolveError>
        + Sync,
    ) -> Result<(), SolveError> {
        let method = &self.method;
        let generation = self.generation;
        let cancellation = &self.cancellation;
        let run = |slot: &mut Slot<S::Workspace>| {
            let p = IslandProblem {
                island: &slot.island,
                problem,
                reduced: &[],
                generation,
                start,
                cancellation,
            };
            let mut parts = SlotParts {
                workspace: &mut slot.workspace,
                answer: &mut slot.answer,
                x: &mut slot.x,
            };
            slot.outcome = work(method, &p, &mut parts).err();
        };
        let used = self.slots.iter().filter(|slot| slot.used).count();
        let parallel =
            used > 1 && problem.n_dofs() >= PARALLEL_DOFS_MIN && rayon::current_num_threads() > 1;
        if parallel {
            let slots = self.slots.par_iter_mut().with_max_len(1);
            slots.filter(|slot| slot.used).for_each(run);
        } else {
            self.slots.iter_mut().filter(|s| s.used).for_each(run);
        }
        let failure = self.slots.iter_mut().find_map(|slot| slot.outcome.take());
        failure.map_or(Ok(()), Err)
    }
}

struct SlotParts<'a, W> {
    workspace: &'a mut W,
    answer: &'a mut IslandAnswer,
    x: &'a mut Vec<f64>,
}

impl Partition {
    /// Union-find over the participants of each basis; the smallest participant of a component names it.
    fn find(&mut self, problem: &ContactProblem<'_>) {
        let n = problem.dynamics.n_participants();
        self.first_participant.clear();
        self.first_participant.extend(0..n);
        self.first_dof.clear();
        self.first_dof.resize(n, 0);
        self.global_dof.clear();
        let mut dof = 0;
        for dynamics in problem.dynamics.iter() {
            self.global_dof.push(dof);
            dof += dynamics.n_dofs();
        }
        let set = problem.constraints;
        for basis in &set.bases {
            let blocks = &set.blocks[basis.blocks.clone()];
            for pair in blocks.windows(2) {
                let (a, b) = (self.root(pair[0].0.0), self.root(pair[1].0.0));
                let (low, high) = (a.min(b), a.max(b));
                self.first_participant[high] = low;
            }
        }
        // Parents come before their children, so one pass flattens the trees.
        for p in 0..n {
            self.first_participant[p] = self.first_participant[self.first_participant[p]];
        }
    }

    fn root(&mut self, mut p: usize) -> usize {
        while self.first_participant[p] != p {
            let grandparent = self.first_participant[self.first_participant[p]];
            self.first_participant[p] = grandparent;
            p = grandparent;
        }
        p
    }
}

impl<S: IslandSolver> Islands<S> {
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        let clock = Instant::now();
        self.generation += 1;
        self.n_dofs = problem.n_dofs();
        check_problem(problem, &mut self.factors)?;
        self.solve_checked(problem, guess, Start::Cold(mode), clock, out)
    }

    pub(crate) fn solve_again(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        mode: SolveMode,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        if self.generation == 0 || problem.n_dofs() != self.n_dofs {
            return self.solve(problem, guess, mode, out);
        }
        let clock = Instant::now();
        check_constraints(problem)?;
        self.solve_checked(problem, guess, Start::Warm(mode), clock, out)
    }

    fn solve_checked(
        &mut self,
        problem: &ContactProblem<'_>,
        guess: &[f64],
        start: Start,
        clock: Instant,
        out: &mut Solution,
    ) -> Result<SolveReport, SolveError> {
        check_vector("guess", guess, problem)?;
        self.partition(problem);
        let mut report = SolveReport::default();
        report.stages.set_up = clock.elapsed();

        self.for_each_island(problem, start, |method, p, slot| {
            gather(p.island, guess, &mut slot.answer.velocity);
            method.solve(p, slot.workspace, slot.answer)
        })?;

        let clock = Instant::now();
        let set = problem.constraints;
        out.velocity.resize(problem.n_dofs(), 0.0);
        out.contact_impulse.resize(3 * set.n_contacts(), 0.0);
        out.row_impulse.resize(set.n_rows(), 0.0);
        let mut longest: &[f64] = &[];
        for slot in self.slots.iter().filter(|slot| slot.used) {
            let answer = &slot.answer;
            scatter(&slot.island, &answer.velocity, &mut out.velocity);
            for basis in &slot.island.bases {
                let to = &mut out.contact_impulse[3 * basis.contacts.start..3 * basis.contacts.end];
                let from = &answer.contact_impulse[basis.first_contact..];
                for (to, from) in to.chunks_exact_mut(3).zip(from) {
                    to.copy_from_slice(from.as_slice());
                }
                let from = &answer.row_impulse[basis.first_scalar..][..basis.scalars.len()];
                out.row_impulse[basis.scalars.clone()].copy_from_slice(from);
            }
            if answer.residual_history.len() > longest.len() {
                longest = &answer.residual_history;
            }
            if !slot.island.members.is_empty() {
                report.islands += 1;
            }
            report.add(&answer.report);
        }
        out.residual_history.clear();
        out.residual_history.extend_from_slice(longest);
        report.stages.set_up += clock.elapsed();
        Ok(report)
    }

    pub(crate) fn hessian_solve(
        &mut self,
        problem: &ContactProblem<'_>,
        at: &Solution,
        x: &mut [f64],
    ) -> Result<(), SolveError> {
        check_problem(problem, &mut self.factors)?;
        check_vector("solution", &at.velocity, problem)?;
        check_vector("right-hand side", x, problem)?;
        self.partition(problem);
        let rhs = &*x;
        let start = Start::Cold(SolveMode::Full);
        self.for_each_island(problem, start, |method, p, slot| {
            gather(p.island, &at.velocity, &mut slot.answer.velocity);
            gather(p.island, rhs, slot.x);
            // A body whose velocities are all prescribed.
            if slot.x.is_empty() {
                return Ok(());
            }
            method.hessian_solve(p, slot.workspace, &slot.answer.velocity, slot.x)
        })?;
        for slot in self.slots.iter().filter(|slot| slot.used) {
            scatter(&slot.island, &slot.x, x);
        }
        Ok(())
    }
}

impl SolveReport {
    /// Adds the report of one island.
    fn add(&mut self, island: &IslandReport) {
        self.stop = self.stop.max(island.stop);
        self.iterations = self.iterations.max(island.iterations);
        self.iterations_total += island.iterations;
        self.factorisations += island.factorisations;
        self.systems = self.systems + island.systems;
        self.inner_iterations += island.inner_iterations;
        self.line_search_evaluations += island.line_search_evaluations;
        self.cost += island.cost;
        self.residual = self.residual.max(island.residual);
        self.unsolved_velocities += island.unsolved_velocities;
        let (sum, stages) = (&mut self.stages, &island.stages);
        sum.set_up += stages.set_up;
        sum.gradient += stages.gradient;
        sum.assembly += stages.assembly;
        sum.linear_solve += stages.linear_solve;
        sum.line_search += stages.line_search;
    }
}

/// The part of `global` that belongs to the island.
fn gather(island: &Island, global: &[f64], local: &mut Vec<f64>) {
    local.clear();
    for member in &island.members {
        local.extend_from_slice(&global[member.global_dofs()]);
    }
}

/// The reverse of [`gather`].
fn scatter(island: &Island, local: &[f64], global: &mut [f64]) {
    for member in &island.members {
        global[member.global_dofs()].copy_from_slice(&local[member.dofs()]);
    }
}

fn check_vector(
    what: &'static str,
    x: &[f64],
    problem: &ContactProblem<'_>,
) -> Result<(), SolveError> {
    if x.len() != problem.n_dofs() {
        return Err(SolveError::Length {
            what,
            found: x.len(),
            expected: problem.n_dofs(),
        });
    }
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => Err(SolveError::NotFinite {
            location: format!("the {what}, entry {i},"),
            participant: None,
            value: x[i],
        }),
    }
}
