//! Out-of-plane buckling: Michell's ring, lateral-torsional buckling of strips, a naturally curved rod under its weight.

use std::f64::consts::PI;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{Control, DeformableModel};

use super::{
    Comparison, Comparisons, at_rest, cantilever, critical, dead_load, hold, is_stable, isotropic,
};
use crate::{
    Centreline, Closure, End, EndCondition, NaturalShape, NaturalStrain, Rod, RodBuilder, RodError,
    RodProperties,
};

/// The twist Θ at which a closed circular polygon of `edges` edges buckles out of its plane.
fn buckling_twist(edges: usize, twist: f64) -> Result<f64, RodError> {
    let length = edges as f64 * 2.0 * (PI / edges as f64).sin();
    // Six rigid motions and a uniform rotation of all sections have zero frequency; any further one is a buckling mode.
    let neutral = |total: f64| -> Result<usize, RodError> {
        let rod = RodBuilder::new(Centreline::circle(1.0, edges))
            .properties(isotropic(twist))
            .natural_shape(NaturalShape::Uniform(NaturalStrain {
                twist_rate: -total / length,
                ..NaturalStrain::default()
            }))
            .build()?;
        rod.modes_below(&rod.default_state(), &Control::default(), 1e-3)
    };
    critical(25.0, |total| Ok(neutral(total)? == 7))
}

/// A circular rod closed with twist Θ buckles out of its plane at Θ = 2π√3 EI/GJ: 14.148 rad at ν = 0.3, 16.324 rad at
/// ν = 0.5.
///
/// # Errors
/// None.
pub fn twisted_ring() -> Comparisons {
    let twist = 1.0 / 1.3;
    let mut comparisons = Vec::new();
    for (edges, expected) in [(20, 1.0813), (40, 1.0197), (80, 1.0049)] {
        comparisons.push(Comparison {
            what: format!("twist at which Michell's ring buckles over 2π√3 EI/GJ, {edges} edges"),
            found: buckling_twist(edges, twist)? / (2.0 * PI * f64::sqrt(3.0) / twist),
            expected,
            tolerance: 3e-4,
            source: "Michell (1889), Zajac (1962); about 1 + 31/N² for a polygon",
        });
    }
    let twist = 1.0 / 1.5;
    let (coarse, fine) = (buckling_twist(40, twist)?, buckling_twist(80, twist)?);
    comparisons.push(Comparison {
        what: "twist at which Michell's ring of ν = 0.5 buckles, rad, from 40 and 80 edges".into(),
        found: (4.0 * fine - coarse) / 3.0,
        expected: 16.324,
        tolerance: 1e-3 * 16.324,
        source: "Michell (1889), Zajac (1962); second order, extrapolated",
    });
    Ok(comparisons)
}

/// A control that holds all out-of-plane unknowns of a rod in the x-z plane.
fn in_plane_control(rod: &Rod) -> Control {
    let mut control = rod.default_control();
    let n = rod.n_dofs();
    hold(
        rod,
        &mut control,
        (0..n).filter(|i| i % 4 == 1 || i % 4 == 3),
    );
    control
}

/// A strip that is stiff in the plane of the load, x-z.
fn upright_strip() -> RodProperties {
    RodProperties {
        stretch: 1e8,
        bend_1: 1e4,
        bend_2: 1.0,
        twist: 1.0,
        ..isotropic(1.0)
    }
}

/// Lateral-torsional buckling of an upright strip under a tip force, at PL²/√(EI GJ) = 4.01260.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn strip_under_tip_force() -> Comparisons {
    let mut comparisons = Vec::new();
    for (edges, expected) in [(16, 1.0018), (32, 1.0006), (64, 1.0002)] {
        let rod = cantilever(edges, upright_strip())?;
        let force = critical(8.0, |p| {
            let mut plane = in_plane_control(&rod);
            plane
                .loads
                .push(dead_load(edges, Vector3::new(0.0, 0.0, -p)));
            let state = at_rest(&rod, &rod.default_state(), 0.0, &plane)?;
            is_stable(&rod, &state, &rod.default_control())
        })?;
        comparisons.push(Comparison {
            what: format!("tip force of lateral-torsional buckling over 4.01260 √(EI GJ)/L², {edges} edges"),
            found: force / 4.01260,
            expected,
            tolerance: 3e-4,
            source: "lateral-torsional buckling (Timoshenko, Gere), with the known ratio at this resolution",
        });
    }
    Ok(comparisons)
}

/// Lateral-torsional buckling of an upright strip under its own weight, at wL³/√(EI GJ) = 12.8537.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn strip_under_weight() -> Comparisons {
    let mut comparisons = Vec::new();
    for (edges, expected) in [(16, 1.0033), (32, 1.0010), (64, 1.0004)] {
        let rod = cantilever(edges, upright_strip())?;
        let weight = critical(25.0, |w| {
            let state = at_rest(&rod, &rod.default_state(), w, &in_plane_control(&rod))?;
            is_stable(&rod, &state, &rod.default_control())
        })?;
        comparisons.push(Comparison {
            what: format!("weight of lateral-torsional buckling over 12.8537 √(EI GJ)/L³, {edges} edges"),
            found: weight / 12.8537,
            expected,
            tolerance: 3e-4,
            source: "lateral-torsional buckling (Timoshenko, Gere), with the known ratio at this resolution",
        });
    }
    Ok(comparisons)
}

/// A naturally circular rod, clamped horizontally and curving upwards, buckles sideways under its weight; GJ/EI = 2/3.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn natural_circle() -> Comparisons {
    let mut comparisons = Vec::new();
    for (angle, results) in [
        (1.5 * PI, [(16, 12.12), (32, 12.28), (64, 12.32)]),
        (2.0 * PI, [(16, 21.72), (32, 22.37), (64, 22.55)]),
    ] {
        for (edges, expected) in results {
            // A polygon of length 1.
            let radius = 0.5 / edges as f64 / (0.5 * angle / edges as f64).sin();
            let line = Centreline::curve(Closure::Open, edges, |u| {
                let (sin, cos) = (angle * u).sin_cos();
                Point3::new(radius * sin, 0.0, radius * (1.0 - cos))
            });
            let tangent = Some(Vector3::x());
            let rod = RodBuilder::new(line)
                .properties(isotropic(2.0 / 3.0))
                .director(Vector3::y())
                .natural_shape(NaturalShape::AsBuilt)
                .end(End::Start, EndCondition::Clamped { tangent })
                .build()?;
            let found = critical(40.0, |w| {
                let state = at_rest(&rod, &rod.default_state(), w, &in_plane_control(&rod))?;
                is_stable(&rod, &state, &rod.default_control())
            })?;
            comparisons.push(Comparison {
                what: format!(
                    "wL³/EI at which a natural circular arc of {:.0}° buckles sideways, {edges} edges",
                    angle.to_degrees()
                ),
                found,
                expected,
                tolerance: 0.015,
                source: "boundary value problem: 12.333 for 270°, 22.61 for 360°, with the known results at this resolution",
            });
        }
    }
    Ok(comparisons)
}
