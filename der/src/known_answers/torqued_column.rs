//! Greenhill's shaft: pinned ends, an axial torque and an axial force.

use std::f64::consts::PI;

use nalgebra::{DMatrix, Matrix3, Vector3};
use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, isotropic, level_rod, strained};
use crate::{Rod, RodError, RodProperties};

/// The least singular value of a pinned rod's stiffness under torques ±`moment` about x on its end edges and a
/// compressive force: zero where it buckles.
///
/// A torque with a fixed axis is no gradient. What drives the angle of an edge with frames carried from the anchor t0 is
/// M (t + t0)/2, a semitangential torque; the rest, M (t0 − t)/2, puts τ × e/2l² on the nodes of the
/// edge, whose derivative is not symmetric.
fn stiffness_left(
    rod: &Rod,
    properties: &RodProperties,
    force: f64,
    moment: f64,
) -> Result<f64, RodError> {
    let n = rod.n_dofs();
    let state = strained(rod, -force, moment, properties);
    let mut stiffness = DMatrix::from_vec(n, n, rod.energy_hessian(&state)?);
    let last = rod.n_edges() - 1;
    for (edge, torque) in [(0, -moment), (last, moment)] {
        let length = (rod.position(&state, edge + 1) - rod.position(&state, edge)).norm();
        let turn: Matrix3<f64> =
            Vector3::new(torque, 0.0, 0.0).cross_matrix() / (2.0 * length * length);
        let (a, b) = (rod.node_dofs(edge)?.start, rod.node_dofs(edge + 1)?.start);
        for (row, column, sign) in [(b, b, 1.0), (b, a, -1.0), (a, b, -1.0), (a, a, 1.0)] {
            let mut block = stiffness.fixed_view_mut::<3, 3>(row, column);
            block -= turn * sign;
        }
    }
    let control = rod.default_control();
    // Neither stretch nor twist takes part to first order.
    let free: Vec<usize> = (0..n)
        .filter(|i| control.held[*i].is_none() && matches!(i % 4, 1 | 2))
        .collect();
    let free = stiffness.select_rows(&free).select_columns(&free);
    Ok(free.singular_values().min())
}

/// Where `left` is least between 0.7 and 1.3 times `expected`, by golden section to 1e-7.
fn least(
    expected: f64,
    mut left: impl FnMut(f64) -> Result<f64, RodError>,
) -> Result<f64, RodError> {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.7 * expected, 1.3 * expected);
    let (mut x, mut y) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_x, mut at_y) = (left(x)?, left(y)?);
    while high - low > 1e-7 * expected {
        if at_x < at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - golden * (high - low);
            at_x = left(x)?;
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + golden * (high - low);
            at_y = left(y)?;
        }
    }
    Ok(0.5 * (low + high))
}

/// (M/2EI)² + P/EI = π²/L²: without a force, where M = 2π EI/L, pressed and pulled.
///
/// # Errors
/// None.
pub fn greenhill() -> Comparisons {
    let properties = isotropic(1.0);
    let moment = |edges: usize, force: f64, expected: f64| {
        let rod = level_rod(edges, properties).pin(0).pin(edges).build()?;
        least(expected, |moment| {
            stiffness_left(&rod, &properties, force, moment)
        })
    };
    let mut comparisons = Vec::new();
    for (what, force) in [
        ("without a force", 0.0),
        ("pressed by π²EI/2L²", 0.5 * PI * PI),
        ("pulled by π²EI/L²", -PI * PI),
    ] {
        let expected = 2.0 * (PI * PI - force).sqrt();
        let (coarse, fine) = (moment(16, force, expected)?, moment(32, force, expected)?);
        comparisons.push(Comparison {
            what: format!("buckling moment ML/EI of a pinned shaft {what}, from 16 and 32 edges"),
            found: (4.0 * fine - coarse) / 3.0,
            expected,
            tolerance: 2e-3 * expected,
            source: "(M/2EI)² + P/EI = π²/L² (Greenhill 1883); second order, extrapolated",
        });
    }
    Ok(comparisons)
}
