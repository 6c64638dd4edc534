//! Products with an interpolation Φ: velocities v_c = Φu, the transpose, and the aggregate ΦᵀGΦ.

use nalgebra::{Matrix3, Vector3};

use crate::constraint_set::{ContactInterpolation, RowInterpolation};
use crate::rows::twist_point_velocity;

impl ContactInterpolation {
    /// Φu; `values` are the interpolation values of the set.
    #[inline]
    pub(crate) fn velocity(&self, values: &[f64], u: &[f64]) -> Vector3<f64> {
        match *self {
            ContactInterpolation::Twist { p } => twist_point_velocity(u, &p),
            ContactInterpolation::Stencil {
                weights,
                n_points,
                p,
            } => {
                let mut v = p.map_or_else(Vector3::zeros, |p| {
                    twist_point_velocity(&u[3 * n_points..], &p)
                });
                let weights = &values[weights..weights + n_points];
                for (w, u) in weights.iter().zip(u.chunks_exact(3)) {
                    v += Vector3::new(u[0], u[1], u[2]) * *w;
                }
                v
            }
            ContactInterpolation::Dense(start) => {
                let mut v = Vector3::zeros();
                let phi = &values[start..start + 3 * u.len()];
                for (column, u) in phi.chunks_exact(3).zip(u) {
                    v += Vector3::new(column[0], column[1], column[2]) * *u;
                }
                v
            }
        }
    }

    /// f += Φᵀγ.
    #[inline]
    pub(crate) fn add_transposed(&self, values: &[f64], gamma: &Vector3<f64>, f: &mut [f64]) {
        match *self {
            ContactInterpolation::Twist { p } => add_wrench(&p, gamma, f),
            ContactInterpolation::Stencil {
                weights,
                n_points,
                p,
            } => {
                let weights = &values[weights..weights + n_points];
                for (w, f) in weights.iter().zip(f.chunks_exact_mut(3)) {
                    f[0] += w * gamma.x;
                    f[1] += w * gamma.y;
                    f[2] += w * gamma.z;
                }
                if let Some(p) = p {
                    add_wrench(&p, gamma, &mut f[3 * n_points..]);
                }
            }
            ContactInterpolation::Dense(start) => {
                let phi = &values[start..start + 3 * f.len()];
                for (column, f) in phi.chunks_exact(3).zip(f) {
                    *f += column[0] * gamma.x + column[1] * gamma.y + column[2] * gamma.z;
                }
            }
        }
    }

    /// K += ΦᵀGΦ, K r×r column-major, G symmetric.
    #[inline]
    pub(crate) fn add_aggregate(&self, values: &[f64], g: &Matrix3<f64>, r: usize, k: &mut [f64]) {
        match *self {
            ContactInterpolation::Twist { p } => add_twist_aggregate(&p, g, 0, r, k),
            ContactInterpolation::Stencil {
                weights,
                n_points,
                p,
            } => {
                let weights = &values[weights..weights + n_points];
                for (j, w_j) in weights.iter().enumerate() {
                    for (i, w_i) in weights.iter().enumerate() {
                        add_block(&(g * (w_i * w_j)), 3 * i, 3 * j, r, k);
                    }
                }
                if let Some(p) = p {
                    // GΦ_ω = −G[p] of the twist part; Φ_v = I.
                    let first = 3 * n_points;
                    let g_omega = -g * p.cross_matrix();
                    for (i, w) in weights.iter().enumerate() {
                        let (omega, linear) = (g_omega * *w, g * *w);
                        add_block(&omega, 3 * i, first, r, k);
                        add_block(&linear, 3 * i, first + 3, r, k);
                        add_block(&omega.transpose(), first, 3 * i, r, k);
                        add_block(&linear, first + 3, 3 * i, r, k);
                    }
                    add_twist_aggregate(&p, g, first, r, k);
                }
            }
            ContactInterpolation::Dense(start) => {
                let phi = &values[start..start + 3 * r];
                for (j, column) in phi.chunks_exact(3).enumerate() {
                    let g_phi = g * Vector3::new(column[0], column[1], column[2]);
                    for (i, row) in phi.chunks_exact(3).enumerate() {
                        k[j * r + i] += row[0] * g_phi.x + row[1] * g_phi.y + row[2] * g_phi.z;
                    }
                }
            }
        }
    }
}

impl RowInterpolation {
    /// Φu.
    #[inline]
    pub(crate) fn velocity(&self, values: &[f64], u: &[f64]) -> f64 {
        match *self {
            RowInterpolation::Coordinate(i) => u[i],
            RowInterpolation::Dense(start) => dot(&values[start..start + u.len()], u),
        }
    }

    /// f += Φᵀγ.
    #[inline]
    pub(crate) fn add_transposed(&self, values: &[f64], gamma: f64, f: &mut [f64]) {
        match *self {
            RowInterpolation::Coordinate(i) => f[i] += gamma,
            RowInterpolation::Dense(start) => {
                for (f, phi) in f.iter_mut().zip(&values[start..]) {
                    *f += phi * gamma;
                }
            }
        }
    }

