//! Twist over many turns: linking number of a closed rod, and a clamp rotated ten times.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;
use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, StepInput, TimeStep};

use super::{CLAMPED, Comparison, Comparisons, at_rest, isotropic, level_rod};
use crate::{Centreline, End, RodBuilder, RodError, RodStep};

/// Moves a rod by the given velocities in one step of 1 s.
fn displace(
    step: &mut RodStep,
    state: &mut BodyState,
    control: &Control,
    velocity: &[f64],
) -> Result<(), RodError> {
    let input = StepInput {
        time_step: TimeStep::from(1.0),
        gravity: Vector3::zeros(),
        control,
    };
    let mut next = BodyState::default();
    step.begin(state, &input)?;
    let _ = step.advance(velocity, &mut next)?;
    *state = next;
    Ok(())
}

/// A homotopy of closed curves, from a circle (`fraction` 0) to a curve with a crossing (1).
fn crossing_curve(fraction: f64, phi: f64) -> Vector3<f64> {
    let flat = Vector3::new(phi.cos(), (1.0 - fraction) * phi.sin(), 0.0);
    flat + Vector3::new(0.0, (2.0 * phi).sin(), 0.4 * phi.sin()) * (0.8 * fraction)
}

/// Writhe of the smooth [`crossing_curve`] by Gauss's double integral, midpoint rule.
fn writhe_by_gauss(fraction: f64) -> f64 {
    let n = 800;
    let at = |i: f64| crossing_curve(fraction, TAU * i / n as f64);
    let (midpoints, segments): (Vec<_>, Vec<_>) = (0..n)
        .map(|i| (at(i as f64 + 0.5), at(i as f64 + 1.0) - at(i as f64)))
        .unzip();
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..i {
            let distance = midpoints[i] - midpoints[j];
            sum += segments[i].cross(&segments[j]).dot(&distance) / distance.norm().powi(3);
        }
    }
    // Each pair counts twice.
    2.0 * sum / (2.0 * TAU)
}

/// Lk = Tw + Wr of a closed rod with three turns of twist, deformed from a circle to a curve with a crossing.
///
/// # Errors
/// None.
pub fn link_of_a_closed_rod() -> Comparisons {
    let edges = 60;
    let rod = RodBuilder::new(Centreline::circle(1.0, edges))
        .properties(isotropic(1.0))
        .initial_twist(3.0 * TAU)
        .build()?;
    let mut state = rod.default_state();
    let twist_before = rod.total_twist(&state)?;
    let mut step = RodStep::new(&rod);
    let steps = 100;
    let mut furthest = 3.0;
    for k in 0..steps {
        let fraction = |k: usize| k as f64 / steps as f64;
        let mut displacement = vec![0.0; rod.n_dofs()];
        for i in 0..edges {
            let phi = TAU * i as f64 / edges as f64;
            let change = crossing_curve(fraction(k + 1), phi) - crossing_curve(fraction(k), phi);
            displacement[4 * i..4 * i + 3].copy_from_slice(change.as_slice());
        }
        displace(&mut step, &mut state, &Control::default(), &displacement)?;
        let link = rod.total_twist(&state)? + rod.writhe(&state);
        if f64::abs(link - 3.0) > f64::abs(furthest - 3.0) {
            furthest = link;
        }
    }
    let writhe = writhe_by_gauss(1.0);
    Ok(vec![
        Comparison {
            what: "twist of a plane closed rod with three turns".into(),
            found: twist_before,
            expected: 3.0,
            tolerance: 1e-12,
            source: "Lk = Tw + Wr, Wr = 0 in a plane",
        },
        Comparison {
            what: "Tw + Wr furthest from 3 during the deformation to a curve with a crossing"
                .into(),
            found: furthest,
            expected: 3.0,
            tolerance: 1e-8,
            source: "Călugăreanu, White, Fuller: Lk = Tw + Wr is an integer",
        },
        Comparison {
            what: "final writhe, exchanged for twist".into(),
            found: rod.writhe(&state),
            expected: writhe,
            tolerance: 0.02 * writhe.abs(),
            source: "Gauss's integral over the smooth curve; discretised with 60 edges",
        },
    ])
}

/// Ten full rotations of a clamp: twist 20π, torque GJ 20π/L.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn ten_turns() -> Comparisons {
    let (edges, twist) = (160, 0.05);
    let rod = level_rod(edges, isotropic(twist))
        .end(End::Start, CLAMPED)
        .end(End::Finish, CLAMPED)
        .build()?;
    let mut state = rod.default_state();
    let mut control = rod.default_control();
    let spin = Vector3::new(0.1 * TAU, 0.0, 0.0);
    rod.set_clamp_velocity(End::Finish, &state, &spin, &Vector3::zeros(), &mut control)?;
    let mut step = RodStep::new(&rod);
    for _ in 0..100 {
        // Only the held unknowns move.
        let still = vec![0.0; rod.n_dofs()];
        displace(&mut step, &mut state, &control, &still)?;
    }
    let settled = at_rest(&rod, &state, 0.0, &rod.default_control())?;
    Ok(vec![
        Comparison {
            what: "twist in turns of a rod whose clamp was rotated ten times".into(),
            found: rod.total_twist(&settled)?,
            expected: 10.0,
            tolerance: 1e-9,
            source: "reference twist is continuous over whole turns",
        },
        Comparison {
            what: "torque at the other clamp over GJ 20π/L".into(),
            found: -rod.energy_gradient(&settled)?[3] / (twist * 20.0 * PI),
            expected: 1.0,
            tolerance: 1e-9 / (twist * 20.0 * PI),
            source: "uniform twist",
        },
    ])
}
