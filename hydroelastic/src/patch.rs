//! Contact patches: the surface on which two pressure fields balance, or the part of a rigid surface inside of a field.

mod balance;
mod carried;
mod contact_patch;
mod field_on_field;
mod field_on_plane;
mod field_on_surface;
mod filaments;
mod flood;
mod found;
mod geometry;
mod points;
mod polygon;
mod rimless;
mod slab_on_surface;
mod small_fields;
mod surface;

use std::cell::RefCell;

pub(crate) use balance::Balance;
pub(crate) use carried::CarriedOverlap;
pub(crate) use contact_patch::PatchSums;
pub use contact_patch::{ContactPatch, PatchPolygon, PatchSummary};
pub(crate) use found::Sign;
pub use geometry::{PatchGeometry, Slab};
pub(crate) use points::{Load, Spread};
pub(crate) use polygon::{Affine, Moments, Polygon};
pub use surface::RigidSurface;

use nalgebra::{Isometry3, Point3, Vector3};

use crate::contact_geometry::{ContactChoice, ContactGeometry, Query};
use crate::contact_point::ContactPoint;
use crate::field::PressureField;
use crate::point_contact::PointContact;
use crate::posed::{Posed, RigidShape};
use crate::range_tree::Relative;
use crate::{GeometryError, sweep};
use contact_patch::PairStrength;
use flood::Flood;
use found::Found;
use points::{PointBuffers, Strength};

/// Patch contact of pairs of which at least one side is compliant; [`PatchGeometry::meets`] says which.
///
/// **Which polygons count.** A polygon belongs to the patch as far as both fields rise across it: in full while n̂ makes an angle
/// of less than 5π/8 with ∇p_A and −n̂ with ∇p_B, less and less up to 3π/4, not at all beyond. (A sharp limit would let the force
/// jump when a polygon turns past it.) In the same way equal-pressure polygons fade where ‖∇p_A − ∇p_B‖ falls from 0.3 to 0.1 of
/// ‖∇p_A‖ + ‖∇p_B‖: fields that rise in the same direction do not press on each other. A polygon inside of a face that two
/// tetrahedra share is found from either side and counts half each time.
///
/// **Thresholds.** Polygons of no more than 1e-12 d² are dropped, d the depth of the shallower field, or half of the longest side of a
/// rigid surface where that is less. Corners within 1e-10 of the height of a tetrahedron lie on its face, those where pressures
/// differ by no more than 1e-12 of the most at its corners are zeros of the difference; a tetrahedron with less volume than 1e-14 of
/// its longest edge's cube is none.
///
/// **What it gives to a solver.** Polygons that lie in one plane under one linear pressure are taken together (the whole underside of a
/// box, however its mesh is cut), the part that presses apart from the part that is only foreseen. Each such group is
/// three points that have its area, its centre and its second moments, or a single one at its centre where it is small
/// against the patch. With A_e the area of a point, p₀ the pressure there, and g_A, g_B the pressure gradients along the normal:
///
/// ```text
/// g = g_A g_B/(g_A + g_B)  (rigid B: g_A)     k = A_e g     φ₀ = −p₀/g     elastic force at the start of the step: −k φ₀ = A_e p₀
/// ```
///
/// So force and moment at the start of the step are those of the pressure on the polygons, without an error of
/// discretisation; so is their change with the pose, but for small groups. A gradient counts along the normal with at least half of its length: where it is
/// tangential (the rim of a flat face) the force is right and the stiffness too large, never ill-conditioned.
///
/// Of the points that do not press yet, those count that lie within the margin of the [`Query`] or would press within the step, by the
/// predicted motion; both only as far as the margin of the fields reaches. Where a pair presses already, only those count that
/// twice the predicted motion would bring to press: it is not lost, and the rest of its rim has no say.
///
/// Where one body lies so deep inside of the other that no pressure of the one balances any of the other's (a soft ball under a rigid
/// floor), there is no patch: then the pair touches in the points of [`PointContact`], which push it out.
///
/// Pairs are looked at where they are now; a body that travels within one step further than its partner's field is deep is
/// found by [`PointContact`]'s swept paths.
///
/// A pure function of its arguments; no allocation once the thread's buffers have grown.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchContact;

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

