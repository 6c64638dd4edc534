//! The state of a walk along an edge, with W the projection of Z on the edge's line.
//!
//! ```text
//! E = q − p    ζ_W = (Z − p)·E/|E|²    d = |Z − W|    h = (Z − W)/d
//! ζ' = ζ_W + sgn(ζ − ζ_W) μ d/|E|
//! dζ_W = (E·(dZ − (1 − ζ_W) dp − ζ_W dq) + (Z − W)·(dq − dp))/|E|²
//! dζ' = dζ_W + sgn(ζ − ζ_W) μ (h·(dZ − (1 − ζ_W) dp − ζ_W dq)/|E| − d E·(dq − dp)/|E|³)
//! ```
//!
//! With anisotropic friction |E| is √(EᵀM E) where it divides μ d. Where a slide along an edge ends does not depend on where it began.

use nalgebra::{Matrix3, RowVector3};

use super::derivative::Variable;
use super::{Moved, Next, Walk, WalkEnd};

impl Walk<'_> {
    pub(super) fn on_edge(&mut self, edge: usize) -> Next {
        let (first, second) = (edge, (edge + 1) % 3);
        let corners = self.surface.triangle(self.triangle);
        let (v_p, v_q) = (corners[first], corners[second]);
        let (p, q) = (self.vertices[v_p as usize], self.vertices[v_q as usize]);
        let along = q - p;
        let length = along.norm();
        let weighed = self.friction.length(&along);
        let foot = (self.particle - p).dot(&along) / (length * length);
        let apart = self.particle - (p + along * foot);
        let depth = apart.norm();
        let zeta = self.weights[second];
        let mu = self.friction.sliding;
        if mu > 0.0 && (zeta - foot).abs() * weighed <= mu * depth {
            return Next::End(WalkEnd::Edge);
        }
        let sense = if zeta < foot { -1.0 } else { 1.0 };
        let slid = foot + sense * mu * depth / weighed;
        if !(0.0..=1.0).contains(&slid) {
            let corner = if slid < 0.0 { first } else { second };
            self.move_to_corner(corner);
            return Next::Vertex(corner);
        }
        self.weights = [0.0; 3];
        self.weights[first] = 1.0 - slid;
        self.weights[second] = slid;
        self.derivative.clear();
        let unit = along.transpose() / length;
        let outwards = if depth > 0.0 {
            apart.transpose() / depth
        } else {
            RowVector3::zeros()
        };
        let square = length * length;
        // By a displacement of W relative to Z, and by one of q relative to p.
        let by_offset = unit / length + outwards * (sense * mu / weighed);
        let slope = self.friction.length_slope(&along, weighed).transpose();
        let by_stretch =
            apart.transpose() / square - slope * (sense * mu * depth / (weighed * weighed));
        let terms = [
            (Variable::Particle, by_offset),
            (Variable::Vertex(v_p), by_offset * (foot - 1.0) - by_stretch),
            (Variable::Vertex(v_q), by_offset * -foot + by_stretch),
        ];
        for (variable, by) in terms {
            let mut matrix = Matrix3::zeros();
            matrix.set_row(first, &-by);
            matrix.set_row(second, &by);
            *self.derivative.entry(variable) = matrix;
        }
        self.moved = Moved::Yes;
        Next::End(WalkEnd::Edge)
    }
}
