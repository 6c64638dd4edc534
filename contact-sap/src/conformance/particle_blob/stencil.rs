//! Quadratic B-splines: how a particle sees the 27 nodes about it.

use nalgebra::Vector3;

/// A particle's place in the grid: the least of its 27 nodes.
pub(super) type Cell = [i32; 3];

/// Weights of a particle at its 27 nodes, x slowest, and their gradients.
pub(super) struct Stencil {
    pub(super) base: Cell,
    weights: [[f64; 3]; 3],
    slopes: [[f64; 3]; 3],
    /// From the particle to its least node, m.
    to_base: Vector3<f64>,
    cell: f64,
}

impl Stencil {
    pub(super) fn about(x: &Vector3<f64>, cell: f64) -> Self {
        let (mut base, mut weights, mut slopes) = ([0; 3], [[0.0; 3]; 3], [[0.0; 3]; 3]);
        let mut to_base = Vector3::zeros();
        for k in 0..3 {
            let scaled = x[k] / cell;
            let least = (scaled - 0.5).floor();
            let f = scaled - least;
            base[k] = least as i32;
            weights[k] = [
                0.5 * (1.5 - f).powi(2),
                0.75 - (f - 1.0).powi(2),
                0.5 * (f - 0.5).powi(2),
            ];
            slopes[k] = [f - 1.5, 2.0 - 2.0 * f, f - 0.5].map(|s| s / cell);
            to_base[k] = -f * cell;
        }
        Self {
            base,
            weights,
            slopes,
            to_base,
            cell,
        }
    }

    pub(super) fn weight(&self, node: usize) -> f64 {
        let [i, j, k] = corner(node);
        self.weights[0][i] * self.weights[1][j] * self.weights[2][k]
    }

    pub(super) fn gradient(&self, node: usize) -> Vector3<f64> {
        let [i, j, k] = corner(node);
        let (w, s) = (&self.weights, &self.slopes);
        Vector3::new(
            s[0][i] * w[1][j] * w[2][k],
            w[0][i] * s[1][j] * w[2][k],
            w[0][i] * w[1][j] * s[2][k],
        )
    }

    /// From the particle to a node, m.
    pub(super) fn arm(&self, node: usize) -> Vector3<f64> {
        self.to_base + Vector3::from(corner(node).map(|c| c as f64)) * self.cell
    }
}

pub(super) fn corner(node: usize) -> [usize; 3] {
    [node / 9, node / 3 % 3, node % 3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;

    #[test]
    fn weights_are_a_partition_that_reproduces_position() {
        let x = Vector3::new(0.0123, -0.0371, 0.2);
        let stencil = Stencil::about(&x, 0.02);
        let weights: f64 = (0..27).map(|k| stencil.weight(k)).sum();
        assert!((weights - 1.0).abs() < 1e-15);
        let arms: Vector3<f64> = (0..27).map(|k| stencil.arm(k) * stencil.weight(k)).sum();
        assert!(arms.norm() < 1e-16);
        let gradients: Matrix3<f64> = (0..27)
            .map(|k| stencil.arm(k) * stencil.gradient(k).transpose())
            .sum();
        assert!((gradients - Matrix3::identity()).norm() < 1e-14);
        let spread: Matrix3<f64> = (0..27)
            .map(|k| stencil.arm(k) * stencil.arm(k).transpose() * stencil.weight(k))
            .sum();
        assert!((spread - Matrix3::identity() * 0.02 * 0.02 / 4.0).norm() < 1e-16);
    }
}
