//! The polygons of one pair, as they are found and then in a fixed order.

use nalgebra::Vector3;

use super::balance::Balance;
use super::polygon::{Affine, Moments, Polygon};

/// Polygons of no more than this part of the square of the depth that a partner may sink in are dropped.
const AREA_MIN: f64 = 1e-12;

/// Whether a piece presses now or is only foreseen by the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    Pressing,
    Foreseen,
}

/// Pieces of one group lie in one plane under one linear pressure, or about one stretch of the axis of a round filament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) sign: Sign,
}

/// A polygon of the patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) group: Group,
    /// The elements that made it.
    pub(crate) elements: (u32, u32),
    pub(crate) balance: Balance,
    /// Pa, in the frame of the corners.
    pub(crate) pressure: Affine,
    pub(crate) moments: Moments,
    first_corner: u32,
    corner_count: u32,
}

/// All polygons of a pair.
#[derive(Default)]
pub(crate) struct Found {
    /// As they were found.
    pub(crate) pieces: Vec<Piece>,
    order: Vec<u32>,
    corners: Vec<Vector3<f64>>,
    /// Smaller ones are dropped, m².
    area_min: f64,
}

impl Found {
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.order.clear();
        self.corners.clear();
        self.area_min = 0.0;
    }

    /// Polygons below [`AREA_MIN`] of the square of this length (m) are dropped.
    pub(crate) fn set_scale(&mut self, length: f64) {
        self.area_min = AREA_MIN * length * length;
    }

    /// Polygons of no more than this area (m²) are dropped, too.
    pub(crate) fn drop_up_to(&mut self, area: f64) {
        self.area_min = self.area_min.max(area);
    }

    /// Whether a polygon of this area vector (m²) is too small to count.
    pub(crate) fn drops(&self, area: &Vector3<f64>) -> bool {
        let counts = area.norm_squared() > self.area_min * self.area_min;
        !counts
    }

    /// Polygons of no more than this area are dropped, m².
    pub(crate) fn area_min(&self) -> f64 {
        self.area_min
    }

    pub(crate) fn corners(&self, piece: &Piece) -> &[Vector3<f64>] {
        &self.corners[piece.first_corner as usize..][..piece.corner_count as usize]
    }

    /// Highest pressure at a corner of a piece, Pa; not below zero.
    pub(crate) fn pressure_max(&self, piece: &Piece) -> f64 {
        let corners = self.corners(piece).iter();
        corners.fold(0.0, |most, x| most.max(piece.pressure.at(x)))
    }

    /// Adds a polygon; what presses and what does not apart. `groups`: what its plane and its pressure are told by.
    pub(crate) fn push(
        &mut self,
        polygon: &mut Polygon,
        elements: (u32, u32),
        groups: (u32, u32),
        balance: &Balance,
        pressure: &Affine,
    ) {
        let area = polygon.area_vector();
        if self.drops(&area) {
            return;
        }
        if area.dot(&balance.normal) < 0.0 {
            polygon.reverse();
        }
        let mut add = |part: &Polygon, sign| {
            if part.corners().len() < 3 {
                return;
            }
            let moments = part.moments(&balance.normal);
            if moments.area.is_nan() || moments.area <= self.area_min {
                return;
            }
            let first_corner = self.corners.len() as u32;
            self.corners.extend_from_slice(part.corners());
            self.pieces.push(Piece {
                group: Group {
                    first: groups.0,
                    second: groups.1,
                    sign,
                },
                elements,
                balance: *balance,
                pressure: *pressure,
                moments,
                first_corner,
                corner_count: part.corners().len() as u32,
            });
        };
        // Most polygons press as a whole, or not at all.
        match polygon.one_sign(pressure) {
            Some(sign) => add(polygon, sign),
            None => {
                let [pressing, foreseen] = polygon.split(pressure);
                add(&pressing, Sign::Pressing);
                add(&foreseen, Sign::Foreseen);
            }
        }
    }

    /// The pieces, and where they are among all, in an order that does not depend on how they were found; [`Self::sort`] comes
    /// first.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (u32, &Piece)> {
        self.order.iter().map(|&i| (i, &self.pieces[i as usize]))
    }

    /// Settles the order of [`Self::sorted`]. A pair of elements has at most one piece of a group.
    pub(crate) fn sort(&mut self) {
        self.order.clear();
        self.order.extend(0..self.pieces.len() as u32);
        let pieces = &self.pieces;
        self.order.sort_unstable_by_key(|&i| {
            let piece = &pieces[i as usize];
            (piece.group, piece.elements)
        });
    }
}
