//! Patches of filaments with shapes, with each other and with themselves.
//!
//! A filament on a shape is a field like any other. For two filaments, or self-contact of one, pairs of nearby segments
//! are tested directly: no rim is needed to find a patch, and neighbours along a chain are excluded.
//!
//! [`FilamentContact`](crate::FilamentContact) provides points where no patch can: for segments that travel further in a step than their field
//! is deep, and for segments so deep inside that the pressures are nowhere equal.

use nalgebra::Isometry3;

use super::field_on_field;
use super::pair::{Order, PairFrame};
use super::search::find;
use super::slice::Scale;
use super::workspace::{FilamentBuffers, Workspace};
use crate::GeometryError;
use crate::contact_geometry::Query;
use crate::contact_point::{ContactKey, ContactPoint, Primitive};
use crate::filament::Filament;
use crate::filament::segments::{Segment, nearest};
use crate::filament_contact;
use crate::patch_geometry::Side;
use crate::posed::Posed;
use crate::pressure_bvh::Relative;

/// Marks keys of points that replace a patch.
const REPLACES_PATCH: u64 = 1 << 63 | 1 << 31;

/// Appends the points of a pair with a filament; both sides have a patch geometry.
pub(super) fn collide<'a>(
    side_A: (Side<'a>, Isometry3<f64>),
    side_B: (Side<'a>, Isometry3<f64>),
    posed: (&Posed<'a>, &Posed<'a>),
    q: &Query,
    w: &mut Workspace,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let from = out.len();
    let frame = match posed {
        (Posed::Filament(f), Posed::Filament(g)) => find_between(f, g, w),
        _ => find(side_A, side_B, w),
    };
    let Workspace {
        found,
        points,
        filaments,
        ..
    } = w;
    if let Some(frame) = frame {
        points.emit(found, &frame, posed, q, out);
    }
    replacements(posed, q, filaments, from, out)
}

/// The polygons of two filaments, or of one with itself; the first is A.
pub(super) fn find_between<'a>(
    f: &'a Filament,
    g: &'a Filament,
    w: &mut Workspace,
) -> Option<PairFrame<'a>> {
    let (first, second) = (f.field()?, g.field()?);
    let Workspace {
        found, filaments, ..
    } = w;
    found.clear();
    found.set_scale(Scale::of_fields(first, second));
    let bounds = &mut filaments.bounds;
    let identity = Relative::new(&Isometry3::identity());
    let mut segments = |i: usize, j: usize| {
        let (a, b) = (field_segment(f, i), field_segment(g, j));
        let (s, t) = nearest(&a, &b);
        if (a.at(s) - b.at(t)).norm() > a.radius + b.radius {
            return;
        }
        bounds.clear();
        bounds.extend(g.tets_of(j));
        for (t, box_t) in f.tets_of(i) {
            for (u, other) in &*bounds {
                if box_t.overlaps(other) {
                    field_on_field::pair(first, second, &identity, t, *u, found);
                }
            }
        }
    };
    if f.id() == g.id() {
        f.boxes().visit_own_pairs(0.0, |i, j| {
            if !f.excludes(i, j) {
                segments(i.max(j), i.min(j));
            }
        });
    } else {
        f.boxes().visit_pairs(g.boxes(), 0.0, segments);
    }
    found.sort();
    Some(PairFrame {
        order: Order::AsGiven,
        first: Side::Field(first),
        second: Side::Field(second),
        X_WF: Isometry3::identity(),
    })
}

/// A segment with a radius that contains its field.
fn field_segment(f: &Filament, i: usize) -> Segment {
    Segment {
        ends: f.ends(i),
        velocities: [nalgebra::Vector3::zeros(); 2],
        radius: f.field_reach(),
    }
}

/// Adds the points of [`FilamentContact`](crate::FilamentContact) on segments without a patch: those that would pass through within the step,
/// and those whose centreline is inside the partner.
fn replacements(
    posed: (&Posed<'_>, &Posed<'_>),
    q: &Query,
    memory: &mut FilamentBuffers,
    from: usize,
    out: &mut Vec<ContactPoint>,
) -> Result<(), GeometryError> {
    let FilamentBuffers {
        by_points,
        points,
        with_patch,
        ..
    } = memory;
    points.clear();
    filament_contact::collide(*posed.0, *posed.1, q, by_points, points)?;
    let radius = [posed.0, posed.1]
        .into_iter()
        .filter_map(|side| match side {
            Posed::Filament(f) => f.field(),
            _ => None,
        })
        .fold(f64::INFINITY, |least: f64, field| least.min(field.depth()));
    points.retain(|c| c.entry > 0.0 || c.signed_distance < -radius);
    if points.is_empty() {
        return Ok(());
    }
    with_patch.clear();
    with_patch.extend(
        out[from..]
            .iter()
            .filter(|c| c.signed_distance < 0.0)
            .map(segments_of),
    );
    with_patch.sort_unstable();
    let beside = |c: &ContactPoint| {
        let (a, b) = segments_of(c);
        let near = |x: u32, y: u32| x == y || x.abs_diff(y) == 1;
        with_patch.iter().any(|t| near(t.0, a) && near(t.1, b))
    };
    out.extend(points.iter().filter(|c| !beside(c)).map(|c| ContactPoint {
        key: ContactKey(c.key.0 | REPLACES_PATCH),
        ..*c
    }));
    Ok(())
}

/// The segment on either side, 0 for none.
fn segments_of(c: &ContactPoint) -> (u32, u32) {
    let position = |primitive: Primitive| match primitive {
        Primitive::Edge(i) => i,
        _ => 0,
    };
    (position(c.a.primitive), position(c.b.primitive))
}
