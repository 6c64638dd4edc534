//! Damped least squares with six rows and bounds on every unknown.

use nalgebra::{Matrix6, Vector6};

/// min ½‖J s − e‖² + ½μ‖s‖²,  l ≤ s ≤ u, with J of six rows and any number of columns; l ≤ u.
///
/// With y = (e − J s)/μ the minimum is s = clamp(Jᵀy, l, u). The six entries of y are the minimum of the dual problem
///
/// ```text
/// D(y) = ½μ‖y‖² − e·y + Σ_k φ_k(J_k·y),   φ_k' = clamp(·, l_k, u_k),   ∇D = μ y − e + J s(y)
/// ```
///
/// which is convex, once differentiable and piecewise quadratic. Newton's method with exact line search converges in a
/// finite number of iterations. The problem is strictly convex, so s is a continuous function of J, e, l and u.
pub(crate) struct BoundedLeastSquares<'a> {
    /// Columns of J.
    pub(crate) columns: &'a [Vector6<f64>],
    pub(crate) lower: &'a [f64],
    pub(crate) upper: &'a [f64],
    /// e.
    pub(crate) target: Vector6<f64>,
    /// μ, positive.
    pub(crate) damping: f64,
}

/// Largest number of Newton iterations; a few are usual.
const ITERATIONS_MAX: usize = 100;

/// Bisections of the line search, down to rounding.
const BISECTIONS: usize = 60;

impl BoundedLeastSquares<'_> {
    /// Solves for s.
    pub(crate) fn solve(&self, s: &mut [f64]) {
        let mut y = Vector6::zeros();
        let mut gradient = self.evaluate(&y, s);
        for _ in 0..ITERATIONS_MAX {
            let mut hessian = Matrix6::identity() * self.damping;
            for (k, column) in self.columns.iter().enumerate() {
                if self.lower[k] < s[k] && s[k] < self.upper[k] {
                    hessian += column * column.transpose();
                }
            }
            let Some(factor) = hessian.cholesky() else {
                return;
            };
            let direction = -factor.solve(&gradient);
            let slope = direction.dot(&gradient);
            let full = y + direction;
            let full_gradient = self.evaluate(&full, s);
            // The slope along the direction increases: past the minimum it is positive.
            if direction.dot(&full_gradient) <= -1e-12 * slope {
                (y, gradient) = (full, full_gradient);
            } else {
                let (mut short, mut long) = (0.0, 1.0);
                for _ in 0..BISECTIONS {
                    let t = 0.5 * (short + long);
                    if direction.dot(&self.evaluate(&(y + direction * t), s)) > 0.0 {
                        long = t;
                    } else {
                        short = t;
                    }
                }
                y += direction * long;
                gradient = self.evaluate(&y, s);
            }
            let scale = self.target.norm() + self.damping * y.norm();
            if gradient.norm() <= 16.0 * f64::EPSILON * scale {
                return;
            }
        }
    }

    /// s(y), and ∇D.
    fn evaluate(&self, y: &Vector6<f64>, s: &mut [f64]) -> Vector6<f64> {
        let mut gradient = y * self.damping - self.target;
        for (k, column) in self.columns.iter().enumerate() {
            s[k] = column.dot(y).max(self.lower[k]).min(self.upper[k]);
            gradient += column * s[k];
        }
        gradient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Optimality: μs − Jᵀ(e − Js) is zero in the interior, and points outwards at active bounds.
    #[track_caller]
    fn check(problem: &BoundedLeastSquares<'_>, s: &[f64]) {
        let mut rest = problem.target;
        for (column, s) in problem.columns.iter().zip(s) {
            rest -= column * *s;
        }
        for (k, column) in problem.columns.iter().enumerate() {
            let slope = problem.damping * s[k] - column.dot(&rest);
            // y may be as large as e/μ, and s = Jᵀy is rounded at that size.
            let slack = 64.0 * f64::EPSILON * problem.target.norm() * (1.0 + 1.0 / problem.damping);
            assert!(problem.lower[k] <= s[k] && s[k] <= problem.upper[k]);
            if s[k] > problem.lower[k] {
                assert!(slope <= slack, "entry {k}: {slope:e}");
            }
            if s[k] < problem.upper[k] {
                assert!(slope >= -slack, "entry {k}: {slope:e}");
            }
        }
    }

    #[test]
    fn the_minimum_is_optimal_with_few_and_with_many_active_bounds() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut number = move |scale: f64| scale * random.random_range(-1.0..1.0);
        for case in 0..2000 {
            let n = 1 + case % 12;
            let columns: Vec<_> = (0..n)
                .map(|_| Vector6::from_fn(|_, _| number(1.0)))
                .collect();
            let room = [0.01, 0.3, 10.0][case % 3];
            let lower: Vec<f64> = (0..n).map(|_| -number(room).abs()).collect();
            let upper: Vec<f64> = (0..n).map(|_| number(room).abs()).collect();
            let problem = BoundedLeastSquares {
                columns: &columns,
                lower: &lower,
                upper: &upper,
                target: Vector6::from_fn(|_, _| number(1.0)),
                damping: [1.0, 1e-3, 1e-6][case / 3 % 3],
            };
            let mut s = vec![f64::NAN; n];
            problem.solve(&mut s);
            check(&problem, &s);
        }
    }
}
