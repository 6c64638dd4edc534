//! Steps that are begun and linearised, and the bits that result.

use crate::body::{BodyState, BodyStep, StepInput};
use crate::conformance::probe::Probe;
use crate::conformance::{Violation, promise};
use crate::error::BodyError;
use crate::time_step::TimeStep;

/// The same step, but of another length.
pub(super) fn lasting<'a>(input: &StepInput<'a>, length_s: f64) -> StepInput<'a> {
    StepInput {
        time_step: TimeStep {
            length_s,
            ..input.time_step
        },
        ..*input
    }
}

/// Opens a step and linearises it.
pub(super) fn accepts(
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let refused = |what: &str, e: BodyError| Violation(format!("{what} refuses the state: {e}"));
    step.begin(state, input).map_err(|e| refused("begin", e))?;
    let mut linearised_at = Vec::new();
    step.linearise_start(&mut linearised_at)
        .map_err(|e| refused("linearise_start", e))?;
    let n = step.start_velocity().len();
    let found = linearised_at.len();
    promise(found == n, || {
        format!("linearised at {found} velocities, the start velocity has {n}")
    })?;
    let finite = step.start_velocity().iter().all(|v| v.is_finite());
    promise(finite, || "the start velocity is not finite".into())?;
    let found = step.dynamics().n_dofs();
    promise(found == n, || {
        format!("the dynamics have {found} velocities, the start velocity has {n}")
    })
}

/// Start velocities, b and a product with A.
pub(super) fn fingerprint(step: &dyn BodyStep) -> Vec<f64> {
    let dynamics = step.dynamics();
    let mut shown = step.start_velocity().to_vec();
    shown.extend_from_slice(dynamics.right_hand_side());
    let x = Probe::new(3).vector(dynamics.n_dofs());
    let mut y = vec![0.0; x.len()];
    dynamics.apply(&x, &mut y);
    shown.extend(y);
    shown
}
