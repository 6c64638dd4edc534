//! Any shape against a half space: every corner, rim point or support point has its own distance to the plane.

use nalgebra::{Isometry3, Vector2, Vector3};

use super::convex::{Convex, Core, radial};
use super::feature::{CAP_CORNERS, cap_corners, feature_id};
use super::line;
use super::manifold::PairPoint;
use crate::Shape;

/// Appends the points of `a` within `reach` of the half space B; `X_BA`: pose of A in the frame of B.
pub(crate) fn collide(a: &Shape, X_BA: &Isometry3<f64>, reach: f64, out: &mut Vec<PairPoint>) {
    if let Shape::Mesh(mesh) = a {
        let mut add = adder(X_BA, 0.0, reach, out);
        let region = mesh.local_aabb().transformed(X_BA);
        if region.min.z <= reach {
            for (i, p) in mesh.vertices().iter().enumerate() {
                add(&p.coords, feature_id::vertex(i as u32), 1.0);
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
            add(&convex.core.support(&down), feature_id::vertex(0), 1.0)
        }
        Core::Segment(half) => {
            let [bottom, middle, top] = line::shares(line::flatness(down.z));
            add(
                &Vector3::new(0.0, 0.0, -half),
                feature_id::vertex(0),
                bottom,
            );
            add(&Vector3::new(0.0, 0.0, *half), feature_id::vertex(1), top);
            add_middle(&mut add, &Vector3::zeros(), 0, middle);
        }
        Core::Box(half) => corners_and_edges(half, &down, &mut add),
        Core::Cylinder { radius, half } => {
            rims_and_side(&Vector2::repeat(*radius), *half, &down, &mut add);
        }
        Core::EllipticCylinder { semi_axes, half } => {
            rims_and_side(semi_axes, *half, &down, &mut add);
        }
        Core::Cone { radius, half } => {
            let base = Vector2::repeat(*radius);
            let apex = Vector3::new(0.0, 0.0, *half);
            let lowest = cap_corners(&base, -half, &down)[0];
            let sine = (apex - lowest).normalize().dot(&down);
            let [bottom, middle, top] = line::shares(line::flatness(sine));
            rim(&base, -half, &down, 0, bottom, &mut add);
            add(&apex, feature_id::vertex(30), top);
            add_middle(&mut add, &(0.5 * (apex + lowest)), 0, middle);
        }
        Core::Hull(h) => {
            for (i, p) in h.vertices().iter().enumerate() {
                add(&p.coords, feature_id::vertex(i as u32), 1.0);
            }
        }
    }
}

/// Adds the middle of a line of contact along an edge or side, if it has a share.
fn add_middle(
    add: &mut impl FnMut(&Vector3<f64>, u32, f64),
    p: &Vector3<f64>,
    edge: u32,
    share: f64,
) {
    if share > 0.0 {
        add(p, feature_id::middle(feature_id::edge(edge)), share);
    }
}

/// The corners of a box, and the middle of its lowest edge if the box stands on that edge.
fn corners_and_edges(
    half: &Vector3<f64>,
    down: &Vector3<f64>,
    add: &mut impl FnMut(&Vector3<f64>, u32, f64),
) {
    let lowest = |k: usize| half[k].copysign(down[k]);
    // For the edge along each axis, how much it carries.
    let along = Vector3::from_fn(|k, _| {
        line::flatness(down[k]) * line::edge_between_faces([down[(k + 1) % 3], down[(k + 2) % 3]])
    });
    for i in 0..8_u32 {
        let corner = Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
        let is_lowest = |k: usize| corner[k] == lowest(k);
        let share = (0..3)
            .filter(|k| is_lowest((k + 1) % 3) && is_lowest((k + 2) % 3))
            .map(|k| line::shares(along[k])[0])
            .product();
        add(&corner, feature_id::vertex(i), share);
    }
    for k in 0..3 {
        let mut middle = Vector3::from_fn(|l, _| lowest(l));
        middle[k] = 0.0;
        add_middle(add, &middle, k as u32, along[k]);
    }
}

/// The points of both rims of a cylinder, and the middle of its side if it lies.
fn rims_and_side(
    semi_axes: &Vector2<f64>,
    half: f64,
    down: &Vector3<f64>,
    add: &mut impl FnMut(&Vector3<f64>, u32, f64),
) {
    let [end, middle, _] = line::shares(line::flatness(down.z));
    for (z, first) in [(half, 0), (-half, CAP_CORNERS as u32)] {
        rim(semi_axes, z, down, first, end, add);
    }
    add_middle(add, &cap_corners(semi_axes, 0.0, down)[0], 0, middle);
}

/// The points of one rim, the lowest of which keeps the part `end` of its share. If it lies flat they share the stiffness of four corners; the lowest point of a tilted rim is
/// the end of a line, or a point of its own.
fn rim(
    semi_axes: &Vector2<f64>,
    z: f64,
    down: &Vector3<f64>,
    first: u32,
    end: f64,
    add: &mut impl FnMut(&Vector3<f64>, u32, f64),
) {
    let flat_share = 4.0 / CAP_CORNERS as f64;
    let tilt = radial(down).dot(down).abs().min(1.0);
    for (i, p) in cap_corners(semi_axes, z, down).iter().enumerate() {
        let share = if i == 0 {
            (flat_share + (1.0 - flat_share) * tilt) * end
        } else {
            flat_share
        };
        add(p, feature_id::vertex(first + i as u32), share);
    }
}

fn adder<'a>(
    X_BA: &'a Isometry3<f64>,
    rounding: f64,
    reach: f64,
    out: &'a mut Vec<PairPoint>,
) -> impl FnMut(&Vector3<f64>, u32, f64) + 'a {
    move |p_A, feature_A, share| {
        let p = X_BA.rotation * p_A + X_BA.translation.vector;
        let phi = p.z - rounding;
        if phi <= reach {
            out.push(PairPoint {
                p_A: Vector3::new(p.x, p.y, phi),
                p_B: Vector3::new(p.x, p.y, 0.0),
                normal: Vector3::z(),
                phi,
                share,
                feature_A,
                feature_B: feature_id::face(0),
            });
        }
    }
}
