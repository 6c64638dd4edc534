//! Newton's method on g(v) = 0, island by island, stabilised by a line search on E = ½‖g‖².
//!
//! A direction of GMRES with preconditioning from the right always descends: see `gmres`. The forcing term of GMRES is that of Eisenstat and Walker
//! (1996), η = 0.9 (‖g‖/‖g_prev‖)², within [1e-6, 0.1]. Contacts are looked for at every iterate; E may grow where some are added.
//!
//! Each island has its own residual, scale, direction and search, and ends on its own; all that have not ended take an iteration at the same time. A
//! contact that is found on the way may join islands, which then go on as one.

use pliant_contact_sap::StopReason;

use super::BodyFault;
use super::detection::Detection;
use super::gmres::{Gmres, Solved};
use super::islands::Island;
use super::line_search::LineSearch;
use super::preconditioner::Renewal;
use super::report::Outcome;
use super::settings::PenaltyForceSettings;
use super::system::{Sizes, System};
use crate::world::BodyIdx;

/// Bounds of η.
const FORCING: [f64; 2] = [1e-6, 0.1];
/// Directions of which less than this part can be taken run across kinks of many contacts.
const SHORT: f64 = 1e-3;
/// A direction has to descend by this part of ‖g‖‖Hu‖.
const DESCENT: f64 = 1e-4;

/// Factors of bodies are kept after a full direction for which GMRES took no more vectors than this. Time of a step before, and with factors kept, in ms:
///
/// | row of the benchmarks | vectors | computed | kept |
/// |---|---:|---:|---:|
/// | prmd_rm | 5.1 | 61.9 | 38.6 |
/// | plane_m slide | 1.9 | 43.1 | 34.5 |
/// | wdg_dr fall | 4.7 | 11.0 | 8.0 |
///
/// Without this bound: `stack` (10 vectors) 8.3 to 10.0, `cloth` (13.5) 44 to 66.
const KEPT_VECTORS_MAX: usize = 8;

#[derive(Default)]
pub(super) struct Newton {
    gmres: Gmres,
    search: LineSearch,
    direction: Vec<f64>,
    /// L⁻¹g and L⁻¹Hu.
    residual: Vec<f64>,
    change: Vec<f64>,
    solves: Vec<Solve>,
}

/// The solution of an island.
#[derive(Debug)]
struct Solve {
    island: Island,
    iterations: usize,
    last_residual: Option<f64>,
    /// Of g where it was evaluated last.
    sizes: Sizes,
    contacts: Contacts,
    progress: Progress,
}

/// Whether the last search for contacts found some of the island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contacts {
    Known,
    Added,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Iterating,
    Ended(StopReason),
}

impl Solve {
    fn is_balanced(&self, tolerance: f64) -> bool {
        self.sizes.residual <= tolerance * self.sizes.scale
    }

    /// Ends where the balance is met after an iteration without new contacts, or at round-off, or the iterations run out.
    fn end_if_due(&mut self, settings: &PenaltyForceSettings) {
        let settled = self.contacts == Contacts::Known
            && self.iterations > 0
            && self.is_balanced(settings.tolerance);
        if settled || self.sizes.residual <= self.sizes.round_off {
            self.progress = Progress::Ended(StopReason::Converged);
        } else if self.iterations >= settings.iterations_max as usize {
            self.progress = Progress::Ended(StopReason::IterationLimit);
        }
    }

    /// η of the next direction.
    fn forcing(&mut self) -> f64 {
        let residual = self.sizes.residual;
        let ratio = self.last_residual.map_or(1.0, |last| residual / last);
        self.last_residual = Some(residual);
        (0.9 * ratio * ratio).clamp(FORCING[0], FORCING[1])
    }
}

