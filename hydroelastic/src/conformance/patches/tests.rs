use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::{Compliance, GeometryError, PatchContact, PointStiffness};

fn compliance(modulus: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: modulus,
        margin: 1e-4,
        mesh_resolution_hint: 0.05,
        slab_thickness: Some(0.05),
    }
}

fn soft(shape: &Shape) -> PatchBody {
    PatchBody {
        shape: shape.clone(),
        patch: PatchGeometry::compliant(shape, &compliance(1e5)).unwrap(),
    }
}

fn hard(shape: &Shape) -> PatchBody {
    PatchBody {
        shape: shape.clone(),
        patch: PatchGeometry::rigid(shape, 0.05).unwrap(),
    }
}

fn shapes() -> Vec<Shape> {
    vec![
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.3, 0.16)).unwrap(),
        Shape::cylinder(0.1, 0.24).unwrap(),
        Shape::capsule(0.08, 0.2).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.14, 0.08)).unwrap(),
        Shape::cone(0.1, 0.2).unwrap(),
    ]
}

#[test]
fn patch_contact_conforms_for_every_kind_of_pair() {
    let trial = Trial {
        poses: 4,
        ..Trial::default()
    };
    let ground = Shape::half_space();
    let mut pairs = Vec::new();
    for a in &shapes() {
        pairs.push((soft(a), hard(&ground)));
        pairs.push((soft(a), soft(&ground)));
        pairs.push((hard(a), soft(&ground)));
        for b in &shapes() {
            pairs.push((soft(a), soft(b)));
            pairs.push((soft(a), hard(b)));
        }
    }
    let examined = check_patch_pairs(&PatchContact, &pairs, &trial).unwrap();
    assert!(examined > 1000, "{examined}");
}

/// Our implementation with a mistake in the n-th result.
struct Broken {
    mistake: fn(u32, &mut ContactPoint),
    answers: AtomicU32,
}

impl ContactGeometry for Broken {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let answer = PatchContact.collide(a, b, q, workspace, out);
        let n = self.answers.fetch_add(1, Ordering::Relaxed);
        out.iter_mut().for_each(|c| (self.mistake)(n, c));
        answer
    }
}

#[track_caller]
fn check_caught(mistake: fn(u32, &mut ContactPoint), message: &str) {
    let balls = [(soft(&shapes()[0]), soft(&shapes()[1]))];
    let broken = Broken {
        mistake,
        answers: AtomicU32::new(0),
    };
    let caught = check_patch_pairs(&broken, &balls, &Trial::default()).unwrap_err();
    assert!(caught.to_string().contains(message), "{caught}");
}

fn stiffened(c: &mut ContactPoint, factor: f64) {
    if let PointStiffness::OfPatch { stiffness, .. } = &mut c.stiffness {
        *stiffness *= factor;
    }
}

#[test]
fn mistakes_are_caught_and_named() {
    check_caught(|_, c| c.normal_W *= 1.01, "length one");
    check_caught(|_, c| c.p_WC.x = f64::NAN, "finite");
    check_caught(|_, c| stiffened(c, f64::INFINITY), "stiffness");
    check_caught(
        |_, c| c.stiffness = PointStiffness::Share(1.0),
        "finite positive stiffness",
    );
    check_caught(|_, c| c.p_WC.z += 0.01, "contact position");
    check_caught(|_, c| c.key = crate::ContactKey(7), "keys");
    check_caught(
        |n, c| c.signed_distance *= 1.0 + 1e-3 * f64::from(n),
        "same result",
    );
    // Stiffer when A and B are exchanged.
    check_caught(
        |_, c| stiffened(c, if c.normal_W.x > 0.0 { 1.1 } else { 1.0 }),
        "opposite wrench",
    );
    check_caught(|_, c| c.normal_W = -c.normal_W, "reduce that force");
    // A spring that becomes active at a depth.
    check_caught(
        |_, c| stiffened(c, if c.signed_distance < -2e-3 { 10.0 } else { 1.0 }),
        "jump",
    );
}
