//! Equilibrium shapes: natural helices, catenaries, helical springs.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Load, MaterialPoint};

use super::{CLAMPED, Comparison, Comparisons, at_rest, isotropic, level_rod};
use crate::{
    Centreline, Closure, End, NaturalShape, NaturalStrain, Rod, RodBuilder, RodError, RodProperties,
};

/// A rod of constant natural curvature κ and twist ω relaxes to a helix of radius κ/(κ² + ω²) that rises by ω/√(κ² + ω²) of
/// its length.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn natural_helix() -> Comparisons {
    let (kappa, omega) = (6.0, 3.0);
    let square = kappa * kappa + omega * omega;
    let (radius, rise) = (kappa / square, omega / f64::sqrt(square));
    let mut comparisons = Vec::new();
    for (edges, of_radius, of_rise) in [
        (24, 3.8e-3, -6.3e-3),
        (48, 9.5e-4, -1.6e-3),
        (96, 2.4e-4, -3.9e-4),
    ] {
        let rod = level_rod(edges, isotropic(0.7))
            .natural_shape(NaturalShape::Uniform(NaturalStrain {
                curvature_1: kappa,
                curvature_2: 0.0,
                twist_rate: omega,
            }))
            .build()?;
        let state = at_rest(&rod, &rod.default_state(), 0.0, &Control::default())?;
        let (found_radius, found_rise) = helix_through(&rod, &state);
        for (what, found, error) in [
            ("radius", found_radius / radius, of_radius),
            ("rise", found_rise / rise, of_rise),
        ] {
            comparisons.push(Comparison {
                what: format!("{what} of a natural helix relative to the exact one, {edges} edges"),
                found,
                expected: 1.0 + error,
                tolerance: 0.1 * error.abs(),
                source: "helix of constant curvature and twist, with the known error at this resolution",
            });
        }
        comparisons.push(Comparison {
            what: format!("energy of a relaxed natural helix, {edges} edges"),
            found: rod.elastic_energy(&state)?.total(),
            expected: 0.0,
            tolerance: 1e-20,
            source: "no stress: EI/L = 1",
        });
    }
    Ok(comparisons)
}

/// Radius of the helix through the nodes of a rod, and its rise per length of the polygon. Second differences of the
/// nodes point to the axis.
fn helix_through(rod: &Rod, state: &BodyState) -> (f64, f64) {
    let n = rod.n_nodes();
    let x: Vec<_> = (0..n).map(|i| rod.position(state, i).coords).collect();
    let second_difference = |i: usize| x[i + 1] + x[i - 1] - x[i] * 2.0;
    let axis = second_difference(1)
        .cross(&second_difference(n / 3))
        .normalize();
    let rise = (x[n - 1] - x[0]).dot(&axis).abs() / rod.total_rest_length();
    // Second differences on a helix have the norm 2R(1 − cos ψ), with ψ the angle from node to node.
    let (a, b) = (second_difference(1), second_difference(2));
    let angle = (a.dot(&b) / (a.norm() * b.norm())).acos();
    (a.norm() / (2.0 * (1.0 - angle.cos())), rise)
}

