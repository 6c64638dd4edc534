//! How long an explicit substep may be.

use crate::model::{MaterialPoints, Object};

/// The limit of an explicit substep, and what sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubstepLimit {
    /// The longest stable substep, s.
    pub length_s: f64,
    /// The object that sets it.
    pub object: String,
    /// Speed of its elastic waves at rest, m/s.
    pub wave_speed: f64,
}

/// Courant number: h ≤ 0.4 of the time that a wave takes from node to node. At rest 0.6 is stable for every sampling; the rest is for waves
/// that compression makes faster.
const COURANT: f64 = 0.4;

impl MaterialPoints {
    /// The longest explicit substep of this model: 0.4 h/c of the material with the fastest waves; `None` for a model without
    /// objects.
    #[must_use]
    pub fn substep_limit(&self) -> Option<SubstepLimit> {
        let speed = |o: &Object| {
            let density = o.particle_mass / o.particle_volume;
            (o.material.wave_modulus() / density).sqrt()
        };
        let speeds = self.parts.objects.iter().map(|o| (speed(o), o));
        let (wave_speed, object) = speeds.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(SubstepLimit {
            length_s: COURANT * self.parts.settings.spacing / wave_speed,
            object: object.name.clone(),
            wave_speed,
        })
    }
}
