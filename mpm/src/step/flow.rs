//! Sources and sinks at the end of a step.

use nalgebra::Point3;

use crate::material::Strain;
use crate::model::{Parts, Records};
use crate::particle::Particle;

/// Adds the batches that are due.
pub(crate) fn emit(parts: &Parts, records: &mut Records) {
    let time = records.header[0];
    for (k, source) in parts.sources.iter().enumerate() {
        let due = source.due(time);
        let done = records.header[2 + k] as u32;
        records.header[2 + k] = f64::from(due.max(done));
        let object = &parts.objects[source.object.0];
        for batch in done..due {
            // A batch that was due within the step has moved since.
            let since = (time - source.start_s - f64::from(batch) * source.interval_s).max(0.0);
            let gone = source.velocity_W * since;
            for point in &source.points {
                records.ids.push(records.header[1] as u32);
                records.header[1] += 1.0;
                records.particles.push(Particle {
                    x: point.coords + gone,
                    v: source.velocity_W,
                    mass: object.particle_mass,
                    volume: object.particle_volume,
                    strain: Strain {
                        internal: object.material.fresh(),
                        ..Particle::default().strain
                    },
                    object: source.object.0 as u32,
                    ..Particle::default()
                });
            }
        }
    }
}

/// Removes the particles inside sinks; the others keep their order.
pub(super) fn sink(parts: &Parts, records: &mut Records) {
    if parts.sinks.is_empty() {
        return;
    }
    // A cloth cannot lose single particles.
    let taken = |p: &Particle<f64>| {
        parts.objects[p.object as usize].cloth.is_none()
            && parts.sinks.iter().any(|s| s.takes(&Point3::from(p.x)))
    };
    let stays: Vec<bool> = records.particles.iter().map(|p| !taken(p)).collect();
    let mut stay = stays.iter();
    records
        .particles
        .retain(|_| *stay.next().expect("one for each"));
    let mut stay = stays.iter();
    records.ids.retain(|_| *stay.next().expect("one for each"));
}
