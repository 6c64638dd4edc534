//! GMRES with preconditioning from the right.
//!
//! Minimises ‖L⁻¹(g + H u)‖ over u in the span of z_j = P⁻¹L v_j with orthonormal v_j. The minimum is at most ‖L⁻¹g‖, so
//! 2 (L⁻¹g)·(L⁻¹Hu) + ‖L⁻¹Hu‖² ≤ 0: however few vectors there are, ½‖L⁻¹g‖² decreases along u. Preconditioning from the left would lose this.
//!
//! H couples no two islands, so each has its own span and its own minimum; one product serves the vectors of all.
//!
//! Source: Saad, Schultz (1986); Saad (1993).

use super::islands::Island;

/// Memory of [`Gmres::solve`].
#[derive(Clone, Debug, Default)]
pub(super) struct Gmres {
    /// v_j, z_j of all islands, and L⁻¹H z_j without its part in the span.
    basis: Vec<Vec<f64>>,
    steps: Vec<Vec<f64>>,
}

/// How the solve of an island ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solved {
    /// ‖L⁻¹(g + H u)‖/‖L⁻¹g‖.
    pub(super) residual: f64,
    /// Vectors used.
    pub(super) vectors: usize,
}

/// The least-squares problem of an island.
struct Projected {
    /// ‖L⁻¹g‖.
    size: f64,
    /// Columns of the Hessenberg matrix, reduced to triangular form by Givens rotations.
    columns: Vec<Vec<f64>>,
    rotations: Vec<(f64, f64)>,
    right: Vec<f64>,
    progress: Progress,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Growing,
    Ended,
}

impl Gmres {
    /// Overwrites `u`, which is zero outside of `islands`. `residual` is L⁻¹g; each island has its tolerance. `apply` overwrites its second argument with
    /// z = P⁻¹L v of its first and its third with L⁻¹H z.
    pub(super) fn solve(
        &mut self,
        islands: &[(&Island, f64)],
        residual: &[f64],
        vectors_max: usize,
        u: &mut [f64],
        mut apply: impl FnMut(&[f64], &mut [f64], &mut [f64]),
    ) -> Vec<Solved> {
        let n = residual.len();
        u.fill(0.0);
        let make_room = |vectors: &mut Vec<Vec<f64>>, k: usize| {
            if vectors.len() <= k {
                vectors.push(Vec::new());
            }
            vectors[k].clear();
            vectors[k].resize(n, 0.0);
        };
        make_room(&mut self.basis, 0);
        let mut problems: Vec<Projected> = islands
            .iter()
            .map(|(island, _)| Projected::new(island.norm(residual)))
            .collect();
        for ((island, _), problem) in islands.iter().zip(&problems) {
            if problem.progress == Progress::Growing {
                island.map(&mut self.basis[0], residual, |_, g| -g / problem.size);
            }
        }
        for vector in 0..vectors_max {
            if (problems.iter()).all(|problem| problem.progress == Progress::Ended) {
                break;
            }
            make_room(&mut self.basis, vector + 1);
            make_room(&mut self.steps, vector);
            let (known, fresh) = self.basis.split_at_mut(vector + 1);
            let w = &mut fresh[0];
            apply(&known[vector], &mut self.steps[vector], w);
            for ((island, tolerance), problem) in islands.iter().zip(&mut problems) {
                if problem.progress == Progress::Growing {
                    problem.extend(island, known, w, *tolerance);
                }
                if problem.progress == Progress::Ended {
                    island.update(w, |_| 0.0);
                }
            }
        }
        for ((island, _), problem) in islands.iter().zip(&problems) {
            for (z, y) in self.steps.iter().zip(problem.minimum()) {
                island.add(u, z, y);
            }
        }
        problems.iter().map(Projected::outcome).collect()
    }
}

impl Projected {
    fn new(size: f64) -> Self {
        Self {
            size,
            columns: Vec::new(),
            rotations: Vec::new(),
            right: vec![size],
            progress: match size > 0.0 && size.is_finite() {
                true => Progress::Growing,
                false => Progress::Ended,
            },
        }
    }

