//! Patches of a ball and of a lying cylinder on a rigid plane, against the integrals of an elastic foundation.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_hydroelastic::Shape;

use super::patch::{MODULUS, Side, patch_of};
use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch-round",
    about: "force of a ball and of a lying cylinder converges at second order in the edge length; the error is below that of Drake's ball",
    kind: CaseKind::Function(run),
    needs: None,
};

const RADIUS: f64 = 0.1;
const LENGTH: f64 = 0.3;
const DEPTH: f64 = 0.3 * RADIUS;
/// From R/5, where Drake's ball is 4.8 % too weak at this depth.
const EDGES: [f64; 3] = [0.02, 0.01, 0.005];
/// The error at one edge length depends on the orientation of facets to the plane: a root mean square over this many rotations.
const N_TURNS: usize = 40;

/// Force on a ball of an elastic foundation at depth x on a plane: 2π∫ E(1 − r/R) s ds = π E x²(1 − 2x/(3R)).
fn ball_force() -> f64 {
    std::f64::consts::PI * MODULUS * DEPTH * DEPTH * (1.0 - 2.0 * DEPTH / (3.0 * RADIUS))
}

/// Force on a lying cylinder of length L at depth x: the pressure grows with the distance from the round side or from an end, whichever
/// is less. With d(s) = R − √(h² + s²) at the distance s from the centreline of the strip, h = R − x and a = √(R² − h²),
///
/// ```text
/// F = E/R ∫ (L d − d²) ds                  ∫ d ds = R a − h² asinh(a/h)
/// ∫ d² ds = 2a(R² + h²) + 2a³/3 − 2R (R a + h² asinh(a/h))                  s from −a to a
/// ```
fn cylinder_force() -> f64 {
    let (r, h) = (RADIUS, RADIUS - DEPTH);
    let a = (r * r - h * h).sqrt();
    let curved = h * h * (a / h).asinh();
    let first = r * a - curved;
    let second = 2.0 * a * (r * r + h * h) + 2.0 * a.powi(3) / 3.0 - 2.0 * r * (r * a + curved);
    MODULUS / r * (LENGTH * first - second)
}

/// Relative error of the force at each edge length, root mean square over `turns` rotations of the body.
fn errors(
    shape: &Shape,
    force: f64,
    turns: impl Fn(f64) -> UnitQuaternion<f64>,
) -> Outcome<[f64; 3]> {
    let plane = Side::rigid(Shape::half_space())?;
    let mut errors = [0.0; 3];
    for (error, edge) in errors.iter_mut().zip(EDGES) {
        let body = Side::soft(shape.clone(), MODULUS, edge)?;
        let mut squares = 0.0;
        for k in 0..N_TURNS {
            let place = Vector3::new(0.0, 0.0, RADIUS - DEPTH);
            let X_WB = Isometry3::from_parts(place.into(), turns(k as f64));
            let s = patch_of((&body, &X_WB), (&plane, &Isometry3::identity()))?;
            squares += (s.force_W.z / force - 1.0).powi(2);
        }
        *error = (squares / N_TURNS as f64).sqrt();
    }
    Ok(errors)
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    let anyhow = |k: f64| {
        let turn = Vector3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin());
        UnitQuaternion::from_scaled_axis(2.0 * turn)
    };
    let lying = UnitQuaternion::from_scaled_axis(Vector3::x() * std::f64::consts::FRAC_PI_2);
    let rolled = |k: f64| lying * UnitQuaternion::from_scaled_axis(Vector3::z() * (0.01 * k));
    let ball = errors(&Shape::sphere(RADIUS)?, ball_force(), anyhow)?;
    let cylinder = errors(&Shape::cylinder(RADIUS, LENGTH)?, cylinder_force(), rolled)?;
    findings.push(Finding::at_most(
        "patch-round: error of a ball's force at edges of R/5".into(),
        ball[0],
        0.048,
        "π E x²(1 − 2x/(3R)) at x = 0.3 R; Drake's error at this edge length and depth",
    ));
    findings.push(Finding::at_most(
        "patch-round: error of a lying cylinder's force at edges of R/5".into(),
        cylinder[0],
        0.01,
        "E/R ∫ (L d − d²) ds; sides of edge e leave (e/R)²/6 of the depth, 2 % of 0.3 R, half inside and half outside",
    ));
    for (what, errors) in [("ball", ball), ("lying cylinder", cylinder)] {
        findings.push(Finding::at_least(
            format!("patch-round: order of a {what}'s force in the edge length"),
            (errors[0] / errors[2]).log2() / 2.0,
            1.75,
            "facets and linear pressure have errors of O(edge²), which partly cancel along a strip; from R/5 to R/20",
        ));
    }
    Ok(findings)
}
