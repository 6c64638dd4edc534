//! An attachment between crossing edges of two deforming surfaces at an iterate.
//!
//! With the pull T of the relaxed attachment, its places α, β and m, which fades where the edges are nearly parallel,
//!
//! ```text
//! f = κ m T        on a₀, a₁, b₀, b₁: ω f with ω = 1 − α, α, β − 1, −β
//! δf = κ m δT + T (κ' m δd + κ δm)        δ(ω f) = ω δf + f δω
//! ```
//!
//! f leads from the one place to the other, so the four forces have no net torque, apart from that of the distance at which the edges are kept.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_hydroelastic::{Branch, EdgesRelaxed};

use super::attachment::EdgeCrossing;
use super::pull::Pull;
use super::vertex_place::VertexPlace;

/// A relaxed attachment between two edges, and the force.
#[derive(Clone, Debug)]
pub(super) struct OnEdges {
    pub(super) relaxed: EdgesRelaxed,
    /// a₀, a₁, b₀, b₁: the places of their bodies, and the vertices.
    pub(super) ends: [(usize, u32); 4],
    /// On the first edge.
    pub(super) force: Vector3<f64>,
    /// Where it acts on each.
    pub(super) points: [Point3<f64>; 2],
    /// Of each end: the derivative of the forces on all four by its position.
    pub(super) by: [[Matrix3<f64>; 4]; 4],
}

impl OnEdges {
    /// Of the edges of surfaces in these places.
    pub(super) fn new(crossing: &EdgeCrossing, [first, second]: [usize; 2]) -> Self {
        let [[a_0, a_1], [b_0, b_1]] = [crossing.first, crossing.second];
        Self {
            relaxed: EdgesRelaxed::default(),
            ends: [(first, a_0), (first, a_1), (second, b_0), (second, b_1)],
            force: Vector3::zeros(),
            points: [Point3::origin(); 2],
            by: [[Matrix3::zeros(); 4]; 4],
        }
    }

    /// Relaxes the attachment of the last step and evaluates the force.
    pub(super) fn evaluate(
        &mut self,
        vertices: &[VertexPlace],
        pull: &Pull,
        crossing: &EdgeCrossing,
    ) {
        let ends = self
            .ends
            .map(|(place, v)| vertices[place].at_end[v as usize]);
        let EdgeCrossing { facing, at, .. } = *crossing;
        self.relaxed
            .relax(&ends, &pull.friction, facing, at, pull.distance);
        let [alpha, beta] = self.relaxed.at;
        self.points = [
            ends[0] + (ends[1] - ends[0]) * alpha,
            ends[2] + (ends[3] - ends[2]) * beta,
        ];
        let kappa = pull.secant(self.relaxed.depth).0;
        self.force = self.relaxed.pull * (kappa * self.relaxed.fading);
    }

    /// ω: the part of the force that each end takes.
    pub(super) fn weights(&self) -> [f64; 4] {
        let [alpha, beta] = self.relaxed.at;
        [1.0 - alpha, alpha, beta - 1.0, -beta]
    }

    /// Differentiates the forces of the last evaluation.
    pub(super) fn linearise(&mut self, pull: &Pull) {
        if self.relaxed.branch == Branch::Separate {
            self.by = [[Matrix3::zeros(); 4]; 4];
            return;
        }
        let EdgesRelaxed {
            depth,
            pull: stretch,
            fading,
            at_by,
            depth_by,
            pull_by,
            fading_by,
            ..
        } = &self.relaxed;
        let (kappa, slope) = pull.secant(*depth);
        let weights = self.weights();
        for j in 0..4 {
            let factor_by = depth_by[j] * (slope * fading) + fading_by[j] * kappa;
            let f_by = pull_by[j] * (kappa * fading) + stretch * factor_by;
            let [alpha_by, beta_by] = at_by[j];
            let weights_by = [-alpha_by, alpha_by, beta_by, -beta_by];
            self.by[j] = std::array::from_fn(|i| f_by * weights[i] + self.force * weights_by[i]);
        }
    }
}
