//! The line search on E = ½‖g‖², which has kinks where a contact opens, closes, sticks or slips.
//!
//! The full step comes first. Where it does not decrease E enough, the points along it at which the branch of a contact changes are next: undamped
//! Newton steps jump back and forth over the narrow range of velocities in which a stiff contact sticks, and these points are its ends. Then the step is
//! halved. The largest decrease among the branch points wins, otherwise the first step that satisfies Armijo's condition.

use nalgebra::Vector3;
use pliant_hydroelastic::Branch;

use super::BodyFault;
use super::islands::Island;
use super::system::System;

/// Armijo's constant.
const DECREASE: f64 = 1e-4;
/// Branch points that are tried.
const BRANCH_POINTS_MAX: usize = 12;
const HALVINGS: usize = 40;

#[derive(Default)]
pub(super) struct LineSearch {
    start: Vec<f64>,
    trial: Vec<f64>,
    residual: Vec<f64>,
    /// Of every contact at the start and at the full step: its branch, l and d.
    before: Vec<Sliding>,
    after: Vec<Sliding>,
    pub(super) evaluations: usize,
}

/// The search of an island along its direction.
struct Search<'a> {
    island: &'a Island,
    /// E at the start, and its slope.
    energy: f64,
    slope: f64,
    /// Parts of the direction at which the branch of a contact changes.
    branch_points: Vec<f64>,
    /// The part with the least E of those that decrease it enough.
    best: Option<(f64, f64)>,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Progress {
    /// The part that is tried next.
    Tries(f64),
    /// The part that is taken, 0 for none.
    Takes(f64),
}

/// A contact in the tangential plane of its object: where its attachment is relative to the nearest point of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sliding {
    pub(super) branch: Branch,
    /// r = X − W, object axes.
    pub(super) offset: Vector3<f64>,
    /// d, negative outside.
    pub(super) depth: f64,
    /// μ.
    pub(super) friction: f64,
}

impl LineSearch {
    /// Searches along `direction` from the system's velocities, where L⁻¹g is `residual` and E of each island has this slope; an island without one stays.
    /// The part that each takes, 0 where E did not decrease.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        islands: &[(&Island, Option<f64>)],
        direction: &[f64],
        residual: &[f64],
    ) -> Result<Vec<f64>, BodyFault> {
        self.evaluations = 0;
        self.start.clone_from(&system.v);
        self.before.clear();
        self.before.extend(system.sliding());
        let mut searches: Vec<Search<'_>> = (islands.iter())
            .map(|(island, slope)| Search::new(island, *slope, residual))
            .collect();
        if searches
            .iter()
            .all(|search| search.progress == Progress::Takes(0.0))
        {
            return Ok(vec![0.0; islands.len()]);
        }
        self.evaluate(system, &mut searches, direction);
        self.after.clear();
        self.after.extend(system.sliding());
        let island_of_contact = system.island_of_each_contact(islands.iter().map(|(i, _)| *i));
        for (k, search) in searches.iter_mut().enumerate() {
            if matches!(search.progress, Progress::Tries(_)) {
                let own = |contact: &usize| island_of_contact[*contact] == Some(k);
                let contacts = (0..self.before.len()).filter(own);
                let pairs = contacts.map(|c| (self.before[c], self.after[c]));
                search.set_branch_points(pairs);
            }
        }
        for k in 0..BRANCH_POINTS_MAX {
            for search in &mut searches {
                search.try_branch_point(k);
            }
            if searches
                .iter()
                .all(|search| search.branch_points.is_empty())
            {
                break;
            }
            self.evaluate(system, &mut searches, direction);
        }
        searches.iter_mut().for_each(Search::leave_branch_points);
        let mut part = 1.0;
        for _ in 0..HALVINGS {
            part *= 0.5;
            for search in &mut searches {
                search.try_part(part);
            }
            if searches.iter().all(Search::is_over) {
                break;
            }
            self.evaluate(system, &mut searches, direction);
        }
        let taken: Vec<f64> = searches.iter().map(Search::taken).collect();
        self.trial.clone_from(&self.start);
        for (search, part) in searches.iter().zip(&taken) {
            search.island.add(&mut self.trial, direction, *part);
        }
        if self.trial != system.v {
            system.move_to(&self.trial)?;
        }
        Ok(taken)
    }

    /// E of every island at the part that it tries, or takes; infinite for those with a body that has no forces there.
    fn evaluate(&mut self, system: &mut System, searches: &mut [Search<'_>], direction: &[f64]) {
        self.evaluations += 1;
        self.trial.clone_from(&self.start);
        for search in searches.iter() {
            let part = match search.progress {
                Progress::Tries(part) | Progress::Takes(part) => part,
            };
            search.island.add(&mut self.trial, direction, part);
        }
        let mut stopped = vec![false; searches.len()];
        while let Err((body, _)) = system.move_to(&self.trial) {
            let failed = |search: &Search<'_>| search.island.bodies.contains(&body);
            match searches.iter().position(failed) {
                Some(k) if !stopped[k] => {
                    stopped[k] = true;
                    let island = searches[k].island;
                    island.map(&mut self.trial, &self.start, |_, v| v);
                }
                _ => return, // cancelled, which the next evaluation says again
            }
        }
        self.residual.clone_from(&system.g);
        system.metric.solve_lower(&mut self.residual);
        for (search, _) in searches
            .iter_mut()
            .zip(stopped)
            .filter(|(_, stopped)| !stopped)
        {
            search.judge(0.5 * search.island.dot(&self.residual, &self.residual));
        }
    }
}

