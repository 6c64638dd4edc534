//! Point contact of two rigid shapes: nearest points within the margin, speculative contacts on the predicted paths
//! beyond it.

use nalgebra::{Isometry3, Point3, Vector3};

use crate::contact_geometry::{ContactGeometry, Query};
use crate::contact_point::{ContactKey, ContactPoint, MaterialPoint, PointStiffness};
use crate::contact_workspace::ContactWorkspace;
use crate::narrow_phase::{self, PairPoint, Separation};
use crate::posed::{Posed, RigidShape};
use crate::sweep::{self, SweptTriangles};
use crate::{GeometryError, Shape};

pub(crate) mod passing;

/// Point contact of every pair of rigid [`Shape`]s.
///
/// - Within the margin δ₀ of the [`Query`], and when overlapping, a pair is in contact along the normal of its nearest
///   points, with the whole manifold of its facing features. Of that manifold, those points are reported that lie
///   within δ₀ themselves or would close within the step.
/// - Beyond the margin a pair is in contact only if the paths predicted by the twists intersect within the step. The
///   contact then has the normal and manifold at the time of impact, and the remaining gap of the material points along
///   that normal. So no shape flies through a thin wall, and no shape collides with the plane of a wall that it passes
///   beside. While a part of a mesh is in contact, further parts are found in the same way.
/// - [`find_passing`](ContactGeometry::find_passing) finds what the contacts did not hold: shapes that turn about a
///   contact so fast that another feature passes, or that the solution moves elsewhere than predicted.
///
/// Pairs with a [`CustomShape`](crate::CustomShape) need an implementation of their own.
///
/// A pure function of its arguments; does not allocate once the buffers of the workspace have grown.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, PointContact, PointStiffness, Posed, Query, RigidShape, Shape};
///
/// // A cube on the floor touches it at its four lower corners, each with a share of one.
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let a = Posed::Rigid(RigidShape::at_rest(&cube, Isometry3::translation(0.0, 0.0, 0.05)));
/// let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
/// let (mut points, mut workspace) = (Vec::new(), ContactWorkspace::default());
/// PointContact.collide(a, b, &Query::new(1e-3, 9.81)?, &mut workspace, &mut points).expect("a known pair")?;
/// assert_eq!(points.len(), 4);
/// assert!(points.iter().all(|p| p.stiffness == PointStiffness::Share(1.0)));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PointContact;

/// Buffers of point contact.
#[derive(Default)]
pub(crate) struct Workspace {
    narrow: narrow_phase::Workspace,
    swept: SweptTriangles,
}

impl ContactGeometry for PointContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let (Posed::Rigid(a), Posed::Rigid(b)) = (a, b) else {
            return None;
        };
        if let (Shape::Custom(_), _) | (_, Shape::Custom(_)) = (a.shape, b.shape) {
            return None;
        }
        let checked = a.check('a').and_then(|()| b.check('b'));
        Some(checked.map(|()| touch(a, b, q, workspace.get(), out)))
    }

    fn find_passing(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let (Posed::Rigid(a), Posed::Rigid(b)) = (a, b) else {
            return None;
        };
        if let (Shape::Custom(_), _) | (_, Shape::Custom(_)) = (a.shape, b.shape) {
            return None;
        }
        let checked = a.check('a').and_then(|()| b.check('b'));
        Some(checked.map(|()| Pair::new(a, b, q).find_passing(workspace.get(), out)))
    }
}

/// Appends the contact of two shapes whose poses are finite.
pub(crate) fn touch(
    a: RigidShape<'_>,
    b: RigidShape<'_>,
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) {
    Pair::new(a, b, q).collide(w, out);
}

struct Pair<'a> {
    a: RigidShape<'a>,
    b: RigidShape<'a>,
    X_BA: Isometry3<f64>,
    time_step_s: f64,
    margin: f64,
    /// Margin plus the largest approach of the surfaces within the step, m.
    reach: f64,
}

impl<'a> Pair<'a> {
    fn new(a: RigidShape<'a>, b: RigidShape<'a>, q: &Query) -> Self {
        let margin = q.margin_for(a.shape, b.shape);
        let speed = sweep::approach_speed(&a, &b);
        Self {
            X_BA: b.X_WG.inv_mul(&a.X_WG),
            a,
            b,
            time_step_s: q.time_step_s,
            margin,
            reach: margin + speed * q.time_step_s,
        }
    }

    fn collide(&self, w: &mut Workspace, out: &mut Vec<ContactPoint>) {
        w.narrow.points.clear();
        match (self.a.shape, self.b.shape) {
            (Shape::HalfSpace, Shape::HalfSpace) => {}
            (_, Shape::HalfSpace) | (Shape::HalfSpace, _) => {
                self.half_space_points(&self.X_BA, &mut w.narrow.points);
                self.present(&w.narrow.points, out);
            }
            (a, b) => {
                narrow_phase::pair_points(a, b, &self.X_BA, self.margin, &mut w.narrow);
                let lowest = w
                    .narrow
                    .points
                    .iter()
                    .map(|p| p.phi)
                    .fold(f64::INFINITY, f64::min);
                let start = out.len();
                if lowest <= self.margin {
                    self.present(&w.narrow.points, out);
                }
                if lowest > self.margin {
                    self.speculative(w, start, out);
                } else if !(a.is_convex() && b.is_convex()) && self.reach > 2.0 * self.margin {
                    self.further_parts(w, start, out);
                }
            }
        }
    }

