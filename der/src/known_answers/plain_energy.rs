//! A direct implementation of the elastic energy in hyper-dual numbers: the reference for the derivatives.

use nalgebra::Vector3;

use super::hyper_dual::HyperDual;
use crate::{Closure, NaturalStrain, RodProperties};

type H = HyperDual;
type V = [H; 3];

fn constant(v: &Vector3<f64>) -> V {
    [v.x, v.y, v.z].map(H::constant)
}
fn dot(a: &V, b: &V) -> H {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: &V, b: &V) -> V {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
fn times(a: &V, s: H) -> V {
    a.map(|x| x * s)
}
fn plus(a: &V, b: &V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
fn minus(a: &V, b: &V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn transport(t_0: &V, t: &V, v: &V) -> V {
    let (w, c) = (cross(t_0, t), dot(t_0, t));
    let along = times(&w, dot(&w, v) / (H::constant(1.0) + c));
    plus(&plus(&times(v, c), &cross(&w, v)), &along)
}

/// The data of a rod without clamp edges, with the reference frames of its last accepted state.
pub(super) struct PlainRod {
    pub(super) closure: Closure,
    pub(super) n_nodes: usize,
    pub(super) properties: RodProperties,
    pub(super) natural: NaturalStrain,
    pub(super) rest: Vec<f64>,
    pub(super) tangents: Vec<Vector3<f64>>,
    pub(super) directors: Vec<Vector3<f64>>,
}

impl PlainRod {
    /// E(q), nodes and angles in the order of the rod.
    pub(super) fn energy(&self, q: &[H]) -> H {
        let n = self.n_nodes;
        let n_edges = self.rest.len();
        let x = |i: usize| -> V { [q[4 * i], q[4 * i + 1], q[4 * i + 2]] };
        let half = H::constant(0.5);
        let mut energy = H::constant(0.0);
        let mut frames = Vec::new();
        for i in 0..n_edges {
            let e = minus(&x((i + 1) % n), &x(i));
            let l = dot(&e, &e).sqrt();
            let t = times(&e, H::constant(1.0) / l);
            let strain = l * (1.0 / self.rest[i]) - H::constant(1.0);
            energy = energy + strain * strain * (0.5 * self.properties.stretch * self.rest[i]);
            let d_1 = transport(
                &constant(&self.tangents[i]),
                &t,
                &constant(&self.directors[i]),
            );
            let d_2 = cross(&t, &d_1);
            let (sin, cos) = (q[4 * i + 3].sin(), q[4 * i + 3].cos());
            let m_1 = plus(&times(&d_1, cos), &times(&d_2, sin));
            let m_2 = minus(&times(&d_2, cos), &times(&d_1, sin));
            frames.push((t, d_1, m_1, m_2));
        }
        let joints = match self.closure {
            Closure::Open => n_edges - 1,
            Closure::Closed => n_edges,
        };
        for j in 0..joints {
            let (a, b) = (j, (j + 1) % n_edges);
            let ((t, d_a, m_1a, m_2a), (u, d_b, m_1b, m_2b)) = (&frames[a], &frames[b]);
            let v = 0.5 * (self.rest[a] + self.rest[b]);
            let chi = H::constant(1.0) + dot(t, u);
            let kappa = times(&cross(t, u), H::constant(2.0) / chi);
            let k_1 = dot(&kappa, &plus(m_2a, m_2b)) * half;
            let k_2 = -(dot(&kappa, &plus(m_1a, m_1b)) * half);
            let carried = transport(t, u, d_a);
            let beta = dot(u, &cross(&carried, d_b)).atan2(dot(&carried, d_b));
            let tau = q[4 * b + 3] - q[4 * a + 3] + beta;
            let NaturalStrain {
                curvature_1,
                curvature_2,
                twist_rate,
            } = self.natural;
            let size = curvature_1.hypot(curvature_2);
            let scale = 2.0 * (0.5 * size * v).tan() / size;
            let off = |s: H, natural: f64| {
                let d = s - H::constant(natural);
                d * d
            };
            energy = energy
                + off(k_1, curvature_1 * scale) * (0.5 * self.properties.bend_1 / v)
                + off(k_2, curvature_2 * scale) * (0.5 * self.properties.bend_2 / v)
                + off(tau, twist_rate * v) * (0.5 * self.properties.twist / v);
        }
        energy
    }
}
