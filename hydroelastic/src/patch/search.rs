//! The polygons of a pair of patch geometries.

use nalgebra::Isometry3;

use super::pair::{Order, PairFrame};
use super::workspace::Workspace;
use super::{field_on_field, field_on_plane, field_on_surface, slab_on_surface};
use crate::patch_geometry::Side;
use crate::pressure_bvh::Relative;

/// Finds the polygons of a pair, sorted, in a frame of the pair; `None` if the pair has no patch.
pub(super) fn find<'a>(
    (a, X_WA): (Side<'a>, Isometry3<f64>),
    (b, X_WB): (Side<'a>, Isometry3<f64>),
    w: &mut Workspace,
) -> Option<PairFrame<'a>> {
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
    Some(PairFrame {
        order,
        first,
        second,
        X_WF,
    })
}
