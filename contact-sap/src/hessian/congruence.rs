//! Congruences BᵀKB of one basis, added to H.

use nalgebra::Vector3;

use crate::constraint_set::ConstraintSet;
use crate::hessian::real::Real;
use crate::interpolations::dot;
use crate::island::{Piece, PieceKind, Shift};

/// Memory location of a block of H: entry (i, j) is at `offset + i + j * stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLocation {
    pub(crate) offset: usize,
    pub(crate) stride: usize,
}

/// Adds BᵀKB of one basis to H; K is r×r, column-major.
pub(crate) struct Congruence<'a> {
    pub(crate) set: &'a ConstraintSet,
    pub(crate) k: &'a [f64],
    pub(crate) r: usize,
    /// The diagonal of D by velocity of the island, to form D H D; empty for H itself.
    pub(crate) scale: &'a [f64],
    pub(crate) scratch: &'a mut Vec<f64>,
}

impl Congruence<'_> {
    /// H_pq += B_pᵀ K B_q for two pieces of the basis.
    #[inline]
    pub(crate) fn add<T: Real>(
        &mut self,
        p: &Piece,
        q: &Piece,
        location: BlockLocation,
        h: &mut [T],
    ) {
        let (k, r, scale) = (self.k, self.r, self.scale);
        let scale_at = |dof: usize| scale.get(dof).copied().unwrap_or(1.0);
        if let (PieceKind::Shift(_, shift_p), PieceKind::Shift(_, shift_q)) = (p.kind, q.kind)
            && let (6, Some(k), true) = (r, k.first_chunk(), scale.is_empty())
        {
            return add_shift_congruence(&shift_p, &shift_q, k, location, h);
        }
        let (values_p, values_q) = (p.values(self.set), q.values(self.set));
        if values_p.is_none() && values_q.is_none() && (p.n_dofs, q.n_dofs) == (3, 3) {
            // Two points with identity blocks.
            let rows = [0, 1, 2].map(|i| scale_at(p.dof + i));
            for j in 0..3 {
                let k = &k[(q.row + j) * r + p.row..][..3];
                let h = &mut h[location.offset + j * location.stride..][..3];
                let column = scale_at(q.dof + j);
                (0..3).for_each(|i| h[i] += T::of(k[i] * rows[i] * column));
            }
            return;
        }
        let scratch = &mut *self.scratch;
        scratch.resize(p.n_rows, 0.0);
        for j in 0..q.n_dofs {
            // t = K[rows of p, rows of q] B_q[:, j].
            let t = match values_q {
                None => &k[(q.row + j) * r + p.row..][..p.n_rows],
                Some(values) => {
                    scratch.fill(0.0);
                    let column = &values[j * q.n_rows..(j + 1) * q.n_rows];
                    for (l, b) in column.iter().enumerate() {
                        if *b != 0.0 {
                            let k = &k[(q.row + l) * r + p.row..][..p.n_rows];
                            scratch.iter_mut().zip(k).for_each(|(t, k)| *t += k * b);
                        }
                    }
                    &scratch[..]
                }
            };
            let h = &mut h[location.offset + j * location.stride..][..p.n_dofs];
            let by_column = scale_at(q.dof + j);
            let scaled = |i: usize, x: f64| T::of(x * scale_at(p.dof + i) * by_column);
            match values_p {
                None => {
                    for (i, (h, t)) in h.iter_mut().zip(t).enumerate() {
                        *h += scaled(i, *t);
                    }
                }
                Some(values) => {
                    let columns = values.chunks_exact(p.n_rows);
                    for (i, (h, column)) in h.iter_mut().zip(columns).enumerate() {
                        *h += scaled(i, dot(column, t));
                    }
                }
            }
        }
    }
}

/// [`Congruence::add`] of two rigid bodies, by cross products.
#[inline]
fn add_shift_congruence<T: Real>(
    p: &Shift,
    q: &Shift,
    k: &[f64; 36],
    location: BlockLocation,
    h: &mut [T],
) {
    let scale = p.scale * q.scale;
    let column = |j: usize| {
        let c = &k[6 * j..6 * j + 6];
        (
            Vector3::new(c[0], c[1], c[2]),
            Vector3::new(c[3], c[4], c[5]),
        )
    };
    let linear = [column(3), column(4), column(5)];
    let (x, y, z) = (q.p.x, q.p.y, q.p.z);
    // Columns of K B_q: those of v are those of K; that of ω_j has Σ_l K[:, v_l] (−[p])_lj added.
    let moved = |j: usize, a: usize, b: usize, s: f64, t: f64| {
        let (top, bottom) = column(j);
        (
            top + linear[a].0 * s + linear[b].0 * t,
            bottom + linear[a].1 * s + linear[b].1 * t,
        )
    };
    let columns = [
        moved(0, 1, 2, -z, y),
        moved(1, 0, 2, z, -x),
        moved(2, 0, 1, -y, x),
        linear[0],
        linear[1],
        linear[2],
    ];
    for (j, (top, bottom)) in columns.iter().enumerate() {
        let top = top + p.p.cross(bottom);
        let h = &mut h[location.offset + j * location.stride..][..6];
        for i in 0..3 {
            h[i] += T::of(scale * top[i]);
            h[i + 3] += T::of(scale * bottom[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix6, Vector6};

    use super::*;

    #[test]
    fn the_congruence_of_shifts_is_the_plain_one() {
        let matrix = |shift: &Shift| {
            let mut b = Matrix6::identity();
            b.fixed_view_mut::<3, 3>(3, 0)
                .copy_from(&-shift.p.cross_matrix());
            b * shift.scale
        };
        let root = Matrix6::from_fn(|i, j| ((i * 6 + j) as f64).sin());
        let k = root * root.transpose();
        let p = Shift {
            scale: -1.0,
            p: Vector3::new(0.2, -0.5, 0.9),
        };
        let q = Shift {
            scale: 1.0,
            p: Vector3::new(-0.7, 0.1, 0.4),
        };
        for (p, q) in [(p, q), (q, p), (p, p)] {
            let expected = matrix(&p).transpose() * k * matrix(&q);
            let mut h = vec![0.0; 60];
            let location = BlockLocation {
                offset: 3,
                stride: 9,
            };
            let k = k.as_slice().first_chunk().expect("36 values");
            add_shift_congruence(&p, &q, k, location, &mut h);
            for j in 0..6 {
                let found = Vector6::from_column_slice(&h[3 + 9 * j..9 + 9 * j]);
                assert!((found - expected.column(j)).norm() < 1e-13 * expected.norm());
            }
        }
    }
}
