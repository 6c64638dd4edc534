//! GMRES with preconditioning from the right.
//!
//! Minimises ‖L⁻¹(g + H u)‖ over u in the span of z_j = P⁻¹L v_j with orthonormal v_j. The minimum is at most ‖L⁻¹g‖, so
//! 2 (L⁻¹g)·(L⁻¹Hu) + ‖L⁻¹Hu‖² ≤ 0: however few vectors there are, ½‖L⁻¹g‖² decreases along u. Preconditioning from the left would lose this.
//!
//! Source: Saad, Schultz (1986); Saad (1993).

/// Memory of [`Gmres::solve`].
#[derive(Clone, Debug, Default)]
pub(super) struct Gmres {
    /// v_j, z_j, L⁻¹H z_j without its part in the span, one after the other.
    basis: Vec<Vec<f64>>,
    steps: Vec<Vec<f64>>,
    /// Columns of the Hessenberg matrix, reduced to triangular form by Givens rotations.
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// ‖L⁻¹(g + H u)‖/‖L⁻¹g‖.
    pub(super) residual: f64,
    /// Vectors used.
    pub(super) vectors: usize,
}

impl Gmres {
    /// Overwrites `u`. `residual` is L⁻¹g; `apply` overwrites its second argument with z = P⁻¹L v of its first and its third with L⁻¹H z.
    pub(super) fn solve(
        &mut self,
        residual: &[f64],
        tolerance: f64,
        vectors_max: usize,
        u: &mut [f64],
        mut apply: impl FnMut(&[f64], &mut [f64], &mut [f64]),
    ) -> Solved {
        let n = residual.len();
        u.fill(0.0);
        let size = norm(residual);
        if size <= 0.0 || !size.is_finite() {
            return Solved {
                residual: 0.0,
                vectors: 0,
            };
        }
        let make_room = |vectors: &mut Vec<Vec<f64>>, k: usize| {
            if vectors.len() <= k {
                vectors.push(Vec::new());
            }
            vectors[k].resize(n, 0.0);
        };
        make_room(&mut self.basis, 0);
        (self.basis[0].iter_mut().zip(residual)).for_each(|(v, g)| *v = -g / size);
        self.columns.clear();
        self.rotations.clear();
        self.right.clear();
        self.right.push(size);
        let mut vectors = 0;
        while vectors < vectors_max.min(n) {
            make_room(&mut self.basis, vectors + 1);
            make_room(&mut self.steps, vectors);
            let (known, fresh) = self.basis.split_at_mut(vectors + 1);
            let w = &mut fresh[0];
            apply(&known[vectors], &mut self.steps[vectors], w);
            let before = norm(w);
            let mut column = Vec::with_capacity(vectors + 2);
            for v in known.iter() {
                let part = dot(v, w);
                subtract(w, v, part);
                column.push(part);
            }
            // Once more, against loss of orthogonality.
            for (v, part) in known.iter().zip(&mut column) {
                let rest = dot(v, w);
                subtract(w, v, rest);
                *part += rest;
            }
            let after = norm(w);
            for (k, (c, s)) in self.rotations.iter().enumerate() {
                let (a, b) = (column[k], column[k + 1]);
                column[k] = c * a + s * b;
                column[k + 1] = c * b - s * a;
            }
            let last = column[vectors];
            let radius = last.hypot(after);
            if !(radius > 0.0 && radius.is_finite()) {
                break;
            }
            let (c, s) = (last / radius, after / radius);
            column[vectors] = radius;
            self.rotations.push((c, s));
            self.columns.push(column);
            let top = self.right[vectors];
            self.right[vectors] = c * top;
            self.right.push(-s * top);
            vectors += 1;
            let exhausted = after <= 4.0 * f64::EPSILON * before;
            if exhausted || self.right[vectors].abs() <= tolerance * size {
                break;
            }
            w.iter_mut().for_each(|w| *w /= after);
        }
        let mut y = self.right[..vectors].to_vec();
        for i in (0..vectors).rev() {
            for j in i + 1..vectors {
                y[i] -= self.columns[j][i] * y[j];
            }
            y[i] /= self.columns[i][i];
        }
        for (z, y) in self.steps.iter().zip(&y) {
            u.iter_mut().zip(z).for_each(|(u, z)| *u += y * z);
        }
        Solved {
            residual: self.right[vectors].abs() / size,
            vectors,
        }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn subtract(w: &mut [f64], v: &[f64], factor: f64) {
    w.iter_mut().zip(v).for_each(|(w, v)| *w -= factor * v);
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Random unsymmetric H with L = 1 and a diagonal preconditioner.
    fn random_solve(
        n: usize,
        vectors: usize,
        rng: &mut ChaCha8Rng,
    ) -> (DVector<f64>, DVector<f64>, Solved) {
        let mut h = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        (0..n).for_each(|i| h[(i, i)] += rng.random_range(-2.0..3.0));
        let g = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
        let mut u = vec![0.0; n];
        let solved = Gmres::default().solve(g.as_slice(), 1e-12, vectors, &mut u, |v, z, w| {
            for i in 0..n {
                z[i] = v[i] / (h[(i, i)] + 1e-3_f64.copysign(h[(i, i)]));
            }
            w.copy_from_slice((&h * DVector::from_column_slice(z)).as_slice());
        });
        let change = &h * DVector::from_vec(u);
        (g, change, solved)
    }

    #[test]
    fn every_direction_descends_however_few_vectors_there_are() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..3000 {
            for vectors in [1, 2, 5] {
                let (g, change, solved) = random_solve(12, vectors, &mut rng);
                let slope = g.dot(&change);
                let bound = -0.5 * change.norm_squared();
                assert!(slope <= bound + 1e-12 * g.norm_squared(), "{slope} {bound}");
                let residual = (&g + &change).norm() / g.norm();
                assert!((residual - solved.residual).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn as_many_vectors_as_unknowns_solve_the_system() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..200 {
            let (_, _, solved) = random_solve(9, 9, &mut rng);
            assert!(solved.residual < 1e-9, "{}", solved.residual);
        }
    }
}
