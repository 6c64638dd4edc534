//! One object among the material points of a scene.

use std::collections::BTreeMap;
use std::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Energy};
use pliant_mpm::{MaterialPoints, ObjectIdx, ParticleView};

use super::SoftModel;
use crate::recording::ParticleStates;
use crate::scene::Shown;

/// The particles of an object.
#[derive(Clone, Debug)]
pub(crate) enum Members {
    /// A constant range of vertices of the body.
    Stay(Range<usize>),
    /// A varying set: the particles of the object.
    OfObject,
}

/// The particles of one object.
#[derive(Clone, Debug)]
pub(crate) struct PointsObject {
    pub(crate) model: MaterialPoints,
    pub(crate) object: ObjectIdx,
    pub(crate) members: Members,
    /// Volume at rest of one particle, m³.
    pub(crate) particle_volume: f64,
    /// Mass of one particle, kg.
    pub(crate) particle_mass: f64,
}

impl PointsObject {
    fn places(&self, state: &BodyState) -> impl Iterator<Item = usize> {
        let all = match &self.members {
            Members::Stay(range) => range.clone(),
            Members::OfObject => 0..state.q.len() / 3,
        };
        all.filter(move |place| match self.members {
            Members::Stay(_) => true,
            Members::OfObject => self.model.object_of(state, *place) == Some(self.object),
        })
    }

    fn of_object<'a>(
        &self,
        state: &'a BodyState,
        numbers: &'a [f64],
    ) -> impl Iterator<Item = &'a [f64]> {
        self.places(state).map(|p| &numbers[3 * p..3 * p + 3])
    }

    fn views(&self, state: &BodyState) -> impl Iterator<Item = ParticleView> {
        let all = self.model.particles(state).enumerate();
        let members = all.filter(|(place, p)| match &self.members {
            Members::Stay(range) => range.contains(place),
            Members::OfObject => p.object == self.object,
        });
        members.map(|(_, p)| p)
    }
}

impl SoftModel for PointsObject {
    fn points(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        out.clear();
        out.extend(self.of_object(state, &state.q).map(Point3::from_slice));
    }

    fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        out.clear();
        let velocities = self.of_object(state, &state.v);
        out.extend(velocities.map(Vector3::from_column_slice));
    }

    fn masses(&self, state: &BodyState) -> Vec<f64> {
        vec![self.particle_mass; self.places(state).count()]
    }

    fn volume(&self, state: &BodyState) -> f64 {
        let ratios = self.views(state).map(|p| p.volume_ratio);
        self.particle_volume * ratios.sum::<f64>()
    }

    fn numbers(&self, shown: Shown, state: &BodyState, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.views(state).map(|p| match shown {
            Shown::PlasticStrain => p.plastic_strain.expect("scenes ask only laws that keep it"),
            _ => p.pressure,
        }));
    }

    /// All particles have the same volume at rest.
    fn plastic_strain(&self, state: &BodyState) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0);
        for p in self.views(state) {
            sum += p.plastic_strain?;
            count += 1;
        }
        Some(sum / f64::from(count))
    }

    fn particle_states(&self, state: &BodyState) -> Option<ParticleStates> {
        let mut states = ParticleStates::default();
        for p in self.views(state) {
            states.ids.push(p.id);
            states.bodies.push(p.object.0 as u32);
            states.velocities.push(p.v_WP);
            states.masses.push(p.mass);
            states.volumes.push(self.particle_volume * p.volume_ratio);
            states.deformation_gradients.push(p.f);
            states
                .plastic_strains
                .push(p.plastic_strain.unwrap_or(f64::NAN));
        }
        Some(states)
    }

    fn share_of_energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Option<Energy> {
        Some(self.model.energy_of(state, gravity, self.object))
    }

    /// Particles in the same or in adjacent grid cells are connected.
    fn pieces(&self, state: &BodyState) -> Vec<f64> {
        let h = self.model.settings().spacing;
        let mut cells: BTreeMap<[i64; 3], (f64, bool)> = BTreeMap::new();
        for p in self.of_object(state, &state.q) {
            let cell = [p[0], p[1], p[2]].map(|x| (x / h).floor() as i64);
            cells.entry(cell).or_default().0 += self.particle_mass;
        }
        let mut pieces = Vec::new();
        let all: Vec<[i64; 3]> = cells.keys().copied().collect();
        let mut open = Vec::new();
        for first in all {
            let mut mass = 0.0;
            open.push(first);
            while let Some(cell) = open.pop() {
                let Some((mass_in_cell, seen)) = cells.get_mut(&cell) else {
                    continue;
                };
                if std::mem::replace(seen, true) {
                    continue;
                }
                mass += *mass_in_cell;
                for k in 0..27 {
                    open.push([
                        cell[0] + k / 9 - 1,
                        cell[1] + k / 3 % 3 - 1,
                        cell[2] + k % 3 - 1,
                    ]);
                }
            }
            if mass > 0.0 {
                pieces.push(mass);
            }
        }
        pieces.sort_unstable_by(|a, b| b.total_cmp(a));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pliant_constitutive::Lame;
    use pliant_contact_sap::DeformableModel;
    use pliant_mpm::{LinearCorotated, MpmBuilder, MpmSettings, ObjectSpec, ParticleSet};

    use super::*;

    #[test]
    fn particles_further_apart_than_their_cells_are_pieces() {
        let along = |from: f64, n: u32| (0..n).map(move |k| [from + 0.05 * f64::from(k), 0.0, 0.0]);
        let places = along(0.0, 20).chain(along(1.3, 10)).chain(along(2.1, 3));
        let set = ParticleSet {
            points: places.map(Point3::from).collect(),
            particle_volume: 1e-3,
        };
        let mut builder = MpmBuilder::new(MpmSettings::new(0.1));
        let material =
            LinearCorotated::new(Lame::from_young_poisson(1e4, 0.3).expect("legal constants"));
        builder.object(ObjectSpec::new("row", Arc::new(material), 1000.0, set));
        let model = builder.build().expect("a legal model");
        let object = PointsObject {
            object: ObjectIdx(0),
            members: Members::Stay(0..33),
            particle_volume: 1e-3,
            particle_mass: 1.0,
            model: model.clone(),
        };
        assert_eq!(object.pieces(&model.default_state()), [20.0, 10.0, 3.0]);
    }
}
