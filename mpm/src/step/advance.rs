//! The end of a step: new positions, velocities and strains of particles.

use std::sync::atomic::{AtomicU32, Ordering};

use pliant_contact_sap::{BodyError, BodyReport, BodyState};

use super::{MpmStep, emit, flow};
use crate::material::Law;
use crate::model::Records;
use crate::nodes::{affine, gradient, interpolate};

/// Count and first index of the particles that a step crushes, independent of the order of evaluation.
#[derive(Debug)]
struct Crushed {
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
    fn note(&self, particle: u32) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.first.fetch_min(particle, Ordering::Relaxed);
    }

    fn first_and_others(self) -> Option<(usize, u32)> {
        let others = self.count.into_inner().checked_sub(1)?;
        Some((self.first.into_inner() as usize, others))
    }
}

impl MpmStep {
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
                if differs {
                    let local = system.nodes.local(system.cell_of[p] as usize, &end);
                    particle.v = interpolate(stencil, &local);
                    particle.c = affine(stencil, &local, system.spacing);
                } else {
                    particle.v = velocity;
                    particle.c = affine(stencil, local, system.spacing);
                }
            });
        let mut records = Records {
            particles: self.records.particles.clone(),
            ids: self.records.ids.clone(),
            header: self.records.header.clone(),
        };
        for p in &moved {
            records.particles[p.index as usize] = *p;
        }
        for (index, p) in records.particles.iter().enumerate() {
            crate::model::check_finite(&self.parts, index, p)?;
        }
        self.check_bounds(&records.particles)?;
        let mut report = BodyReport {
            warnings: self.warnings.clone(),
        };
        if let Some((index, others)) = crushed.first_and_others() {
            let object = records.particles[index].object;
            report.warnings.push(format!(
                "{} is compressed to zero volume or inverted, and {others} more; use a smaller time step, or a material that resists compression",
                self.parts.name_of(index, object),
            ));
        }
        records.header[0] += dt;
        flow::sink(&self.parts, &mut records);
        emit(&self.parts, &mut records);
        records.write(next);
        Ok(report)
    }
}
