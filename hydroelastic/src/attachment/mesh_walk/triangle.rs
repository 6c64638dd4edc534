//! The state of a walk on a triangle.

use nalgebra::{Matrix3, RowVector3, Vector3};

use super::Walk;
use super::derivative::{Variable, displacement};

/// The slide towards W over one triangle.
pub(super) struct Crossing {
    corners: [Vector3<f64>; 3],
    vertices: [u32; 3],
    normal: Vector3<f64>,
    /// Rows G_i.
    gradients: Matrix3<f64>,
    phi: f64,
    /// ω.
    foot: [f64; 3],
    /// d.
    pub(super) depth: f64,
    /// r.
    offset: Vector3<f64>,
    /// √(rᵀM r), |r| where friction is the same in all directions.
    pub(super) length: f64,
}

impl Crossing {
    pub(super) fn new(walk: &Walk<'_>) -> Self {
        let vertices = walk.surface.triangle(walk.triangle);
        let corners = vertices.map(|v| walk.vertices[v as usize].coords);
        let [a, b, c] = corners;
        let area = (b - a).cross(&(c - a));
        let twice_area = area.norm();
        let normal = area / twice_area;
        let gradient =
            |from: Vector3<f64>, to: Vector3<f64>| normal.cross(&(to - from)) / twice_area;
        let rows = [gradient(b, c), gradient(c, a), gradient(a, b)];
        let from_corner = [b, c, a].map(|corner| walk.particle.coords - corner);
        let foot = [0, 1, 2].map(|i| rows[i].dot(&from_corner[i]));
        let phi = normal.dot(&(walk.particle.coords - a));
        let terms = (0..3).map(|i| corners[i] * (walk.weights[i] - foot[i]));
        let offset = terms.sum::<Vector3<f64>>();
        Self {
            corners,
            vertices,
            normal,
            gradients: Matrix3::from_rows(&rows.map(|row| row.transpose())),
            phi,
            foot,
            depth: phi.abs(),
            length: walk.friction.length(&offset),
            offset,
        }
    }

    /// G_i.
    pub(super) fn gradient(&self, i: usize) -> Vector3<f64> {
        self.gradients.row(i).transpose()
    }

    pub(super) fn corner(&self, i: usize) -> Vector3<f64> {
        self.corners[i]
    }

    /// ∂d/∂y for the particle and the three vertices.
    pub(super) fn depth_by(&self) -> impl Iterator<Item = (Variable, RowVector3<f64>)> + '_ {
        let variables = self.foot_by().map(|(variable, _)| variable);
        let by = self.phi_by().map(|by| by * self.phi.signum());
        variables.into_iter().zip(by)
    }

    /// s, for an attachment outside of the cone.
    pub(super) fn slide(&self, mu: f64) -> f64 {
        if self.length > 0.0 {
            (mu * self.depth / self.length).min(1.0)
        } else {
            0.0
        }
    }

    /// ω + s (w − ω).
    pub(super) fn slid(&self, weights: &[f64; 3], s: f64) -> [f64; 3] {
        [0, 1, 2].map(|i| self.foot[i] + s * (weights[i] - self.foot[i]))
    }

    /// The corner opposite the edge over which the segment to W leaves, and t there. The exit does not depend on s.
    pub(super) fn exit(&self, weights: &[f64; 3], slid: &[f64; 3]) -> (usize, f64) {
        let mut first = (0, f64::INFINITY);
        for i in (0..3).filter(|&i| slid[i] < 0.0) {
            let t = weights[i] / (weights[i] - self.foot[i]);
            if t < first.1 {
                first = (i, t);
            }
        }
        first
    }

    /// (1 − t) w + t ω, with exact zeros and the sum one.
    pub(super) fn left(&self, weights: &[f64; 3], opposite: usize, t: f64) -> [f64; 3] {
        let mut out = [0, 1, 2].map(|i| ((1.0 - t) * weights[i] + t * self.foot[i]).max(0.0));
        out[opposite] = 0.0;
        let sum: f64 = out.iter().sum();
        out.map(|w| w / sum)
    }

    /// ∂ω/∂y for the particle and the three vertices; [`Crossing::phi_by`] in the same order.
    fn foot_by(&self) -> [(Variable, Matrix3<f64>); 4] {
        let of_vertex = |j: usize| {
            let g_j = self.gradients.row(j).transpose();
            let bending = self.gradients * g_j * self.normal.transpose() * self.phi;
            (
                Variable::Vertex(self.vertices[j]),
                bending - self.gradients * self.foot[j],
            )
        };
        [
            (Variable::Particle, self.gradients),
            of_vertex(0),
            of_vertex(1),
            of_vertex(2),
        ]
    }

    fn phi_by(&self) -> [RowVector3<f64>; 4] {
        let n = self.normal.transpose();
        [n, n * -self.foot[0], n * -self.foot[1], n * -self.foot[2]]
    }

    /// dw' = dω + s (dw − dω) + (w − ω) ds.
    pub(super) fn carry_slide(&self, walk: &mut Walk<'_>, s: f64) {
        let weights = walk.weights;
        let ahead = Vector3::from_fn(|i, _| weights[i] - self.foot[i]);
        let own = self.foot_by();
        for (variable, _) in &own {
            walk.derivative.entry(*variable);
        }
        let moving = walk.friction.sliding > 0.0 && self.length > 0.0;
        let slope = if moving {
            walk.friction.length_slope(&self.offset, self.length)
        } else {
            Vector3::zeros()
        };
        let mu = walk.friction.sliding;
        for (variable, by) in walk.derivative.terms_mut() {
            let mut foot_by = Matrix3::zeros();
            let mut depth_by = RowVector3::zeros();
            let mut offset_by = Matrix3::zeros();
            for (k, ((known, matrix), phi_by)) in own.iter().zip(self.phi_by()).enumerate() {
                if known == variable {
                    foot_by = *matrix;
                    depth_by = phi_by * self.phi.signum();
                    if k > 0 {
                        offset_by = Matrix3::identity() * ahead[k - 1];
                    }
                }
            }
            let difference = *by - foot_by;
            offset_by += displacement(&self.corners, &difference);
            *by = foot_by + difference * s;
            if moving {
                let s_by = (depth_by * mu - slope.transpose() * offset_by * s) / self.length;
                *by += ahead * s_by;
            }
        }
    }

    /// dw' = (1 − t) dw + t dω + (ω − w) dt, with dt = (a dω_i − c dw_i)/(a − c)² for a = w_i, c = ω_i.
    pub(super) fn carry_exit(&self, walk: &mut Walk<'_>, opposite: usize, t: f64) {
        let weights = walk.weights;
        let (a, c) = (weights[opposite], self.foot[opposite]);
        let back = Vector3::from_fn(|i, _| self.foot[i] - weights[i]);
        let own = self.foot_by();
        for (variable, _) in &own {
            walk.derivative.entry(*variable);
        }
        for (variable, by) in walk.derivative.terms_mut() {
            let known = own.iter().find(|(known, _)| known == variable);
            let foot_by = known.map_or_else(Matrix3::zeros, |(_, matrix)| *matrix);
            let t_by = (foot_by.row(opposite) * a - by.row(opposite) * c) / ((a - c) * (a - c));
            *by = *by * (1.0 - t) + foot_by * t + back * t_by;
            by.row_mut(opposite).fill(0.0);
        }
    }
}