#[derive(Default)]
pub(crate) struct Workspace {
    flood: Flood,
    found: Found,
    points: PointBuffers,
    filaments: filaments::Memory,
}

/// One side of a pair: what it brings to patch contact, and where it is.
#[derive(Clone, Copy)]
enum Side<'a> {
    Field(&'a PressureField),
    Slab(&'a Slab),
    Surface(&'a RigidSurface),
    Plane,
}

impl<'a> Side<'a> {
    /// `None` for a side without patch geometry.
    fn of(posed: &Posed<'a>) -> Option<(Self, Isometry3<f64>)> {
        match posed {
            Posed::Rigid(r) => Some((Self::of_geometry(r.patch?), r.X_WG)),
            Posed::Deforming(s) => Some((Self::Field(s.field?), Isometry3::identity())),
            Posed::Filament(f) => Some((Self::Field(f.field()?), Isometry3::identity())),
        }
    }

    fn of_geometry(geometry: &'a PatchGeometry) -> Self {
        match geometry {
            PatchGeometry::Compliant(field) => Self::Field(field),
            PatchGeometry::CompliantHalfSpace(slab) => Self::Slab(slab),
            PatchGeometry::Rigid(surface) => Self::Surface(surface),
            PatchGeometry::RigidHalfSpace => Self::Plane,
        }
    }

    /// Whether the two have a patch.
    fn meets(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Field(_), _)
                | (_, Self::Field(_))
                | (Self::Slab(_), Self::Surface(_))
                | (Self::Surface(_), Self::Slab(_))
        )
    }

    /// How deep a partner may sink in, m; none for a rigid side.
    fn depth(&self) -> Option<f64> {
        match self {
            Self::Field(field) => Some(field.depth()),
            Self::Slab(slab) => Some(slab.thickness()),
            Self::Surface(_) | Self::Plane => None,
        }
    }
}

/// Which of the two given sides comes first in the working order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    AsGiven,
    Swapped,
}

/// The polygons of a pair and how to read them.
struct Placed<'a> {
    order: Order,
    first: Side<'a>,
    second: Side<'a>,
    /// Pose of the frame in which the polygons are.
    X_WF: Isometry3<f64>,
}

/// Finds the polygons of a pair, sorted, in a frame of its own; `None` if the pair has no patch.
fn find<'a>(
    (a, X_WA): (Side<'a>, Isometry3<f64>),
    (b, X_WB): (Side<'a>, Isometry3<f64>),
    w: &mut Workspace,
) -> Option<Placed<'a>> {
    let rank = |s: &Side<'_>| match s {
        Side::Field(_) => 0,
        Side::Slab(_) => 1,
        Side::Surface(_) => 2,
        Side::Plane => 3,
    };
    let order = if rank(&a) <= rank(&b) {
        Order::AsGiven
    } else {
        Order::Swapped
    };
    let ((first, X_W1), (second, X_W2)) = match order {
        Order::AsGiven => ((a, X_WA), (b, X_WB)),
        Order::Swapped => ((b, X_WB), (a, X_WA)),
    };
    let X_12 = X_W1.inv_mul(&X_W2);
    let Workspace { flood, found, .. } = w;
    found.clear();
    let X_WF = match (first, second) {
        (Side::Field(f), Side::Field(g)) => {
            let X_21 = Relative::new(&X_12.inverse());
            field_on_field::find(f, g, &X_21, flood, found);
            X_W2
        }
        (Side::Field(f), Side::Slab(s)) => {
            field_on_plane::find_on_slab(f, s, &X_12, flood, found);
            X_W1
        }
        (Side::Field(f), Side::Surface(s)) => {
            field_on_surface::find(f, s, &Relative::new(&X_12), flood, found);
            X_W1
        }
        (Side::Field(f), Side::Plane) => {
            field_on_plane::find_on_plane(f, &X_12, flood, found);
            X_W1
        }
        (Side::Slab(s), Side::Surface(t)) => {
            slab_on_surface::find(s, t, &X_12.inverse(), flood, found);
            X_W2
        }
        _ => return None,
    };
    found.sort();
    Some(Placed {
        order,
        first,
        second,
        X_WF,
    })
}

