//! One side of a patch, and which sides form one.

use super::rigid_surface::RigidSurface;
use super::slab::Slab;
use crate::field::PressureField;

/// One side of a pair: its patch geometry.
#[derive(Clone, Copy)]
pub(crate) enum Side<'a> {
    Field(&'a PressureField),
    Slab(&'a Slab),
    Surface(&'a RigidSurface),
    Plane,
}

impl Side<'_> {
    /// Whether the two sides form a patch.
    pub(crate) fn has_patch_with(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Field(_), _)
                | (_, Self::Field(_))
                | (Self::Slab(_), Self::Surface(_))
                | (Self::Surface(_), Self::Slab(_))
        )
    }

    /// Depth of the field, m; none for a rigid side.
    pub(crate) fn depth(&self) -> Option<f64> {
        match self {
            Self::Field(field) => Some(field.depth()),
            Self::Slab(slab) => Some(slab.thickness()),
            Self::Surface(_) | Self::Plane => None,
        }
    }
}
