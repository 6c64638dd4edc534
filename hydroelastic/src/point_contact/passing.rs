//! Parts that pass deep into each other along the solution of a step: what the contacts of the step did not hold.
//!
//! The signed separation σ of two convex pieces is the largest width of a slab between them, over all normals. Along the
//! normal found now, the width decreases no faster than the pieces approach; so conservative advancement finds the first
//! time at which σ falls to −d, for pieces in contact, too. d is a part of the smaller thickness, so that the normal
//! still points back to the side that the body came from; what is already deeper may become deeper by another d.
//!
//! The contact is linear in the velocity, and exact for the motion in which it was found: with n, the material points
//! and their arms at the time t,
//!
//! ```text
//! φ₀ = φ(t) − t v_n     v_n = n·(v_A + ω_A × r_A(t) − v_B − ω_B × r_B(t))
//! ```

use nalgebra::{Isometry3, Vector3};

use super::{Pair, Workspace};
use crate::Shape;
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness};
use crate::narrow_phase::{ConvexPiece, PairPoint, Separation, feature_id};
use crate::sweep::{self, Gap, SweptTriangles};

/// d as a part of the smaller thickness. At 1/2 to 1, normals of an overlap become ambiguous.
const DEEP: f64 = 0.4;
/// The same for a mesh, of its partner's thickness: a corner must not reach the other side of a thin wall.
const DEEP_IN_MESH: f64 = 0.1;
/// A path of a hundred thicknesses, all of it at the edge of the allowed depth.
const ROUNDS_MAX: usize = 1000;

/// d, m.
pub(crate) fn allowed_depth(a: &Shape, b: &Shape) -> f64 {
    let thickness = |shape: &Shape| match shape {
        Shape::HalfSpace | Shape::Custom(_) => f64::INFINITY,
        Shape::Mesh(mesh) => mesh.local_aabb().half_extents().min(),
        _ => ConvexPiece::of_shape(shape).map_or(f64::INFINITY, |piece| piece.thickness()),
    };
    match (a, b) {
        (Shape::Mesh(_), Shape::Mesh(_)) => DEEP_IN_MESH * thickness(a).min(thickness(b)),
        (Shape::Mesh(_), other) | (other, Shape::Mesh(_)) if !matches!(other, Shape::HalfSpace) => {
            DEEP_IN_MESH * thickness(other)
        }
        _ => DEEP * thickness(a).min(thickness(b)),
    }
}

/// The σ that a pair separated by `now` must not reach.
fn least_separation(now: f64, depth: f64) -> f64 {
    if now > -depth { -depth } else { now - depth }
}