impl<'a> Search<'a> {
    fn new(island: &'a Island, slope: Option<f64>, residual: &[f64]) -> Self {
        Self {
            island,
            energy: 0.5 * island.dot(residual, residual),
            slope: slope.unwrap_or(0.0),
            branch_points: Vec::new(),
            best: None,
            progress: match slope {
                Some(_) => Progress::Tries(1.0),
                None => Progress::Takes(0.0),
            },
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.progress, Progress::Takes(_))
    }

    fn taken(&self) -> f64 {
        match self.progress {
            Progress::Takes(part) => part,
            Progress::Tries(_) => 0.0,
        }
    }

    /// Notes E at the part that is tried. The full step and halves are taken at once, of the branch points the best.
    fn judge(&mut self, energy: f64) {
        let Progress::Tries(part) = self.progress else {
            return;
        };
        let decreases =
            energy <= self.energy + DECREASE * part * self.slope && energy < self.energy;
        if !decreases {
            return;
        }
        if self.branch_points.is_empty() {
            self.progress = Progress::Takes(part);
        } else if self.best.is_none_or(|(_, least)| energy < least) {
            self.best = Some((part, energy));
        }
    }

    fn try_part(&mut self, part: f64) {
        if !self.is_over() {
            self.progress = Progress::Tries(part);
        }
    }

    /// Tries branch point k, or again the best if there is none.
    fn try_branch_point(&mut self, k: usize) {
        match self.branch_points.get(k) {
            Some(part) => self.try_part(*part),
            None => self.leave_branch_points(),
        }
    }

    /// Takes the best branch point, if one decreased E enough.
    fn leave_branch_points(&mut self) {
        if let (Some((part, _)), false) = (self.best, self.is_over()) {
            self.progress = Progress::Takes(part);
        }
        self.branch_points.clear();
    }

    /// Parts of the full step, which `after` is at, where |r| = μ d or d = 0 if both change linearly; ascending, at most a dozen.
    fn set_branch_points(&mut self, contacts: impl Iterator<Item = (Sliding, Sliding)>) {
        let mut kinks = Vec::new();
        for (before, after) in contacts {
            if before.branch == after.branch {
                continue;
            }
            let depth_change = after.depth - before.depth;
            if (before.depth > 0.0) != (after.depth > 0.0) {
                kinks.push(-before.depth / depth_change);
            }
            // |r₀ + a r'|² = μ² (d₀ + a d')².
            let mu = before.friction;
            let r = before.offset;
            let r_change = after.offset - r;
            let a = r_change.norm_squared() - mu * mu * depth_change * depth_change;
            let half_b = r.dot(&r_change) - mu * mu * before.depth * depth_change;
            let c = r.norm_squared() - mu * mu * before.depth * before.depth;
            let discriminant = half_b * half_b - a * c;
            if discriminant >= 0.0 {
                let q = -(half_b + discriminant.sqrt().copysign(half_b));
                kinks.extend([q / a, c / q]);
            }
        }
        kinks.retain(|a| *a > 0.0 && *a < 1.0);
        kinks.sort_unstable_by(f64::total_cmp);
        kinks.dedup();
        let n = kinks.len();
        if n > BRANCH_POINTS_MAX {
            let chosen = (0..BRANCH_POINTS_MAX).map(|k| kinks[k * n / BRANCH_POINTS_MAX]);
            kinks = chosen.collect();
        }
        self.branch_points = kinks;
    }
}
