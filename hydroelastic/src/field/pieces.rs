//! Pieces of a field: tetrahedra whose polygons are merged.

use nalgebra::Vector3;

use super::{OUTSIDE, PressureField, Tetrahedron};

/// What the tetrahedra of one piece have in common, so that polygons cut from them are merged into one set of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// They share the linear function of their pressure.
    Linear,
    /// They belong to one section of an axis; the resultant force passes through that axis.
    AboutAxis,
}

impl PressureField {
    /// Assigns a piece to each tetrahedron.
    pub(crate) fn with_pieces(mut self, pieces: impl Iterator<Item = (u32, PieceKind)>) -> Self {
        (self.pieces, self.piece_kinds) = pieces.unzip();
        debug_assert_eq!(self.pieces.len(), self.corners.len());
        self
    }

    /// The kind of piece that a tetrahedron belongs to.
    pub(crate) fn piece_kind(&self, tet: u32) -> PieceKind {
        self.piece_kinds[tet as usize]
    }
}

/// Merges neighbouring tetrahedra with the same linear function: the flat side of a box is one piece, however it is
/// meshed.
pub(super) fn pieces(
    tets: &[Tetrahedron],
    neighbours: &[[u32; 4]],
    field: &PressureField,
) -> Vec<u32> {
    let mut piece = vec![u32::MAX; tets.len()];
    let mut open = Vec::new();
    for start in 0..tets.len() as u32 {
        if piece[start as usize] != u32::MAX {
            continue;
        }
        piece[start as usize] = start;
        let own = tets[start as usize].pressure;
        let scale = field
            .corner_pressures(start)
            .iter()
            .fold(0.0, |m: f64, p| m.max(p.abs()));
        open.push(start);
        while let Some(t) = open.pop() {
            for &n in &neighbours[t as usize] {
                if n == OUTSIDE || piece[n as usize] != u32::MAX {
                    continue;
                }
                // Compares values, not gradients: gradients of slivers are dominated by round-off.
                let same = field
                    .corner_points(n)
                    .iter()
                    .zip(field.corner_pressures(n))
                    .all(|(x, p)| (own.at(x) - p).abs() <= 1e-9 * scale.max(p.abs()));
                if same && own.gradient != Vector3::zeros() {
                    piece[n as usize] = start;
                    open.push(n);
                }
            }
        }
    }
    piece
}
