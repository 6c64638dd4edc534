//! The narrow phase: contacts of the candidate pairs, on all threads where that pays. Pairs are independent and their contacts are
//! concatenated in order, so results do not depend on the number of threads.

use pliant_hydroelastic::{ContactGeometry, ContactPoint, Query};
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
    pub(super) time_step_s: f64,
    pub(super) search: Search,
}

impl Collision {
    /// Finds the contacts of all candidates.
    pub(super) fn find_all(
        &mut self,
        phase: NarrowPhase<'_>,
        contacts: &mut Vec<PairContact>,
    ) -> Result<(), StepError> {
        if !self.pays_in_parallel() {
            let mut points = std::mem::take(&mut self.points);
            let mut pairs = self.candidates.iter();
            let found =
                pairs.try_for_each(|pair| self.find_pair(*pair, phase, &mut points, contacts));
            self.points = points;
            return found;
        }
        let pairs = self.candidates.par_iter().with_max_len(1);
        let found = pairs.map_init(Vec::new, |points, pair| {
            let mut contacts = Vec::new();
            let found = self.find_pair(*pair, phase, points, &mut contacts);
            found.map(|()| contacts)
        });
        for found in found.collect::<Vec<_>>() {
            contacts.extend(found?);
        }
        Ok(())
    }

    fn pays_in_parallel(&self) -> bool {
        let size = |g: usize| self.vertex_velocities[g].len();
        let pairs = &self.candidates;
        pairs.len() > 1
            && rayon::current_num_threads() > 1
            && pairs.iter().map(|&(a, b)| size(a) + size(b)).sum::<usize>() >= PARALLEL_VERTICES_MIN
    }

    /// Contacts of one pair, added to `out`.
    fn find_pair(
        &self,
        (a, b): (usize, usize),
        phase: NarrowPhase<'_>,
        points: &mut Vec<ContactPoint>,
        out: &mut Vec<PairContact>,
    ) -> Result<(), StepError> {
        let NarrowPhase {
            world,
            state,
            geometry,
            time_step_s,
            search,
            ..
        } = phase;
        let parts = &world.parts;
        let pair = (GeometryIdx(a), GeometryIdx(b));
        let mut query = Query {
            choice: world.choice(pair.0, pair.1),
            ..phase.query
        };
        if parts.contact.model.has_sliding_gap() {
            query.margin += self.sliding_gap(world, a, b, time_step_s);
        }
        points.clear();
        let collide = |motion: Motion, points: &mut Vec<ContactPoint>| {
            let [posed_a, posed_b] = [a, b].map(|g| self.posed(world, g, motion));
            geometry
                .collide(posed_a, posed_b, &query, points)
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
        out.extend(points.iter().filter(is_new).map(|point| PairContact {
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
        Ok(())
    }
}
