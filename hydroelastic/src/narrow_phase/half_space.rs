//! Any shape against a half space: every corner, rim point or support point has its own distance to the plane.

use nalgebra::{Isometry3, Vector2, Vector3};

use super::convex::{Convex, Core, radial};
use super::feature::{CAP_CORNERS, cap_corners, feature_id};
use super::manifold::PairPoint;
use crate::Shape;

/// Appends the points of `a` within `reach` of the half space B; `X_BA`: pose of A in the frame of B.
pub(crate) fn collide(a: &Shape, X_BA: &Isometry3<f64>, reach: f64, out: &mut Vec<PairPoint>) {
    if let Shape::Mesh(mesh) = a {
        let mut add = adder(X_BA, 0.0, reach, out);
        let region = mesh.local_aabb().transformed(X_BA);
        if region.min.z <= reach {
            for (i, p) in mesh.vertices().iter().enumerate() {
                add(&p.coords, i as u32, 1.0);
            }
        }
        return;
    }
    let Some(convex) = Convex::of(a) else { return };
    let rotation = X_BA.rotation.to_rotation_matrix();
    // The downward direction in the frame of A.
    let down = -Vector3::from(rotation.matrix().row(2).transpose());
    let mut add = adder(X_BA, convex.rounding, reach, out);
    match &convex.core {
        Core::Point | Core::Ellipsoid(_) | Core::Triangle(_) | Core::Edge(_) => {
            add(&convex.core.support(&down), 0, 1.0)
        }
        Core::Segment(half) => {
            add(&Vector3::new(0.0, 0.0, -half), 0, 1.0);
            add(&Vector3::new(0.0, 0.0, *half), 1, 1.0);
        }
        Core::Box(half) => {
            for i in 0..8_u32 {
                let corner =
                    Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
                add(&corner, i, 1.0);
            }
        }
        Core::Cylinder { radius, half } => {
            for (z, first) in [(*half, 0), (-half, CAP_CORNERS as u32)] {
                rim(&Vector2::repeat(*radius), z, &down, first, &mut add);
            }
        }
        Core::EllipticCylinder { semi_axes, half } => {
            for (z, first) in [(*half, 0), (-half, CAP_CORNERS as u32)] {
                rim(semi_axes, z, &down, first, &mut add);
            }
        }
        Core::Cone { radius, half } => {
            rim(&Vector2::repeat(*radius), -half, &down, 0, &mut add);
            add(&Vector3::new(0.0, 0.0, *half), 30, 1.0);
        }
        Core::Hull(h) => {
            for (i, p) in h.vertices().iter().enumerate() {
                add(&p.coords, i as u32, 1.0);
            }
        }
    }
}

/// The points of one rim. If it lies flat they share the stiffness of four corners; the lowest point of a tilted rim is
/// the end of a line, or a point of its own.
fn rim(
    semi_axes: &Vector2<f64>,
    z: f64,
    down: &Vector3<f64>,
    first: u32,
    add: &mut impl FnMut(&Vector3<f64>, u32, f64),
) {
    let flat_share = 4.0 / CAP_CORNERS as f64;
    let tilt = radial(down).dot(down).abs().min(1.0);
    for (i, p) in cap_corners(semi_axes, z, down).iter().enumerate() {
        let share = if i == 0 {
            flat_share + (1.0 - flat_share) * tilt
        } else {
            flat_share
        };
        add(p, first + i as u32, share);
    }
}

fn adder<'a>(
    X_BA: &'a Isometry3<f64>,
    rounding: f64,
    reach: f64,
    out: &'a mut Vec<PairPoint>,
) -> impl FnMut(&Vector3<f64>, u32, f64) + 'a {
    move |p_A, vertex, share| {
        let p = X_BA.rotation * p_A + X_BA.translation.vector;
        let phi = p.z - rounding;
        if phi <= reach {
            out.push(PairPoint {
                p_A: Vector3::new(p.x, p.y, phi),
                p_B: Vector3::new(p.x, p.y, 0.0),
                normal: Vector3::z(),
                phi,
                share,
                feature_A: feature_id::vertex(vertex),
                feature_B: feature_id::face(0),
            });
        }
    }
}
