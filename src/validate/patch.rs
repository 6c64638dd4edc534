//! Patches of boxes at given poses on rigid ground: area, force and centre of pressure, straight and tilted.

use nalgebra::{Isometry3, UnitQuaternion, Vector2, Vector3};
use pliant_hydroelastic::{
    Compliance, ContactPatch, ContactWorkspace, PatchContact, PatchGeometry, PatchSummary, Posed,
    RigidShape, Shape,
};

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "patch",
    about: "area, force and centre of pressure of a box on rigid ground, straight and tilted, to 1e-6",
    kind: CaseKind::Function(run),
    needs: None,
};

/// Pa.
pub(super) const MODULUS: f64 = 1e6;
/// Half the edges of the box, the shortest last: the field rises to the modulus over it.
const HALF: Vector3<f64> = Vector3::new(0.06, 0.08, 0.05);
const DEPTH: f64 = 0.004;
/// Levels of the quadrature, two points each.
const N_LEVELS: usize = 20_000;

/// A shape with its data for patch contact.
pub(super) struct Side {
    shape: Shape,
    patch: PatchGeometry,
}

impl Side {
    pub(super) fn soft(shape: Shape, modulus: f64, edge_length: f64) -> Outcome<Self> {
        let compliance = Compliance {
            hydroelastic_modulus: modulus,
            mesh_resolution_hint: edge_length,
            slab_thickness: Some(0.05),
            ..Compliance::default()
        };
        let patch = PatchGeometry::compliant(&shape, &compliance)?;
        Ok(Self { shape, patch })
    }

    pub(super) fn rigid(shape: Shape) -> Outcome<Self> {
        let patch = PatchGeometry::rigid(&shape, 0.02)?;
        Ok(Self { shape, patch })
    }

    fn at(&self, X_WG: &Isometry3<f64>) -> Posed<'_> {
        Posed::Rigid(RigidShape {
            patch: Some(&self.patch),
            ..RigidShape::at_rest(&self.shape, *X_WG)
        })
    }
}

/// The patch of A, at its pose, on B.
pub(super) fn patch_of(
    (a, X_WA): (&Side, &Isometry3<f64>),
    (b, X_WB): (&Side, &Isometry3<f64>),
) -> Outcome<PatchSummary> {
    let mut patch = ContactPatch::default();
    PatchContact
        .patch(
            a.at(X_WA),
            b.at(X_WB),
            &mut ContactWorkspace::default(),
            &mut patch,
        )
        .ok_or("a pair with a compliant side has a patch")??;
    Ok(*patch.summary())
}

/// Area of the plane z = 0 in a box with these half edges, and ∫(x, y) over it.
fn section(X_WB: &Isometry3<f64>, half: &Vector3<f64>) -> (f64, Vector2<f64>) {
    let far = 2.0 * HALF.norm();
    let corner = |x: f64, y: f64| Vector2::new(x * far, y * far);
    let mut polygon = vec![
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ];
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let n = X_WB.rotation * Vector3::ith(axis, side);
            let offset = half[axis] + n.dot(&X_WB.translation.vector);
            let inside = |p: &Vector2<f64>| offset - n.xy().dot(p);
            let mut cut = Vec::with_capacity(polygon.len() + 1);
            for (k, p) in polygon.iter().enumerate() {
                let q = &polygon[(k + 1) % polygon.len()];
                let (f, g) = (inside(p), inside(q));
                if f >= 0.0 {
                    cut.push(*p);
                }
                if f * g < 0.0 {
                    cut.push(p + (q - p) * (f / (f - g)));
                }
            }
            polygon = cut;
        }
    }
    let (mut area, mut first) = (0.0, Vector2::zeros());
    for pair in polygon.windows(2).skip(1) {
        let (u, v) = (pair[0] - polygon[0], pair[1] - polygon[0]);
        let part = 0.5 * u.perp(&v);
        area += part;
        first += (polygon[0] + (u + v) / 3.0) * part;
    }
    (area, first)
}

/// Force and centre of pressure of the box on the plane z = 0, integrated over depth levels. The part of the box deeper than t is the box shrunk by t, so
/// with A(t) the area of the plane in that
///
/// ```text
/// ∫ p dA = E/H ∫ A(t) dt        H the least half edge, 0 ≤ t ≤ H
/// ```
///
/// by Gauss's rule with two points per level; A is smooth except for a few kinks, each with an error of O(h²) of its share.
fn by_levels(X_WB: &Isometry3<f64>) -> (f64, Vector2<f64>) {
    let h = HALF.min() / N_LEVELS as f64;
    let (mut force, mut weighted) = (0.0, Vector2::zeros());
    for level in 0..N_LEVELS {
        for node in [-0.5, 0.5] {
            let t = (level as f64 + 0.5 + node / 3.0_f64.sqrt()) * h;
            let (area, first) = section(X_WB, &HALF.add_scalar(-t));
            let weight = MODULUS / HALF.min() * 0.5 * h;
            force += area * weight;
            weighted += first * weight;
        }
    }
    (force, weighted / force)
}

fn run(_: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut equals = |what: &str, found: f64, expected: f64, within: f64, source: &str| {
        let name = format!("patch: {what}");
        findings.push(Finding::equals(name, found, expected, within, source));
    };
    let soft = Side::soft(Shape::cuboid(2.0 * HALF)?, MODULUS, 0.02)?;
    let plane = (
        &Side::rigid(Shape::half_space())?,
        &Isometry3::<f64>::identity(),
    );
    let table = (
        &Side::rigid(Shape::cuboid(Vector3::new(2.0, 2.0, 0.4))?)?,
        &Isometry3::translation(0.03, 0.02, -0.2),
    );

    let straight = Isometry3::translation(0.1, -0.2, HALF.z - DEPTH);
    let s = patch_of((&soft, &straight), plane)?;
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

    // Beyond 22.5 degrees polygons under the raised sides begin to vanish.
    for (axis, angle) in [
        (Vector3::y_axis(), 0.03),
        (Vector3::x_axis(), 0.1),
        (
            nalgebra::Unit::new_normalize(Vector3::new(1.0, 2.0, 0.5)),
            0.2,
        ),
        (
            nalgebra::Unit::new_normalize(Vector3::new(-1.0, 0.4, 0.0)),
            0.35,
        ),
    ] {
        let turn = UnitQuaternion::from_axis_angle(&axis, angle);
        let tilted = Isometry3::from_parts(Vector3::new(0.0, 0.0, HALF.z - DEPTH).into(), turn);
        let (area, _) = section(&tilted, &HALF);
        let (force, center) = by_levels(&tilted);
        for (ground, below) in [(plane, "half space"), (table, "box")] {
            let s = patch_of((&soft, &tilted), ground)?;
            let of = format!("a box tilted by {angle} on a rigid {below}");
            equals(
                &format!("area of {of} (m²)"),
                s.area,
                area,
                1e-6 * area,
                "the plane's polygon in the box",
            );
            let source = format!("E/H ∫ A(t) dt, {N_LEVELS} levels");
            equals(
                &format!("force of {of} (N)"),
                s.force_W.z,
                force,
                1e-6 * force,
                &source,
            );
            equals(
                &format!("centre of pressure of {of}: off by (m)"),
                (s.center_of_pressure.coords.xy() - center).norm(),
                0.0,
                1e-6 * HALF.norm(),
                &source,
            );
        }
    }
    Ok(findings)
}
