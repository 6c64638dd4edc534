//! Lagged terms, explicit steps and reactions.

use super::begin::{accepts, lasting};
use crate::body::{BodyState, BodyStep, DeformableModel, StepInput};
use crate::conformance::probe::{Probe, distance, norm, same_bits};
use crate::conformance::{Violation, promise};

/// Lagged terms updated at velocities are those at these velocities; A does not depend on them.
pub(super) fn check_lagged_terms(
    step: &mut dyn BodyStep,
    probe: &mut Probe,
) -> Result<(), Violation> {
    let v0 = step.start_velocity();
    let v: Vec<f64> = v0.iter().map(|v| v + 0.3 * probe.number()).collect();
    let x = probe.vector(v.len());
    let product = |step: &dyn BodyStep| {
        let mut y = vec![0.0; x.len()];
        step.dynamics().apply(&x, &mut y);
        y
    };
    let before = product(step);
    let Some(lagged) = step.as_lagged() else {
        return Ok(());
    };
    let residual = lagged.residual(&v);
    promise(residual >= 0.0 && residual.is_finite(), || {
        format!("the residual of the lagged terms is {residual}")
    })?;
    lagged.update();
    let left = lagged.residual(&v);
    promise(left <= 1e-9, || {
        format!("lagged terms updated at velocities are off there by {left:e} of the tolerance")
    })?;
    promise(same_bits(&before, &product(step)), || {
        "an update of the lagged terms changes A".into()
    })
}

/// The explicit velocity is finite; the masses of points are those of A as the step tends to zero.
pub(super) fn check_explicit(
    model: &dyn DeformableModel,
    step: &dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let offered = model.new_step().as_point_masses().is_some();
    promise(offered == step.as_point_masses().is_some(), || {
        "point masses are offered either before or after begin, not both".into()
    })?;
    let Some(explicit) = step.as_explicit() else {
        return promise(!offered, || {
            "as_point_masses offers an explicit step, as_explicit does not".into()
        });
    };
    let mut v = vec![f64::NAN; step.start_velocity().len()];
    explicit
        .explicit_velocity(&mut v)
        .map_err(|e| Violation(format!("explicit_velocity fails: {e}")))?;
    promise(v.iter().all(|v| v.is_finite()), || {
        "the explicit velocity is not finite, or not all written".into()
    })?;
    if offered {
        check_point_masses(model, state, input)?;
    }
    Ok(())
}

fn check_point_masses(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let mut defects = Vec::new();
    for halvings in [8, 9, 10] {
        let brief = lasting(input, input.time_step.length_s / f64::from(1 << halvings));
        let mut step = model.new_step();
        accepts(step.as_mut(), state, &brief)?;
        let (n, mut points) = (step.start_velocity().len(), Vec::new());
        let Some(body) = step.as_point_masses() else {
            return Ok(());
        };
        body.point_masses(&mut points);
        promise(3 * points.len() == n, || {
            format!("{} point masses for {n} velocities", points.len())
        })?;
        let x = Probe::new(5).vector(n);
        let mut y = vec![0.0; n];
        step.dynamics().apply(&x, &mut y);
        let momentum: Vec<f64> = (0..n).map(|i| points[i / 3].mass * x[i]).collect();
        defects.push((distance(&momentum, &y), 1e-12 * norm(&y)));
    }
    for pair in defects.windows(2) {
        let ((longer, _), (shorter, noise)) = (pair[0], pair[1]);
        // Half each time with dampers, a quarter without.
        promise(shorter <= 0.6 * longer + noise, || {
            format!(
                "point masses are not the limit of A: they differ by {longer:e}, and by {shorter:e} for half the step"
            )
        })?;
    }
    Ok(())
}

/// Reactions overwrite what was in their vectors, and are finite.
pub(super) fn check_reactions(step: &dyn BodyStep) -> Result<(), Violation> {
    let Some(reactions) = step.as_reactions() else {
        return Ok(());
    };
    let v = step.start_velocity();
    let (mut joints, mut supports) = (Vec::new(), Vec::new());
    reactions.joint_reactions(v, &[], &mut joints);
    reactions.support_reactions(v, &[], &mut supports);
    let sizes = (joints.len(), supports.len());
    reactions.joint_reactions(v, &[], &mut joints);
    reactions.support_reactions(v, &[], &mut supports);
    promise(sizes == (joints.len(), supports.len()), || {
        "reactions do not overwrite what was in their vector".into()
    })?;
    let finite = joints
        .iter()
        .all(|j| (j.force_W + j.torque_W).sum().is_finite())
        && supports.iter().all(|s| s.force_W.sum().is_finite());
    promise(finite, || "a reaction is not finite".into())
}
