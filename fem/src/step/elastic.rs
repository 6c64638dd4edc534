//! Stresses and tangents of nonlinear laws for one set of vertex positions, kept until they are asked for at others.
//!
//! Forces and their derivative are wanted at the same positions, and a step begins where the last one ended. Both follow from the principal stretches of each
//! domain, whose decompositions are computed for several domains side by side.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::SignedSvd;

use crate::material::Tangent;
use crate::parallel;
use crate::parts::Parts;

/// Domains whose decompositions are computed by one thread.
const CHUNK: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Elastic {
    positions: Vec<Vector3<f64>>,
    deformations: Vec<Matrix3<f64>>,
    decompositions: Vec<SignedSvd>,
    /// P of each domain, Pa.
    pub(super) stresses: Vec<Matrix3<f64>>,
    /// ∂P/∂F of each domain, Pa.
    pub(super) tangents: Vec<Tangent>,
}

impl Elastic {
    /// Evaluates the laws at these positions, unless they are those of the last call.
    pub(super) fn evaluate(&mut self, parts: &Parts, positions: &[Vector3<f64>]) {
        if self.positions == positions {
            return;
        }
        // Until all is evaluated it is that of no positions.
        self.positions.clear();
        let n = parts.domains.len();
        self.deformations.resize(n, Matrix3::zeros());
        parallel::fill(&mut self.deformations, |d| parts.deformation(d, positions));
        let unit = SignedSvd {
            U: Matrix3::identity(),
            stretches: Vector3::repeat(1.0),
            V: Matrix3::identity(),
        };
        self.decompositions.resize(n, unit);
        let deformations = &self.deformations;
        parallel::fill_chunks(&mut self.decompositions, CHUNK, |first, out| {
            SignedSvd::of_all(&deformations[first..], out);
        });
        let decompositions = &self.decompositions;
        self.stresses.resize(n, Matrix3::zeros());
        parallel::fill(&mut self.stresses, |d| {
            parts
                .laws
                .at(d)
                .stress_at(&deformations[d], &decompositions[d])
        });
        let none = || Tangent::Hooke {
            rotation: Matrix3::zeros(),
            hooke: parts.laws.at(0).hooke,
        };
        self.tangents.resize_with(n, none);
        parallel::fill(&mut self.tangents, |d| {
            parts
                .laws
                .at(d)
                .tangent_at(&deformations[d], &decompositions[d])
        });
        self.positions.extend_from_slice(positions);
    }
}
