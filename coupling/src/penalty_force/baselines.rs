//! Steps with forces of the start of the step, which the implicit step is compared with.
//!
//! ```text
//! m(v) − δt Σ Sᵀf_implicit(v) − Jᵀγ(v) = p,        p = δt Σ S₀ᵀf_explicit(x₀, v₀)
//! ```
//!
//! The methods differ in what is explicit. The published ones change velocities after the step by the forces at its end; p does the same at the
//! start of the next step. The paths of the bodies are those published, and velocities in a state are those before that change.
//!
//! Sources: Ding, Schroeder (2020), section 4 (`lag`, `lagfr`); Yamane, Nakamura (2006), "Stable penalty-based model of frictional contacts".

mod contact_rows;
mod lagged;
mod lagged_friction;
mod method;
mod velocity_projection;
mod yamane_nakamura;

pub use method::PenaltyBaseline;

use super::BodyFault;
use super::attachment::Attachment;
use super::detection::Detection;
use super::newton::Newton;
use super::report::Outcome;
use super::settings::PenaltyForceSettings;
use super::system::System;
use crate::state::State;

/// Solves a step by a baseline. The system ends at the solution with the contacts there; `kept` are the attachments of the
/// next step.
pub(super) fn solve(
    method: PenaltyBaseline,
    system: &mut System,
    (detection, state): (&mut Detection, &State),
    newton: &mut Newton,
    settings: &PenaltyForceSettings,
    kept: &mut Vec<Attachment>,
) -> Result<Outcome, BodyFault> {
    let start = system.v.clone();
    system.move_to(&vec![0.0; start.len()])?;
    detection.add(system)?;
    let applied = match method {
        PenaltyBaseline::Lagged => lagged::impulses(system),
        PenaltyBaseline::LaggedFriction => lagged_friction::impulses(system),
        PenaltyBaseline::VelocityProjection => velocity_projection::impulses(system, &start),
        PenaltyBaseline::YamaneNakamura => yamane_nakamura::impulses(system, &start),
    };
    let attached = std::mem::take(&mut system.attached);
    let mut implicit = match method {
        PenaltyBaseline::Lagged | PenaltyBaseline::YamaneNakamura => detection.without_pairs(),
        _ => detection.without_friction(),
    };
    implicit.begin(system, state)?;
    system.applied = applied;
    system.move_to(&start)?;
    let outcome = newton.solve(system, &mut implicit, settings)?;
    let end = system.v.clone();
    system.attached = attached;
    system.move_to(&end)?;
    detection.add(system)?;
    match method {
        PenaltyBaseline::YamaneNakamura => yamane_nakamura::remember(system, kept),
        _ => system.remember(kept),
    }
    Ok(outcome)
}
