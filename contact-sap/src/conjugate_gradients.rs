//! Preconditioned conjugate gradients on H = A + ΣBᵀKB, which is never formed.

use crate::evaluation::Evaluation;
use crate::island::IslandProblem;
use crate::long_vectors::{add_scaled, dot, scale_and_add, scaled_norm_squared, step_along};

/// Memory of one island's systems.
#[derive(Default)]
pub(crate) struct ConjugateGradients {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    a_p: Vec<f64>,
    h_p: Vec<f64>,
    x: Vec<f64>,
    a_x: Vec<f64>,
    coordinates: Vec<f64>,
}

/// When to stop: the relative residual in the norm ‖D·‖, and the number of iterations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) relative_residual: f64,
    pub(crate) iterations_max: usize,
}

/// Result of a solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) iterations: usize,
    /// Whether the residual reached its target or round-off.
    pub(crate) converged: bool,
}

impl ConjugateGradients {
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        let n = p.island.n_dofs;
        for x in [
            &mut self.r,
            &mut self.z,
            &mut self.p,
            &mut self.a_p,
            &mut self.h_p,
            &mut self.x,
            &mut self.a_x,
        ] {
            x.resize(n, 0.0);
        }
        self.coordinates.resize(2 * p.island.n_coordinates, 0.0);
    }

    /// x ← H⁻¹x within `limits`; `precondition` writes M⁻¹r into its second argument.
    ///
    /// Also an unconverged x is a direction of descent. [`ConjugateGradients::product`] is A x.
    pub(crate) fn solve(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        limits: Limits,
        x: &mut [f64],
        mut precondition: impl FnMut(&[f64], &mut [f64]),
    ) -> Reached {
        self.r.copy_from_slice(x);
        self.x.fill(0.0);
        self.a_x.fill(0.0);
        let target = limits.relative_residual.powi(2) * scaled_norm_squared(&self.r, &e.scale);
        precondition(&self.r, &mut self.z);
        self.p.copy_from_slice(&self.z);
        let mut rz = dot(&self.r, &self.z);
        let mut reached = Reached {
            iterations: 0,
            converged: true,
        };
        while rz > 0.0 {
            if reached.iterations == limits.iterations_max {
                reached.converged = false;
                break;
            }
            p.apply(&self.p, &mut self.a_p);
            self.h_p.copy_from_slice(&self.a_p);
            add_contact_product(p, e, &self.p, &mut self.coordinates, &mut self.h_p);
            let curvature = dot(&self.p, &self.h_p);
            if curvature <= 0.0 {
                if reached.iterations == 0 {
                    // Still a direction of descent; `Progress::advance` rejects an indefinite A.
                    self.x.copy_from_slice(&self.p);
                    self.a_x.copy_from_slice(&self.a_p);
                }
                break;
            }
            let alpha = rz / curvature;
            add_scaled(&mut self.a_x, alpha, &self.a_p);
            let (x, r) = (
                (&mut self.x[..], &self.p[..]),
                (&mut self.r[..], &self.h_p[..]),
            );
            let norm_squared = step_along(alpha, x, r, &e.scale);
            reached.iterations += 1;
            if norm_squared <= target {
                break;
            }
            precondition(&self.r, &mut self.z);
            let next = dot(&self.r, &self.z);
            scale_and_add(&mut self.p, next / rz, &self.z);
            rz = next;
        }
        x.copy_from_slice(&self.x);
        reached
    }

    /// A x of the last solution.
    pub(crate) fn product(&self) -> &[f64] {
        &self.a_x
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
    let active = p.island.bases.iter().zip(&e.active).filter(|(_, a)| **a);
    for (basis, _) in active {
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
