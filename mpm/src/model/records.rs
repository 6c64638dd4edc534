//! Layout of particles in a body's state.
//!
//! q and v have three numbers per particle. The history has the elapsed time (s), the next particle id and the number of batches of each
//! source; then for each particle C and F, column-major, two internal variables, object and id.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_contact_sap::{BodyError, BodyState, Surface};
use rayon::prelude::*;

use super::Parts;
use crate::material::{Law, Strain};
use crate::particle::Particle;

/// Numbers of a particle in the history.
const RECORD: usize = 22;
/// Particles that a thread reads or writes at a time.
const CHUNK: usize = 1024;

/// Numbers before the particles.
fn header_length(parts: &Parts) -> usize {
    2 + parts.sources.len()
}

/// The particles and counters of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    pub(crate) particles: Vec<Particle<f64>>,
    pub(crate) ids: Vec<u32>,
    pub(crate) header: Vec<f64>,
}

impl Records {
    pub(crate) fn read(parts: &Parts, state: &BodyState) -> Result<Self, BodyError> {
        let mut records = Self::default();
        records.read_again(parts, state)?;
        Ok(records)
    }

    /// Reads `state`, reusing memory. Returns how its particles compare with those that were here.
    pub(crate) fn read_again(
        &mut self,
        parts: &Parts,
        state: &BodyState,
    ) -> Result<Comparison, BodyError> {
        let header = header_length(parts);
        let BodyState { q, v, history } = state;
        let n = history.len().saturating_sub(header) / RECORD;
        for (what, found, expected) in [
            (
                "history of material points",
                history.len(),
                header + RECORD * n,
            ),
            ("q of material points", q.len(), 3 * n),
            ("v of material points", v.len(), 3 * n),
        ] {
            if found != expected {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected,
                });
            }
        }
        self.header.clear();
        self.header.extend_from_slice(&history[..header]);
        let had = self.particles.len();
        // A place that was empty has an index of no particle.
        let none = Particle {
            index: u32::MAX,
            ..Particle::default()
        };
        self.particles.resize(n, none);
        self.ids.resize(n, 0);
        let own = (self.particles.par_chunks_mut(CHUNK)).zip(self.ids.par_chunks_mut(CHUNK));
        let given = (q.par_chunks(3 * CHUNK))
            .zip(v.par_chunks(3 * CHUNK))
            .zip(history[header..].par_chunks(RECORD * CHUNK));
        let chunks = own.zip(given).enumerate();
        let read: Vec<Result<Comparison, BodyError>> = chunks
            .map(|(k, ((particles, ids), ((q, v), history)))| {
                read_chunk(parts, CHUNK * k, (particles, ids), (q, v, history))
            })
            .collect();
        let mut comparison = match had == n {
            true => Comparison::Same,
            false => Comparison::Other,
        };
        for chunk in read {
            if chunk? == Comparison::Other {
                comparison = Comparison::Other;
            }
        }
        if let Some(x) = self.header.iter().find(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite {
                location: "time or count of material points".into(),
                value: *x,
            });
        }
        Ok(comparison)
    }

    /// Checks that all particles of each cloth are there, at their places.
    pub(crate) fn check_cloths(&self, parts: &Parts) -> Result<(), BodyError> {
        for (number, object) in parts.objects.iter().enumerate() {
            let Some(cloth) = &object.cloth else {
                continue;
            };
            let n = cloth.n_particles();
            let own = self.particles.iter().zip(&self.ids);
            let own = own.skip(cloth.first as usize).zip(cloth.first..);
            let found = own
                .take_while(|((p, id), k)| p.object as usize == number && *id == k)
                .count();
            if found < n {
                return Err(BodyError::StateLength {
                    what: "particles of a cloth, in the order of its mesh",
                    found,
                    expected: n,
                });
            }
        }
        Ok(())
    }

    /// Checks that no particle of a solid or liquid is crushed or inverted.
    pub(crate) fn check_strains(&self, parts: &Parts) -> Result<(), BodyError> {
        let crushed = |(_, p): &(usize, &Particle<f64>)| {
            let object = &parts.objects[p.object as usize];
            object.cloth.is_none()
                && Law::<f64>::is_crushed(&*object.material, &p.strain, &Matrix3::zeros())
        };
        match self.particles.iter().enumerate().find(crushed) {
            None => Ok(()),
            Some((place, p)) => Err(BodyError::Model(format!(
                "{} has no positive volume: the determinant of its deformation gradient is {}",
                parts.name_of(place, p.object),
                p.strain.f.determinant()
            ))),
        }
    }

    /// Checks that ids are below the next one, each there once, and that counters are whole numbers.
    pub(crate) fn check_counters(&self) -> Result<(), BodyError> {
        let is_count = |x: &&f64| **x >= 0.0 && x.fract() == 0.0 && **x <= f64::from(u32::MAX);
        if let Some(x) = self.header[1..].iter().find(|x| !is_count(x)) {
            return Err(BodyError::Model(format!(
                "{x} is no count of material points"
            )));
        }
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(BodyError::Model(format!(
                "two material points have the id {}",
                twice[0]
            )));
        }
        let next = self.header[1];
        match ids.last() {
            Some(last) if f64::from(*last) >= next => Err(BodyError::Model(format!(
                "a material point has the id {last}, the next one would get {next}"
            ))),
            _ => Ok(()),
        }
    }

    /// Writes a state; `next` is overwritten and its memory reused.
    pub(crate) fn write(&self, next: &mut BodyState) {
        let (n, header) = (self.particles.len(), self.header.len());
        next.q.resize(3 * n, 0.0);
        next.v.resize(3 * n, 0.0);
        next.history.resize(header + RECORD * n, 0.0);
        next.history[..header].copy_from_slice(&self.header);
        let own = (self.particles.par_chunks(CHUNK)).zip(self.ids.par_chunks(CHUNK));
        let written = (next.q.par_chunks_mut(3 * CHUNK))
            .zip(next.v.par_chunks_mut(3 * CHUNK))
            .zip(next.history[header..].par_chunks_mut(RECORD * CHUNK));
        own.zip(written)
            .for_each(|((particles, ids), ((q, v), history))| {
                let each = particles.iter().zip(ids);
                let places = (q.chunks_exact_mut(3).zip(v.chunks_exact_mut(3)))
                    .zip(history.chunks_exact_mut(RECORD));
                for ((p, id), ((q, v), record)) in each.zip(places) {
                    q.copy_from_slice(p.x.as_slice());
                    v.copy_from_slice(p.v.as_slice());
                    record[..9].copy_from_slice(p.c.as_slice());
                    record[9..18].copy_from_slice(p.strain.f.as_slice());
                    record[18..20].copy_from_slice(&p.strain.internal);
                    record[20..].copy_from_slice(&[f64::from(p.object), f64::from(*id)]);
                }
            });
    }
}

