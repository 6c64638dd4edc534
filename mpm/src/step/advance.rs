//! The end of a step: new positions, velocities and strains of particles.

use std::sync::atomic::{AtomicU32, Ordering};

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{BodyError, BodyReport, BodyState};
use rayon::prelude::*;

use super::{MpmStep, emit, flow};
use crate::material::Law;
use crate::model::{Parts, Records};
use crate::nodes::{affine, gradient, interpolate};
use crate::particle::Particle;

/// Count and first index of the particles that a step crushes, independent of the order of evaluation.
#[derive(Debug)]
pub(crate) struct Crushed {
    count: AtomicU32,
    first: AtomicU32,
}

impl Default for Crushed {
    fn default() -> Self {
        Self {
            count: AtomicU32::new(0),
            first: AtomicU32::new(u32::MAX),
        }
    }
}

impl Crushed {
    /// `count` particles, of which `first` is the first.
    pub(crate) fn of(count: u32, first: u32) -> Self {
        Self {
            count: count.into(),
            first: first.into(),
        }
    }

    pub(crate) fn note(&self, particle: u32) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.first.fetch_min(particle, Ordering::Relaxed);
    }

    fn first_and_others(self) -> Option<(usize, u32)> {
        let others = self.count.into_inner().checked_sub(1)?;
        Some((self.first.into_inner() as usize, others))
    }

    /// The warning about them, if there are any.
    pub(crate) fn describe(self, parts: &Parts, records: &Records) -> Option<String> {
        let (place, others) = self.first_and_others()?;
        let object = records.particles[place].object;
        Some(format!(
            "{} is compressed to zero volume or inverted, and {others} more; use a smaller time step, or a material that resists compression",
            parts.name_of(place, object),
        ))
    }
}

/// Checks the particles at the end of a step of `length_s`, lets sinks and sources act, and writes the state.
pub(crate) fn finish(
    parts: &Parts,
    records: &mut Records,
    length_s: f64,
    next: &mut BodyState,
) -> Result<(), BodyError> {
    let each = records.particles.par_iter().enumerate();
    let checked = each.map(|(place, p)| crate::model::check_finite(parts, place, p));
    let checked = match checked.find_first(Result::is_err) {
        Some(error) => error,
        None => parts.check_bounds(&records.particles),
    };
    if checked.is_err() {
        // No later state is compared with these.
        records.particles.clear();
        records.ids.clear();
        return checked;
    }
    records.header[0] += length_s;
    flow::sink(parts, records);
    emit(parts, records);
    records.write(next);
    Ok(())
}

impl MpmStep {
    /// Gives a particle back what the grid did not represent of the v and C it had, as far as it is kept for `dt`, and tells its material the
    /// packing around it.
    fn look_back(
        &self,
        (p, dt): (usize, f64),
        (v, c): (&Vector3<f64>, &Matrix3<f64>),
        particle: &mut Particle<f64>,
    ) {
        let system = &self.system;
        let around = system.before_at(p);
        let keep = self.parts.settings.transfer.kept(dt);
        particle.v += (v - around.velocity) * keep;
        particle.c += (c - around.affine) * keep;
        let object = &self.parts.objects[particle.object as usize];
        if object.material.follows_packing() {
            let law: &dyn Law<f64> = object.material.as_ref();
            let crossings = dt / object.crossing_s;
            particle.strain = law.packed(&particle.strain, around.packing, crossings);
        }
    }

    /// State and report at the end of the step, from its velocities `v`.
    pub(super) fn move_particles(
        &self,
        v: &[f64],
        next: &mut BodyState,
    ) -> Result<BodyReport, BodyError> {
        let system = &self.system;
        let dt = system.time_step.length_s;
        let (mut end, mut mean) = (Vec::new(), Vec::new());
        system.admissible(v, &mut end);
        system
            .time_step
            .mean_velocities(&system.start, &end, &mut mean);
        let mut moved = system.particles.clone();
        let differs = mean != end;
        let crushed = Crushed::default();
        let looks_back = self.parts.looks_back();
        system
            .nodes
            .gather(&system.grid, &mean, &mut moved, |p, local, particle| {
                let stencil = &system.stencils[p];
                let velocity = interpolate(stencil, local);
                particle.x += velocity * dt;
                let g = gradient(stencil, local) * dt;
                let material = system.material(p);
                if Law::<f64>::is_crushed(material, &particle.strain, &g) {
                    crushed.note(particle.index);
                }
                particle.strain =
                    Law::<f64>::advance(material, &particle.strain, &system.lagged[p], &g);
                let (v, c) = (particle.v, particle.c);
                if differs {
                    let local = system.nodes.local(system.cell_of[p] as usize, &end);
                    particle.v = interpolate(stencil, &local);
                    particle.c = affine(stencil, &local, system.spacing);
                } else {
                    particle.v = velocity;
                    particle.c = affine(stencil, local, system.spacing);
                }
                if looks_back {
                    self.look_back((p, dt), (&v, &c), particle);
                }
            });
        system.move_cloths(&mean, dt, &mut moved);
        let mut records = Records {
            particles: self.records.particles.clone(),
            ids: self.records.ids.clone(),
            header: self.records.header.clone(),
        };
        for p in &moved {
            records.particles[p.index as usize] = *p;
        }
        let mut report = BodyReport {
            warnings: self.warnings.clone(),
        };
        let crushed = crushed.describe(&self.parts, &records);
        report.warnings.extend(crushed);
        finish(&self.parts, &mut records, dt, next)?;
        Ok(report)
    }
}
