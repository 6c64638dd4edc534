//! The narrow phase: contacts of the candidate pairs, on all threads where that pays. Pairs are independent and their contacts are
//! concatenated in order, so results do not depend on the number of threads.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use pliant_hydroelastic::{ContactGeometry, ContactPoint, ContactWorkspace, Query};
use rayon::prelude::*;

use super::motion::Motion;
use super::{Collision, PairContact, Search};
use crate::error::StepError;
use crate::settings::Speculation;
use crate::state::State;
use crate::world::{GeometryIdx, World};

/// Below this many vertices in all pairs the search runs on one thread: waking others costs as much as some hundred vertices.
const PARALLEL_VERTICES_MIN: usize = 1000;

/// The inputs that all pairs of a search share.
#[derive(Clone, Copy)]
pub(super) struct NarrowPhase<'a> {
    pub(super) world: &'a World,
    pub(super) state: &'a State,
    pub(super) geometry: &'a dyn ContactGeometry,
    pub(super) query: Query,
    pub(super) search: Search,
}

/// The memory of one thread of a search. Threads take the next pair that nobody has taken yet.
#[derive(Default)]
pub(super) struct Worker {
    workspace: ContactWorkspace,
    points: Vec<ContactPoint>,
    /// Of all pairs that this worker took, one pair after the other.
    contacts: Vec<PairContact>,
    /// The pairs it took: index of the candidate, and its part of `contacts`.
    pairs: VecDeque<(usize, Range<usize>)>,
    /// The candidate at which this worker failed.
    failure: Option<(usize, StepError)>,
}

impl Collision {
    /// Finds the contacts of all candidates.
    pub(super) fn find_all(
        &mut self,
        phase: NarrowPhase<'_>,
        contacts: &mut Vec<PairContact>,
    ) -> Result<(), StepError> {
        let mut workers = std::mem::take(&mut self.workers);
        let n_workers = match self.pays_in_parallel() {
            true => rayon::current_num_threads(),
            false => 1,
        };
        workers.resize_with(workers.len().max(n_workers), Worker::default);
        let active = &mut workers[..n_workers];
        let next = AtomicUsize::new(0);
        match active {
            [worker] => self.search_pairs(phase, &next, worker),
            _ => active
                .par_iter_mut()
                .with_max_len(1)
                .for_each(|worker| self.search_pairs(phase, &next, worker)),
        }
        let result = gather(active, contacts);
        self.workers = workers;
        result
    }