impl PatchContact {
    /// The patch itself, for pictures and observables: polygons with their pressures, and their sum. `None`: no patch exists for
    /// this pair.
    ///
    /// Holds what presses now; what the margin foresees is left out.
    ///
    /// # Errors
    /// [`GeometryError::NotFinite`] for a pose that is not finite.
    pub fn patch(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        out: &mut ContactPatch,
    ) -> Option<Result<(), GeometryError>> {
        out.clear();
        let (side_A, side_B) = (Side::of(&a)?, Side::of(&b)?);
        if !side_A.0.meets(&side_B.0) {
            return None;
        }
        Some(a.check('a').and_then(|()| b.check('b')).map(|()| {
            WORKSPACE.with_borrow_mut(|w| {
                let placed = match (&a, &b) {
                    (Posed::Filament(f), Posed::Filament(g)) => filaments::find_between(f, g, w),
                    _ => find(side_A, side_B, w),
                };
                if let Some(placed) = placed {
                    out.fill(&w.found, &placed, &PairStrength::OfSlope);
                }
            });
        }))
    }
}

impl ContactGeometry for PatchContact {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        if q.choice == ContactChoice::Point || is_deforming_self(&a, &b) {
            return None;
        }
        let sides = Side::of(&a)
            .zip(Side::of(&b))
            .filter(|(a, b)| a.0.meets(&b.0));
        let Some((side_A, side_B)) = sides else {
            return match q.choice {
                ContactChoice::Patch => Some(Err(GeometryError::NoPatch {
                    a: name(&a).into(),
                    b: name(&b).into(),
                    why: "there is no pressure between the two",
                })),
                _ => None,
            };
        };
        if let Err(e) = a.check('a').and_then(|()| b.check('b')) {
            return Some(Err(e));
        }
        if let (Posed::Filament(_), _) | (_, Posed::Filament(_)) = (&a, &b) {
            return Some(
                WORKSPACE
                    .with_borrow_mut(|w| filaments::collide(side_A, side_B, (&a, &b), q, w, out)),
            );
        }
        let start = out.len();
        let balance = WORKSPACE.with_borrow_mut(|w| {
            if let Some(placed) = find(side_A, side_B, w) {
                let Workspace { found, points, .. } = w;
                points.emit(found, &placed, (&a, &b), q, Strength::OfSlope, out);
            }
            match w.found.pieces.is_empty() {
                true => Balanced::Nowhere,
                false => Balanced::Somewhere,
            }
        });
        if balance == Balanced::Nowhere && is_swallowed(&a, &b) {
            return Some(PointContact.collide(a, b, q, out).unwrap_or(Ok(())));
        }
        if out.len() == start && travels_through(&a, &b, q, &[side_A.0, side_B.0]) {
            let answer = PointContact.collide(a, b, q, out);
            // A pair that is near, but has no patch, is not in contact yet.
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
}

/// Whether there are polygons of a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Balanced {
    Somewhere,
    Nowhere,
}

/// Whether the deepest point of a field lies inside of the other shape.
fn is_swallowed(a: &Posed<'_>, b: &Posed<'_>) -> bool {
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

fn is_self(a: &Posed<'_>, b: &Posed<'_>) -> bool {
    match (a, b) {
        (Posed::Deforming(s), Posed::Deforming(t)) => s.id == t.id,
        (Posed::Filament(f), Posed::Filament(g)) => f.id() == g.id(),
        _ => false,
    }
}

/// Self contact of anything but a filament.
fn is_deforming_self(a: &Posed<'_>, b: &Posed<'_>) -> bool {
    matches!(a, Posed::Deforming(_)) && is_self(a, b)
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
    let speed = (a.V_WG.linear - b.V_WG.linear).norm() + sweep::turning_speed(a, b);
    let depth = sides
        .iter()
        .filter_map(Side::depth)
        .fold(f64::INFINITY, f64::min);
    speed * q.time_step_s > depth
}

/// The direction of a vector and its length; `None` for none.
fn unit(v: &Vector3<f64>) -> Option<(Vector3<f64>, f64)> {
    let length = v.norm();
    (length > 0.0).then(|| (v / length, length))
}

#[cfg(test)]
mod tests;
