//! How long an explicit substep may be.

use crate::cloth::StepLimitCause;
use crate::model::{MaterialPoints, Object};

/// The limit of an explicit substep, and what sets it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubstepLimit {
    /// The longest stable substep, s.
    pub length_s: f64,
    /// The object that sets it.
    pub object: String,
    /// Why.
    pub reason: LimitReason,
}

/// What limits a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitReason {
    /// Elastic waves at rest, of this speed, m/s.
    Waves(f64),
    /// The mesh and the material of a cloth.
    Cloth(StepLimitCause),
}

/// Courant number: h ≤ 0.4 of the time that a wave takes from node to node. At rest 0.6 is stable for every sampling; the rest is for waves
/// that compression makes faster.
const COURANT: f64 = 0.4;

impl MaterialPoints {
    /// The longest explicit substep of this model: 0.4 h/c of the material with the fastest waves, or the
    /// [limit](crate::ClothMaterial::step_limit) of a cloth; `None` for a model without objects.
    #[must_use]
    pub fn substep_limit(&self) -> Option<SubstepLimit> {
        let limits = self.parts.objects.iter().map(|o| self.limit_of(o));
        limits.min_by(|a, b| a.length_s.total_cmp(&b.length_s))
    }

    fn limit_of(&self, o: &Object) -> SubstepLimit {
        let object = o.name.clone();
        if let Some(cloth) = &o.cloth {
            let limit = cloth.material.step_limit(&cloth.mesh);
            return SubstepLimit {
                length_s: limit.time_step_s,
                object,
                reason: LimitReason::Cloth(limit.cause),
            };
        }
        let density = o.particle_mass / o.particle_volume;
        let speed = (o.material.wave_modulus() / density).sqrt();
        SubstepLimit {
            length_s: COURANT * self.parts.settings.spacing / speed,
            object,
            reason: LimitReason::Waves(speed),
        }
    }
}
