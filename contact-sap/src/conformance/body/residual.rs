//! Is A v − b the residual linearised, its tangent the derivative, the potential its integral?

use super::{accepts, fingerprint, lasting};
use crate::body::{BodyState, BodyStep, DeformableModel, StepInput};
use crate::conformance::dynamics::check_dynamics;
use crate::conformance::probe::{Probe, distance, norm, same_bits};
use crate::conformance::{Violation, promise};
use crate::error::BodyError;

pub(super) fn check_residual(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    accepts(step, state, input)?;
    let n = step.start_velocity().len();
    let mut m = vec![f64::NAN; n];
    match step.residual(&vec![0.0; n], &mut m) {
        Err(BodyError::Unsupported { .. }) => return Ok(()),
        Err(e) => return Err(Violation(format!("residual fails: {e}"))),
        Ok(()) => {}
    }
    let away: Vec<_> = step
        .start_velocity()
        .iter()
        .map(|v| v + 0.3 * probe.number())
        .collect();
    check_tangent(step, &away, probe)?;

    // m(v) − (A v − b) at ever shorter steps: what is left out is of second order.
    let mut defects = Vec::new();
    for halvings in [4, 5, 6] {
        let brief = lasting(input, input.time_step.length_s / f64::from(1 << halvings));
        let mut step = model.new_step();
        accepts(step.as_mut(), state, &brief)?;
        if step.start_velocity().len() != n {
            return Ok(()); // the velocities themselves depend on the step: nothing to compare
        }
        let mut linear = vec![0.0; n];
        step.dynamics().apply(&away, &mut linear);
        let b = step.dynamics().right_hand_side();
        let size = norm(&linear) + norm(b);
        linear.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
        residual(step.as_ref(), &away, &mut m)?;
        defects.push((distance(&m, &linear), 1e-12 * size));
    }
    for pair in defects.windows(2) {
        let ((longer, _), (shorter, noise)) = (pair[0], pair[1]);
        // A quarter each time; 0.35 leaves room for the third order.
        promise(shorter <= 0.35 * longer + noise, || {
            format!(
                "A v − b is not the linearised residual: they differ by {longer:e}, and by {shorter:e} for half the step, where O(Δt²) makes a quarter of it"
            )
        })?;
    }
    Ok(())
}

pub(super) fn check_relinearisation(
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    accepts(step, state, input)?;
    if !step.relinearises() {
        return Ok(());
    }
    let first = fingerprint(step);
    let mut away = step.start_velocity().to_vec();
    away.iter_mut().for_each(|v| *v += 0.3 * probe.number());
    let mut m = vec![f64::NAN; away.len()];
    residual(step, &away, &mut m)?;
    let fails = |what: &str, e: BodyError| Violation(format!("{what} fails: {e}"));

    let x = probe.vector(away.len());
    let slope: f64 = m.iter().zip(&x).map(|(m, x)| m * x).sum();
    let at = |h: f64| -> Result<f64, Violation> {
        let v: Vec<_> = away.iter().zip(&x).map(|(v, x)| v + h * x).collect();
        let potential = step.incremental_potential(&v);
        potential.map_err(|e| fails("incremental_potential", e))
    };
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5] {
        let difference = (at(h)? - at(-h)?) / (2.0 * h);
        best = best.min((difference - slope).abs() / (norm(&m) * norm(&x)));
    }
    promise(best <= 1e-6, || {
        format!(
            "the residual is not the gradient of the incremental potential: off by {best:e} of itself"
        )
    })?;

    step.linearise_about(&away)
        .map_err(|e| fails("linearise_about", e))?;
    check_dynamics(step.dynamics()).map_err(|violation| {
        Violation(format!(
            "in the dynamics about velocities found: {violation}"
        ))
    })?;
    let mut linear = vec![0.0; away.len()];
    step.dynamics().apply(&away, &mut linear);
    let b = step.dynamics().right_hand_side();
    let size = norm(&linear) + norm(b);
    linear.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
    let off = distance(&m, &linear);
    promise(off <= 1e-12 * size, || {
        format!("linearised about v, A v − b is not the residual there: off by {off:e}")
    })?;
    step.linearise().map_err(|e| fails("linearise", e))?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "linearise gives other bits after linearise_about".into()
    })
}

fn residual(step: &dyn BodyStep, v: &[f64], m: &mut [f64]) -> Result<(), Violation> {
    m.fill(f64::NAN);
    step.residual(v, m)
        .map_err(|e| Violation(format!("residual fails: {e}")))?;
    promise(m.iter().all(|m| m.is_finite()), || {
        "the residual is not finite".into()
    })
}

fn check_tangent(step: &dyn BodyStep, v: &[f64], probe: &mut Probe) -> Result<(), Violation> {
    let n = v.len();
    let (mut up, mut down, mut y) = (vec![0.0; n], vec![0.0; n], vec![f64::NAN; n]);
    let x = probe.vector(n);
    match step.tangent(v, &x, &mut y) {
        Err(BodyError::Unsupported { .. }) => return Ok(()),
        Err(e) => return Err(Violation(format!("tangent fails: {e}"))),
        Ok(()) => {}
    }
    // Central differences: error h²·m''' and eps·m/h; the smallest over h is what counts.
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let shifted = |h: f64| v.iter().zip(&x).map(|(v, x)| v + h * x).collect::<Vec<_>>();
        residual(step, &shifted(h), &mut up)?;
        residual(step, &shifted(-h), &mut down)?;
        let difference: Vec<_> = up
            .iter()
            .zip(&down)
            .map(|(u, d)| (u - d) / (2.0 * h))
            .collect();
        best = best.min(distance(&difference, &y) / norm(&y).max(f64::MIN_POSITIVE));
    }
    promise(n == 0 || best <= 1e-6, || {
        format!("the tangent is not the derivative of the residual: off by {best:e} of itself")
    })
}
