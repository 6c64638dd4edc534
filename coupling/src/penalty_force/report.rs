//! How the force balance of a step was met.

use std::time::Duration;

use pliant_contact_sap::{SolveReport, StopReason};

use crate::report::StepReport;

/// The solution of a step of [`PenaltyForce`](crate::PenaltyForce).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PenaltyForceReport {
    /// Newton iterations.
    pub iterations: usize,
    /// Vectors of GMRES over all iterations.
    pub krylov_vectors: usize,
    /// ‖g‖ at the end, over the larger of ‖m(v₀)‖ and ‖δt Sᵀf‖.
    pub residual: f64,
    /// Where the time went.
    pub times: PenaltyForceTimes,
}

/// Where the time of a step goes; the rest is the linear solver's and the bookkeeping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PenaltyForceTimes {
    /// Searching for contacts.
    pub detection: Duration,
    /// Relaxation, contact forces and products with their derivatives.
    pub forces: Duration,
    /// The bodies' balances of momentum and products with their derivatives.
    pub material: Duration,
}

impl std::ops::Add for PenaltyForceTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            detection: self.detection + other.detection,
            forces: self.forces + other.forces,
            material: self.material + other.material,
        }
    }
}

/// How Newton's method ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) stop: StopReason,
    pub(super) iterations: usize,
    pub(super) krylov: usize,
    pub(super) evaluations: usize,
    pub(super) times: PenaltyForceTimes,
    /// ‖g‖, and what it is compared with.
    pub(super) residual: f64,
    pub(super) scale: f64,
}

impl Outcome {
    pub(super) fn describe(&self, report: &mut StepReport) {
        report.convergence.solve = SolveReport {
            stop: self.stop,
            islands: 1,
            iterations: self.iterations,
            iterations_total: self.iterations,
            inner_iterations: self.krylov,
            line_search_evaluations: self.evaluations,
            residual: self.residual,
            ..SolveReport::default()
        };
        report.penalty_force = Some(PenaltyForceReport {
            iterations: self.iterations,
            krylov_vectors: self.krylov,
            times: self.times,
            residual: if self.scale > 0.0 {
                self.residual / self.scale
            } else {
                0.0
            },
        });
    }
}
