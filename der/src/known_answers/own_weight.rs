//! A cantilever under its own weight: the master curve of height over width (Romero et al. 2021).

use std::f64::consts::FRAC_PI_2;

use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, at_rest, cantilever, isotropic};

/// G = ρgAL³/EI, W/L, H/L, H/W and angle of the tip; boundary value problem solved to 1e-9.
const MASTER_CURVE: [(f64, f64, f64, f64, f64); 11] = [
    (0.1, 0.999911, 0.012498, 0.012500, 0.016665),
    (1.0, 0.991246, 0.123471, 0.124562, 0.165116),
    (2.0, 0.966893, 0.238507, 0.246673, 0.321594),
    (5.0, 0.846657, 0.495905, 0.585721, 0.697005),
    (10.0, 0.656354, 0.700200, 1.066802, 1.052643),
    (20.0, 0.445232, 0.829881, 1.863930, 1.339502),
    (50.0, 0.245015, 0.907917, 3.705561, 1.526453),
    (100.0, 0.159223, 0.937524, 5.888105, 1.564107),
    (200.0, 0.107420, 0.956769, 8.906771, 1.570347),
    (500.0, 0.065890, 0.973117, 14.768803, 1.570794),
    (1000.0, 0.045986, 0.981141, 21.335440, FRAC_PI_2),
];

/// Width, height and angle of the tip as functions of G. 64 edges, and 320 from G = 50 on, so that the boundary layer L/√G at
/// the clamp is resolved by nine edges or more.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`](crate::RodError::NoEquilibrium).
pub fn own_weight() -> Comparisons {
    let mut comparisons = Vec::new();
    let (few, many) = (
        cantilever(64, isotropic(0.7))?,
        cantilever(320, isotropic(0.7))?,
    );
    let (mut of_few, mut of_many) = (few.default_state(), many.default_state());
    for (g, width, height, aspect, angle) in MASTER_CURVE {
        // Each equilibrium starts from the last one.
        let (rod, state, share) = if g < 50.0 {
            (&few, &mut of_few, 6e-4)
        } else {
            (&many, &mut of_many, 1.5e-3)
        };
        *state = at_rest(rod, state, g, &rod.default_control())?;
        let edges = rod.n_edges();
        let tip = rod.position(state, edges);
        let along = tip - rod.position(state, edges - 1);
        for (what, found, expected, tolerance) in [
            ("W/L", tip.x, width, share * width),
            ("H/L", -tip.z, height, share * height),
            ("H/W", -tip.z / tip.x, aspect, share * aspect),
            ("angle", (-along.z).atan2(along.x), angle, 1e-3),
        ] {
            comparisons.push(Comparison {
                what: format!("{what} of the tip of a cantilever with ρgAL³/EI = {g}"),
                found,
                expected,
                tolerance,
                source: "boundary value problem, the cantilever test of Romero et al. (2021); 6e-4 at 64 edges, 1.5e-3 where L/√G is ten",
            });
        }
    }
    Ok(comparisons)
}

/// Errors of H/W at 8 to 64 edges.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`](crate::RodError::NoEquilibrium).
pub fn own_weight_convergence() -> Comparisons {
    let mut comparisons = Vec::new();
    for (g, aspect, known) in [
        (1.0, 0.124562, [1.5e-2, 3.8e-3, 9.4e-4, 2.3e-4]),
        (10.0, 1.066802, [1.3e-3, 9e-4, 4e-4, 1.3e-4]),
        (100.0, 5.888105, [2e-3, 1.2e-2, 6.6e-3, 2.3e-3]),
    ] {
        for (edges, expected) in [8, 16, 32, 64].into_iter().zip(known) {
            let rod = cantilever(edges, isotropic(0.7))?;
            let state = at_rest(&rod, &rod.default_state(), g, &rod.default_control())?;
            let tip = rod.position(&state, edges);
            comparisons.push(Comparison {
                what: format!("relative error of H/W at ρgAL³/EI = {g}, {edges} edges"),
                found: (-tip.z / tip.x / aspect - 1.0).abs(),
                expected,
                tolerance: 0.25 * expected,
                source: "known error of the half-Voronoi clamp at this resolution",
            });
        }
    }
    Ok(comparisons)
}
