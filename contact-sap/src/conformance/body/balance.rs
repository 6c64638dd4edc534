//! Is A v − b the linearised residual, the tangent its derivative, and the potential its integral?

use nalgebra::Vector3;

use super::begin::{accepts, fingerprint, lasting};
use crate::body::{BodyState, BodyStep, DeformableModel, MomentumBalance, StepInput};
use crate::conformance::dynamics::check_dynamics;
use crate::conformance::probe::{Probe, distance, dot, norm, same_bits};
use crate::conformance::{Violation, promise};
use crate::error::BodyError;

/// `linearise`, and everything of [`MomentumBalance`] and [`NonlinearBalance`](crate::NonlinearBalance).
pub(super) fn check_balance(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    probe: &mut Probe,
) -> Result<(), Violation> {
    let mut step = model.new_step();
    accepts(step.as_mut(), state, input)?;
    let v0 = step.start_velocity();
    let away: Vec<f64> = v0.iter().map(|v| v + 0.3 * probe.number()).collect();
    if let Some(balance) = step.as_balance() {
        check_tangent(balance, &away, probe)?;
        check_external_impulse(model, state, input, balance, &away)?;
    }
    check_potential(step.as_ref(), &away, probe)?;
    check_linearise(step.as_mut(), &away)?;
    check_start_linearisation(model, state, input, &away)
}

/// A and b about `v`, and that they leave nothing behind in the workspace.
fn check_linearise(step: &mut dyn BodyStep, v: &[f64]) -> Result<(), Violation> {
    let first = fingerprint(step);
    step.linearise(v).map_err(|e| fails("linearise", e))?;
    check_dynamics(step.dynamics())
        .map_err(|violation| Violation(format!("in the dynamics about v: {violation}")))?;
    if let Some(balance) = step.as_balance() {
        let (linear, size) = linearised_residual(step, v);
        let off = distance(&residual(balance, v)?, &linear);
        promise(off <= 1e-12 * size, || {
            format!("linearised about v, A v − b is not the residual there: off by {off:e}")
        })?;
    }
    step.linearise_start(&mut Vec::new())
        .map_err(|e| fails("linearise_start", e))?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "the linearisation at the start has other bits after one about other velocities".into()
    })
}

/// m(v) − (A v − b) at ever shorter steps, with the A and b of the start: what is left out is of second order.
fn check_start_linearisation(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    v: &[f64],
) -> Result<(), Violation> {
    let mut defects = Vec::new();
    for halvings in [4, 5, 6] {
        let brief = lasting(input, input.time_step.length_s / f64::from(1 << halvings));
        let mut step = model.new_step();
        accepts(step.as_mut(), state, &brief)?;
        let Some(balance) = step.as_balance() else {
            return Ok(());
        };
        if step.start_velocity().len() != v.len() {
            return Ok(()); // the velocities themselves depend on the step: nothing to compare
        }
        let (linear, size) = linearised_residual(step.as_ref(), v);
        let defect = distance(&residual(balance, v)?, &linear);
        defects.push((defect, 1e-12 * size));
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

fn check_tangent(
    balance: &dyn MomentumBalance,
    v: &[f64],
    probe: &mut Probe,
) -> Result<(), Violation> {
    let n = v.len();
    let (x, mut y) = (probe.vector(n), vec![f64::NAN; n]);
    let mut tangent = balance.tangent(v).map_err(|e| fails("tangent", e))?;
    // The second product must not depend on the first.
    tangent(&probe.vector(n), &mut y);
    tangent(&x, &mut y);
    // Central differences: error h²·m''' and eps·m/h; the smallest over h is what counts.
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let up = residual(balance, &moved(v, h, &x))?;
        let down = residual(balance, &moved(v, -h, &x))?;
        let difference: Vec<f64> = up
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

/// Without gravity the external impulse lacks what the residual lacks, with the opposite sign; a body that tells none is zero throughout.
fn check_external_impulse(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    balance: &dyn MomentumBalance,
    v: &[f64],
) -> Result<(), Violation> {
    let weightless = StepInput {
        gravity: Vector3::zeros(),
        ..*input
    };
    let mut step = model.new_step();
    accepts(step.as_mut(), state, &weightless)?;
    let without = step
        .as_balance()
        .filter(|_| step.start_velocity().len() == v.len());
    let Some(without) = without else {
        return Ok(());
    };
    let of = |balance: &dyn MomentumBalance| {
        let mut impulse = vec![f64::NAN; v.len()];
        balance.external_impulse(&mut impulse);
        impulse
    };
    let (all, loads) = (of(balance), of(without));
    if all.iter().chain(&loads).all(|p| *p == 0.0) {
        return Ok(());
    }
    let (m, m_without) = (residual(balance, v)?, residual(without, v)?);
    let of_gravity = |(a, b): (&f64, &f64)| a - b;
    let weight: Vec<f64> = all.iter().zip(&loads).map(of_gravity).collect();
    let missing: Vec<f64> = m_without.iter().zip(&m).map(of_gravity).collect();
    let off = distance(&weight, &missing);
    promise(off <= 1e-9 * (norm(&weight) + norm(&m)), || {
        format!(
            "gravity changes the external impulse and the residual by different amounts: off by {off:e}"
        )
    })
}

fn check_potential(step: &dyn BodyStep, v: &[f64], probe: &mut Probe) -> Result<(), Violation> {
    let Some(balance) = step.as_nonlinear() else {
        return Ok(());
    };
    promise(step.as_balance().is_some(), || {
        "as_nonlinear offers a balance of momentum, as_balance does not".into()
    })?;
    let x = probe.vector(v.len());
    let m = residual(balance, v)?;
    let slope = dot(&m, &x);
    let at = |h: f64| {
        let potential = balance.potential(&moved(v, h, &x));
        potential.map_err(|e| fails("potential", e))
    };
    let mut best = f64::INFINITY;
    for h in [1e-2, 1e-3, 1e-4, 1e-5] {
        let difference = (at(h)? - at(-h)?) / (2.0 * h);
        best = best.min((difference - slope).abs() / (norm(&m) * norm(&x)));
    }
    promise(best <= 1e-6, || {
        format!("the residual is not the gradient of the potential: off by {best:e} of itself")
    })
}

/// A v − b, and the size of its terms.
fn linearised_residual(step: &dyn BodyStep, v: &[f64]) -> (Vec<f64>, f64) {
    let mut linear = vec![0.0; v.len()];
    step.dynamics().apply(v, &mut linear);
    let b = step.dynamics().right_hand_side();
    let size = norm(&linear) + norm(b);
    linear.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
    (linear, size)
}

/// m(v).
fn residual<B: MomentumBalance + ?Sized>(balance: &B, v: &[f64]) -> Result<Vec<f64>, Violation> {
    let mut m = vec![f64::NAN; v.len()];
    balance
        .residual(v, &mut m)
        .map_err(|e| fails("residual", e))?;
    promise(m.iter().all(|m| m.is_finite()), || {
        "the residual is not finite".into()
    })?;
    Ok(m)
}

/// v + h x.
fn moved(v: &[f64], h: f64, x: &[f64]) -> Vec<f64> {
    v.iter().zip(x).map(|(v, x)| v + h * x).collect()
}

fn fails(what: &str, error: BodyError) -> Violation {
    Violation(format!("{what} fails: {error}"))
}
