use super::*;
use crate::{GeometryError, PointContact, Posed, Query};
use nalgebra::Vector3;

fn shapes() -> Vec<Shape> {
    let mut shapes = crate::narrow_phase::tests::convex_shapes();
    let (vertices, triangles) = crate::test_support::l_shape();
    shapes.push(Shape::mesh(&vertices, &triangles).unwrap());
    shapes
}

#[test]
fn point_contact_keeps_every_promise_for_every_pair() {
    let mut pairs = Vec::new();
    for a in shapes() {
        pairs.push((a.clone(), Shape::half_space()));
        for b in shapes() {
            pairs.push((a.clone(), b));
        }
    }
    let examined = check_rigid_pairs(&PointContact, &pairs, &Trial::default()).unwrap();
    assert!(examined > 1000, "{examined}");
}

/// Ours, but with a mistake.
struct Broken(fn(&mut ContactPoint));

impl ContactGeometry for Broken {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let answer = PointContact.collide(a, b, q, out);
        out.iter_mut().for_each(self.0);
        answer
    }
}

#[track_caller]
fn check_caught(mistake: fn(&mut ContactPoint), says: &str) {
    let boxes = [(
        Shape::cuboid(Vector3::new(0.2, 0.3, 0.4)).unwrap(),
        Shape::half_space(),
    )];
    let caught = check_rigid_pairs(&Broken(mistake), &boxes, &Trial::default()).unwrap_err();
    assert!(caught.to_string().contains(says), "{caught}");
}

#[test]
fn mistakes_are_caught_and_named() {
    check_caught(|c| c.normal_W *= 1.01, "length one");
    check_caught(
        |c| c.signed_distance *= 1.1,
        "signed distance must be that of the material points",
    );
    check_caught(|c| c.key = crate::ContactKey(7), "keys");
    check_caught(
        |c| c.stiffness = crate::PointStiffness::Share(0.0),
        "shares",
    );
    check_caught(
        |c| {
            c.normal_W = -c.normal_W;
            std::mem::swap(&mut c.a.offset, &mut c.b.offset);
        },
        "material points",
    );
    check_caught(|c| c.p_WC.x += 0.1, "place");
}
