//! Dynamic buckling of a clamped-free column under a dead load at its tip: above Euler's load, and not below.

use std::f64::consts::PI;

use nalgebra::Vector3;
use pliant_contact_sap::{Control, DeformableModel, TimeStep};

use super::{CLAMPED, Comparison, Comparisons, advance_freely, dead_load, isotropic, level_rod};
use crate::{End, Rayleigh, RodError};

/// Deflection of the tip 60 s after a small transverse velocity, under `ratio` times Euler's load.
fn deflection(ratio: f64) -> Result<f64, RodError> {
    let edges = 32;
    let rod = level_rod(edges, isotropic(0.7))
        .end(End::Start, CLAMPED)
        .damping(Rayleigh {
            mass: 2.0,
            stiffness: 0.0,
        })
        .build()?;
    let load = Vector3::new(-0.25 * PI * PI * ratio, 0.0, 0.0);
    let control = Control {
        loads: vec![dead_load(edges, load)],
        ..rod.default_control()
    };
    let mut state = rod.default_state();
    state.v[rod.node_dofs(edges)?.start + 2] = 1e-2;
    let step = TimeStep::from(0.02);
    let end = advance_freely(&rod, &state, step, Vector3::zeros(), 3000, |_, _| {
        control.clone()
    })?;
    let tip = rod.position(&end, edges);
    Ok(tip.y.hypot(tip.z))
}

/// ∫₀^{π/2} dφ/√(1 − k² sin² φ), by the arithmetic-geometric mean.
fn quarter_period(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..40 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    0.5 * PI / a
}

/// Deflection of the tip of the buckled column at `ratio` times Euler's load: 2k/K with (2K/π)² = `ratio`.
fn post_buckling(ratio: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - 1e-9);
    for _ in 0..60 {
        let k = 0.5 * (low + high);
        if (2.0 * quarter_period(k) / PI).powi(2) < ratio {
            low = k;
        } else {
            high = k;
        }
    }
    2.0 * low / quarter_period(low)
}

/// After a perturbation, the column returns to its axis at 0.9 times Euler's load, and settles as an elastica at 1.1 times.
///
/// # Errors
/// None but [`RodError::Body`].
pub fn compressed_column() -> Comparisons {
    let expected = post_buckling(1.1);
    Ok(vec![
        Comparison {
            what: "deflection of a perturbed column at 0.9 times Euler's load, after 60 s".into(),
            found: deflection(0.9)?,
            expected: 0.0,
            tolerance: 1e-6,
            source: "Euler (1744): the straight column is stable",
        },
        Comparison {
            what: "deflection of a perturbed column at 1.1 times Euler's load, after 60 s".into(),
            found: deflection(1.1)?,
            expected,
            tolerance: 0.02 * expected,
            source: "elastica: 2k/K with (2K/π)² = 1.1; 32 edges buckle at 0.9992 of the load",
        },
    ])
}
