//! Free motion over many steps: conservation of momentum, and no growth of energy.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, StartLinearisation, StepInput, TimeStep,
};

use super::{Comparison, Comparisons};
use crate::{Centreline, FreeMotionReport, Material, Rod, RodBuilder, RodError, RodStep, Section};

/// Advances a rod by `steps` steps without contact. Before each step, `observe` receives the state and the report of the
/// last step, and returns the control.
///
/// # Errors
/// [`RodError::Body`] if a step fails.
pub fn advance_freely(
    rod: &Rod,
    start: &BodyState,
    time_step: TimeStep,
    gravity: Vector3<f64>,
    steps: usize,
    mut observe: impl FnMut(&BodyState, FreeMotionReport) -> Control,
) -> Result<BodyState, RodError> {
    let mut step = RodStep::new(rod);
    let (mut state, mut next, mut velocity) = (start.clone(), BodyState::default(), Vec::new());
    for _ in 0..steps {
        let control = observe(&state, step.report());
        let input = StepInput {
            time_step,
            gravity,
            control: &control,
        };
        step.begin(&state, &input)?;
        step.linearise_start(&mut velocity)?;
        step.free_velocity(&mut velocity);
        let _ = step.advance(&velocity, &mut next)?;
        std::mem::swap(&mut state, &mut next);
    }
    observe(&state, step.report());
    Ok(state)
}

/// A helical rod that is naturally straight, hence stressed, with rotational and vibrational velocities.
///
/// # Errors
/// None.
pub fn swinging() -> Result<(Rod, BodyState), RodError> {
    let section = Section::Circle { radius: 0.002 };
    let material = Material::isotropic(2e6, 0.4, 1000.0)?;
    let rod = RodBuilder::new(Centreline::helix(0.08, 0.1, 0.8, 20))
        .section(section, material)
        .build()?;
    let mut state = rod.default_state();
    let omega = Vector3::new(3.0, -2.0, 1.0);
    for i in 0..rod.n_nodes() {
        let v = omega.cross(&rod.position(&state, i).coords);
        state.v[4 * i..4 * i + 3].copy_from_slice(v.as_slice());
    }
    for (i, v) in state.v.iter_mut().enumerate() {
        *v += 0.1 * (0.7 * i as f64).sin();
    }
    Ok((rod, state))
}

/// Linear momentum is conserved, angular momentum to first order in Δt, and no step of backward Euler adds energy.
///
/// # Errors
/// None.
pub fn momenta() -> Comparisons {
    let (rod, start) = swinging()?;
    let none = Vector3::zeros();
    let before = rod.energy(&start, &none);
    let mut comparisons = Vec::new();
    let mut drifts = Vec::new();
    for steps in [200, 400, 800] {
        let time_step = TimeStep::from(0.05 / steps as f64);
        let (mut last, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        let end = advance_freely(&rod, &start, time_step, none, steps, |state, _| {
            let energy = rod.energy(state, &none);
            let now = energy.kinetic + energy.potential;
            largest = largest.max(now - last);
            last = now;
            Control::default()
        })?;
        let after = rod.energy(&end, &none);
        let size = before.linear_momentum_W.norm();
        let linear = (after.linear_momentum_W - before.linear_momentum_W).norm();
        comparisons.push(Comparison {
            what: format!(
                "relative drift of the linear momentum of a swinging rod in {steps} steps"
            ),
            found: linear / size,
            expected: 0.0,
            tolerance: 1e-9,
            source: "elastic forces sum to zero",
        });
        comparisons.push(Comparison {
            what: format!(
                "largest relative energy increase in any of {steps} steps of a swinging rod, or 0"
            ),
            found: largest.max(0.0) / (before.kinetic + before.potential),
            expected: 0.0,
            tolerance: 1e-12,
            source: "backward Euler dissipates energy in every step",
        });
        let angular = (after.angular_momentum_W - before.angular_momentum_W).norm();
        drifts.push(angular / before.angular_momentum_W.norm());
    }
    comparisons.push(Comparison {
        what: "relative drift of the angular momentum of a swinging rod in 200 steps".into(),
        found: drifts[0],
        expected: 0.0,
        tolerance: 1e-3,
        source: "first order in the time step",
    });
    comparisons.push(Comparison {
        what: "ratio of that drift in 400 and in 800 steps".into(),
        found: drifts[1] / drifts[2],
        expected: 2.0,
        tolerance: 0.3,
        source: "first order in the time step",
    });
    Ok(comparisons)
}
