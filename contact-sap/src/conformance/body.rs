//! Does a body's step hang together: matrices, bases, points, states?

mod residual;
mod surface;

use super::dynamics::check_dynamics;
use super::probe::{Probe, same_bits};
use super::{Violation, promise};
use crate::body::{BodyState, BodyStep, DeformableModel, StepInput, Surface};
use crate::error::BodyError;
use crate::time_step::{Integration, TimeStep};
use residual::{check_relinearisation, check_residual};
use surface::{check_points, check_strangers, check_surface, place, points, unknown};

/// Checks a [`DeformableModel`] and its [`BodyStep`], at `state` under `input`, by every [`Integration`] that the body does
/// not refuse as unsupported; it must know that of `input`.
///
/// - `begin` accepts the state and refuses one that is too short or not finite; on a fresh or a used workspace, once or
///   twice, it leads to the same bits.
/// - `linearise` gives a [`Dynamics`](crate::Dynamics) that passes [`check_dynamics`] and has as many velocities as
///   `start_velocity`.
/// - `interpolation` and `basis`: `point` moves a material point by δt Φ(Bv + b) with the mean velocity v^vq of the integration, as
///   the step tends to zero. Twenty points of every kind of primitive of the surface are tried; points beyond the last of
///   a kind are refused.
/// - `residual`, where offered: A v − b is m(v) up to O(Δt²). `tangent`: is the derivative of m.
/// - Of a body that `relinearises`: `incremental_potential` has m for its gradient, `linearise_about` makes A v − b that of m where it
///   was asked for and A one that passes [`check_dynamics`], and `linearise` then gives its own bits again.
/// - `explicit_velocity`, where offered, is finite.
/// - `advance` overwrites its state whatever was in it; the next `begin` takes it, and its surface is where `point` said.
/// - `surface` overwrites, too. `energy` is finite.
///
/// Choose a state in motion, off every symmetry, and a step that resolves it.
///
/// # Errors
/// The first promise found broken.
pub fn check_body(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let surface = check_surface(model, state)?;
    let asked = input.time_step.integration;
    let energy = model.energy(state, &input.gravity);
    let numbers = [energy.kinetic, energy.potential];
    let momenta = energy
        .linear_momentum_W
        .iter()
        .chain(energy.angular_momentum_W.iter());
    promise(numbers.iter().chain(momenta).all(|x| x.is_finite()), || {
        format!("the energy holds numbers that are not finite: {energy:?}")
    })?;
    promise(energy.kinetic >= 0.0, || {
        format!("the kinetic energy is {}", energy.kinetic)
    })?;

    for integration in Integration::ALL {
        let input = &StepInput {
            time_step: TimeStep {
                integration,
                ..input.time_step
            },
            ..*input
        };
        let begun = model.new_step().begin(state, input);
        let optional = integration != asked;
        if optional && matches!(begun, Err(BodyError::Unsupported { .. })) {
            continue;
        }
        check_step(model, state, input, &surface)
            .map_err(|violation| Violation(format!("{integration:?}: {violation}")))?;
    }
    Ok(())
}

/// Everything of a step by one integration.
fn check_step(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
) -> Result<(), Violation> {
    let mut probe = Probe::new(7);
    let mut step = model.new_step();
    accepts(step.as_mut(), state, input)?;
    check_refusals(model, state, input)?;
    let n = step.start_velocity().len();
    check_dynamics(step.dynamics())
        .map_err(|violation| Violation(format!("in the dynamics: {violation}")))?;
    check_repeats(model, step.as_mut(), state, input)?;
    check_points(model, state, input, surface, &mut probe)?;
    check_strangers(step.as_ref(), surface)?;
    check_residual(model, step.as_mut(), state, input, &mut probe)?;
    check_relinearisation(step.as_mut(), state, input, &mut probe)?;
    check_explicit(step.as_ref(), n)?;
    check_advance(model, step.as_ref(), state, input, surface)
}

/// The same step, but of another length.
fn lasting<'a>(input: &StepInput<'a>, length_s: f64) -> StepInput<'a> {
    StepInput {
        time_step: TimeStep {
            length_s,
            ..input.time_step
        },
        ..*input
    }
}