impl Pair<'_> {
    /// Appends the contacts of the first parts that pass deep into each other.
    pub(super) fn find_passing(&self, w: &mut Workspace, out: &mut Vec<ContactPoint>) {
        let depth = allowed_depth(self.a.shape, self.b.shape);
        if self.reach - self.margin <= depth {
            return;
        }
        w.narrow.points.clear();
        let time = match (self.a.shape, self.b.shape) {
            (Shape::HalfSpace, _) | (_, Shape::HalfSpace) => self.deep_in_half_space(w, depth),
            _ => self.deep_in_piece(w, depth),
        };
        let Some(entry) = time else { return };
        let t = entry * self.time_step_s;
        let (X_WA, X_WB) = (self.a.pose_after(t), self.b.pose_after(t));
        for p in w.narrow.points.iter().filter(|p| p.phi <= self.margin) {
            out.push(self.linear_at(p, entry, &X_WA, &X_WB));
        }
    }

    /// The time at which a part is `depth` below a half space, as a fraction of the step, with its points in `w`.
    fn deep_in_half_space(&self, w: &mut Workspace, depth: f64) -> Option<f64> {
        let points = &mut w.narrow.points;
        let mut lowest = |X_BA: &Isometry3<f64>| -> Option<PairPoint> {
            points.clear();
            self.half_space_points(X_BA, points);
            points
                .iter()
                .copied()
                .min_by(|p, q| p.phi.total_cmp(&q.phi))
        };
        let least = least_separation(lowest(&self.X_BA)?.phi, depth);
        self.first_deep(least, depth, 1.0, |X| lowest(X).map(|p| (p.phi, p.normal)))
    }

    /// The time, at most `until`, at which the separation first falls to `least`, as a fraction of the step; within a
    /// quarter of `depth`.
    fn first_deep(
        &self,
        least: f64,
        depth: f64,
        until: f64,
        mut separation: impl FnMut(&Isometry3<f64>) -> Gap,
    ) -> Option<f64> {
        let (a, b, dt) = (&self.a, &self.b, self.time_step_s);
        let velocity = a.V_WG.linear - b.V_WG.linear;
        let turning = sweep::turning_speed(a, b);
        let mut s = 0.0;
        for _ in 0..ROUNDS_MAX {
            let (distance, normal_B) = separation(&sweep::relative_pose(a, b, s * dt))?;
            if distance <= least {
                return Some(s);
            }
            let normal_W = b.pose_after(s * dt).rotation * normal_B;
            let closing = turning - normal_W.dot(&velocity);
            if closing <= 0.0 {
                return None;
            }
            s += (distance - least).max(0.25 * depth) / (closing * dt);
            if s > until {
                return None;
            }
        }
        None
    }

    /// The same for the first pair of pieces.
    fn deep_in_piece(&self, w: &mut Workspace, depth: f64) -> Option<f64> {
        let (a, b, dt) = (&self.a, &self.b, self.time_step_s);
        w.swept.gather(a, b, dt, self.margin);
        let SweptTriangles { of_A, of_B, .. } = &w.swept;
        let mut first: Option<(f64, [u32; 2], Separation)> = None;
        for (i, piece_A) in sweep::pieces(a.shape, of_A) {
            for (j, piece_B) in sweep::pieces(b.shape, of_B) {
                let gap = |X_BA: &Isometry3<f64>| piece_A.separation(&piece_B, X_BA, self.reach);
                let Some(now) = gap(&self.X_BA) else { continue };
                let least = least_separation(now.distance, depth);
                let until = first.as_ref().map_or(1.0, |x| x.0);
                let time = self.first_deep(least, depth, until, |X| {
                    gap(X).map(|g| (g.distance, g.normal))
                });
                let Some(s) = time else { continue };
                let X_BA = sweep::relative_pose(a, b, s * dt);
                let Some(found) = gap(&X_BA) else { continue };
                let shapes = ((a.shape, i), (b.shape, j));
                if sweep::enters_outside(shapes.0, shapes.1, &X_BA, &found.normal) {
                    first = Some((s, [i, j], found));
                }
            }
        }
        let (s, [i, j], found) = first?;
        let (piece_A, piece_B) = (sweep::piece(a.shape, i)?, sweep::piece(b.shape, j)?);
        let X_BA = sweep::relative_pose(a, b, s * dt);
        let (points, manifold) = (&mut w.narrow.points, &mut w.narrow.manifold);
        piece_A.manifold(&piece_B, &X_BA, &found, manifold, points);
        for p in points.iter_mut() {
            if let Shape::Mesh(_) = a.shape {
                p.feature_A = feature_id::face(i);
            }
            if let Shape::Mesh(_) = b.shape {
                p.feature_B = feature_id::face(j);
            }
        }
        Some(s)
    }

    /// The contact of the point `p` (frame of B), found at these poses.
    fn linear_at(
        &self,
        p: &PairPoint,
        entry: f64,
        X_WA: &Isometry3<f64>,
        X_WB: &Isometry3<f64>,
    ) -> ContactPoint {
        let normal_W = X_WB.rotation * p.normal;
        let arm_A = X_WB * nalgebra::Point3::from(p.p_A) - X_WA.translation.vector;
        let arms: [Vector3<f64>; 2] = [arm_A.coords, X_WB.rotation * p.p_B];
        let approach = self.a.V_WG.at(&arms[0]) - self.b.V_WG.at(&arms[1]);
        let t = entry * self.time_step_s;
        ContactPoint {
            p_WC: (X_WB * nalgebra::Point3::from(0.5 * (p.p_A + p.p_B))),
            normal_W,
            signed_distance: p.phi - t * normal_W.dot(&approach),
            stiffness: PointStiffness::Share(p.share),
            a: MaterialPoint::on_frame(self.a.X_WG.rotation.inverse() * arms[0]),
            b: MaterialPoint::on_frame(self.b.X_WG.rotation.inverse() * arms[1]),
            key: ContactKey::new(p.feature_A, p.feature_B),
            // 0 would make it a contact of the present.
            entry: entry.max(f64::MIN_POSITIVE),
        }
    }
}
