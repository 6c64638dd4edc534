//! Conjugate gradients with 3×3 blocks as preconditioner.

use nalgebra::{Matrix3, Vector3};

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PcgReport {
    pub(crate) iterations: usize,
    /// √(rᵀB⁻¹r) relative to that of the right-hand side.
    pub(crate) residual: f64,
    /// Whether A was found to bend up along every direction that was tried.
    pub(crate) is_definite: bool,
}

/// Memory of a solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pcg {
    inverse: Vec<Matrix3<f64>>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Pcg {
    /// Inverts the blocks on the diagonal of A, nine values each, column-major.
    pub(crate) fn factor(&mut self, diagonal: &[f64]) {
        self.inverse.clear();
        let blocks = diagonal.chunks_exact(9);
        self.inverse.extend(blocks.map(|block| {
            // Scaled first: nodes barely touched have masses whose cubes are below all numbers.
            let scale = (block[0] + block[4] + block[8]) / 3.0;
            let scaled = Matrix3::from_column_slice(block) / scale;
            let inverse = scaled
                .try_inverse()
                .unwrap_or_else(|| Matrix3::from_diagonal(&scaled.diagonal().map(|d| 1.0 / d)));
            (inverse + inverse.transpose()) * (0.5 / scale)
        }));
    }

    fn precondition(&mut self) {
        let each = self.inverse.iter().zip(self.r.chunks_exact(3));
        for ((inverse, r), z) in each.zip(self.z.chunks_exact_mut(3)) {
            let product = inverse * Vector3::from_column_slice(r);
            z.copy_from_slice(product.as_slice());
        }
    }

    /// Solves A x = b from the `x` given, until the residual in the norm of the inverse blocks is below `tolerance` times
    /// that of `b`.
    pub(crate) fn solve(
        &mut self,
        apply: impl Fn(&[f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        iterations_max: usize,
    ) -> PcgReport {
        let n = b.len();
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.ap] {
            v.resize(n, 0.0);
        }
        self.r.copy_from_slice(b);
        self.precondition();
        let size = dot(&self.r, &self.z);
        if size == 0.0 {
            x.fill(0.0);
            return PcgReport {
                iterations: 0,
                residual: 0.0,
                is_definite: true,
            };
        }
        apply(x, &mut self.ap);
        self.r.iter_mut().zip(&self.ap).for_each(|(r, a)| *r -= a);
        self.precondition();
        self.p.copy_from_slice(&self.z);
        let mut rz = dot(&self.r, &self.z);
        let (mut iterations, mut is_definite) = (0, true);
        let bound = tolerance * tolerance * size;
        // Written so that NaN ends it.
        while rz > bound && iterations < iterations_max {
            apply(&self.p, &mut self.ap);
            let curvature = dot(&self.p, &self.ap);
            if !(curvature > 0.0) {
                is_definite = false;
                break;
            }
            let alpha = rz / curvature;
            x.iter_mut().zip(&self.p).for_each(|(x, p)| *x += alpha * p);
            self.r
                .iter_mut()
                .zip(&self.ap)
                .for_each(|(r, a)| *r -= alpha * a);
            self.precondition();
            let next = dot(&self.r, &self.z);
            let beta = next / rz;
            rz = next;
            self.p
                .iter_mut()
                .zip(&self.z)
                .for_each(|(p, z)| *p = z + beta * *p);
            iterations += 1;
        }
        PcgReport {
            iterations,
            residual: (rz / size).sqrt(),
            is_definite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn it_finds_the_solution_of_a_badly_scaled_system() {
        let mut random = Random::new(1);
        let n = 60;
        let raw = DMatrix::from_fn(n, n, |_, _| random.unit() - 0.5);
        // Masses over 24 decades.
        let scale = DVector::from_fn(n, |i, _| 10_f64.powi(-((i / 3) as i32)));
        let a = DMatrix::from_fn(n, n, |i, j| {
            let spd = raw.column(i).dot(&raw.column(j)) + if i == j { 1.0 } else { 0.0 };
            spd * (scale[i] * scale[j]).sqrt()
        });
        let expected = DVector::from_fn(n, |_, _| random.unit());
        let b = &a * &expected;
        let mut pcg = Pcg::default();
        let diagonal: Vec<f64> = (0..n / 3)
            .flat_map(|k| {
                a.fixed_view::<3, 3>(3 * k, 3 * k)
                    .iter()
                    .copied()
                    .collect::<Vec<_>>()
            })
            .collect();
        pcg.factor(&diagonal);
        let mut x = vec![0.0; n];
        let apply = |x: &[f64], y: &mut [f64]| {
            y.copy_from_slice((&a * DVector::from_column_slice(x)).as_slice());
        };
        let report = pcg.solve(apply, b.as_slice(), &mut x, 1e-12, 400);
        assert!(report.residual <= 1e-12, "{report:?}");
        // Off by as little as its own scale lets it be seen.
        let off = (DVector::from_vec(x) - expected).component_mul(&scale.map(f64::sqrt));
        assert!(off.amax() < 1e-10, "{off}");
    }
}
