//! Pairs that stay deep in each other, most often because their contacts are too soft for what presses on them.

use std::collections::BTreeMap;

use pliant_coupling::{GeometryIdx, State, StepReport, World};

use super::suspicious_input::{size, thickness};

/// A pair is deep beyond this share of the size of either body,
const SHARE_OF_SIZE: f64 = 0.01;
/// or of the thickness of a rigid one.
const SHARE_OF_THICKNESS: f64 = 0.25;

/// Impacts are over before, s.
const LASTING_S: f64 = 0.1;

/// Above this number, pairs are counted and not named.
const NAMED_MAX: usize = 5;

/// Watches the depth of point contacts through a run. Patches are left out: their depth follows from a modulus.
#[derive(Debug, Default)]
pub(super) struct Penetration {
    /// The depth allowed to each geometry, m.
    allowed: Vec<f64>,
    deep: BTreeMap<(GeometryIdx, GeometryIdx), Deep>,
    found: BTreeMap<(GeometryIdx, GeometryIdx), Deep>,
}

/// A pair that is deep without a break.
#[derive(Clone, Copy, Debug)]
struct Deep {
    since_s: f64,
    last_step: u64,
    depth: f64,
}

impl Penetration {
    /// Looks at the step of `report`, which started from `state`.
    pub(super) fn watch(&mut self, world: &World, state: &State, report: &StepReport) {
        if self.allowed.is_empty() {
            let geometries = world.geometries().iter();
            self.allowed.extend(geometries.map(|geometry| {
                let of_size = SHARE_OF_SIZE * size(world, state, geometry);
                of_size.min(SHARE_OF_THICKNESS * thickness(geometry))
            }));
        }
        for pair in report.pairs().filter(|pair| pair.a != pair.b) {
            let points = pair.contacts.iter().filter(|c| c.patch.is_none());
            let depth = points.map(|c| -c.signed_distance).fold(0.0, f64::max);
            if depth <= self.allowed[pair.a.0].min(self.allowed[pair.b.0]) {
                continue;
            }
            let key = (pair.a, pair.b);
            let now = Deep {
                since_s: state.time_s,
                last_step: state.step,
                depth,
            };
            let deep = match self.deep.get(&key) {
                Some(deep) if deep.last_step + 1 >= state.step => Deep {
                    since_s: deep.since_s,
                    depth: depth.max(deep.depth),
                    ..now
                },
                _ => now,
            };
            self.deep.insert(key, deep);
            if state.time_s - deep.since_s >= LASTING_S {
                self.found.insert(key, deep);
            }
        }
    }

    /// Notes for the end of the run.
    pub(super) fn notes(&self, world: &World) -> Vec<String> {
        let name = |geometry: GeometryIdx| &world.geometries()[geometry.0].name;
        let mut notes: Vec<String> = (self.found.iter().take(NAMED_MAX))
            .map(|(&(a, b), deep)| {
                format!(
                    "{:?} and {:?} are up to {:.2e} m deep in each other from {:.3} s on: check their `stiffness`, the mass of the lighter \
                     one, and whether a shorter step keeps them apart",
                    name(a),
                    name(b),
                    deep.depth,
                    deep.since_s,
                )
            })
            .collect();
        if self.found.len() > NAMED_MAX {
            let more = self.found.len() - NAMED_MAX;
            notes.push(format!("{more} more pairs stay as deep in each other"));
        }
        notes
    }
}
