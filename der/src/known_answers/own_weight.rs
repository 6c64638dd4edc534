//! A cantilever that hangs under its own weight: the master curve of height over width.

use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, at_rest, cantilever, isotropic};

/// H/W over G = ρgAL³/EI at 64 edges.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`](crate::RodError::NoEquilibrium).
pub fn own_weight() -> Comparisons {
    let table = [
        (0.1, 0.012500),
        (1.0, 0.124562),
        (2.0, 0.246673),
        (5.0, 0.585721),
        (10.0, 1.066802),
        (20.0, 1.863930),
        (50.0, 3.705561),
        (100.0, 5.888105),
        (200.0, 8.906771),
        (500.0, 14.768803),
        (1000.0, 21.335440),
    ];
    let rod = cantilever(64, isotropic(0.7))?;
    let mut state = rod.default_state();
    let mut comparisons = Vec::new();
    for (g, aspect) in table {
        // Each from the last. The boundary layer L/√G at the clamp is to hold several edges: two at the end of the table.
        state = at_rest(&rod, &state, g, &rod.default_control())?;
        let tip = rod.position(&state, 64);
        comparisons.push(Comparison {
            what: format!("H/W of a cantilever with ρgAL³/EI = {g}"),
            found: -tip.z / tip.x,
            expected: aspect,
            tolerance: aspect * 6e-4_f64.max(2.6e-5 * g),
            source: "boundary value problem, the cantilever test of Romero et al. (2021); 6e-4 at 64 edges, more where L/√G is few edges",
        });
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
