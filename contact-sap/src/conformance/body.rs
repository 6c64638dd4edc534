//! Is a body's step consistent: matrices, bases, surface, states, capabilities?

mod balance;
mod begin;
mod capabilities;
mod end_frames;
mod surface;

use super::dynamics::check_dynamics;
use super::probe::{Probe, same_bits};
use super::{Violation, promise};
use crate::body::{BodyState, BodyStep, DeformableModel, StepInput, Surface};
use crate::error::BodyError;
use crate::time_step::{Integration, TimeStep};
use balance::check_balance;
use begin::{accepts, fingerprint, lasting};
use capabilities::{check_explicit, check_lagged_terms, check_reactions};
use end_frames::check_end_frames;
use surface::{check_points, check_refused_points, check_surface, check_surface_motion};

/// Checks a [`DeformableModel`] and its [`BodyStep`], at `state` under `input`, by every [`Integration`] that the body does
/// not refuse as unsupported; that of `input` must be supported.
///
/// - `begin` accepts the state and refuses one that is too short or not finite. On a fresh or a used workspace, once or
///   twice, it leads to the same bits.
/// - `linearise` gives a [`Dynamics`](crate::Dynamics) that passes [`check_dynamics`] and has as many velocities as
///   `start_velocity`. The linearisation at the start has the same bits after one about other velocities.
/// - `interpolation` and `basis`: `advance` moves a material point by δt Φ(Bv + b) with the mean velocity v^vq of the integration, as
///   the step tends to zero. Twenty points of every kind of primitive of the surface are tried; points beyond the last of
///   a kind are refused.
/// - `advance` overwrites its state whatever was in it, and the next `begin` accepts that.
/// - `surface` overwrites, too. `energy` is finite.
///
/// Of the capabilities that the step offers:
///
/// - `as_balance`: linearised about v, A v − b is m(v); linearised at the start, it is m(v) up to O(Δt²); `tangent` is the derivative of
///   m; gravity changes `external_impulse` by what it takes from m.
/// - `as_nonlinear`: m is the gradient of `potential`.
/// - `as_end_frames`: frames at the end are where `advance` takes them; their Jacobians are the bases there; derivatives are those of
///   differences.
/// - `as_lagged`: lagged terms updated at velocities have no residual there; A does not depend on them.
/// - `as_explicit`: the velocity is finite. `as_point_masses`: as the step tends to zero, A is the diagonal matrix of these masses.
/// - `as_reactions`: reactions overwrite and are finite.
/// - `as_surface`: the surface is that of the model, vertex velocities are those of `interpolation` and `basis`.
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
        let mut time_step = TimeStep {
            integration,
            ..input.time_step
        };
        if integration != asked {
            let input = StepInput {
                time_step,
                ..*input
            };
            match model.new_step().begin(state, &input) {
                Err(BodyError::Unsupported { .. }) => continue,
                Err(BodyError::Unstable { stable_s, .. }) => time_step.length_s = 0.9 * stable_s,
                _ => {}
            }
        }
        let input = StepInput {
            time_step,
            ..*input
        };
        check_step(model, state, &input, &surface)
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
    check_dynamics(step.dynamics())
        .map_err(|violation| Violation(format!("in the dynamics: {violation}")))?;
    check_repeats(model, step.as_mut(), state, input)?;
    check_points(model, state, input, surface, &mut probe)?;
    check_refused_points(step.as_ref(), surface)?;
    check_surface_motion(step.as_ref(), surface, &mut probe)?;
    check_balance(model, state, input, &mut probe)?;
    check_end_frames(model, state, input, &mut probe)?;
    check_explicit(model, step.as_ref(), state, input)?;
    check_reactions(step.as_ref())?;
    check_advance(model, step.as_mut(), state, input)?;
    check_lagged_terms(step.as_mut(), &mut probe)
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

fn check_advance(
    model: &dyn DeformableModel,
    step: &mut dyn BodyStep,
    state: &BodyState,
    input: &StepInput<'_>,
) -> Result<(), Violation> {
    let v = step.start_velocity().to_vec();
    let mut advance = |next: &mut BodyState| match step.advance(&v, next) {
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
    check_surface(model, &next)?;
    accepts(model.new_step().as_mut(), &next, input)
        .map_err(|violation| Violation(format!("after advance, {violation}")))
}
