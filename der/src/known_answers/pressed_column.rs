//! A clamped and free column under a dead load on its end, in motion: seen to buckle above Euler's load, and not below.

use std::f64::consts::PI;

use nalgebra::Vector3;
use pliant_contact_sap::{Control, DeformableModel, TimeStep};

use super::{CLAMPED, Comparison, Comparisons, fly, isotropic, level_rod, pull};
use crate::{End, Rayleigh, RodError};

/// How far the tip is off its axis a while after it was nudged, under `share` of Euler's load.
fn deflection(share: f64) -> Result<f64, RodError> {
    let edges = 32;
    let rod = level_rod(edges, isotropic(0.7))
        .end(End::Start, CLAMPED)
        .damping(Rayleigh {
            mass: 2.0,
            stiffness: 0.0,
        })
        .build()?;
    let load = Vector3::new(-0.25 * PI * PI * share, 0.0, 0.0);
    let control = Control {
        loads: vec![pull(edges, load)],
        ..rod.default_control()
    };
    let mut state = rod.default_state();
    state.v[rod.node_dofs(edges)?.start + 2] = 1e-2;
    let step = TimeStep::from(0.02);
    let end = fly(&rod, &state, step, Vector3::zeros(), 3000, |_, _| {
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

/// Deflection of the tip of the buckled column at `share` of Euler's load: 2k/K with (2K/π)² = `share`.
fn post_buckling(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0 - 1e-9);
    for _ in 0..60 {
        let k = 0.5 * (low + high);
        if (2.0 * quarter_period(k) / PI).powi(2) < share {
            low = k;
        } else {
            high = k;
        }
    }
    2.0 * low / quarter_period(low)
}

/// A nudged column comes back at 0.9 times Euler's load and comes to rest as an elastica at 1.1 times it.
///
/// # Errors
/// None but [`RodError::Body`].
pub fn pressed_column() -> Comparisons {
    let expected = post_buckling(1.1);
    Ok(vec![
        Comparison {
            what: "deflection of a nudged column at 0.9 of Euler's load, after 60 s".into(),
            found: deflection(0.9)?,
            expected: 0.0,
            tolerance: 1e-6,
            source: "Euler (1744): it comes back",
        },
        Comparison {
            what: "deflection of a nudged column at 1.1 of Euler's load, after 60 s".into(),
            found: deflection(1.1)?,
            expected,
            tolerance: 0.02 * expected,
            source: "elastica: 2k/K with (2K/π)² = 1.1; 32 edges buckle at 0.9992 of the load",
        },
    ])
}
