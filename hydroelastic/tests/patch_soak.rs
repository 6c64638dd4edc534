//! Random and degenerate pairs, as long as one wishes: `PROPTEST_CASES=1000000 cargo test --release --test patch_soak`.
//!
//! Shapes of random proportions, poses random, aligned, coincident or a rounding error away from that. Whatever comes out must be
//! finite, of the right sign, and the same from either side.
#![allow(non_snake_case, reason = "monogram frame names")]

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use pliant_hydroelastic::{
    Compliance, ContactGeometry, ContactPatch, PatchContact, PatchGeometry, Posed, Query,
    RigidShape, Shape,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Sphere,
    Box,
    Cylinder,
    Capsule,
    Ellipsoid,
    Cone,
    Hull,
    HalfSpace,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    kind: Kind,
    sizes: [f64; 3],
    modulus: f64,
    margin: f64,
    edge: f64,
}

impl Part {
    /// `None` for a hull so thin that it is refused.
    fn shape(&self) -> Option<Shape> {
        let [x, y, z] = self.sizes;
        match self.kind {
            Kind::Sphere => Shape::sphere(x),
            Kind::Box => Shape::cuboid(Vector3::new(x, y, z)),
            Kind::Cylinder => Shape::cylinder(x, y),
            Kind::Capsule => Shape::capsule(x, y),
            Kind::Ellipsoid => Shape::ellipsoid(Vector3::new(x, y, z)),
            Kind::Cone => Shape::cone(x, y),
            Kind::Hull => Shape::convex_hull(&[
                [x, 0.0, 0.0].into(),
                [-x, 0.1 * y, 0.0].into(),
                [0.0, y, 0.0].into(),
                [0.0, -y, 0.0].into(),
                [0.0, 0.0, z].into(),
                [0.01, 0.0, -z].into(),
            ]),
            Kind::HalfSpace => Ok(Shape::half_space()),
        }
        .ok()
    }

    fn compliant(&self, shape: &Shape) -> PatchGeometry {
        let compliance = Compliance {
            hydroelastic_modulus: self.modulus,
            margin: self.margin,
            mesh_resolution_hint: self.edge,
            slab_thickness: Some(0.1),
        };
        PatchGeometry::compliant(shape, &compliance).unwrap()
    }
}

/// Now and then exactly one of these, else anything in the range.
fn number(low: f64, high: f64, special: &'static [f64]) -> impl Strategy<Value = f64> {
    prop_oneof![3 => low..high, 1 => prop::sample::select(special)]
}

fn part() -> impl Strategy<Value = Part> {
    let kind = prop::sample::select(
        &[
            Kind::Sphere,
            Kind::Box,
            Kind::Cylinder,
            Kind::Capsule,
            Kind::Ellipsoid,
            Kind::Cone,
            Kind::Hull,
            Kind::HalfSpace,
        ][..],
    );
    let size = || number(0.02, 0.2, &[0.1, 0.05, 0.2, 1e-3, 2.0]);
    let margin = prop_oneof![Just(0.0), Just(1e-4), Just(1e-2), 0.0..1e-3];
    let modulus = prop::sample::select(&[1e3, 1e5, 1e7, 1e10][..]);
    (
        kind,
        [size(), size(), size()],
        modulus,
        margin,
        number(0.03, 0.3, &[0.1]),
    )
        .prop_map(|(kind, sizes, modulus, margin, edge)| {
            // As fine as the largest size allows.
            let edge = edge.max(0.1 * sizes.iter().copied().fold(0.0, f64::max));
            Part {
                kind,
                sizes,
                modulus,
                margin,
                edge,
            }
        })
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    const SHIFTS: &[f64] = &[0.0, 0.1, -0.1, 0.05, 0.2, 1e-9, -1e-12, 1e-16, 0.1 - 1e-13];
    const TURNS: &[f64] = &[
        0.0,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_4,
        1e-9,
        -1e-13,
    ];
    let shift = || number(-0.2, 0.2, SHIFTS);
    let turn = || prop_oneof![-3.0..3.0, prop::sample::select(TURNS), Just(0.0)];
    (shift(), shift(), shift(), turn(), turn(), turn()).prop_map(|(x, y, z, a, b, c)| {
        Isometry3::from_parts(
            Translation3::new(x, y, z),
            UnitQuaternion::from_scaled_axis(Vector3::new(a, b, c)),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_pair_has_a_finite_symmetric_answer(
        a in part(),
        b in part(),
        rigid in any::<bool>(),
        X_WA in pose(),
        X_WB in pose(),
    ) {
        let (Some(shape_A), Some(shape_B)) = (a.shape(), b.shape()) else {
            return Ok(());
        };
        let patch_A = a.compliant(&shape_A);
        let patch_B = if rigid { PatchGeometry::rigid(&shape_B, b.edge).unwrap() } else { b.compliant(&shape_B) };
        if !patch_A.meets(&patch_B) {
            return Ok(());
        }
        let posed_A = |X| Posed::Rigid(RigidShape { patch: Some(&patch_A), ..RigidShape::still(&shape_A, X) });
        let posed_B = Posed::Rigid(RigidShape { patch: Some(&patch_B), ..RigidShape::still(&shape_B, X_WB) });
        let patch = |X| {
            let mut out = ContactPatch::default();
            PatchContact.patch(posed_A(X), posed_B, &mut out).unwrap().unwrap();
            out
        };
        let here = patch(X_WA);
        let s = *here.summary();
        prop_assert!(s.area >= 0.0 && s.area.is_finite() && s.pressure_max.is_finite());
        prop_assert!(s.force_W.sum().is_finite() && s.moment_W.sum().is_finite());
        prop_assert!(s.center_of_pressure.coords.sum().is_finite());
        let load: f64 = here.polygons().iter().map(|p| p.area * p.pressure).sum();
        for p in here.polygons() {
            prop_assert!(p.area > 0.0 && p.pressure >= 0.0);
            prop_assert!(here.vertices_W(p).len() >= 3 && here.vertices_W(p).len() == here.pressures(p).len());
        }
        let q = Query::new(1e-3, 9.81).unwrap();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        PatchContact.collide(posed_A(X_WA), posed_B, &q, &mut there).unwrap().unwrap();
        PatchContact.collide(posed_B, posed_A(X_WA), &q, &mut back).unwrap().unwrap();
        let force = |points: &[pliant_hydroelastic::ContactPoint]| {
            points.iter().fold(Vector3::zeros(), |f, c| {
                f + c.normal_W * (-c.stiffness.of_pair(0.0) * c.signed_distance).max(0.0)
            })
        };
        // The stiffer field's pressure near its surface is a small difference of large numbers.
        let tolerance = 1e-8 * load + 1e-13 * a.modulus.max(b.modulus) * s.area;
        prop_assert!((force(&there) - s.force_W).norm() <= tolerance);
        let sum = force(&there) + force(&back);
        prop_assert!(sum.norm() <= tolerance, "{sum:?} of {load}");
        for c in &there {
            prop_assert!(c.stiffness.of_pair(0.0) > 0.0 && c.stiffness.of_pair(0.0).is_finite());
            prop_assert!(c.signed_distance.is_finite() && (c.normal_W.norm() - 1.0).abs() < 1e-9);
        }
    }
}
