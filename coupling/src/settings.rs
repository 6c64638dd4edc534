//! How contact is modelled in a world.

use pliant_contact_sap::{FrictionLimit, NEAR_RIGID_CONTACT, NEAR_RIGID_SIMILAR};
use pliant_hydroelastic::{ContactChoice, PatchShare};

use crate::error::{WorldError, WorldPart};

/// Which convex model of contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactModel {
    /// Friction limit fixed at the start of the solve; see [`FrictionLimit`]. No gliding; the default.
    Lagged(FrictionLimit),
    /// Friction coupled to the normal impulse by a cone of similar shape; sliding bodies hover by μ‖v_t‖δt.
    Similar,
    /// Projection onto the friction cone with linear dissipation; sliding bodies hover by μ(δt + τ)‖v_t‖.
    Sap,
    /// An energy of the distance, to compare with (Tong, Choi, Joo, Jawed 2023): springs of the material's stiffness as it stands
    /// that act from `range_m` (m) apart on. Nothing follows paths, nothing caps stiffness: steps must be short.
    Energy {
        /// From which distance on a pair repels, m.
        range_m: f64,
    },
}

/// Settings of contact, one for a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// The model.
    pub model: ContactModel,
    /// How contact loses energy.
    pub dissipation: DissipationRule,
    /// v_s, m/s: slip below this counts as stiction. 1e-4: 0.1 mm of creep in a second.
    pub stiction_speed: f64,
    /// What friction remembers of the step before.
    pub stiction: Stiction,
    /// β: stiffness is capped where the lighter body would swing on a contact with the period β δt. `None`: the model's
    /// default, [`NEAR_RIGID_CONTACT`] or [`NEAR_RIGID_SIMILAR`].
    pub near_rigid: Option<f64>,
    /// What is done about bodies fast enough to pass through each other within a step.
    pub speculation: Speculation,
    /// Points or patches, where a pair's own rule does not say.
    pub choice: ContactChoice,
}

/// Which of a material's two dissipation parameters is used. The SAP model knows the second only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationRule {
    /// Hunt-Crossley, s/m.
    #[default]
    HuntCrossley,
    /// Linear (Kelvin-Voigt) relaxation time, s.
    RelaxationTime,
}

/// What friction remembers of the step before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stiction {
    /// Nothing. A contact under the share s of the load that friction can bear creeps, by the lagged and the similar model
    /// at v_s s/√(1 − s²): 1.2e-7 m/s in a crooked stack, 2e-4 m/s on an incline of 0.9 times the critical slope. By SAP
    /// at σ w γ_t, which is less at short steps.
    Creeping,
    /// What [`Held`](Self::Held) says in patches, those of the surfaces of soft bodies among them, nothing in points: soft bodies
    /// lean where their load is not in the middle, so a patch at rest nearly always bears friction.
    #[default]
    HeldInPatches,
    /// The slip that led to its load, in [`State`](crate::State): it bears the load at rest, up to 0.995 of what friction
    /// can, for as long as the same features of two geometries touch.
    Held,
}

impl Stiction {
    /// Whether a contact remembers, one of a patch or of points.
    pub(crate) fn remembers(self, patch: Option<PatchShare>) -> bool {
        match self {
            Self::Creeping => false,
            Self::HeldInPatches => patch.is_some(),
            Self::Held => true,
        }
    }
}

/// What is done about contacts that would only begin within the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speculation {
    /// Swept paths are followed and contacts entered where they are hit; by the similar and the SAP model without friction in that step,
    /// as their gliding gap would act from afar.
    #[default]
    Swept,
    /// Only the resting margin is looked at; fast bodies may tunnel.
    RestingMargin,
    /// To compare with: only what overlaps already touches. Hard contacts that a step has just opened are missed in the next, and
    /// their force comes and goes (Li and Chou 2025, V-E, of points).
    Overlapping,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            model: ContactModel::Lagged(FrictionLimit::LocalImplicit),
            dissipation: DissipationRule::HuntCrossley,
            stiction_speed: 1e-4,
            stiction: Stiction::default(),
            near_rigid: None,
            speculation: Speculation::Swept,
            choice: ContactChoice::PatchElsePoint,
        }
    }
}

impl ContactSettings {
    /// Whether contacts are entered where predicted paths meet: never by the energy, which acts as far as it reaches.
    pub(crate) fn follows_paths(&self) -> bool {
        self.speculation == Speculation::Swept && !matches!(self.model, ContactModel::Energy { .. })
    }

    /// Whether friction keeps sliding bodies apart by a gap of μ‖v_t‖ times a time.
    pub(crate) fn glides(&self) -> bool {
        matches!(self.model, ContactModel::Similar | ContactModel::Sap)
    }

    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        for (what, value) in [
            ("stiction speed (m/s)", self.stiction_speed),
            ("near-rigid period (time steps)", self.near_rigid_period()),
            ("range of the contact energy (m)", self.energy_range()),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(WorldError::Parameter {
                    part: WorldPart::World,
                    parameter: what.into(),
                    value,
                    allowed: "must be positive and finite",
                });
            }
        }
        Ok(())
    }

    /// How far apart contact energy acts; of no meaning to other models.
    fn energy_range(&self) -> f64 {
        match self.model {
            ContactModel::Energy { range_m } => range_m,
            _ => f64::MIN_POSITIVE,
        }
    }

    /// β in use.
    #[must_use]
    pub fn near_rigid_period(&self) -> f64 {
        self.near_rigid.unwrap_or(match self.model {
            ContactModel::Lagged(_) | ContactModel::Sap | ContactModel::Energy { .. } => {
                NEAR_RIGID_CONTACT
            }
            ContactModel::Similar => NEAR_RIGID_SIMILAR,
        })
    }
}
