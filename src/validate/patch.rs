//! Patches at given poses: area, force and centre of pressure of boxes and spheres on a rigid plane.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_hydroelastic::{
    Compliance, ContactPatch, PatchContact, PatchGeometry, PatchSummary, Posed, RigidShape, Shape,
};

use super::laboratory::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch",
    about: "area, force and centre of pressure of a box, straight and tilted, and of a sphere on a rigid plane",
    kind: CaseKind::Function(run),
    needs: None,
};

const MODULUS: f64 = 1e6;
/// Half the edges of the box, the shortest first: the field rises to the modulus over it.
const HALF: Vector3<f64> = Vector3::new(0.06, 0.08, 0.05);
const DEPTH: f64 = 0.004;
const RADIUS: f64 = 0.1;
/// Places along each side of the quadrature.
const N_QUADRATURE: usize = 1500;

/// The patch of a compliant shape at `X_WG` on the rigid half space z ≤ 0.
fn on_plane(shape: &Shape, edge_length: f64, X_WG: Isometry3<f64>) -> Outcome<PatchSummary> {
    let field = PatchGeometry::compliant(
        shape,
        &Compliance {
            hydroelastic_modulus: MODULUS,
            mesh_resolution_hint: edge_length,
            ..Compliance::default()
        },
    )?;
    let (ground, plane) = (Shape::half_space(), PatchGeometry::RigidHalfSpace);
    let a = Posed::Rigid(RigidShape {
        patch: Some(&field),
        ..RigidShape::still(shape, X_WG)
    });
    let b = Posed::Rigid(RigidShape {
        patch: Some(&plane),
        ..RigidShape::still(&ground, Isometry3::identity())
    });
    let mut patch = ContactPatch::default();
    PatchContact
        .patch(a, b, &mut patch)
        .ok_or("a compliant shape and a half space have a patch")??;
    Ok(*patch.summary())
}

/// Area, force and centre of pressure of the box by summing p = E min_i d_i/H over the plane, d_i the distance from the box's
/// face i, H the least half edge.
///
/// The midpoint rule on p, whose kinks it crosses, is off by O(h²) of the whole, and by O(h) of the edge's where p is zero at it.
fn quadrature(X_WB: &Isometry3<f64>) -> (f64, Vector3<f64>) {
    let reach = 1.2 * HALF.norm();
    let h = 2.0 * reach / N_QUADRATURE as f64;
    let (mut force, mut weighed) = (0.0, Vector3::zeros());
    for i in 0..N_QUADRATURE {
        for j in 0..N_QUADRATURE {
            let place = |k: usize| (k as f64 + 0.5) * h - reach;
            let p_W = Vector3::new(place(i), place(j), 0.0);
            let p_B = X_WB.inverse_transform_point(&p_W.into()).coords;
            let depth = (HALF - p_B.abs()).min();
            if depth > 0.0 {
                let load = MODULUS * depth / HALF.min() * h * h;
                force += load;
                weighed += p_W * load;
            }
        }
    }
    (force, weighed / force)
}

/// What presses a ball by x into an elastic foundation on a plane: 2π∫ E(1 − r/R) s ds = π E x²(1 − 2x/(3R)).
fn sphere_force(depth: f64) -> f64 {
    std::f64::consts::PI * MODULUS * depth * depth * (1.0 - 2.0 * depth / (3.0 * RADIUS))
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut equals = |what: &str, found: f64, expected: f64, within: f64, source: &str| {
        let name = format!("patch: {what}");
        findings.push(Finding::equals(name, found, expected, within, source));
    };
    let shape = Shape::cuboid(2.0 * HALF)?;

    let straight = Isometry3::translation(0.1, -0.2, HALF.z - DEPTH);
    let s = on_plane(&shape, 0.02, straight)?;
    let (a, b) = (2.0 * HALF.x, 2.0 * HALF.y);
    equals(
        "area of a box (m²)",
        s.area,
        a * b,
        1e-6 * a * b,
        "its face",
    );
    // min(x, distance from the rim) over the face.
    let x = DEPTH;
    let volume = x * a * b - (a + b) * x * x + 4.0 / 3.0 * x.powi(3);
    let force = MODULUS / HALF.min() * volume;
    let source = "E/H ∫ min(x, s) dA, s the distance from the rim";
    equals(
        "force of a box (N)",
        s.force_W.z,
        force,
        1e-6 * force,
        source,
    );
    let aside = (s.center_of_pressure.coords.xy() - straight.translation.vector.xy()).norm();
    let source = "symmetry";
    equals("centre of pressure of a box (m)", aside, 0.0, 1e-9, source);

    for (axis, angle) in [
        (Vector3::y_axis(), 0.03),
        (Vector3::x_axis(), 0.1),
        (
            nalgebra::Unit::new_normalize(Vector3::new(1.0, 2.0, 0.5)),
            0.2,
        ),
    ] {
        let turn = UnitQuaternion::from_axis_angle(&axis, angle);
        let tilted = Isometry3::from_parts(Vector3::new(0.0, 0.0, HALF.z - DEPTH).into(), turn);
        let s = on_plane(&shape, 0.02, tilted)?;
        let (force, center) = quadrature(&tilted);
        let source = format!("midpoint rule with {N_QUADRATURE}² places");
        equals(
            &format!("force of a box tilted by {angle} (N)"),
            s.force_W.z,
            force,
            1e-5 * force,
            &source,
        );
        equals(
            &format!("centre of pressure of a box tilted by {angle}: off by (m)"),
            (s.center_of_pressure.coords - center).norm(),
            0.0,
            1e-6,
            &source,
        );
    }

    // An edge length of R/5 and depth of 0.3 R is where Drake's sphere is 4.8 % too weak.
    let ball = Shape::sphere(RADIUS)?;
    let depth = 0.3 * RADIUS;
    let force = sphere_force(depth);
    let error_at = |edge: f64| -> Outcome<f64> {
        // Facets that lie the same way to the plane at every size would show more, or less, than the mean.
        let mut sum = 0.0;
        let turns = [[0.0, 0.0, 0.0], [0.3, 0.7, 0.1], [1.1, 0.2, 0.9]];
        for turn in turns {
            let turn = UnitQuaternion::from_scaled_axis(turn.into());
            let X_WB = Isometry3::from_parts(Vector3::new(0.0, 0.0, RADIUS - depth).into(), turn);
            sum += (on_plane(&ball, edge, X_WB)?.force_W.z / force - 1.0).abs();
        }
        Ok(sum / turns.len() as f64)
    };
    let errors = [error_at(0.02)?, error_at(0.01)?, error_at(0.005)?];
    let source =
        "elastic foundation π E x²(1 − 2x/(3R)); Drake's error at this edge length and depth";
    findings.push(Finding::at_most(
        "patch: force of a sphere at edges of R/5, relative error".into(),
        errors[0],
        0.048,
        source,
    ));
    findings.push(Finding::equals(
        "patch: order of the sphere's force in the edge length".into(),
        (errors[0] / errors[2]).log2() / 2.0,
        2.0,
        0.35,
        "facets and linear pressure are off by O(edge²); from R/5 to R/20",
    ));
    Ok(findings)
}