    /// Searches pairs until none is left, or one fails.
    fn search_pairs(&self, phase: NarrowPhase<'_>, next: &AtomicUsize, worker: &mut Worker) {
        worker.contacts.clear();
        worker.pairs.clear();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(pair) = self.candidates.get(k) else {
                return;
            };
            if self.cancellation.is_requested() {
                worker.failure = Some((k, StepError::cancelled(phase.state)));
                return;
            }
            let from = worker.contacts.len();
            if let Err(error) = self.find_pair(*pair, phase, worker) {
                worker.failure = Some((k, error));
                return;
            }
            worker.pairs.push_back((k, from..worker.contacts.len()));
        }
    }

    fn pays_in_parallel(&self) -> bool {
        let size = |g: usize| self.vertex_velocities[g].len();
        let pairs = &self.candidates;
        pairs.len() > 1
            && rayon::current_num_threads() > 1
            && pairs.iter().map(|&(a, b)| size(a) + size(b)).sum::<usize>() >= PARALLEL_VERTICES_MIN
    }

    /// Contacts of one pair, added to those of the worker.
    fn find_pair(
        &self,
        (a, b): (usize, usize),
        phase: NarrowPhase<'_>,
        worker: &mut Worker,
    ) -> Result<(), StepError> {
        let Worker {
            workspace,
            points,
            contacts,
            ..
        } = worker;
        let NarrowPhase {
            world,
            state,
            geometry,
            search,
            ..
        } = phase;
        let parts = &world.parts;
        let pair = (GeometryIdx(a), GeometryIdx(b));
        let query = Query {
            choice: world.choice(pair.0, pair.1),
            ..phase.query
        };
        points.clear();
        if search == Search::Missed && !self.may_be_missed(world, a, b) {
            return self.find_passing(pair, query, phase, worker);
        }
        let mut collide = |motion: Motion, points: &mut Vec<ContactPoint>| {
            let [posed_a, posed_b] = [a, b].map(|g| self.posed(world, g, motion));
            geometry
                .collide(posed_a, posed_b, &query, workspace, points)
                .ok_or_else(|| StepError::NoContactGeometry {
                    a: parts.geometries[a].name.clone(),
                    b: parts.geometries[b].name.clone(),
                })?
                .map_err(|source| StepError::of_pair(world, state, pair, source))
        };
        let motion = self.motion(a, b);
        collide(motion, points)?;
        if motion == Motion::Steady && points.is_empty() && self.is_driven(world, a, b) {
            collide(Motion::Free, points)?;
        }
        if parts.contact.speculation == Speculation::Overlapping {
            points.retain(|point| point.signed_distance < 0.0);
        }
        let is_new = |point: &&ContactPoint| {
            let name = (pair.0, pair.1, point.key);
            search == Search::All || self.known.binary_search(&name).is_err()
        };
        contacts.extend(points.iter().filter(is_new).map(|point| PairContact {
            a: pair.0,
            b: pair.1,
            // Closed contacts have one position.
            p_WA: match point.entry > 0.0 {
                true => self.world_point(world, a, &point.a),
                false => point.p_WC,
            },
            p_WB: match point.entry > 0.0 {
                true => self.world_point(world, b, &point.b),
                false => point.p_WC,
            },
            point: *point,
        }));
        match search {
            Search::All => Ok(()),
            Search::Missed => self.find_passing(pair, query, phase, worker),
        }
    }

    /// Contacts of parts that pass into each other along the solution, added to those of the worker.
    fn find_passing(
        &self,
        (a, b): (GeometryIdx, GeometryIdx),
        query: Query,
        phase: NarrowPhase<'_>,
        worker: &mut Worker,
    ) -> Result<(), StepError> {
        let NarrowPhase {
            world,
            state,
            geometry,
            ..
        } = phase;
        if !self.may_pass(world, a.0, b.0, query.time_step_s) {
            return Ok(());
        }
        let Worker {
            workspace,
            points,
            contacts,
            ..
        } = worker;
        points.clear();
        let [posed_a, posed_b] = [a, b].map(|g| self.posed(world, g.0, Motion::Free));
        if let Some(Err(source)) =
            geometry.find_passing(posed_a, posed_b, &query, workspace, points)
        {
            return Err(StepError::of_pair(world, state, (a, b), source));
        }
        contacts.extend(points.iter().map(|point| PairContact {
            a,
            b,
            p_WA: self.world_point(world, a.0, &point.a),
            p_WB: self.world_point(world, b.0, &point.b),
            point: *point,
        }));
        Ok(())
    }
}

/// Appends the contacts of all workers in the order of their pairs.
///
/// # Errors
/// The failure of the first pair that failed. Pairs are taken in order, so that no pair before it is left out.
fn gather(workers: &mut [Worker], contacts: &mut Vec<PairContact>) -> Result<(), StepError> {
    let failures = workers.iter_mut().filter_map(|w| w.failure.take());
    if let Some((_, error)) = failures.min_by_key(|(k, _)| *k) {
        return Err(error);
    }
    let n_pairs: usize = workers.iter().map(|w| w.pairs.len()).sum();
    for k in 0..n_pairs {
        for worker in &mut *workers {
            if let Some((_, part)) = worker.pairs.pop_front_if(|(pair, _)| *pair == k) {
                contacts.extend_from_slice(&worker.contacts[part]);
            }
        }
    }
    Ok(())
}
