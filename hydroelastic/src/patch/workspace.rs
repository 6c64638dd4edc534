//! Reused storage of patch contact.

use super::flood::Flood;
use super::pieces::Pieces;
use super::points::PointBuffers;
use crate::contact_point::ContactPoint;
use crate::filament_contact;
use crate::pressure_bvh::PressureBox;

/// Buffers of all kinds of pairs; keeps no results.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) flood: Flood,
    pub(super) found: Pieces,
    pub(super) points: PointBuffers,
    pub(super) filaments: FilamentBuffers,
}

/// Buffers of patches between filaments.
#[derive(Default)]
pub(super) struct FilamentBuffers {
    pub(super) bounds: Vec<(u32, PressureBox)>,
    pub(super) by_points: filament_contact::Workspace,
    pub(super) points: Vec<ContactPoint>,
    pub(super) with_patch: Vec<(u32, u32)>,
}
