//! Narrow phase: contact points of two shapes at given poses. A pure function of the poses, without memory between
//! steps.
//!
//! | pair | normal and depth | points |
//! |---|---|---|
//! | anything, half space | the plane's | corners, rims, support points |
//! | sphere, anything | signed distance of the centre | one (several in concave parts of a mesh) |
//! | box, box | fifteen axes | overlap of the facing faces |
//! | convex, convex | GJK on the separated pair | overlap of the facing features |
//! | mesh, anything | nearest features within their normal cones | corners and edges of either side |

mod box_box;
pub(crate) mod convex;
mod feature;
mod gjk;
mod half_space;
mod line;
mod manifold;
mod mesh;
mod refine;
mod separation;
mod shares;

use nalgebra::{Isometry3, Vector3};

use crate::Shape;
use convex::{Convex, PosedCore};
pub(crate) use feature::{CAP_CORNERS, feature_id};
use manifold::ManifoldBuffers;
pub(crate) use manifold::PairPoint;
pub(crate) use separation::Separation;

/// Reused storage; keeps no results.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) manifold: ManifoldBuffers,
    pub(crate) mesh: mesh::MeshBuffers,
    pub(crate) points: Vec<PairPoint>,
}

/// Appends to `out` the contact of A and B (A at `X_BA` in the frame of B) if they are within `reach`; further points
/// of the same contact manifold are included. Neither shape may be a half space.
pub(crate) fn pair_points(
    a: &Shape,
    b: &Shape,
    X_BA: &Isometry3<f64>,
    reach: f64,
    w: &mut Workspace,
) {
    let Workspace {
        manifold,
        mesh,
        points,
    } = w;
    match (a, b) {
        (Shape::Mesh(mesh_A), Shape::Mesh(mesh_B)) => {
            mesh::mesh_on_mesh(mesh_A, mesh_B, X_BA, reach, mesh, points)
        }
        (_, Shape::Mesh(mesh_B)) => {
            mesh::convex_on_mesh(a, mesh_B, X_BA, reach, manifold, mesh, points)
        }
        (Shape::Mesh(mesh_A), _) => {
            let start = points.len();
            mesh::convex_on_mesh(b, mesh_A, &X_BA.inverse(), reach, manifold, mesh, points);
            for p in &mut points[start..] {
                *p = p.swapped().moved(X_BA);
            }
        }
        _ => convex_points(a, b, X_BA, reach, manifold, points),
    }
}

/// [`pair_points`] of two convex shapes.
fn convex_points(
    a: &Shape,
    b: &Shape,
    X_BA: &Isometry3<f64>,
    reach: f64,
    buffers: &mut ManifoldBuffers,
    out: &mut Vec<PairPoint>,
) {
    let (Some(convex_A), Some(convex_B)) = (Convex::of(a), Convex::of(b)) else {
        return;
    };
    let placed = PosedCore::new(convex_A.core, X_BA);
    if let (Shape::Box(box_A), Shape::Box(box_B)) = (a, b) {
        let (half_A, half_B) = (box_A.half_extents(), box_B.half_extents());
        let Some(best) = box_box::best_axis(
            &half_A,
            &half_B,
            &placed.rotation,
            &placed.translation,
            reach,
        ) else {
            return;
        };
        let start = out.len();
        let lowest = manifold::patch(&placed, 0.0, &convex_B, &best.normal, buffers, out);
        // The separation along any axis is a lower bound, the distance of any two points an upper bound: where they
        // agree both are exact.
        if lowest <= best.separation + 1e-9 * (half_A.norm() + half_B.norm()) {
            return;
        }
        out.truncate(start);
    }
    if let Some(s) = convex_separation(a, b, X_BA, reach) {
        manifold::manifold(&placed, convex_A.rounding, &convex_B, &s, buffers, out);
    }
}

/// The separation of two convex shapes (no half spaces) if it is at most `reach`.
pub(crate) fn convex_separation(
    a: &Shape,
    b: &Shape,
    X_BA: &Isometry3<f64>,
    reach: f64,
) -> Option<Separation> {
    let s = match (a, b) {
        (Shape::Sphere(s), _) => ball_separation(s.radius(), &X_BA.translation.vector, b),
        (_, Shape::Sphere(s)) => {
            let X_AB = X_BA.inverse();
            let found = ball_separation(s.radius(), &X_AB.translation.vector, a);
            Separation {
                normal: X_BA * -found.normal,
                distance: found.distance,
                p_A: X_BA.rotation * found.p_B + X_BA.translation.vector,
                p_B: X_BA.rotation * found.p_A + X_BA.translation.vector,
            }
        }
        _ => {
            let (convex_A, convex_B) = (Convex::of(a)?, Convex::of(b)?);
            let placed = PosedCore::new(convex_A.core, X_BA);
            return separation::separation(&placed, convex_A.rounding, &convex_B, reach);
        }
    };
    (s.distance <= reach).then_some(s)
}

/// A ball at `center` (frame of B) against B: the distance of its centre minus the radius.
fn ball_separation(radius: f64, center: &Vector3<f64>, b: &Shape) -> Separation {
    let phi = b.signed_distance(&(*center).into());
    Separation {
        normal: phi.gradient,
        distance: phi.value - radius,
        p_A: center - phi.gradient * radius,
        p_B: center - phi.gradient * phi.value,
    }
}

/// Appends the points of `a` within `reach` of the half space B.
pub(crate) fn half_space_points(
    a: &Shape,
    X_BA: &Isometry3<f64>,
    reach: f64,
    out: &mut Vec<PairPoint>,
) {
    let start = out.len();
    half_space::collide(a, X_BA, reach, out);
    if let Shape::Mesh(_) = a {
        shares::share_out(&mut out[start..], a.size());
    }
}

/// A convex piece of a shape that can be swept along its path: the shape itself, or a triangle of a mesh.
#[derive(Clone, Copy)]
pub(crate) struct ConvexPiece<'a>(Convex<'a>);

impl<'a> ConvexPiece<'a> {
    pub(crate) fn of_shape(shape: &'a Shape) -> Option<Self> {
        Convex::of(shape).map(Self)
    }

    pub(crate) fn of_triangle(mesh: &crate::MeshShape, triangle: u32) -> Self {
        Self(Convex {
            core: convex::Core::Triangle(mesh.corners(triangle).map(|p| p.coords)),
            rounding: 0.0,
        })
    }

    /// Thickness, m; infinite for a triangle.
    pub(crate) fn thickness(&self) -> f64 {
        self.0.core.thickness() + self.0.rounding
    }

    /// Appends the manifold of two pieces with the normal and depth of `s`.
    pub(crate) fn manifold(
        &self,
        other: &ConvexPiece<'_>,
        X_BA: &Isometry3<f64>,
        s: &Separation,
        buffers: &mut ManifoldBuffers,
        out: &mut Vec<PairPoint>,
    ) {
        let placed = PosedCore::new(self.0.core, X_BA);
        manifold::manifold(&placed, self.0.rounding, &other.0, s, buffers, out);
    }

    /// The separation of two pieces if it is at most `reach`.
    pub(crate) fn separation(
        &self,
        other: &ConvexPiece<'_>,
        X_BA: &Isometry3<f64>,
        reach: f64,
    ) -> Option<Separation> {
        let placed = PosedCore::new(self.0.core, X_BA);
        separation::separation(&placed, self.0.rounding, &other.0, reach)
    }
}

#[cfg(test)]
pub(crate) mod tests;
