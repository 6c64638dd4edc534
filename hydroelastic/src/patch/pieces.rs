//! The polygons found for one pair, and their deterministic order.

use nalgebra::Vector3;

use super::balance::Balance;
use super::polygon::{Moments, Polygon, Sign};
use super::slice::Scale;
use crate::field::Affine;

/// Polygons of area up to this fraction of the square of the field depth are dropped.
const AREA_MIN: f64 = 1e-12;

/// Pieces of one group lie in one plane under one linear pressure, or on one segment of a round filament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) sign: Sign,
}

/// A polygon of the patch with constant normal and linear pressure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) group: Group,
    /// The elements whose intersection it is.
    pub(crate) elements: (u32, u32),
    pub(crate) balance: Balance,
    /// Pressure, Pa, in the frame of the corners.
    pub(crate) pressure: Affine,
    pub(crate) moments: Moments,
    first_corner: u32,
    corner_count: u32,
}

/// All polygons of a pair.
#[derive(Default)]
pub(crate) struct Pieces {
    /// In order of discovery.
    pub(crate) pieces: Vec<Piece>,
    order: Vec<u32>,
    corners: Vec<Vector3<f64>>,
    scale: Scale,
    /// Smaller areas are dropped, m².
    area_min: f64,
}

impl Pieces {
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.order.clear();
        self.corners.clear();
        self.scale = Scale::default();
        self.area_min = 0.0;
    }

    /// Sets the scale, whose squared length times [`AREA_MIN`] is the smallest area kept.
    pub(crate) fn set_scale(&mut self, scale: Scale) {
        self.scale = scale;
        self.area_min = AREA_MIN * scale.length * scale.length;
    }

    pub(crate) fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Also drops polygons up to this area (m²).
    pub(crate) fn drop_up_to(&mut self, area: f64) {
        self.area_min = self.area_min.max(area);
    }

    /// Whether a polygon with this area vector (m²) is too small to be kept.
    pub(crate) fn drops(&self, area: &Vector3<f64>) -> bool {
        let counts = area.norm_squared() > self.area_min * self.area_min;
        !counts
    }

    /// Polygons up to this area are dropped, m².
    pub(crate) fn area_min(&self) -> f64 {
        self.area_min
    }

    pub(crate) fn corners(&self, piece: &Piece) -> &[Vector3<f64>] {
        &self.corners[piece.first_corner as usize..][..piece.corner_count as usize]
    }

    /// Highest pressure at a corner of a piece, Pa; non-negative.
    pub(crate) fn pressure_max(&self, piece: &Piece) -> f64 {
        let corners = self.corners(piece).iter();
        corners.fold(0.0, |most, x| most.max(piece.pressure.at(x)))
    }

    /// Adds a polygon, split by the sign of its pressure. `groups`: identifiers of its plane and of its pressure
    /// function.
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
        // On most polygons the pressure has one sign.
        match polygon.one_sign(pressure) {
            Some(sign) => add(polygon, sign),
            None => {
                let [loaded, speculative] = polygon.split(pressure);
                add(&loaded, Sign::Loaded);
                add(&speculative, Sign::Speculative);
            }
        }
    }

    /// The pieces with their indices, in an order independent of the search; requires [`Self::sort`].
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (u32, &Piece)> {
        self.order.iter().map(|&i| (i, &self.pieces[i as usize]))
    }

    /// ∫‖x − c‖ dA over the pieces of one group, m³; requires [`Self::sort`].
    pub(crate) fn first_radial_moment(&self, group: Group, c: &Vector3<f64>) -> f64 {
        let key = |i: &u32| self.pieces[*i as usize].group;
        let from = self.order.partition_point(|i| key(i) < group);
        let pieces = self.order[from..].iter().take_while(|i| key(i) == group);
        let of_piece = |i: &u32| {
            let piece = &self.pieces[*i as usize];
            let (corners, normal) = (self.corners(piece), &piece.balance.normal);
            piece.balance.weight * Polygon::first_radial_moment(corners, c, normal)
        };
        pieces.map(of_piece).sum()
    }

    /// Sorts for [`Self::sorted`]. A pair of elements has at most one piece of a group.
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
