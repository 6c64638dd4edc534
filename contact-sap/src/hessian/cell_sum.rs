//! The contribution of one grid cell's contacts to H: w_i w_j G for all pairs of the cell's points, summed in a small buffer and
//! then scattered.
//!
//! K of a cell has 81 rows or more, so K of all cells would not fit into cache. Only the lower triangle is summed, in the
//! precision of the factor and scaled by D on both sides.

#[cfg(test)]
mod tests;

use nalgebra::Matrix3;

use crate::constraint_set::ContactInterpolation;
use crate::evaluation::Evaluation;
use crate::hessian::{BlockLocation, Real};
use crate::island::{IslandBasis, IslandProblem, Piece, PieceKind};

/// Buffers for one cell, reused for the next.
#[derive(Default)]
pub(crate) struct CellSum<T> {
    /// D K D of the points, block row ≥ block column, n×n column-major.
    points: Vec<T>,
    /// w ⊗ a column of G, of the current contact.
    column: [Vec<T>; 3],
    /// w D of the current contact, by row.
    weights: Vec<T>,
    /// D of each row that is a velocity.
    scale: Vec<f64>,
    /// Columns of K of the rigid body's twist.
    border: Vec<f64>,
    /// Bᵀ times these columns, of one piece.
    product: Vec<f64>,
    n: usize,
}

/// Rows of the rigid body's twist, after those of the points.
const TWIST: usize = 6;

impl<T: Real> CellSum<T> {
    /// Sums the contacts of `basis`; false unless they couple points of a grid cell with each other or with a rigid body.
    pub(crate) fn sum(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        basis: &IslandBasis,
        scale: &[f64],
    ) -> bool {
        if basis.keeps_aggregate() {
            return false;
        }
        let set = p.set();
        let contacts = &set.contacts[basis.contacts.clone()];
        let Some(&ContactInterpolation::Stencil { n_points, .. }) =
            contacts.first().map(|c| &c.interpolation)
        else {
            return false;
        };
        let n = 3 * n_points;
        let of_points = |interpolation: &ContactInterpolation| {
            matches!(interpolation, ContactInterpolation::Stencil { n_points, p, .. }
                if 3 * *n_points == n && n + if p.is_some() { TWIST } else { 0 } == basis.n_rows)
        };
        let pieces = &p.island.pieces[basis.pieces.clone()];
        let is_plain = |piece: &Piece| piece.row >= n || is_point(piece);
        if !(contacts.iter().all(|c| of_points(&c.interpolation)) && pieces.iter().all(is_plain)) {
            return false;
        }
        self.n = n;
        self.scale.clear();
        self.scale.resize(n, 1.0);
        for piece in pieces.iter().filter(|piece| piece.row < n) {
            for k in 0..3 {
                self.scale[piece.row + k] = scale.get(piece.dof + k).copied().unwrap_or(1.0);
            }
        }
        self.points.clear();
        self.points.resize(n * n, T::ZERO);
        self.border.clear();
        self.border.resize((basis.n_rows - n) * basis.n_rows, 0.0);
        for (contact, g) in e.contacts_of(p, basis) {
            if let ContactInterpolation::Stencil { weights, p, .. } = contact.interpolation {
                let weights = &set.interpolation_values[weights..weights + n_points];
                self.open(weights, g);
                pulp::Arch::new().dispatch(Dyads {
                    points: &mut self.points,
                    column: &self.column,
                    weights: &self.weights,
                });
                if let Some(p) = p {
                    let g_omega = -g * p.cross_matrix();
                    add_border(&mut self.border, weights, g, &g_omega);
                    let by_omega = p.cross_matrix() * g;
                    add_corner(
                        &mut self.border,
                        n,
                        &(by_omega * -p.cross_matrix()),
                        &by_omega,
                        g,
                    );
                }
            }
        }
        true
    }

    /// Lays out one contact.
    fn open(&mut self, weights: &[f64], g: &Matrix3<f64>) {
        self.weights.clear();
        for (w, scale) in weights.iter().zip(self.scale.chunks_exact(3)) {
            self.weights.extend(scale.iter().map(|s| T::of(w * s)));
        }
        for (c, column) in self.column.iter_mut().enumerate() {
            column.clear();
            for (w, scale) in weights.iter().zip(self.scale.chunks_exact(3)) {
                column.extend((0..3).map(|r| T::of(w * scale[r] * g[(r, c)])));
            }
        }
    }

    /// Whether a piece is a point of the cell.
    #[inline]
    pub(crate) fn is_point(&self, piece: &Piece) -> bool {
        piece.row < self.n
    }

