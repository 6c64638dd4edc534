//! The two sides of a pair and the frame of its polygons.

use nalgebra::Isometry3;

use crate::patch_geometry::Side;
use crate::posed::Posed;

/// The patch geometry of a posed geometry and its pose; `None` for a side without patch geometry.
pub(super) fn side_of<'a>(posed: &Posed<'a>) -> Option<(Side<'a>, Isometry3<f64>)> {
    match posed {
        Posed::Rigid(r) => Some((r.patch?.side(), r.X_WG)),
        Posed::Deforming(s) => Some((Side::Field(s.field?), Isometry3::identity())),
        Posed::Filament(f) => Some((Side::Field(f.field()?), Isometry3::identity())),
    }
}

/// Which of the two given sides comes first in the internal order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    AsGiven,
    Swapped,
}

/// The polygons of a pair and their frame.
pub(super) struct PairFrame<'a> {
    pub(super) order: Order,
    pub(super) first: Side<'a>,
    pub(super) second: Side<'a>,
    /// Pose of the frame in which the polygons are.
    pub(super) X_WF: Isometry3<f64>,
}
