//! A cantilever with a dead load at its tip: Euler's elastica.

use nalgebra::Vector3;
use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, at_rest, cantilever, dead_load, isotropic};
use crate::{RodError, RodProperties};

/// PL²/EI, x/L, drop/L and angle of the tip: boundary value problem of the inextensible elastica, to 1e-6.
const ELASTICA: [(f64, f64, f64, f64); 6] = [
    (0.25, 0.995882, 0.082746, 0.124292),
    (0.5, 0.984081, 0.162144, 0.244534),
    (1.0, 0.943567, 0.301721, 0.461352),
    (2.0, 0.839358, 0.493457, 0.781750),
    (5.0, 0.612372, 0.713792, 1.215368),
    (10.0, 0.445004, 0.810609, 1.430286),
];

/// x, drop and angle of the tip for a tip force b = PL²/EI on a rod of stretching stiffness EA L²/EI = `stretch`.
fn tip(edges: usize, b: f64, stretch: f64) -> Result<(f64, f64, f64), RodError> {
    let properties = RodProperties {
        stretch,
        ..isotropic(0.7)
    };
    let rod = cantilever(edges, properties)?;
    let mut control = rod.default_control();
    control
        .loads
        .push(dead_load(edges, Vector3::new(0.0, 0.0, -b)));
    let state = at_rest(&rod, &rod.default_state(), 0.0, &control)?;
    let tip = rod.position(&state, edges);
    let along = tip - rod.position(&state, edges - 1);
    Ok((tip.x, -tip.z, (-along.z).atan2(along.x)))
}

/// Tip deflections at 32 edges, forces PL²/EI from 0.25 to 10.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn tip_force() -> Comparisons {
    let source = "elastica, boundary value problem to 1e-6; 1e-3 at 32 edges";
    let mut comparisons = Vec::new();
    for (b, x, drop, angle) in ELASTICA {
        let found = tip(32, b, 1e6)?;
        // The last edge has the tangent at its midpoint, 1/64 before the tip: twice the tolerance.
        for (what, found, expected, tolerance) in [
            ("x/L", found.0, x, 1e-3),
            ("drop/L", found.1, drop, 1e-3),
            ("angle", found.2, angle, 2e-3),
        ] {
            comparisons.push(Comparison {
                what: format!("{what} of a tip with PL²/EI = {b}"),
                found,
                expected,
                tolerance,
                source,
            });
        }
    }
    Ok(comparisons)
}

/// Error of drop/L at PL²/EI = 1 and 10 with 8 to 64 edges: second order, with the constant of the half-Voronoi clamp.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn tip_force_convergence() -> Comparisons {
    let mut comparisons = Vec::new();
    for (b, drop, known) in [
        (
            1.0,
            0.301721,
            &[(8, 1.7e-3), (16, 4.0e-4), (32, 1.0e-4), (64, 2.6e-5)][..],
        ),
        (10.0, 0.810609, &[(8, 3.0e-3), (16, 4.3e-4), (32, 1.0e-4)]),
    ] {
        for (edges, expected) in known {
            comparisons.push(Comparison {
                what: format!("error of drop/L at PL²/EI = {b}, {edges} edges"),
                found: (tip(*edges, b, 1e5)?.1 - drop).abs(),
                expected: *expected,
                tolerance: 0.1 * expected,
                source: "second order in the edge length, clamp at half a Voronoi cell; the known errors are of a rod with EA L²/EI = 1e5",
            });
        }
    }
    Ok(comparisons)
}
