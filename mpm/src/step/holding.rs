//! Bounds, and held sets of particles.

use pliant_contact_sap::BodyError;
use rayon::prelude::*;

use super::MpmStep;
use crate::model::Parts;
use crate::particle::Particle;
use crate::sparse_grid::NONE;
use crate::spline::corner;

impl Parts {
    /// Rejects particles outside the bounds.
    pub(crate) fn check_bounds(&self, particles: &[Particle<f64>]) -> Result<(), BodyError> {
        let Some([low, high]) = self.settings.bounds else {
            return Ok(());
        };
        let outside = |p: &Particle<f64>| (0..3).any(|k| p.x[k] < low[k] || p.x[k] > high[k]);
        match particles.par_iter().position_first(outside) {
            None => Ok(()),
            Some(index) => {
                let p = &particles[index];
                Err(BodyError::Model(format!(
                    "{} left the bounds: it is at ({}, {}, {}) m, they reach from ({}, {}, {}) to ({}, {}, {})",
                    self.name_of(index, p.object),
                    p.x.x,
                    p.x.y,
                    p.x.z,
                    low.x,
                    low.y,
                    low.z,
                    high.x,
                    high.y,
                    high.z
                )))
            }
        }
    }

    /// Checks that there are no held velocities, or three for each set, all of them finite: not a number would mean that a component is free.
    pub(crate) fn check_held(&self, held: &[Option<f64>]) -> Result<(), BodyError> {
        let expected = 3 * self.grips.len();
        if !held.is_empty() && held.len() != expected {
            return Err(BodyError::StateLength {
                what: "held velocities of material points (three for each set)",
                found: held.len(),
                expected,
            });
        }
        for (i, velocity) in held.iter().enumerate() {
            if let Some(value) = velocity.filter(|v| !v.is_finite()) {
                let (set, axis) = (&self.grips[i / 3].0, ["x", "y", "z"][i % 3]);
                return Err(BodyError::NotFinite {
                    location: format!("the held velocity of \"{set}\", axis {axis}"),
                    value,
                });
            }
        }
        Ok(())
    }
}

impl MpmStep {
    /// Gives nodes that have more than half of their mass from a held set the velocity of the set, and vertices of cloth in it the
    /// velocity itself.
    pub(super) fn hold_grips(&mut self, held: &[Option<f64>]) -> Result<(), BodyError> {
        self.parts.check_held(held)?;
        let grips = &self.parts.grips;
        let system = &mut self.system;
        for ((_, members), velocity) in grips.iter().zip(held.chunks_exact(3)) {
            if velocity.iter().all(Option::is_none) {
                continue;
            }
            let mut share = vec![0.0; system.mass.len()];
            for (index, id) in self.records.ids.iter().enumerate() {
                if members.binary_search(id).is_err() {
                    continue;
                }
                let p = self.sorted_index[index] as usize;
                if system.is_cloth(p) {
                    let velocity = std::array::from_fn(|k| velocity[k].unwrap_or(f64::NAN));
                    system.hold_vertex(p, &velocity);
                    continue;
                }
                let nodes = &system.nodes.of_cell[system.cell_of[p] as usize];
                for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let weight = system.stencils[p].weight(corner(n));
                    share[node as usize] += weight * system.particles[p].mass;
                }
            }
            for (node, share) in share.into_iter().enumerate() {
                if share > 0.5 * system.mass[node] {
                    for (k, v) in velocity.iter().enumerate() {
                        if let Some(v) = *v {
                            system.prescribed[3 * node + k] = v;
                            system.any_prescribed = true;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
