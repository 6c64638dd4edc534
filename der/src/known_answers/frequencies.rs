//! Natural frequencies of a clamped rod against beam theory.

use std::f64::consts::PI;

use pliant_contact_sap::DeformableModel;

use super::{Comparison, Comparisons, cantilever, isotropic, level_rod, strained};
use crate::RodProperties;

/// Frequency number `index` relative to `expected` at 8, 16, 32 and 64 edges, with known discretisation errors.
fn compare(
    what: &str,
    properties: RodProperties,
    index: usize,
    expected: f64,
    errors: [f64; 4],
) -> Comparisons {
    let mut comparisons = Vec::new();
    for (edges, error) in [8, 16, 32, 64].into_iter().zip(errors) {
        let rod = cantilever(edges, properties)?;
        let (state, control) = (rod.default_state(), rod.default_control());
        comparisons.push(Comparison {
            what: format!("{what} relative to beam theory, {edges} edges"),
            found: rod.natural_frequency(&state, &control, index)? / expected,
            expected: 1.0 + error,
            tolerance: 0.08 * error.abs(),
            source: "beam and bar theory, with the known error at this resolution",
        });
    }
    Ok(comparisons)
}

/// The first three bending frequencies, β² √(EI/ρA)/L².
///
/// # Errors
/// None.
pub fn bending_frequencies() -> Comparisons {
    // Frequencies of bending in the other plane and of twist are far higher.
    let strip = RodProperties {
        bend_2: 1e4,
        twist: 1e4,
        ..isotropic(1.0)
    };
    let table = [
        (3.516015, [-1.3e-2, -3.3e-3, -8.3e-4, -2.1e-4]),
        (22.034492, [-6.2e-2, -1.7e-2, -4.2e-3, -1.1e-3]),
        (61.697214, [-1.2e-1, -3.4e-2, -8.8e-3, -2.2e-3]),
    ];
    let mut comparisons = Vec::new();
    for (index, (expected, errors)) in table.into_iter().enumerate() {
        let what = format!("bending frequency {}", index + 1);
        comparisons.extend(compare(&what, strip, index, expected, errors)?);
    }
    Ok(comparisons)
}

/// The errors of the lowest frequency of a clamped bar.
const OF_A_BAR: [f64; 4] = [-1.6e-3, -4e-4, -1e-4, -2.5e-5];

/// The lowest torsion frequency of a 5:1 strip, (π/2L) √(GJ/ρI_p). With J in place of I_p it would be 2.7 times as high.
///
/// # Errors
/// None.
pub fn torsion_frequency() -> Comparisons {
    // J = 0.29132 and I_p = 2.16667 in units of ab³.
    let strip = RodProperties {
        bend_1: 1e4,
        bend_2: 1e4,
        twist: 0.29132,
        spin_inertia: 2.16667,
        ..isotropic(1.0)
    };
    let expected = 0.5 * PI * f64::sqrt(0.29132 / 2.16667);
    compare(
        "torsion frequency of a 5:1 strip",
        strip,
        0,
        expected,
        OF_A_BAR,
    )
}

/// The lowest axial frequency, (π/2L) √(E/ρ).
///
/// # Errors
/// None.
pub fn axial_frequency() -> Comparisons {
    let bar = RodProperties {
        stretch: 1.0,
        bend_1: 1e4,
        bend_2: 1e4,
        twist: 1e4,
        ..isotropic(1.0)
    };
    compare("axial frequency", bar, 0, 0.5 * PI, OF_A_BAR)
}

/// The first two frequencies of a pinned rod under tension T, between a beam's and a string's: ω² = (nπ/L)⁴ EI/ρA + (nπ/L)² T/ρA.
///
/// # Errors
/// None.
pub fn frequencies_under_tension() -> Comparisons {
    let strip = RodProperties {
        bend_2: 1e6,
        twist: 1e6,
        stretch: 1e9,
        ..isotropic(1.0)
    };
    let frequency = |edges: usize, tension: f64, mode: usize| {
        let rod = level_rod(edges, strip).pin(0).pin(edges).build()?;
        let state = strained(&rod, tension, 0.0, &strip);
        // The lowest is the rigid rotation about the tangent, with zero frequency.
        rod.natural_frequency(&state, &rod.default_control(), mode)
    };
    let mut comparisons = Vec::new();
    for tension in [0.0, 10.0, 1000.0] {
        for mode in [1, 2] {
            let wave = (mode as f64 * PI).powi(2);
            let expected = (wave * (wave + tension)).sqrt();
            let (coarse, fine) = (frequency(32, tension, mode)?, frequency(64, tension, mode)?);
            comparisons.push(Comparison {
                what: format!(
                    "frequency {mode} of a pinned rod under TL²/EI = {tension}, from 32 and 64 edges"
                ),
                found: (4.0 * fine - coarse) / 3.0 / expected,
                expected: 1.0,
                tolerance: 1e-3,
                source: "beam under tension; second order, extrapolated",
            });
        }
    }
    Ok(comparisons)
}
