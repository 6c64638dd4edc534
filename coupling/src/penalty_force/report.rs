//! How the force balance of a step was met.

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
}

/// How Newton's method ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) stop: StopReason,
    pub(super) iterations: usize,
    pub(super) krylov: usize,
    pub(super) evaluations: usize,
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
            residual: if self.scale > 0.0 {
                self.residual / self.scale
            } else {
                0.0
            },
        });
    }
}