impl Newton {
    /// Solves the step; the system ends at the last iterate of every island, which is its best.
    pub(super) fn solve(
        &mut self,
        system: &mut System,
        detection: &mut Detection,
        settings: &PenaltyForceSettings,
    ) -> Result<Outcome, BodyFault> {
        let n = system.n_dofs();
        self.direction.resize(n, 0.0);
        self.change.resize(n, 0.0);
        self.solves.clear();
        let mut outcome = Outcome::default();
        system.move_all();
        detection.add(system)?;
        system.evaluate()?;
        self.regroup(system, 0);
        loop {
            self.measure(system);
            (self.solves.iter_mut())
                .filter(|solve| solve.progress == Progress::Iterating)
                .for_each(|solve| solve.end_if_due(settings));
            let iterating = self.iterating();
            if iterating.is_empty() {
                break;
            }
            self.iterate(system, &iterating, settings, &mut outcome)?;
            let known = system.attached.len();
            detection.add(system)?;
            (self.solves.iter_mut()).for_each(|solve| solve.contacts = Contacts::Known);
            if system.attached.len() > known {
                system.evaluate()?;
                self.regroup(system, known);
            }
        }
        system.move_all();
        self.summarise(&mut outcome);
        Ok(outcome)
    }

    /// The islands of the last solution.
    pub(super) fn islands(&self) -> impl Iterator<Item = &Island> {
        self.solves.iter().map(|solve| &solve.island)
    }

    /// Those whose balance was not met.
    pub(super) fn unsolved(&self) -> impl Iterator<Item = &Island> {
        let failed = |solve: &&Solve| solve.progress == Progress::Ended(StopReason::IterationLimit);
        self.solves.iter().filter(failed).map(|solve| &solve.island)
    }

    /// Islands that have not ended.
    fn iterating(&self) -> Vec<usize> {
        let iterating = |k: &usize| self.solves[*k].progress == Progress::Iterating;
        (0..self.solves.len()).filter(iterating).collect()
    }

    /// Forms islands with the contacts from `fresh` on. Those that are as they were go on as they were.
    fn regroup(&mut self, system: &System, fresh: usize) {
        let touched: Vec<BodyIdx> = system.bodies_of_contacts(fresh).collect();
        let mut before = std::mem::take(&mut self.solves);
        for island in system.islands() {
            let joined = island.bodies.iter().any(|b| touched.contains(b));
            let same = before.iter().position(|solve| solve.island == island);
            let mut of_bodies = before.iter().filter(|solve| {
                let mut bodies = solve.island.bodies.iter();
                bodies.any(|b| island.bodies.binary_search(b).is_ok())
            });
            self.solves.push(match same {
                Some(k) if !joined => before.swap_remove(k),
                _ => Solve {
                    iterations: of_bodies.by_ref().map(|s| s.iterations).max().unwrap_or(0),
                    island,
                    last_residual: None,
                    sizes: Sizes::default(),
                    contacts: match joined {
                        true => Contacts::Added,
                        false => Contacts::Known,
                    },
                    progress: Progress::Iterating,
                },
            });
        }
    }

    fn measure(&mut self, system: &mut System) {
        let islands: Vec<&Island> = self.solves.iter().map(|solve| &solve.island).collect();
        let sizes = system.sizes(&islands);
        for (solve, sizes) in self.solves.iter_mut().zip(sizes) {
            solve.sizes = sizes;
        }
    }

    /// One direction and search of these islands.
    fn iterate(
        &mut self,
        system: &mut System,
        iterating: &[usize],
        settings: &PenaltyForceSettings,
        outcome: &mut Outcome,
    ) -> Result<(), BodyFault> {
        let vectors_max = settings.krylov_max as usize;
        let mut wanted = Vec::with_capacity(iterating.len());
        for &k in iterating {
            let solve = &mut self.solves[k];
            solve.iterations += 1;
            wanted.push((k, solve.forcing()));
        }
        self.move_alone(system, iterating);
        system.linearise()?;
        self.residual.clone_from(&system.g);
        system.metric.solve_lower(&mut self.residual);
        let taken = self.step(system, &wanted, vectors_max, outcome)?;
        let mut unfinished = Vec::new();
        let mut failed = Vec::new();
        for (&k, fraction) in iterating.iter().zip(taken) {
            let island = &self.solves[k].island;
            if fraction < SHORT {
                // A few vectors of the blocks make smoother directions than a good approximation of H⁻¹g.
                system.precondition_by_blocks(&island.bodies);
            }
            if fraction == 0.0 && island.n_dofs() > vectors_max {
                unfinished.push(k);
            } else if fraction == 0.0 {
                failed.push(k);
            }
        }
        if !unfinished.is_empty() {
            // Directions that GMRES had not finished.
            self.move_alone(system, &unfinished);
            let wanted: Vec<_> = unfinished.iter().map(|k| (*k, FORCING[0])).collect();
            let taken = self.step(system, &wanted, 10 * vectors_max, outcome)?;
            let stuck = unfinished.iter().zip(taken);
            failed.extend(stuck.filter(|(_, part)| *part == 0.0).map(|(k, _)| *k));
            self.move_alone(system, iterating);
        }
        for k in failed {
            let solve = &mut self.solves[k];
            let near = solve.sizes.residual <= 100.0 * solve.sizes.round_off;
            let at_round_off = near || solve.is_balanced(settings.tolerance);
            solve.progress = Progress::Ended(match at_round_off {
                true => StopReason::CostStalledAtRoundOff,
                false => StopReason::IterationLimit,
            });
        }
        Ok(())
    }

