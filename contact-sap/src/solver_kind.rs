//! Solvers by name.

use std::fmt;
use std::str::FromStr;

use crate::gauss_seidel::{GAUSS_SEIDEL, GaussSeidel, GaussSeidelSettings};
use crate::newton::{NEWTON, Newton, NewtonSettings};
use crate::newton_cg::{NewtonCg, NewtonCgSettings};
use crate::quasi_newton::{QUASI_NEWTON, QuasiNewton, QuasiNewtonSettings};
use crate::solver::{ConvexContactSolver, StopCriteria};

/// The solvers of this crate, for choosing one at run time.
///
/// ```
/// use pliant_contact_sap::{SolverKind, StopCriteria};
///
/// let kind: SolverKind = "newton".parse()?;
/// let solver = kind.build(StopCriteria::default());
/// # let _ = solver;
/// # Ok::<(), pliant_contact_sap::UnknownSolver>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SolverKind {
    /// `newton`: [`Newton`].
    #[default]
    Newton,
    /// `newton-cg`: [`NewtonCg`].
    NewtonCg,
    /// `quasi-newton`: [`QuasiNewton`].
    QuasiNewton,
    /// `gauss-seidel`: [`GaussSeidel`].
    GaussSeidel,
}

impl SolverKind {
    /// All kinds.
    pub const ALL: [SolverKind; 4] = [
        SolverKind::Newton,
        SolverKind::NewtonCg,
        SolverKind::QuasiNewton,
        SolverKind::GaussSeidel,
    ];

    /// Its name in scene files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SolverKind::Newton => NEWTON,
            SolverKind::NewtonCg => "newton-cg",
            SolverKind::QuasiNewton => QUASI_NEWTON,
            SolverKind::GaussSeidel => GAUSS_SEIDEL,
        }
    }

    /// A solver of this kind, with its defaults and the given criteria.
    #[must_use]
    pub fn build(self, stop: StopCriteria) -> Box<dyn ConvexContactSolver> {
        match self {
            SolverKind::Newton => Box::new(Newton::new(NewtonSettings {
                stop,
                ..NewtonSettings::default()
            })),
            SolverKind::NewtonCg => Box::new(NewtonCg::new(NewtonCgSettings {
                stop,
                ..NewtonCgSettings::default()
            })),
            SolverKind::QuasiNewton => Box::new(QuasiNewton::new(QuasiNewtonSettings {
                stop,
                ..QuasiNewtonSettings::default()
            })),
            SolverKind::GaussSeidel => Box::new(GaussSeidel::new(GaussSeidelSettings { stop })),
        }
    }
}

impl fmt::Display for SolverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error: no solver has this name.
///
/// ```
/// use pliant_contact_sap::SolverKind;
///
/// let error = "newtn".parse::<SolverKind>().unwrap_err();
/// assert!(error.to_string().ends_with("choose one of newton, newton-cg, quasi-newton, gauss-seidel"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no solver `{name}`; choose one of {}", names())]
pub struct UnknownSolver {
    /// The unknown name.
    pub name: String,
}

fn names() -> String {
    SolverKind::ALL.map(SolverKind::name).join(", ")
}

impl FromStr for SolverKind {
    type Err = UnknownSolver;

    fn from_str(name: &str) -> Result<Self, UnknownSolver> {
        let found = SolverKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownSolver {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::check_solver;

    #[test]
    fn every_solver_passes_the_conformance_kit() {
        for kind in SolverKind::ALL {
            // The first-order solvers need more iterations than the default.
            let mut solver = kind.build(StopCriteria {
                iterations_max: 20_000,
                ..StopCriteria::default()
            });
            check_solver(solver.as_mut()).unwrap_or_else(|broken| panic!("{kind}: {broken}"));
        }
    }
}
