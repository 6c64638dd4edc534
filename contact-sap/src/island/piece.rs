//! Pieces of a basis: blocks of B that lie within one node, and their products.

use nalgebra::Vector3;

use crate::constraint_set::ConstraintSet;

/// A block of B that lies within one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// First row within the basis.
    pub(crate) row: usize,
    pub(crate) n_rows: usize,
    /// First velocity in the island.
    pub(crate) dof: usize,
    pub(crate) n_dofs: usize,
    pub(crate) node: usize,
    pub(crate) kind: PieceKind,
}

/// Entries of a [`Piece`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum PieceKind {
    /// Row i is velocity i.
    Identity,
    /// Column-major, `n_rows` values a column, from this offset of the set's block values.
    Dense(usize),
    /// A dense block that is a [`Shift`], as free rigid bodies have.
    Shift(usize, Shift),
}

/// scale·[I, 0; −[p], I]: takes the twist of a body at its reference point to the point at offset p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) scale: f64,
    pub(crate) p: Vector3<f64>,
}

impl Shift {
    /// The shift equal to `values` (6×6 column-major), if there is one exactly.
    pub(super) fn recognise(values: &[f64]) -> Option<Self> {
        let scale = values[0];
        if scale == 0.0 {
            return None;
        }
        let at = |row: usize, column: usize| values[column * 6 + row];
        for i in 0..6 {
            for j in 0..6 {
                let expected = match (i, j) {
                    _ if i == j => scale,
                    (3.., ..3) if i - 3 != j => -at(j + 3, i - 3),
                    _ => 0.0,
                };
                if at(i, j) != expected {
                    return None;
                }
            }
        }
        // −[p] = [0, z, −y; −z, 0, x; y, −x, 0].
        let p = Vector3::new(at(4, 2), at(5, 0), at(3, 1)) / scale;
        // Only if the division is exact.
        (p * scale == Vector3::new(at(4, 2), at(5, 0), at(3, 1))).then_some(Self { scale, p })
    }
}

impl Piece {
    /// Values of a dense piece.
    #[inline]
    pub(crate) fn values<'a>(&self, set: &'a ConstraintSet) -> Option<&'a [f64]> {
        match self.kind {
            PieceKind::Identity => None,
            PieceKind::Dense(start) | PieceKind::Shift(start, _) => {
                Some(&set.block_values[start..start + self.n_rows * self.n_dofs])
            }
        }
    }

    /// u += B v, u of the basis, v of the island.
    #[inline]
    pub(crate) fn add_product(&self, set: &ConstraintSet, v: &[f64], u: &mut [f64]) {
        let u = &mut u[self.row..self.row + self.n_rows];
        let v = &v[self.dof..self.dof + self.n_dofs];
        match self.values(set) {
            None => u.iter_mut().zip(v).for_each(|(u, v)| *u += v),
            Some(values) => {
                for (column, v_j) in values.chunks_exact(self.n_rows).zip(v) {
                    u.iter_mut().zip(column).for_each(|(u, b)| *u += b * v_j);
                }
            }
        }
    }

    /// v += Bᵀ u.
    #[inline]
    pub(crate) fn add_transposed_product(&self, set: &ConstraintSet, u: &[f64], v: &mut [f64]) {
        let u = &u[self.row..self.row + self.n_rows];
        let v = &mut v[self.dof..self.dof + self.n_dofs];
        match self.values(set) {
            None => v.iter_mut().zip(u).for_each(|(v, u)| *v += u),
            Some(values) => {
                for (column, v_j) in values.chunks_exact(self.n_rows).zip(v) {
                    *v_j += column.iter().zip(u).map(|(b, u)| b * u).sum::<f64>();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_shifts_are_recognised() {
        let p = Vector3::new(0.3, -0.7, 1.9);
        for scale in [1.0, -1.0] {
            let mut b = nalgebra::Matrix6::identity();
            b.fixed_view_mut::<3, 3>(3, 0).copy_from(&-p.cross_matrix());
            b *= scale;
            assert_eq!(Shift::recognise(b.as_slice()), Some(Shift { scale, p }));
            for k in 0..36 {
                let mut other = b;
                other[k] += 1e-9;
                assert_eq!(Shift::recognise(other.as_slice()), None, "entry {k}");
            }
        }
    }
}