    /// Keeps all bodies but those of these islands where they are.
    fn move_alone(&self, system: &mut System, moving: &[usize]) {
        let islands = moving.iter().map(|k| &self.solves[*k].island);
        system.move_alone(islands.flat_map(|island| island.bodies.iter().copied()));
    }

    /// A direction of each of these islands, with its η, and the search along it: the part that was taken, 0 where that failed.
    fn step(
        &mut self,
        system: &mut System,
        wanted: &[(usize, f64)],
        vectors_max: usize,
        outcome: &mut Outcome,
    ) -> Result<Vec<f64>, BodyFault> {
        let Self {
            gmres,
            search,
            direction,
            residual,
            change,
            solves,
        } = self;
        let islands: Vec<(&Island, f64)> = (wanted.iter())
            .map(|(k, forcing)| (&solves[*k].island, *forcing))
            .collect();
        let mut directions = |system: &mut System| {
            let mut derivative = system.derivative()?;
            let solved = gmres.solve(&islands, residual, vectors_max, direction, |v, z, w| {
                derivative.precondition(v, z);
                derivative.scaled_product(z, w);
            });
            derivative.scaled_product(direction, change);
            outcome.krylov += solved.iter().map(|solved| solved.vectors).sum::<usize>();
            Ok::<Vec<Solved>, BodyFault>(solved)
        };
        let mut solved = directions(system)?;
        let rough: Vec<BodyIdx> = (islands.iter().zip(&solved))
            .filter(|((_, forcing), solved)| solved.residual > *forcing)
            .flat_map(|((island, _), _)| island.bodies.iter().copied())
            .collect();
        if system.renew_factors(&rough)? {
            solved = directions(system)?;
        }
        let mut searched: Vec<(&Island, Option<f64>)> = Vec::with_capacity(islands.len());
        for ((island, _), solved) in islands.iter().zip(&solved) {
            system.set_renewal(&island.bodies, Renewal::Computed);
            let slope = island.dot(residual, change);
            let least = DESCENT * island.norm(residual) * island.norm(change);
            let descends = solved.residual < 1.0 && slope < -least;
            searched.push((island, descends.then_some(slope)));
        }
        let taken = search.run(system, &searched, direction, residual)?;
        outcome.evaluations += search.evaluations;
        for (((island, _), solved), part) in islands.iter().zip(&solved).zip(&taken) {
            // Shorter directions run across kinks of contacts, which factors should have.
            if solved.vectors <= KEPT_VECTORS_MAX && *part >= 1.0 {
                system.set_renewal(&island.bodies, Renewal::Kept);
            }
        }
        Ok(taken)
    }

    /// The worst of all islands.
    fn summarise(&self, outcome: &mut Outcome) {
        outcome.islands = self.solves.len();
        for solve in &self.solves {
            let Sizes {
                residual, scale, ..
            } = solve.sizes;
            outcome.iterations = outcome.iterations.max(solve.iterations);
            outcome.iterations_total += solve.iterations;
            outcome.residual = outcome.residual.max(residual);
            if scale > 0.0 {
                outcome.relative_residual = outcome.relative_residual.max(residual / scale);
            }
            if let Progress::Ended(stop) = solve.progress {
                outcome.stop = outcome.stop.max(stop);
            }
        }
    }
}
