//! A downstream crate adds a wavy terrain and a contact implementation for balls on it; all other pairs are handled by
//! pliant.
#![allow(non_snake_case, reason = "monogram frame names")]

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::{
    Aabb, ContactGeometry, ContactKey, ContactPoint, ContactWorkspace, CustomShape,
    GeometryDispatcher, GeometryError, MaterialPoint, PointStiffness, Posed, Query, RigidShape,
    Shape, SignedDistance,
};

/// The terrain z ≤ 0.1 sin x. Its slope is at most 0.1, so the height above it divided by √1.01 never exceeds the
/// distance.
#[derive(Debug)]
struct Waves;

impl CustomShape for Waves {
    fn name(&self) -> &'static str {
        "waves"
    }
    fn local_aabb(&self) -> Aabb {
        Aabb::ALL
    }
    fn signed_distance(&self, p: &Point3<f64>) -> SignedDistance<f64> {
        SignedDistance {
            value: (p.z - 0.1 * p.x.sin()) / 1.01_f64.sqrt(),
            gradient: Vector3::new(-0.1 * p.x.cos(), 0.0, 1.0).normalize(),
            hessian: nalgebra::Matrix3::zeros(),
        }
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

struct BallsOnWaves;

impl ContactGeometry for BallsOnWaves {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        _: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let (Posed::Rigid(a), Posed::Rigid(b)) = (a, b) else {
            return None;
        };
        let (Shape::Sphere(ball), Shape::Custom(other)) = (a.shape, b.shape) else {
            return None;
        };
        other.as_any().downcast_ref::<Waves>()?;
        let center = Point3::from(a.X_WG.translation.vector);
        let phi = b.shape.signed_distance_in_world(&b.X_WG, &center);
        let gap = phi.value - ball.radius();
        if gap <= q.margin {
            let (p_WA, p_WB) = (
                center - phi.gradient * ball.radius(),
                center - phi.gradient * phi.value,
            );
            out.push(ContactPoint {
                p_WC: nalgebra::center(&p_WA, &p_WB),
                normal_W: phi.gradient,
                signed_distance: gap,
                stiffness: PointStiffness::Share(1.0),
                a: MaterialPoint::on_frame(a.X_WG.inverse_transform_point(&p_WA).coords),
                b: MaterialPoint::on_frame(b.X_WG.inverse_transform_point(&p_WB).coords),
                key: ContactKey::new(0, 0),
                entry: 0.0,
            });
        }
        Some(Ok(()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut geometry = GeometryDispatcher::default();
    geometry.push_front(Box::new(BallsOnWaves));
    let (ball, waves) = (Shape::sphere(0.5)?, Shape::custom(Waves));
    let still = |shape, z| {
        Posed::Rigid(RigidShape::at_rest(
            shape,
            Isometry3::translation(1.5, 0.0, z),
        ))
    };
    let mut contacts = Vec::new();
    geometry
        .collide(
            still(&ball, 0.49),
            still(&waves, 0.0),
            &Query::new(0.01, 9.81)?,
            &mut ContactWorkspace::default(),
            &mut contacts,
        )
        .ok_or("no implementation handles this pair")??;
    assert_eq!(contacts.len(), 1);
    assert!(contacts[0].signed_distance < 0.0 && contacts[0].normal_W.z > 0.99);
    Ok(())
}