    /// K += ΦᵀgΦ, K r×r column-major.
    #[inline]
    pub(crate) fn add_aggregate(&self, values: &[f64], g: f64, r: usize, k: &mut [f64]) {
        match *self {
            RowInterpolation::Coordinate(i) => k[i * r + i] += g,
            RowInterpolation::Dense(start) => {
                let phi = &values[start..start + r];
                for (column, phi_j) in k.chunks_exact_mut(r).zip(phi) {
                    for (k, phi_i) in column.iter_mut().zip(phi) {
                        *k += phi_i * phi_j * g;
                    }
                }
            }
        }
    }
}

/// Σ a_i b_i.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// f += (p × γ, γ).
#[inline]
fn add_wrench(p: &Vector3<f64>, gamma: &Vector3<f64>, f: &mut [f64]) {
    let torque = p.cross(gamma);
    let f = &mut f[..6];
    f[0] += torque.x;
    f[1] += torque.y;
    f[2] += torque.z;
    f[3] += gamma.x;
    f[4] += gamma.y;
    f[5] += gamma.z;
}

#[inline]
fn add_block(block: &Matrix3<f64>, row: usize, column: usize, r: usize, k: &mut [f64]) {
    for j in 0..3 {
        let k = &mut k[(column + j) * r + row..][..3];
        k[0] += block[(0, j)];
        k[1] += block[(1, j)];
        k[2] += block[(2, j)];
    }
}

/// K += [−[p]G[p], [p]G; −G[p], G] at (first, first): the aggregate of a twist at O about the point p.
#[inline]
fn add_twist_aggregate(p: &Vector3<f64>, g: &Matrix3<f64>, first: usize, r: usize, k: &mut [f64]) {
    // M = [p]G column by column, then M[p]ᵀ row by row: a row m of M becomes p × m.
    let m0: Vector3<f64> = p.cross(&g.column(0));
    let m1: Vector3<f64> = p.cross(&g.column(1));
    let m2: Vector3<f64> = p.cross(&g.column(2));
    for i in 0..3 {
        let row = p.cross(&Vector3::new(m0[i], m1[i], m2[i]));
        for j in 0..3 {
            k[(first + j) * r + first + i] += row[j];
        }
    }
    for (j, m) in [m0, m1, m2].iter().enumerate() {
        for i in 0..3 {
            k[(first + 3 + j) * r + first + i] += m[i];
            k[(first + i) * r + first + 3 + j] += m[i];
            k[(first + 3 + j) * r + first + 3 + i] += g[(i, j)];
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    /// Φ column by column, through `velocity`.
    fn phi(interpolation: &ContactInterpolation, values: &[f64], r: usize) -> DMatrix<f64> {
        let mut phi = DMatrix::zeros(3, r);
        for j in 0..r {
            let mut u = vec![0.0; r];
            u[j] = 1.0;
            phi.set_column(j, &interpolation.velocity(values, &u));
        }
        phi
    }

    #[track_caller]
    fn check_interpolation(interpolation: &ContactInterpolation, values: &[f64], r: usize) {
        let phi = phi(interpolation, values, r);
        let root = Matrix3::new(1.0, 0.2, -0.3, 0.0, 2.0, 0.7, 0.4, -0.1, 0.5);
        let g = root * root.transpose();
        let mut k = vec![0.0; r * r];
        interpolation.add_aggregate(values, &g, r, &mut k);
        let expected = phi.transpose() * g * &phi;
        let gamma = Vector3::new(0.3, -1.2, 0.8);
        let mut f = vec![0.0; r];
        interpolation.add_transposed(values, &gamma, &mut f);
        let wrench = phi.transpose() * gamma;
        for i in 0..r {
            assert!((f[i] - wrench[i]).abs() < 1e-14, "Φᵀγ at {i}");
            for j in 0..r {
                assert!(
                    (k[j * r + i] - expected[(i, j)]).abs() < 1e-13,
                    "({i}, {j})"
                );
            }
        }
    }

    #[test]
    fn the_twist_aggregate_is_the_plain_congruence() {
        let p = Vector3::new(0.3, -0.8, 1.1);
        check_interpolation(&ContactInterpolation::Twist { p }, &[], 6);
    }

    #[test]
    fn the_stencil_aggregate_is_the_plain_congruence() {
        let weights = [0.2, -0.5, 0.9];
        let stencil = |p| ContactInterpolation::Stencil {
            weights: 0,
            n_points: 3,
            p,
        };
        check_interpolation(&stencil(None), &weights, 9);
        check_interpolation(&stencil(Some(Vector3::new(0.1, 0.4, -0.6))), &weights, 15);
    }

    #[test]
    fn the_dense_aggregate_is_the_plain_congruence() {
        let values: Vec<f64> = (0..12).map(|i| (f64::from(i) * 1.7).sin()).collect();
        check_interpolation(&ContactInterpolation::Dense(0), &values, 4);
    }
}
