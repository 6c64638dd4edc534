//! Solvers of the contact problem of a substep, by name.

use super::gauss_seidel::GaussSeidel;
use super::majoriser::Majoriser;
use super::newton_cg::NewtonCg;
use super::quasi_newton::QuasiNewton;
use super::solver::SubstepContactSolver;

/// Which solver. All that converge reach the same minimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubstepSolver {
    /// Contact by contact, from the impulses of the last substep; continued by [`NewtonCg`](Self::NewtonCg) where that takes too many sweeps,
    /// as it does where many particles touch a light body.
    #[default]
    GaussSeidel,
    /// Steps to the minimum of a quadratic upper bound, accelerated: all contacts at once, with two sums over them in an iteration.
    Majoriser,
    /// Newton's method with conjugate gradients.
    NewtonCg,
    /// Descent along the diagonal blocks, as published. It stalls on stiff contact, and then reports so.
    QuasiNewton,
}

impl SubstepSolver {
    /// All of them, with their names.
    pub const NAMES: [(&str, Self); 4] = [
        ("gauss-seidel", Self::GaussSeidel),
        ("majoriser", Self::Majoriser),
        ("newton-cg", Self::NewtonCg),
        ("quasi-newton", Self::QuasiNewton),
    ];

    /// A solver with an empty workspace.
    pub(super) fn build(self) -> Box<dyn SubstepContactSolver> {
        match self {
            Self::GaussSeidel => Box::new(GaussSeidel::default()),
            Self::Majoriser => Box::new(Majoriser::default()),
            Self::NewtonCg => Box::new(NewtonCg::default()),
            Self::QuasiNewton => Box::new(QuasiNewton::default()),
        }
    }
}

/// The solver in use, built when it is first asked for.
#[derive(Default)]
pub(super) struct ChosenSolver(Option<(SubstepSolver, Box<dyn SubstepContactSolver>)>);

impl ChosenSolver {
    pub(super) fn of(&mut self, chosen: SubstepSolver) -> &mut dyn SubstepContactSolver {
        if self.0.as_ref().is_none_or(|(kind, _)| *kind != chosen) {
            self.0 = Some((chosen, chosen.build()));
        }
        let (_, solver) = self.0.as_mut().expect("just built");
        solver.as_mut()
    }
}
