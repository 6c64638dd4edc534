//! Buckling of straight rods under compression, torque, and torque with tension.

use std::f64::consts::PI;

use pliant_contact_sap::{Control, DeformableModel};

use super::{
    CLAMPED, Comparison, Comparisons, cantilever, critical, hold, is_stable, isotropic, level_rod,
    strained,
};
use crate::{End, Rod, RodError, RodProperties};

/// The compressive force at which a straight rod buckles.
fn buckling_force(rod: &Rod, control: &Control) -> Result<f64, RodError> {
    let properties = isotropic(0.7);
    critical(100.0, |p| {
        let state = strained(rod, -p, 0.0, &properties);
        is_stable(rod, &state, control)
    })
}

/// Euler's buckling loads of pinned, clamped-free and clamped columns.
///
/// # Errors
/// None.
pub fn euler_loads() -> Comparisons {
    let mut comparisons = Vec::new();
    for (edges, error) in [(8, -1.28e-2), (16, -3.20e-3), (32, -7.9e-4_f64)] {
        let pinned = level_rod(edges, isotropic(0.7)).pin(0).pin(edges).build()?;
        let mut control = pinned.default_control();
        hold(&pinned, &mut control, [pinned.angle_dof(0)?]);
        let force = buckling_force(&pinned, &control)? / (PI * PI);
        comparisons.push(Comparison {
            what: format!("Euler load of a pinned column over π²EI/L², {edges} edges"),
            found: force,
            expected: 1.0 + error,
            tolerance: 0.05 * error.abs(),
            source: "Euler (1744); polygons are too soft by π²/12N²",
        });
        let one = cantilever(edges, isotropic(0.7))?;
        let both = level_rod(edges, isotropic(0.7))
            .end(End::Start, CLAMPED)
            .end(End::Finish, CLAMPED)
            .build()?;
        for (what, rod, load, share) in [
            ("clamped-free column over π²EI/4L²", one, 0.25, 1.1),
            ("clamped column over 4π²EI/L²", both, 4.0, 5.0),
        ] {
            comparisons.push(Comparison {
                what: format!("Euler load of a {what}, {edges} edges"),
                found: buckling_force(&rod, &rod.default_control())? / (load * PI * PI),
                expected: 1.0,
                tolerance: share * error.abs(),
                source: "Euler (1744); the error grows with the buckling wavelength in edges",
            });
        }
    }
    Ok(comparisons)
}

/// The moment at which a twisted rod with clamped ends buckles, under `tension`.
fn buckling_moment(edges: usize, tension: f64, high: f64) -> Result<f64, RodError> {
    let properties = RodProperties {
        stretch: 1e9,
        ..isotropic(1.0 / 1.3)
    };
    let rod = level_rod(edges, properties)
        .end(End::Start, CLAMPED)
        .end(End::Finish, CLAMPED)
        .build()?;
    let control = rod.default_control();
    critical(high, |moment| {
        let state = strained(&rod, tension, moment, &properties);
        is_stable(&rod, &state, &control)
    })
}

/// Twisted straight rods with clamped ends, without tension: ML/EI = 8.98682, twice the root of tan x = x.
///
/// # Errors
/// None.
pub fn twisted_columns() -> Comparisons {
    let mut comparisons = Vec::new();
    // Twist reduces the bending stiffness of a joint: the error depends on GJ/EI.
    for (edges, expected) in [(16, 0.917), (32, 0.975), (64, 0.9934)] {
        comparisons.push(Comparison {
            what: format!("buckling moment of a clamped twisted rod over 8.98682 EI/L, {edges} edges"),
            found: buckling_moment(edges, 0.0, 20.0)? / 8.98682,
            expected,
            tolerance: 2e-3,
            source: "tan x = x (Timoshenko, Gere), with the known ratio at this resolution for GJ/EI = 1/1.3",
        });
    }
    Ok(comparisons)
}

/// The moment at which a clamped twisted rod with EI = L = 1 buckles under tension T.
///
/// Lateral deflections u = y + iz obey u'''' + iM u''' − T u'' = 0. Four clamped ends leave, with a = M/2 and
/// b = √(a² − T),
///
/// ```text
/// T sin b = 2b (cos b − cos a)
/// ```
///
/// Its root between π (T → ∞: M² = 4 EI T) and 4.49341 (T → 0: tan b = b) is found by bisection.
fn moment_under_tension(tension: f64) -> f64 {
    let a = |b: f64| (tension + b * b).sqrt();
    let imbalance = |b: f64| tension * b.sin() - 2.0 * b * (b.cos() - a(b).cos());
    let (mut low, mut high) = (PI, 4.493_409_457_909_064);
    for _ in 0..60 {
        let midpoint = 0.5 * (low + high);
        if imbalance(midpoint) > 0.0 {
            low = midpoint;
        } else {
            high = midpoint;
        }
    }
    2.0 * a(low)
}

/// Twisted rods under tension: the exact moment of a short one, M² = 4 EI T of a long one.
///
/// # Errors
/// None.
pub fn twist_under_tension() -> Comparisons {
    let mut comparisons = Vec::new();
    for tension in [20.0, 100.0] {
        let expected = moment_under_tension(tension);
        let coarse = buckling_moment(128, tension, 3.0 * expected)? / expected;
        let fine = buckling_moment(256, tension, 3.0 * expected)? / expected;
        comparisons.push(Comparison {
            what: format!("buckling moment under tension TL²/EI = {tension} over the exact one, from 128 and 256 edges"),
            found: (4.0 * fine - coarse) / 3.0,
            expected: 1.0,
            tolerance: 1e-3,
            source: "T sin b = 2b (cos b − cos a); second order, extrapolated",
        });
    }
    let tension = 2500.0;
    let moment = |edges| buckling_moment(edges, tension, 300.0);
    let extrapolated = (4.0 * moment(1600)? - moment(800)?) / 3.0;
    comparisons.push(Comparison {
        what: "M²/4EIT of a long twisted rod, TL²/EI = 2500, from 800 and 1600 edges".into(),
        found: extrapolated * extrapolated / (4.0 * tension),
        expected: 1.0,
        tolerance: 5e-3,
        source: "M² = 4 EI T (Timoshenko, Gere); the clamped ends raise it by up to (π/L)² EI/T = 0.4 %",
    });
    Ok(comparisons)
}
