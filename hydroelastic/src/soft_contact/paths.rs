//! What of a soft body will only meet a rigid shape within the step: its vertices and the middles of its triangles, on their
//! predicted paths.

use nalgebra::{Point3, Vector3};

use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::particle_contact::path_into_shape;
use crate::posed::RigidShape;
use crate::range_tree::Range;
use crate::soft_mesh::SoftMesh;
use crate::{Aabb, Shape};

/// Appends the points, the soft body being A. Of triangles `touched` already the middles are left out.
pub(super) fn foresee(
    mesh: &SoftMesh,
    r: &RigidShape<'_>,
    q: &Query,
    margin: f64,
    (stack, touched): (&mut Vec<(u32, u32)>, &[bool]),
    out: &mut Vec<ContactPoint>,
) {
    let dt = q.time_step_s;
    if dt <= 0.0 {
        return;
    }
    let bounds = r.swept_aabb(dt, margin);
    let mut follow = |p: Vector3<f64>, path: Vector3<f64>, point: MaterialPoint, feature: u32| {
        let swept = Aabb::from_half_extents(p.into(), Vector3::zeros()).swept(&path);
        if !swept.intersects(&bounds) {
            return;
        }
        let p_W = Point3::from(p);
        let now = r.shape.signed_distance_in_world(&r.X_WG, &p_W);
        if now.value <= margin {
            return;
        }
        let found = path_into_shape(&p_W, &(path / dt), 0.0, margin, r, dt);
        let Some((entry, normal_B, p_B)) = found else {
            return;
        };
        // The shape may turn meanwhile: the normal of entry, at the place where that surface point is now.
        let normal_W = r.pose_after(entry * dt).rotation * normal_B;
        let p_WB = r.X_WG * p_B;
        out.push(ContactPoint {
            p_WC: nalgebra::center(&p_W, &p_WB),
            normal_W,
            signed_distance: normal_W.dot(&(p_W - p_WB)).max(0.0),
            stiffness: PointStiffness::Share(1.0),
            a: point,
            b: MaterialPoint::on_frame(p_B.coords),
            key: ContactKey::new(feature, u32::MAX),
            entry,
        });
    };
    for &v in mesh.vertices() {
        let point = MaterialPoint::on_vertex(v, Vector3::zeros());
        follow(mesh.point(v), mesh.path(v), point, v.wrapping_mul(2));
    }
    // A plane is always met by a vertex first.
    if matches!(r.shape, Shape::HalfSpace) {
        return;
    }
    let drift = mesh.drift();
    let near = |range: &Range| {
        let swept = Aabb {
            min: range.min.into(),
            max: range.max.into(),
        };
        swept.swept(drift).intersects(&bounds)
    };
    mesh.triangle_tree().visit(stack, near, |t| {
        if touched[t as usize] || *mesh.normal(t) == Vector3::zeros() {
            return;
        }
        let third = 1.0 / 3.0;
        let point = MaterialPoint {
            primitive: Primitive::Triangle(t),
            weights: [third, third, third, 0.0],
            offset: Vector3::zeros(),
        };
        let mean = |of: &dyn Fn(u32) -> Vector3<f64>| {
            mesh.triangle(t)
                .iter()
                .map(|v| of(*v))
                .sum::<Vector3<f64>>()
                / 3.0
        };
        let (p, path) = (mean(&|v| mesh.point(v)), mean(&|v| mesh.path(v)));
        follow(p, path, point, t.wrapping_mul(2).wrapping_add(1));
    });
}
