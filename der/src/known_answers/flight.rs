//! Free motion over many steps: momenta that are kept, energy that does not grow.

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, StartLinearisation, StepInput, TimeStep,
};

use super::{Comparison, Comparisons};
use crate::{Centreline, FreeMotionReport, Material, Rod, RodBuilder, RodError, RodStep, Section};

/// Steps a rod without contact; `look` sees each step's start and says what controls it, and how the last one went.
///
/// # Errors
/// [`RodError::Body`] of a step that cannot be taken.
pub fn fly(
    rod: &Rod,
    start: &BodyState,
    time_step: TimeStep,
    gravity: Vector3<f64>,
    steps: usize,
    mut look: impl FnMut(&BodyState, FreeMotionReport) -> Control,
) -> Result<BodyState, RodError> {
    let mut step = RodStep::new(rod);
    let (mut state, mut next, mut velocity) = (start.clone(), BodyState::default(), Vec::new());
    for _ in 0..steps {
        let control = look(&state, step.report());
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
    look(&state, step.report());
    Ok(state)
}

/// A crooked slender rod of ten grams, stressed, turning and set swinging.
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

/// Linear momentum is kept, angular momentum to first order of Δt, and no step of backward Euler adds energy.
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
        let (mut last, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let end = fly(&rod, &start, time_step, none, steps, |state, _| {
            let energy = rod.energy(state, &none);
            let now = energy.kinetic + energy.potential;
            most = most.max(now - last);
            last = now;
            Control::default()
        })?;
        let after = rod.energy(&end, &none);
        let size = before.linear_momentum_W.norm();
        let linear = (after.linear_momentum_W - before.linear_momentum_W).norm();
        comparisons.push(Comparison {
            what: format!(
                "drift of the linear momentum of a swinging rod in {steps} steps, of itself"
            ),
            found: linear / size,
            expected: 0.0,
            tolerance: 1e-9,
            source: "elastic forces add up to nothing",
        });
        comparisons.push(Comparison {
            what: format!(
                "energy that the worst of {steps} steps of a swinging rod adds, of all, or 0"
            ),
            found: most.max(0.0) / (before.kinetic + before.potential),
            expected: 0.0,
            tolerance: 1e-12,
            source: "backward Euler takes energy in every step",
        });
        let angular = (after.angular_momentum_W - before.angular_momentum_W).norm();
        drifts.push(angular / before.angular_momentum_W.norm());
    }
    comparisons.push(Comparison {
        what: "drift of the angular momentum of a swinging rod in 200 steps, of itself".into(),
        found: drifts[0],
        expected: 0.0,
        tolerance: 1e-3,
        source: "first order in the time step",
    });
    comparisons.push(Comparison {
        what: "the same in 400 over that in 800 steps".into(),
        found: drifts[1] / drifts[2],
        expected: 2.0,
        tolerance: 0.3,
        source: "first order in the time step",
    });
    Ok(comparisons)
}
