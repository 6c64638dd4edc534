//! Greenhill's problem: a pinned shaft under axial torque and axial force.

use std::f64::consts::PI;

use nalgebra::{DMatrix, Matrix3, Vector3};
use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, isotropic, level_rod, strained};
use crate::{Rod, RodError, RodProperties};

/// The least singular value of a pinned rod's stiffness under torques ±`moment` about x on its end edges and a
/// compressive force: zero where it buckles.
///
/// A torque with a fixed axis is not conservative. A force on the angle of an edge, with frames transported from the
/// reference tangent t0, is the semitangential torque M (t + t0)/2. The remainder M (t0 − t)/2 applies the couple
/// τ × e/2l² to the nodes of the edge, whose derivative is not symmetric.
fn least_singular_value(
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
        let couple: Matrix3<f64> =
            Vector3::new(torque, 0.0, 0.0).cross_matrix() / (2.0 * length * length);
        let (a, b) = (rod.node_dofs(edge)?.start, rod.node_dofs(edge + 1)?.start);
        for (row, column, sign) in [(b, b, 1.0), (b, a, -1.0), (a, b, -1.0), (a, a, 1.0)] {
            let mut block = stiffness.fixed_view_mut::<3, 3>(row, column);
            block -= couple * sign;
        }
    }
    let control = rod.default_control();
    // Stretch and twist do not couple with bending to first order.
    let free: Vec<usize> = (0..n)
        .filter(|i| control.held[*i].is_none() && matches!(i % 4, 1 | 2))
        .collect();
    let free = stiffness.select_rows(&free).select_columns(&free);
    Ok(free.singular_values().min())
}

/// The minimiser of `function` between 0.7 and 1.3 times `expected`, by golden-section search to 1e-7.
fn minimiser(
    expected: f64,
    mut function: impl FnMut(f64) -> Result<f64, RodError>,
) -> Result<f64, RodError> {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.7 * expected, 1.3 * expected);
    let (mut x, mut y) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_x, mut at_y) = (function(x)?, function(y)?);
    while high - low > 1e-7 * expected {
        if at_x < at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - golden * (high - low);
            at_x = function(x)?;
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + golden * (high - low);
            at_y = function(y)?;
        }
    }
    Ok(0.5 * (low + high))
}

/// (M/2EI)² + P/EI = π²/L²: without a force, where M = 2π EI/L, in compression and in tension.
///
/// # Errors
/// None.
pub fn greenhill() -> Comparisons {
    let properties = isotropic(1.0);
    let moment = |edges: usize, force: f64, expected: f64| {
        let rod = level_rod(edges, properties).pin(0).pin(edges).build()?;
        minimiser(expected, |moment| {
            least_singular_value(&rod, &properties, force, moment)
        })
    };
    let mut comparisons = Vec::new();
    for (what, force) in [
        ("without a force", 0.0),
        ("compressed by π²EI/2L²", 0.5 * PI * PI),
        ("under tension π²EI/L²", -PI * PI),
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
