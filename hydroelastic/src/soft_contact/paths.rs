//! Speculative contacts of a soft body with a rigid shape: its vertices and the centres of its triangles on their
//! predicted paths.

use nalgebra::{Point3, Vector3};

use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness, Primitive};
use crate::particle_contact::path_into_shape;
use crate::posed::RigidShape;
use crate::pressure_bvh::PressureBox;
use crate::soft_mesh::SoftMesh;
use crate::{Aabb, Shape};

use super::vertex_distances::VertexDistances;

/// Appends the points, with the soft body as A. Centres of triangles that are already in contact (`in_contact`) are left
/// out.
pub(super) fn speculative_points(
    mesh: &SoftMesh,
    r: &RigidShape<'_>,
    q: &Query,
    margin: f64,
    (stack, in_contact, distances): (&mut Vec<(u32, u32)>, &[bool], &mut VertexDistances),
    out: &mut Vec<ContactPoint>,
) {
    let dt = q.time_step_s;
    if dt <= 0.0 {
        return;
    }
    let bounds = r.swept_aabb(dt, margin);
    let meets_bounds = |p: &Vector3<f64>, path: &Vector3<f64>| {
        let swept = Aabb::from_half_extents((*p).into(), Vector3::zeros()).swept(path);
        swept.intersects(&bounds)
    };
    // Upper bound of the approach of a point and the shape within the step, m.
    let reach = |p: &Vector3<f64>, path: &Vector3<f64>| {
        let arm = (p - r.X_WG.translation.vector).norm() + path.norm();
        let rotation_speed = r.V_WG.angular.norm() * arm;
        (path - r.V_WG.linear * dt).norm() + rotation_speed * dt + margin
    };
    let mut follow = |p: Vector3<f64>, path: Vector3<f64>, point: MaterialPoint, feature: u32| {
        let p_W = Point3::from(p);
        let found = path_into_shape(&p_W, &(path / dt), 0.0, margin, r, dt);
        let Some((entry, normal_B, p_B)) = found else {
            return;
        };
        // The shape may rotate meanwhile: the normal at the time of impact, at the current position of that surface
        // point.
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
        let (p, path) = (mesh.point(v), mesh.path(v));
        if meets_bounds(&p, &path) {
            let now = distances.of(mesh, r, v).value;
            if margin < now && now <= reach(&p, &path) {
                follow(p, path, point, v.wrapping_mul(2));
            }
        }
    }
    // A plane is always reached by a vertex first.
    if matches!(r.shape, Shape::HalfSpace) {
        return;
    }
    let drift = mesh.drift();
    let near = |item: &PressureBox| {
        let swept = Aabb {
            min: item.min.into(),
            max: item.max.into(),
        };
        swept.swept(drift).intersects(&bounds)
    };
    mesh.triangle_tree().visit(stack, near, |t| {
        if in_contact[t as usize] || *mesh.normal(t) == Vector3::zeros() {
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
        if !meets_bounds(&p, &path) {
            return;
        }
        // Test with the distance at a corner first: most triangles are far away.
        let [corner, ..] = *mesh.triangle(t);
        let reach = reach(&p, &path);
        let apart = (p - mesh.point(corner)).norm();
        if distances.of(mesh, r, corner).value > reach + apart {
            return;
        }
        let now = r.shape.signed_distance_in_world(&r.X_WG, &p.into()).value;
        if margin < now && now <= reach {
            follow(p, path, point, t.wrapping_mul(2).wrapping_add(1));
        }
    });
}