    /// Prepares the blocks of a piece that is not a point.
    pub(crate) fn begin_row(&mut self, p: &IslandProblem<'_>, piece: &Piece) {
        if piece.row < self.n {
            return;
        }
        let r = self.n + TWIST;
        let first = piece.row - self.n;
        self.product.clear();
        match piece.values(p.set()) {
            None => {
                let columns = &self.border[first * r..(first + piece.n_dofs) * r];
                self.product.extend_from_slice(columns);
            }
            Some(values) => {
                self.product.resize(piece.n_dofs * r, 0.0);
                let columns = values.chunks_exact(piece.n_rows);
                for (to, b) in self.product.chunks_exact_mut(r).zip(columns) {
                    for (l, b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                        let from = &self.border[(first + l) * r..(first + l + 1) * r];
                        to.iter_mut().zip(from).for_each(|(to, k)| *to += k * b);
                    }
                }
            }
        }
    }

    /// Adds the sum for the pieces a and b to H_ab. If either is not a point, a must be the last piece given to
    /// [`CellSum::begin_row`].
    #[inline]
    pub(crate) fn add(
        &self,
        p: &IslandProblem<'_>,
        (a, b): (&Piece, &Piece),
        scale: &[f64],
        orientation: Orientation,
        location: BlockLocation,
        h: &mut [T],
    ) {
        let n = self.n;
        if a.row < n && b.row < n {
            for j in 0..3 {
                let h = &mut h[location.offset + j * location.stride..][..3];
                if a.row >= b.row {
                    let k = &self.points[(b.row + j) * n + a.row..][..3];
                    h.iter_mut().zip(k).for_each(|(h, k)| *h += *k);
                } else {
                    for (i, h) in h.iter_mut().enumerate() {
                        *h += self.points[(a.row + i) * n + b.row + j];
                    }
                }
            }
            return;
        }
        let r = n + TWIST;
        let scale_at = |dof: usize| scale.get(dof).copied().unwrap_or(1.0);
        let values = b.values(p.set());
        for (i, row) in self.product.chunks_exact(r).enumerate() {
            let by_row = scale_at(a.dof + i);
            for j in 0..b.n_dofs {
                let x = match values {
                    None => row[b.row + j],
                    Some(values) => {
                        let column = &values[j * b.n_rows..(j + 1) * b.n_rows];
                        let row = &row[b.row..b.row + b.n_rows];
                        column.iter().zip(row).map(|(b, k)| b * k).sum()
                    }
                };
                let (down, right) = match orientation {
                    Orientation::Plain => (i, j),
                    Orientation::Transposed => (j, i),
                };
                h[location.offset + down + right * location.stride] +=
                    T::of(x * by_row * scale_at(b.dof + j));
            }
        }
    }
}

/// Orientation of a block in memory: plain if its rows are the velocities of the first piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orientation {
    Plain,
    Transposed,
}

/// Whether a piece is a point whose velocity consists of three velocities of the island.
fn is_point(piece: &Piece) -> bool {
    matches!(piece.kind, PieceKind::Identity)
        && (piece.n_rows, piece.n_dofs, piece.row % 3) == (3, 3, 0)
}

/// K[points, twist] += w ⊗ (G_ω, G).
fn add_border(border: &mut [f64], weights: &[f64], g: &Matrix3<f64>, g_omega: &Matrix3<f64>) {
    let r = 3 * weights.len() + TWIST;
    for (c, column) in border.chunks_exact_mut(r).enumerate() {
        let g = if c < 3 {
            g_omega.column(c)
        } else {
            g.column(c - 3)
        };
        for (w, to) in weights.iter().zip(column.chunks_exact_mut(3)) {
            (0..3).for_each(|i| to[i] += w * g[i]);
        }
    }
}

/// K[twist, twist] += [K_ω, [p]G; −G[p], G].
fn add_corner(
    border: &mut [f64],
    n: usize,
    k_omega: &Matrix3<f64>,
    by_omega: &Matrix3<f64>,
    g: &Matrix3<f64>,
) {
    let r = n + TWIST;
    for i in 0..3 {
        for j in 0..3 {
            border[j * r + n + i] += k_omega[(i, j)];
            border[(3 + j) * r + n + i] += by_omega[(i, j)];
            border[i * r + n + 3 + j] += by_omega[(i, j)];
            border[(3 + j) * r + n + 3 + i] += g[(i, j)];
        }
    }
}

/// points += Σ of three dyads, vectorised.
struct Dyads<'a, T> {
    points: &'a mut [T],
    column: &'a [Vec<T>; 3],
    weights: &'a [T],
}

impl<T: Real> pulp::WithSimd for Dyads<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let n = self.weights.len();
        for (j, to) in self.points.chunks_exact_mut(n).enumerate() {
            let first = j - j % 3;
            let (to, from) = (&mut to[first..], &self.column[j % 3][first..n]);
            let w = self.weights[j];
            to.iter_mut().zip(from).for_each(|(to, k)| *to += *k * w);
        }
    }
}