/// A rope that hangs between two points: sag and tensions at 80 edges.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn catenary() -> Comparisons {
    let mut comparisons = Vec::new();
    // L/D, sag/D, T_min/(wL), T_end/(wL).
    for (ratio, sag, lowest, highest) in [
        (1.05, 0.139304, 0.875847, 1.008518),
        (1.2, 0.292344, 0.391285, 0.634904),
        (1.5, 0.502633, 0.205491, 0.540580),
        (2.0, 0.796388, 0.114820, 0.513014),
    ] {
        let edges = 80;
        let rope = RodProperties {
            stretch: 1e5,
            bend_1: 1e-5,
            bend_2: 1e-5,
            twist: 1e-5,
            mass: 1.0,
            spin_inertia: 1e-6,
        };
        let span = 1.0 / ratio;
        // Laid out on a shallow arc, then scaled to length 1.
        let line = Centreline::curve(Closure::Open, edges, |u| {
            let depth = f64::sqrt(0.375 * (1.0 - span) * span) * 4.0 * u * (1.0 - u);
            Point3::new(span * u, 0.0, -depth)
        });
        let length: f64 = line.nodes.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
        let rod = RodBuilder::new(line)
            .properties(rope)
            .rest_length_scale(1.0 / length)
            .pin(0)
            .pin(edges)
            .build()?;
        let state = at_rest(&rod, &rod.default_state(), 1.0, &rod.default_control())?;
        let low = (0..=edges).map(|i| rod.position(&state, i).z);
        let stretch = rod.strains(&state)?.stretch;
        // Tension at the midpoint of the end edge; it grows by w times the height.
        let half = 0.5 * (rod.position(&state, 1).z - rod.position(&state, 0).z).abs();
        for (what, found, expected) in [
            ("sag/D", -low.fold(0.0, f64::min) / span, sag),
            ("least T/wL", stretch[edges / 2] * rope.stretch, lowest),
            ("greatest T/wL", stretch[0] * rope.stretch + half, highest),
        ] {
            comparisons.push(Comparison {
                what: format!("{what} of a hanging rope with L/D = {ratio}"),
                found,
                expected,
                tolerance: 1e-3,
                source: "catenary; O(1/N²) and boundary layers √(EI/T) at 80 edges",
            });
        }
    }
    Ok(comparisons)
}

/// Axial flexibility of a helical spring, L R² (cos²a/GJ + sin²a/EI), with 24 and 48 edges per turn.
///
/// # Errors
/// None but [`RodError::NoEquilibrium`].
pub fn helical_spring() -> Comparisons {
    let coarse = spring_flexibility(24)?;
    let fine = spring_flexibility(48)?;
    Ok(vec![
        Comparison {
            what: "axial flexibility of a helical spring relative to that of a thin wire, 24 edges per turn"
                .into(),
            found: coarse,
            expected: 1.0,
            tolerance: 0.02,
            source: "L R² (cos²a/GJ + sin²a/EI), ends free to rotate (Timoshenko)",
        },
        // Midpoints of edges lie inside the helix, by (2π/n)²/8 of the radius.
        Comparison {
            what: "ratio of its errors with 24 and 48 edges per turn".into(),
            found: (coarse - 1.0) / (fine - 1.0),
            expected: 4.0,
            tolerance: 0.05,
            source: "second order in the edge length",
        },
    ])
}

/// Axial flexibility of a helical spring relative to that of a thin wire.
fn spring_flexibility(edges_per_turn: usize) -> Result<f64, RodError> {
    let (radius, pitch_angle, turns) = (0.2_f64, 0.3_f64, 4.0);
    let (bend, twist) = (1.0, 0.7);
    let edges = 4 * edges_per_turn;
    let pitch = TAU * radius * pitch_angle.tan();
    let rod = RodBuilder::new(Centreline::helix(radius, pitch, turns, edges))
        .properties(isotropic(twist))
        .natural_shape(NaturalShape::AsBuilt)
        .end(End::Start, CLAMPED)
        .frame("end", edges - 1, 1.0)
        .build()?;
    let start = rod.default_state();
    // The force acts on the axis, through a rigid arm on the last edge.
    let end = rod.position(&start, edges);
    let arm = Vector3::new(-end.x, -end.y, 0.0);
    let axes = rod.material_frame(&start, edges - 1)?;
    let arm_in_section = axes.inverse() * arm;
    let force = 1e-4;
    let mut control = rod.default_control();
    control.loads.push(Load {
        point: MaterialPoint::on_frame(0, arm_in_section),
        force_W: Vector3::new(0.0, 0.0, force),
        torque_W: Vector3::zeros(),
    });
    let state = at_rest(&rod, &start, 0.0, &control)?;
    let moved = rod.material_frame(&state, edges - 1)? * arm_in_section;
    let stretched = rod.position(&state, edges).z + moved.z - end.z - arm.z;
    // The half edge at the tip has no joint.
    let flexible = 1.0 - 0.5 / edges as f64;
    let length = TAU * radius * turns / pitch_angle.cos() * flexible;
    let (sin, cos) = pitch_angle.sin_cos();
    let flexibility = length * radius * radius * (cos * cos / twist + sin * sin / bend);
    Ok(stretched / force / flexibility)
}
