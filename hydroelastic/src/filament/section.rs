//! What a filament looks like across and at its ends.

use nalgebra::Vector3;

/// The cross-section of a segment that is not round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatSection {
    /// Unit vector across the segment, world frame.
    pub m_1: Vector3<f64>,
    /// Half of its extent along `m_1`, m.
    pub half_1: f64,
    /// Half of its extent along t × m_1, m.
    pub half_2: f64,
    /// Between those extents.
    pub outline: Outline,
}

impl FlatSection {
    /// How far its surface may be from the centreline, m.
    pub(super) fn reach(&self) -> f64 {
        match self.outline {
            Outline::Rectangle => self.half_1.hypot(self.half_2),
            Outline::Ellipse => self.half_1.max(self.half_2),
        }
    }
}

/// The outline of a section that is not round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// A rectangle: segments are boxes.
    Rectangle,
    /// An ellipse: segments are elliptic cylinders.
    Ellipse,
}

/// The ends of an open filament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tips {
    /// Rounded beyond the last vertex: half balls on round segments, and a cone on a pressure field, so that a touch end-on begins
    /// without a step.
    #[default]
    Round,
    /// Cut at the last vertex, across the last segment.
    Flat,
}
