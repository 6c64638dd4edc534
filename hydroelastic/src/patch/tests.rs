//! Bodies and poses shared by the tests.

mod choice;
mod coincident;
mod degenerate;
mod fields_of_filaments;
mod filament;
mod flat_tips;
mod flood;
mod friction_torque;
mod invariants;

use nalgebra::{Isometry3, Vector3};

use super::flood::Flood;
use super::pieces::Pieces;
use super::*;
use crate::contact_point::PointStiffness;
use crate::field::{Compliance, PressureField};
use crate::patch_geometry::RigidSurface;
use crate::posed::RigidShape;
use crate::pressure_bvh::Relative;
use crate::test_support::{l_shape, random_pose, random_rotation};
use crate::twist::Twist;
use crate::{Primitive, Shape};
use nalgebra::{Point3, Translation3, UnitQuaternion};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn compliance(margin: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: 1.0e5,
        margin,
        mesh_resolution_hint: 0.04,
        slab_thickness: Some(0.1),
    }
}

/// A shape with its patch geometry.
#[derive(Clone)]
struct Body {
    shape: Shape,
    patch: PatchGeometry,
}

impl Body {
    fn compliant(shape: Shape, margin: f64) -> Self {
        let patch = PatchGeometry::compliant(&shape, &compliance(margin)).unwrap();
        Self { shape, patch }
    }

    fn rigid(shape: Shape) -> Self {
        let patch = PatchGeometry::rigid(&shape, 0.04).unwrap();
        Self { shape, patch }
    }

    fn at(&self, X_WG: Isometry3<f64>) -> Posed<'_> {
        Posed::Rigid(RigidShape {
            shape: &self.shape,
            X_WG,
            V_WG: Twist::zero(),
            patch: Some(&self.patch),
        })
    }
}

fn l_mesh() -> Shape {
    let (vertices, triangles) = l_shape();
    let small: Vec<_> = vertices
        .iter()
        .map(|p| Point3::from((p.coords - Vector3::new(0.2, 0.15, 0.2)) * 0.4))
        .collect();
    Shape::mesh(&small, &triangles).unwrap()
}

fn bounded() -> Vec<Shape> {
    vec![
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::cylinder(0.08, 0.2).unwrap(),
        Shape::capsule(0.06, 0.12).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.06, 0.14)).unwrap(),
        Shape::cone(0.1, 0.2).unwrap(),
        l_mesh(),
    ]
}

fn pairs(margin: f64) -> Vec<(Body, Body)> {
    let mut shapes = bounded();
    shapes.push(Shape::half_space());
    let compliant: Vec<_> = shapes
        .iter()
        .map(|s| Body::compliant(s.clone(), margin))
        .collect();
    let rigid: Vec<_> = shapes.iter().map(|s| Body::rigid(s.clone())).collect();
    let mut pairs = Vec::new();
    for (i, a) in compliant.iter().enumerate() {
        for b in compliant[i..].iter().chain(&rigid) {
            if a.patch.has_patch_with(&b.patch) {
                pairs.push((a.clone(), b.clone()));
            }
        }
    }
    pairs
}

fn is_hollow(body: &Body) -> bool {
    matches!(body.shape, Shape::Mesh(_))
}

fn points(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    PatchContact
        .collide(
            a,
            b,
            &Query::new(1e-3, 9.81).unwrap(),
            &mut ContactWorkspace::default(),
            &mut out,
        )
        .expect("a supported pair")
        .expect("finite");
    out
}

fn patch(a: Posed<'_>, b: Posed<'_>) -> ContactPatch {
    let mut out = ContactPatch::default();
    PatchContact
        .patch(a, b, &mut ContactWorkspace::default(), &mut out)
        .expect("a supported pair")
        .expect("finite");
    out
}

/// Elastic force of B on A and its moment about the world's origin, from the points.
fn wrench(points: &[ContactPoint]) -> (Vector3<f64>, Vector3<f64>) {
    points
        .iter()
        .fold((Vector3::zeros(), Vector3::zeros()), |(f, m), c| {
            let push = c.normal_W * (c.stiffness.of_pair(f64::NAN) * -c.signed_distance).max(0.0);
            (f + push, m + c.p_WC.coords.cross(&push))
        })
}

/// A random pose in contact range: A's centre within 0.2 m of B's.
fn near(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::from(Vector3::from_fn(|_, _| rng.random_range(-0.12..0.12))),
        random_rotation(rng),
    )
}
