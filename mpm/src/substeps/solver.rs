//! Solvers of the contact problem of a substep, by name.

use super::contact_problem::ContactProblem;
use super::gauss_seidel;
use super::links::RigidLinks;
use super::newton_cg::NewtonCg;
use super::quasi_newton::QuasiNewton;

/// Sweeps of Gauss-Seidel before Newton's method takes over.
const SWEEPS_MAX: u32 = 40;

/// Which solver. All that converge reach the same minimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubstepSolver {
    /// Contact by contact, from the impulses of the last substep; continued by [`NewtonCg`](Self::NewtonCg) where that takes too many sweeps,
    /// as it does where many particles touch a light body.
    #[default]
    GaussSeidel,
    /// Newton's method with conjugate gradients.
    NewtonCg,
    /// Descent along the diagonal blocks, as published. It stalls on stiff contact, and then reports so.
    QuasiNewton,
}

impl SubstepSolver {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::GaussSeidel, Self::NewtonCg, Self::QuasiNewton];
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Solved {
    /// Sweeps, or products with the Hessian.
    pub(super) iterations: u32,
    pub(super) is_converged: bool,
}

/// Workspaces of all solvers.
#[derive(Clone, Debug, Default)]
pub(super) struct Solvers {
    newton_cg: NewtonCg,
    quasi_newton: QuasiNewton,
}

impl Solvers {
    pub(super) fn solve(
        &mut self,
        solver: SubstepSolver,
        problem: &mut ContactProblem,
        links: &mut RigidLinks,
        tolerance: f64,
        iterations_max: u32,
    ) -> Solved {
        match solver {
            SubstepSolver::GaussSeidel => {
                let sweeps = SWEEPS_MAX.min(iterations_max);
                let swept = gauss_seidel::solve(problem, links, tolerance, sweeps);
                if swept.is_converged || swept.iterations >= iterations_max {
                    return swept;
                }
                let left = iterations_max - swept.iterations;
                let solved = self.newton_cg.solve(problem, links, tolerance, left);
                Solved {
                    iterations: swept.iterations + solved.iterations,
                    ..solved
                }
            }
            SubstepSolver::NewtonCg => {
                self.newton_cg
                    .solve(problem, links, tolerance, iterations_max)
            }
            SubstepSolver::QuasiNewton => {
                self.quasi_newton
                    .solve(problem, links, tolerance, iterations_max)
            }
        }
    }
}
