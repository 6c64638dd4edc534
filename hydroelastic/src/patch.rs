//! Patch contact: the surface on which two pressure fields are equal, or the part of a rigid surface inside a field.

mod balance;
mod bitset_culling;
mod closed_patches;
mod contact_patch;
mod field_on_field;
mod field_on_plane;
mod field_on_surface;
mod filaments;
mod flood;
mod pair;
mod pieces;
mod points;
mod polygon;
mod search;
mod slab_on_surface;
mod slice;
mod soft_overlap;
mod workspace;

pub(crate) use balance::Balance;
pub(crate) use contact_patch::PatchSums;
pub use contact_patch::{ContactPatch, PatchPolygon, PatchSummary};
pub(crate) use pair::Order;
pub(crate) use points::{Load, PieceLoad, PiecePoints};
pub(crate) use polygon::{Moments, Polygon, Sign};
pub(crate) use slice::{Scale, in_tetrahedron};
pub(crate) use soft_overlap::SoftOverlap;

use nalgebra::Point3;

use crate::contact_geometry::{ContactChoice, ContactGeometry, Query};
use crate::contact_point::ContactPoint;
use crate::contact_workspace::ContactWorkspace;
use crate::patch_geometry::{PatchGeometry, Side};
use crate::point_contact::PointContact;
use crate::posed::{Posed, RigidShape};
use crate::{GeometryError, sweep};
use contact_patch::PressureSource;
use pair::side_of;
use search::find;
use workspace::Workspace;

/// Patch contact of pairs with at least one compliant side; see [`PatchGeometry::has_patch_with`].
///
/// **Weights of polygons.** A polygon counts as far as both fields increase across it: fully while n̂ makes an angle of
/// less than 5π/8 with ∇p_A and −n̂ with ∇p_B, fading to zero at 3π/4. (A sharp limit would make the force
/// discontinuous when a polygon rotates past it.) Likewise, equal-pressure polygons fade as ‖∇p_A − ∇p_B‖ falls from
/// 0.3 to 0.1 of ‖∇p_A‖ + ‖∇p_B‖: fields that increase in the same direction exert no force on each other. A polygon in
/// a face shared by two tetrahedra counts in the one on the side where p_A > p_B (or outside the rigid surface), and in no
/// other.
///
/// **Thresholds.** Polygons of area up to 1e-12 d² are dropped, where d is the depth of the shallower field, or half of
/// the longest side of a rigid surface if that is smaller. Corners within 1e-10 d of an edge lie on it. Vertices
/// where the pressures differ by at most 1e-13 of the largest terms of their linear functions are zeros of the
/// difference. Tetrahedra with less volume than 1e-14 of the cube of the longest edge are ignored.
///
/// **Contact points.** Polygons that lie in one plane under one linear pressure function are merged (the whole
/// underside of a box, independent of its mesh); the part with positive pressure and the speculative part separately.
/// Each such group becomes a few points with its area, centroid and second moments: six with the mean distance of its
/// area from the centroid too, on which the friction torque depends (between rigid bodies); three off the centre of the
/// patch, where the torque hardly depends on it; one at its centre if it is small compared with the patch. With A_e the area of a point, p₀ the pressure there, and g_A, g_B the pressure
/// gradients along the normal:
///
/// ```text
/// g = g_A g_B/(g_A + g_B)  (rigid B: g_A)     k = A_e g     φ₀ = −p₀/g     elastic force at the start of the step: −k φ₀ = A_e p₀
/// ```
///
/// Force and moment at the start of the step are therefore those of the pressure on the polygons, without
/// discretisation error; so are their derivatives with respect to the pose, except for small groups. A gradient counts
/// along the normal with at least half of its magnitude: where it is tangential (the rim of a flat face) the force is
/// correct and the stiffness too large, but never ill-conditioned.
///
/// Speculative points (with non-positive pressure) are included if they lie within the margin of the [`Query`], or if
/// the predicted motion gives them positive pressure within the step; in both cases only within the margin of the
/// fields. Where a pair is already in contact, only those points are included that twice the predicted motion would
/// bring into contact: the pair is not missed, and the rest of its rim has no influence.
///
/// Where one body is so deep inside the other that their pressures are nowhere equal (a soft ball below a rigid floor),
/// no patch exists: the pair then makes the contact points of [`PointContact`], which separate it.
///
/// Patches are computed at the current poses. A body that travels further within one step than its partner's field is
/// deep is found by the swept paths of [`PointContact`].
///
/// A pure function of its arguments; does not allocate once the buffers of the workspace have grown.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{
///     Compliance, ContactGeometry, ContactWorkspace, PatchContact, PatchGeometry, Posed, Query, RigidShape, Shape,
/// };
///
/// // A cube of 10 cm and E = 10 MPa, 5 cm deep, presses 1 mm into a rigid floor.
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let soft = PatchGeometry::compliant(&cube, &Compliance { hydroelastic_modulus: 1e7, ..Compliance::default() })?;
/// let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// let X_WA = Isometry3::translation(0.0, 0.0, 0.049);
/// let a = Posed::Rigid(RigidShape { patch: Some(&soft), ..RigidShape::at_rest(&cube, X_WA) });
/// let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// let (mut points, mut workspace) = (Vec::new(), ContactWorkspace::default());
/// PatchContact.collide(a, b, &Query::new(1e-3, 9.81)?, &mut workspace, &mut points).expect("a compliant pair")?;
/// // p = E/5 cm · min(1 mm, distance from the sides): the force is E/5 cm times the volume of a frustum of a pyramid.
/// let force: f64 = points.iter().map(|c| -c.stiffness.of_pair(0.0) * c.signed_distance).filter(|f| *f > 0.0).sum();
/// let volume = 1e-3 / 3.0 * (0.1 * 0.1 + 0.1 * 0.098 + 0.098 * 0.098);
/// assert!((force - 1e7 / 0.05 * volume).abs() < 1e-6); // 1960 N, independent of the mesh
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchContact;