    /// Appends the points of a shape at `X_BA` on a half space, in either order.
    fn half_space_points(&self, X_BA: &Isometry3<f64>, points: &mut Vec<PairPoint>) {
        if let Shape::HalfSpace = self.b.shape {
            narrow_phase::half_space_points(self.a.shape, X_BA, self.reach, points);
            return;
        }
        let start = points.len();
        narrow_phase::half_space_points(self.b.shape, &X_BA.inverse(), self.reach, points);
        for p in &mut points[start..] {
            *p = p.swapped().moved(X_BA);
        }
    }

    /// Points of a pair within the margin.
    fn present(&self, points: &[PairPoint], out: &mut Vec<ContactPoint>) {
        // Velocity of A relative to B at p, in the frame of B: v + ω × p.
        let R_BW = self.b.X_WG.rotation.inverse();
        let angular = R_BW * (self.a.V_WG.angular - self.b.V_WG.angular);
        let origin_A = self.X_BA.translation.vector;
        let linear = R_BW * (self.a.V_WG.linear - self.b.V_WG.linear)
            - (R_BW * self.a.V_WG.angular).cross(&origin_A);
        for p in points {
            let approach = p.normal.dot(&(linear + angular.cross(&p.p_A)));
            if p.phi <= self.margin || p.phi + self.time_step_s * approach <= 0.0 {
                out.push(self.contact(p, &self.X_BA, p.phi, p.normal, 0.0));
            }
        }
    }

    /// Speculative points of a pair whose paths intersect within the step; only those with a normal different from the
    /// pair's contacts from `start` on.
    fn speculative(&self, w: &mut Workspace, start: usize, out: &mut Vec<ContactPoint>) {
        if self.reach <= self.margin {
            return;
        }
        let Some((entry, nearest)) = sweep::entry(
            &self.a,
            &self.b,
            self.time_step_s,
            self.margin,
            self.reach,
            &mut w.swept,
        ) else {
            return;
        };
        self.at_impact(w, start, (entry, &nearest), out);
    }

    /// One part of a mesh may be in contact while others approach: the first of them whose normal differs from those of
    /// the pair's contacts from `start` on.
    fn further_parts(&self, w: &mut Workspace, start: usize, out: &mut Vec<ContactPoint>) {
        let mut swept = std::mem::take(&mut w.swept);
        let impacts = sweep::impacts(
            &self.a,
            &self.b,
            self.time_step_s,
            self.margin,
            self.reach,
            &mut swept,
        );
        let present = out.len();
        for (entry, nearest) in impacts {
            let X_WB = self.b.pose_after(entry * self.time_step_s);
            if !has_normal(&out[start..], &(X_WB.rotation * nearest.normal)) {
                self.at_impact(w, start, (*entry, nearest), out);
            }
            if out.len() > present {
                break;
            }
        }
        w.swept = swept;
    }

    /// Points at the time of impact `entry`, as a fraction of the step.
    fn at_impact(
        &self,
        w: &mut Workspace,
        start: usize,
        (entry, nearest): (f64, &Separation),
        out: &mut Vec<ContactPoint>,
    ) {
        let t = entry * self.time_step_s;
        let X_WB = self.b.pose_after(t);
        let X_BA = X_WB.inv_mul(&self.a.pose_after(t));
        w.narrow.points.clear();
        narrow_phase::pair_points(
            self.a.shape,
            self.b.shape,
            &X_BA,
            self.margin,
            &mut w.narrow,
        );
        if w.narrow.points.iter().all(|p| p.phi > self.margin) {
            w.narrow.points.push(PairPoint::nearest(nearest));
        }
        let end = out.len();
        for p in w.narrow.points.iter().filter(|p| p.phi <= self.margin) {
            let normal_W = X_WB.rotation * p.normal;
            if has_normal(&out[start..end], &normal_W) {
                continue;
            }
            let normal_B = self.b.X_WG.inverse_transform_vector(&normal_W);
            let contact = self.contact(p, &X_BA, 0.0, normal_B, entry);
            let p_WA = self.a.X_WG * Point3::from(contact.a.offset);
            let p_WB = self.b.X_WG * Point3::from(contact.b.offset);
            out.push(ContactPoint {
                // The remaining gap along the normal of impact, not the distance of the nearest points.
                signed_distance: normal_W.dot(&(p_WA - p_WB)).max(0.0),
                ..contact
            });
        }
    }

    /// `X_BA`: the relative pose at which `p` was found; `normal_B`: its normal in B's current frame.
    fn contact(
        &self,
        p: &PairPoint,
        X_BA: &Isometry3<f64>,
        phi: f64,
        normal_B: Vector3<f64>,
        entry: f64,
    ) -> ContactPoint {
        let a = X_BA.inverse_transform_point(&p.p_A.into());
        let (p_WA, p_WB) = (self.a.X_WG * a, self.b.X_WG * Point3::from(p.p_B));
        ContactPoint {
            p_WC: nalgebra::center(&p_WA, &p_WB),
            normal_W: self.b.X_WG.rotation * normal_B,
            signed_distance: phi,
            stiffness: PointStiffness::Share(p.share),
            a: MaterialPoint::on_frame(a.coords),
            b: MaterialPoint::on_frame(p.p_B),
            key: ContactKey::new(p.feature_A, p.feature_B),
            entry,
        }
    }
}

fn has_normal(contacts: &[ContactPoint], normal_W: &Vector3<f64>) -> bool {
    contacts.iter().any(|c| c.normal_W.dot(normal_W) > 0.99)
}

#[cfg(test)]
mod tests;
