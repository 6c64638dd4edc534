//! Errors that stop the computation of a case. A wrong result is a finding, not an error.

use std::path::PathBuf;

use pliant_contact_sap::StopReason;

/// An error that stops the computation of a case.
#[derive(Debug, thiserror::Error)]
pub(super) enum CaseError {
    /// The solver missed its tolerance.
    #[error(
        "step {step} (t = {time_s} s): {untrusted} (the solver stopped with {stop:?} after {iterations} iterations at residual {residual:e})"
    )]
    Untrusted {
        step: u64,
        /// At the end of the step.
        time_s: f64,
        /// Why the step is untrusted.
        untrusted: String,
        stop: StopReason,
        iterations: usize,
        /// ‖D∇ℓ‖, √J.
        residual: f64,
    },
    /// Measured data cannot be read.
    #[error("{}: {what}", path.display())]
    File { path: PathBuf, what: String },
    /// A line of measured data cannot be read.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        what: String,
    },
}