    /// Takes w = L⁻¹H z of the last of the `known` vectors, and makes the next vector of it.
    fn extend(&mut self, island: &Island, known: &[Vec<f64>], w: &mut [f64], tolerance: f64) {
        let vector = self.columns.len();
        let before = island.norm(w);
        let mut column = Vec::with_capacity(vector + 2);
        for v in known {
            let part = island.dot(v, w);
            island.add(w, v, -part);
            column.push(part);
        }
        // Once more, against loss of orthogonality.
        for (v, part) in known.iter().zip(&mut column) {
            let rest = island.dot(v, w);
            island.add(w, v, -rest);
            *part += rest;
        }
        let after = island.norm(w);
        for (k, (c, s)) in self.rotations.iter().enumerate() {
            let (a, b) = (column[k], column[k + 1]);
            column[k] = c * a + s * b;
            column[k + 1] = c * b - s * a;
        }
        let last = column[vector];
        let radius = last.hypot(after);
        if !(radius > 0.0 && radius.is_finite()) {
            self.progress = Progress::Ended;
            return;
        }
        let (c, s) = (last / radius, after / radius);
        column[vector] = radius;
        self.rotations.push((c, s));
        self.columns.push(column);
        let top = self.right[vector];
        self.right[vector] = c * top;
        self.right.push(-s * top);
        let exhausted =
            after <= 4.0 * f64::EPSILON * before || self.columns.len() >= island.n_dofs();
        if exhausted || self.right[vector + 1].abs() <= tolerance * self.size {
            self.progress = Progress::Ended;
            return;
        }
        island.update(w, |w| w / after);
    }

    /// The part of each z_j in u.
    fn minimum(&self) -> Vec<f64> {
        let n = self.columns.len();
        let mut y = self.right[..n].to_vec();
        for i in (0..n).rev() {
            for j in i + 1..n {
                y[i] -= self.columns[j][i] * y[j];
            }
            y[i] /= self.columns[i][i];
        }
        y
    }

    fn outcome(&self) -> Solved {
        let vectors = self.columns.len();
        Solved {
            residual: match self.size > 0.0 && self.size.is_finite() {
                true => self.right[vectors].abs() / self.size,
                false => 0.0,
            },
            vectors,
        }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn diagonal_of(h: &DMatrix<f64>, i: usize) -> f64 {
        h[(i, i)] + 1e-3_f64.copysign(h[(i, i)])
    }

    fn random_matrix(n: usize, rng: &mut ChaCha8Rng) -> DMatrix<f64> {
        let mut h = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
        (0..n).for_each(|i| h[(i, i)] += rng.random_range(-2.0..3.0));
        h
    }

    fn solve(
        islands: &[(&Island, f64)],
        (h, g): (&DMatrix<f64>, &DVector<f64>),
        vectors: usize,
    ) -> (DVector<f64>, Vec<Solved>) {
        let mut u = vec![0.0; g.len()];
        let solved = Gmres::default().solve(islands, g.as_slice(), vectors, &mut u, |v, z, w| {
            for (i, (z, v)) in z.iter_mut().zip(v).enumerate() {
                *z = v / diagonal_of(h, i);
            }
            w.copy_from_slice((h * DVector::from_column_slice(z)).as_slice());
        });
        (DVector::from_vec(u), solved)
    }

    /// Random unsymmetric H with L = 1 and a diagonal preconditioner.
    fn random_solve(
        n: usize,
        vectors: usize,
        rng: &mut ChaCha8Rng,
    ) -> (DVector<f64>, DVector<f64>, Solved) {
        let h = random_matrix(n, rng);
        let g = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
        let (u, solved) = solve(&[(&Island::over(0..n), 1e-12)], (&h, &g), vectors);
        (g, &h * u, solved[0])
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

    #[test]
    fn an_island_is_solved_as_if_it_were_alone() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..100 {
            let (first, second) = (random_matrix(4, &mut rng), random_matrix(7, &mut rng));
            let mut h = DMatrix::zeros(11, 11);
            h.view_mut((0, 0), (4, 4)).copy_from(&first);
            h.view_mut((4, 4), (7, 7)).copy_from(&second);
            // A million times the residual of the second, and a tolerance that one vector meets.
            let g = DVector::from_fn(11, |i, _| {
                rng.random_range(-1.0..1.0) * if i < 4 { 1e6 } else { 1.0 }
            });
            let islands = [Island::over(0..4), Island::over(4..11)];
            let both = [(&islands[0], 0.9), (&islands[1], 1e-12)];
            let (u, solved) = solve(&both, (&h, &g), 11);
            let part = g.rows(4, 7).into_owned();
            let (alone, expected) = solve(&[(&Island::over(0..7), 1e-12)], (&second, &part), 11);
            assert_eq!(u.rows(4, 7), alone, "to the last bit");
            assert_eq!(solved[1].vectors, expected[0].vectors);
            assert!(solved[0].residual <= 1.0 && solved[1].residual < 1e-9);
        }
    }
}
