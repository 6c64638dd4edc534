//! Systems of H = A + ΣBᵀKB by conjugate gradients; H is never formed.

use crate::conjugate_gradients::{
    CgLimits, CgReport, CgStop, ConjugateGradients, PreconditionedSystem, ResidualNorm,
};
use crate::evaluation::Evaluation;
use crate::island::IslandProblem;
use crate::long_vectors::add_scaled;

/// Memory of one island's systems.
#[derive(Default)]
pub(super) struct HessianProducts {
    cg: ConjugateGradients,
    b: Vec<f64>,
    memory: ProductMemory,
}

#[derive(Default)]
struct ProductMemory {
    a_p: Vec<f64>,
    a_x: Vec<f64>,
    coordinates: Vec<f64>,
}

/// When to stop: the relative residual in the norm ‖D·‖, and the number of iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) relative_residual: f64,
    pub(super) iterations_max: usize,
}

impl HessianProducts {
    pub(super) fn begin(&mut self, p: &IslandProblem<'_>) {
        let n = p.island.n_dofs;
        for x in [&mut self.b, &mut self.memory.a_p, &mut self.memory.a_x] {
            x.resize(n, 0.0);
        }
        let coordinates = &mut self.memory.coordinates;
        coordinates.resize(2 * p.island.n_coordinates, 0.0);
    }

    /// x ← H⁻¹x within `limits`; `precondition` writes M⁻¹r into its second argument.
    ///
    /// Also an unconverged x is a direction of descent. [`HessianProducts::product`] is A x.
    pub(super) fn solve(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        limits: Limits,
        x: &mut [f64],
        precondition: impl FnMut(&[f64], &mut [f64]),
    ) -> CgReport {
        self.b.copy_from_slice(x);
        self.memory.a_x.fill(0.0);
        let mut system = HessianSystem {
            p,
            e,
            memory: &mut self.memory,
            precondition,
        };
        let limits = CgLimits {
            norm: ResidualNorm::Scaled(&e.scale),
            relative_residual: limits.relative_residual,
            iterations_max: limits.iterations_max,
        };
        self.cg.solve(&mut system, limits, &self.b, x)
    }

    /// A x of the last solution.
    pub(super) fn product(&self) -> &[f64] {
        &self.memory.a_x
    }
}

/// Whether a direction may replace that of a factorisation: converged to its target or to round-off.
pub(super) fn is_usable(report: CgReport) -> bool {
    matches!(report.stop, CgStop::Converged | CgStop::Indefinite)
}

struct HessianSystem<'a, M> {
    p: &'a IslandProblem<'a>,
    e: &'a Evaluation,
    memory: &'a mut ProductMemory,
    precondition: M,
}

impl<M: FnMut(&[f64], &mut [f64])> PreconditionedSystem for HessianSystem<'_, M> {
    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        let ProductMemory {
            a_p, coordinates, ..
        } = &mut *self.memory;
        self.p.apply(x, a_p);
        y.copy_from_slice(a_p);
        add_contact_product(self.p, self.e, x, coordinates, y);
    }

    fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        (self.precondition)(r, z);
    }

    fn stepped(&mut self, alpha: f64) {
        add_scaled(&mut self.memory.a_x, alpha, &self.memory.a_p);
    }
}

/// y += ΣBᵀKB x.
fn add_contact_product(
    p: &IslandProblem<'_>,
    e: &Evaluation,
    x: &[f64],
    coordinates: &mut [f64],
    y: &mut [f64],
) {
    let set = p.set();
    for basis in e.active_bases(p) {
        let r = basis.n_rows;
        let (u, f) = coordinates[2 * basis.row0..2 * (basis.row0 + r)].split_at_mut(r);
        u.fill(0.0);
        let pieces = &p.island.pieces[basis.pieces.clone()];
        for piece in pieces {
            piece.add_product(set, x, u);
        }
        e.aggregate_product(p, basis, u, f);
        for piece in pieces {
            piece.add_transposed_product(set, f, y);
        }
    }
}
