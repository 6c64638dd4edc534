//! Everything of a world that changes.

use pliant_contact_sap::{BodyState, Control};
use serde::{Deserialize, Serialize};

use crate::friction_limits::PairLoad;
use crate::stiction::ContactMemory;

/// The state of a [`World`](crate::World) at one moment: plain data, all that a later step depends on.
///
/// Saved and loaded it goes on with the same bits; cloned it can be stepped in parallel. A step reads one state and writes
/// another, so it can be rejected, halved or repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time, s.
    pub time_s: f64,
    /// Steps taken.
    pub step: u64,
    /// State of each body.
    pub bodies: Vec<BodyState>,
    /// What drives each body, held until changed.
    pub controls: Vec<Control>,
    /// Whether each constraint holds.
    pub constraints: Vec<ConstraintState>,
    /// Contacts whose friction is remembered, ascending; those that [`Stiction`](crate::Stiction)
    /// says.
    #[serde(default)]
    pub stuck: Vec<ContactMemory>,
    /// What pressed the geometries of each pair with a soft body together in the last step, ascending by pair: friction is limited
    /// by it until loads are found.
    #[serde(default)]
    pub loads: Vec<PairLoad>,
    /// Length that the next step of an [`Adaptive`](crate::Adaptive) stepper is to try first, s; none before its first.
    #[serde(default)]
    pub proposed_step_s: Option<f64>,
    /// What the constraints of the last step did to each body's velocities, v − v*; empty where that isn't known.
    /// Friction limits are predicted from it.
    pub constrained: Vec<Vec<f64>>,
}

/// Whether a constraint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstraintState {
    /// It holds.
    #[default]
    Active,
    /// It has been released.
    Released,
}