/// Opens a step and linearises it.
fn accepts(
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let refused = |what: &str, e: BodyError| Violation(format!("{what} refuses the state: {e}"));
    step.begin(state, input).map_err(|e| refused("begin", e))?;
    step.linearise().map_err(|e| refused("linearise", e))?;
    let n = step.start_velocity().len();
    let finite = step.start_velocity().iter().all(|v| v.is_finite());
    promise(finite, || "the start velocity is not finite".into())?;
    let found = step.dynamics().n_dofs();
    promise(found == n, || {
        format!("the dynamics have {found} velocities, the start velocity has {n}")
    })
}

fn check_refusals(
    model: &dyn DeformableModel,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let mut spoilt = state.clone();
    if spoilt.q.pop().is_some() {
        let refused = model.new_step().begin(&spoilt, input).is_err();
        promise(refused, || {
            "begin takes a state with one position too few".into()
        })?;
    }
    let mut spoilt = state.clone();
    if let Some(q) = spoilt.q.first_mut() {
        *q = f64::NAN;
        let refused = model.new_step().begin(&spoilt, input).is_err();
        promise(refused, || "begin takes a state with NaN in q".into())?;
    }
    Ok(())
}

/// What a step shows of itself.
fn fingerprint(step: &dyn BodyStep) -> Vec<f64> {
    let dynamics = step.dynamics();
    let mut shown = step.start_velocity().to_vec();
    shown.extend_from_slice(dynamics.right_hand_side());
    let x = Probe::new(3).vector(dynamics.n_dofs());
    let mut y = vec![0.0; x.len()];
    dynamics.apply(&x, &mut y);
    shown.extend(y);
    shown
}

fn check_repeats(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let first = fingerprint(step);
    accepts(step, state, input)?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "begin and linearise, repeated at the same state, give other bits".into()
    })?;
    // A workspace that was elsewhere in between.
    let halved = lasting(input, 0.5 * input.time_step.length_s);
    accepts(step, state, &halved)?;
    accepts(step, state, input)?;
    promise(same_bits(&first, &fingerprint(step)), || {
        "a workspace remembers the step before: begin gives other bits after another step".into()
    })?;
    let mut fresh = model.new_step();
    accepts(fresh.as_mut(), state, input)?;
    promise(same_bits(&first, &fingerprint(fresh.as_ref())), || {
        "a fresh workspace gives other bits than a used one".into()
    })
}

fn check_explicit(step: &dyn BodyStep, n: usize) -> Result<(), Violation> {
    let mut v = vec![f64::NAN; n];
    match step.explicit_velocity(&mut v) {
        Err(BodyError::Unsupported { .. }) => Ok(()),
        Err(e) => Err(Violation(format!("explicit_velocity fails: {e}"))),
        Ok(()) => promise(v.iter().all(|v| v.is_finite()), || {
            "the explicit velocity is not finite, or not all written".into()
        }),
    }
}

fn check_advance(
    model: &dyn DeformableModel,
    step: &dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
    surface: &Surface,
) -> Result<(), Violation> {
    let v = step.start_velocity().to_vec();
    let advance = |next: &mut BodyState| match step.advance(&v, next) {
        Ok(_) => Ok(()),
        Err(e) => Err(Violation(format!(
            "advance fails at the start velocity: {e}"
        ))),
    };
    let mut next = BodyState::default();
    advance(&mut next)?;
    let mut dirty = state.clone();
    for values in [&mut dirty.q, &mut dirty.v, &mut dirty.history] {
        values.push(f64::NAN);
        values.fill(f64::NAN);
    }
    advance(&mut dirty)?;
    let same = same_bits(&next.q, &dirty.q)
        && same_bits(&next.v, &dirty.v)
        && same_bits(&next.history, &dirty.history);
    promise(same, || {
        "advance does not overwrite what was in the next state".into()
    })?;
    accepts(model.new_step().as_mut(), &next, input)
        .map_err(|violation| Violation(format!("after advance, {violation}")))?;

    let moved = check_surface(model, &next)?;
    for p in points(surface, &mut Probe::new(11)) {
        let foretold = step.point(&v, &p).map_err(|e| unknown("point", &p, e))?;
        let found = place(&moved, &p);
        let error = (foretold - found).norm();
        promise(error <= 1e-12 * (1.0 + found.coords.norm()), || {
            format!(
                "{:?}: point foretold {:?}, after advance it is at {:?}",
                p.primitive,
                foretold.coords.as_slice(),
                found.coords.as_slice()
            )
        })?;
    }
    Ok(())
}