impl PatchContact {
    /// The patch itself, for visualisation and observables: polygons with their pressures, and their sums. `None` if no
    /// patch exists for this pair.
    ///
    /// It contains the polygons of positive pressure only, not the speculative ones.
    ///
    /// # Errors
    /// [`GeometryError::NotFinite`] for a pose that is not finite.
    pub fn patch(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        workspace: &mut ContactWorkspace,
        out: &mut ContactPatch,
    ) -> Option<Result<(), GeometryError>> {
        out.clear();
        let (side_A, side_B) = (side_of(&a)?, side_of(&b)?);
        if !side_A.0.has_patch_with(&side_B.0) {
            return None;
        }
        Some(a.check('a').and_then(|()| b.check('b')).map(|()| {
            let w: &mut Workspace = workspace.get();
            let frame = match (&a, &b) {
                (Posed::Filament(f), Posed::Filament(g)) => filaments::find_between(f, g, w),
                _ => find(side_A, side_B, w),
            };
            if let Some(frame) = frame {
                out.fill(&w.found, &frame, &PressureSource::Field);
            }
        }))
    }
}

impl ContactGeometry for PatchContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        // Self-contact of a filament can have patches.
        let is_deforming_self = matches!(a, Posed::Deforming(_)) && a.is_same_as(&b);
        if q.choice == ContactChoice::Point || is_deforming_self {
            return None;
        }
        let sides = side_of(&a)
            .zip(side_of(&b))
            .filter(|(a, b)| a.0.has_patch_with(&b.0));
        let Some((side_A, side_B)) = sides else {
            return match q.choice {
                ContactChoice::Patch => Some(Err(GeometryError::NoPatch {
                    a: name(&a).into(),
                    b: name(&b).into(),
                    why: "no pressure is defined between the two geometries",
                })),
                _ => None,
            };
        };
        if let Err(e) = a.check('a').and_then(|()| b.check('b')) {
            return Some(Err(e));
        }
        if let (Posed::Filament(_), _) | (_, Posed::Filament(_)) = (&a, &b) {
            let w = workspace.get();
            return Some(filaments::collide(side_A, side_B, (&a, &b), q, w, out));
        }
        let start = out.len();
        let w: &mut Workspace = workspace.get();
        if let Some(frame) = find(side_A, side_B, w) {
            let Workspace { found, points, .. } = w;
            points.emit(found, &frame, (&a, &b), q, out);
        }
        if w.found.pieces.is_empty() && is_enclosed(&a, &b) {
            let answer = PointContact.collide(a, b, q, workspace, out);
            return Some(answer.unwrap_or(Ok(())));
        }
        if out.len() == start && travels_through(&a, &b, q, &[side_A.0, side_B.0]) {
            let answer = PointContact.collide(a, b, q, workspace, out);
            // A pair without a patch is not in contact yet.
            let mut kept = start;
            for i in start..out.len() {
                if out[i].entry > 0.0 {
                    out[kept] = out[i];
                    kept += 1;
                }
            }
            out.truncate(kept);
            return Some(answer.unwrap_or(Ok(())));
        }
        Some(Ok(()))
    }

    /// None in pairs with a patch, whose fields may be compressed to any depth.
    fn find_passing(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        _: &mut ContactWorkspace,
        _: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        if q.choice == ContactChoice::Point {
            return None;
        }
        let (side_A, side_B) = side_of(&a).zip(side_of(&b))?;
        side_A.0.has_patch_with(&side_B.0).then_some(Ok(()))
    }
}

/// Whether the deepest point of a field lies inside the other shape.
fn is_enclosed(a: &Posed<'_>, b: &Posed<'_>) -> bool {
    let (Posed::Rigid(a), Posed::Rigid(b)) = (a, b) else {
        return false;
    };
    let lies_in = |one: &RigidShape<'_>, other: &RigidShape<'_>| {
        let Some(PatchGeometry::Compliant(field)) = one.patch else {
            return false;
        };
        let (Some(deepest), Some(patch)) = (field.deepest_point(), other.patch) else {
            return false;
        };
        let p_WQ = one.X_WG * Point3::from(deepest);
        let p_OQ = other.X_WG.inverse_transform_point(&p_WQ);
        patch.local_aabb().contains(&p_OQ) && other.shape.signed_distance(&p_OQ).value < 0.0
    };
    lies_in(a, b) || lies_in(b, a)
}

fn name(posed: &Posed<'_>) -> &'static str {
    match posed {
        Posed::Rigid(r) => r.shape.name(),
        Posed::Deforming(_) => "deforming surface",
        Posed::Filament(_) => "filament",
    }
}

/// Whether the sides may pass through each other's fields within the step.
fn travels_through(a: &Posed<'_>, b: &Posed<'_>, q: &Query, sides: &[Side<'_>; 2]) -> bool {
    let (Posed::Rigid(a), Posed::Rigid(b)) = (a, b) else {
        return false;
    };
    let speed = sweep::approach_speed(a, b);
    let depth = sides
        .iter()
        .filter_map(Side::depth)
        .fold(f64::INFINITY, f64::min);
    speed * q.time_step_s > depth
}

#[cfg(test)]
mod tests;