/// How particles compare with those that were at their places, to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// They are the same.
    Same,
    /// Some differ, or their number does.
    Other,
}

/// Reads the particles from number `first` on. What has not changed is not written.
fn read_chunk(
    parts: &Parts,
    first: usize,
    (particles, ids): (&mut [Particle<f64>], &mut [u32]),
    (q, v, history): (&[f64], &[f64], &[f64]),
) -> Result<Comparison, BodyError> {
    let mut comparison = Comparison::Same;
    let own = particles.iter_mut().zip(ids);
    let given = q.chunks_exact(3).zip(v.chunks_exact(3));
    let given = given.zip(history.chunks_exact(RECORD));
    for (p, ((own, own_id), ((x, v), record))) in (first..).zip(own.zip(given)) {
        let (object, id) = (record[20], record[21]);
        let is_known =
            object == f64::from(own.object) && id == f64::from(*own_id) && p == own.index as usize;
        let differences = difference(x, own.x.as_slice())
            | difference(v, own.v.as_slice())
            | difference(&record[..9], own.c.as_slice())
            | difference(&record[9..18], own.strain.f.as_slice())
            | difference(&record[18..20], &own.strain.internal);
        if is_known && differences == 0 {
            continue;
        }
        comparison = Comparison::Other;
        if !(is_index(object) && object < parts.objects.len() as f64) {
            return Err(BodyError::Model(format!(
                "particle {p} belongs to object {object}, the model has {}",
                parts.objects.len()
            )));
        }
        if !is_index(id) {
            return Err(BodyError::Model(format!(
                "particle {p} has the id {id}, which is no number of a particle"
            )));
        }
        let (object, id) = (object as u32, id as u32);
        let spec = &parts.objects[object as usize];
        let (mass, volume) = match &spec.cloth {
            Some(cloth) => cloth.mass_and_volume(id),
            None => (spec.particle_mass, spec.particle_volume),
        };
        let read = Particle {
            x: Vector3::from_column_slice(x),
            x_rest: Vector3::zeros(),
            v: Vector3::from_column_slice(v),
            mass,
            volume,
            c: Matrix3::from_column_slice(&record[..9]),
            strain: Strain {
                f: Matrix3::from_column_slice(&record[9..18]),
                internal: [record[18], record[19]],
            },
            object,
            index: p as u32,
        };
        check_finite(parts, p, &read)?;
        (*own, *own_id) = (read, id);
    }
    Ok(comparison)
}

/// Whether a number of the history is a whole one that fits.
fn is_index(x: f64) -> bool {
    f64::from(x as u32) == x
}

/// The bits that differ.
fn difference(a: &[f64], b: &[f64]) -> u64 {
    let each = a.iter().zip(b);
    each.fold(0, |bits, (a, b)| bits | (a.to_bits() ^ b.to_bits()))
}

/// Rejects particles with a quantity that is not finite.
pub(crate) fn check_finite(
    parts: &Parts,
    particle: usize,
    p: &Particle<f64>,
) -> Result<(), BodyError> {
    let quantities: [(&str, &[f64]); 5] = [
        ("position", p.x.as_slice()),
        ("velocity", p.v.as_slice()),
        ("affine velocity", p.c.as_slice()),
        ("deformation gradient", p.strain.f.as_slice()),
        ("internal state", &p.strain.internal),
    ];
    for (what, values) in quantities {
        if let Some(value) = values.iter().find(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite {
                location: format!("{what} of {}", parts.name_of(particle, p.object)),
                value: *value,
            });
        }
    }
    Ok(())
}

/// The object of a particle of a state.
pub(crate) fn object_of(parts: &Parts, state: &BodyState, particle: usize) -> Option<usize> {
    let record = header_length(parts) + RECORD * particle;
    state
        .history
        .get(record + 20)
        .map(|object| *object as usize)
}

/// Writes particles as vertices, and the triangles of cloths.
pub(crate) fn write_surface(parts: &Parts, state: &BodyState, out: &mut Surface) {
    out.clear();
    out.vertices
        .extend(state.q.chunks_exact(3).map(Point3::from_slice));
    let start = header_length(parts).min(state.history.len());
    let records = state.history[start..].chunks_exact(RECORD);
    out.parts
        .extend(records.clone().map(|record| record[20] as u32));
    out.parts.resize(out.vertices.len(), 0);
    let radius = |record: &[f64]| {
        let object = parts.objects.get(record[20] as usize);
        object.map_or(0.0, |o| o.radius)
    };
    out.radii.extend(records.map(radius));
    out.radii.resize(out.vertices.len(), 0.0);
    out.triangles.extend_from_slice(&parts.triangles);
}
