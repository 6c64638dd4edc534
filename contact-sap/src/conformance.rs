//! Conformance checks, one for each trait of this crate, of implementations by other crates; and two simple bodies to test a stepper or
//! a solver with: [`MassSpringNet`] and [`ParticleBlob`].
//!
//! Every check returns a [`Violation`], which contains the broken promise, where it was broken and by how much. Nothing here is
//! needed at run time; the feature `conformance` is for tests.
//!
//! ```
//! use nalgebra::{Matrix1, Vector1};
//! use pliant_contact_sap::{Potential, conformance::check_potential};
//!
//! struct Damper;
//! impl Potential<1> for Damper {
//!     fn cost(&self, v: &Vector1<f64>) -> f64 { v.x * v.x }
//!     fn impulse(&self, v: &Vector1<f64>) -> Vector1<f64> { -v } // half of what it should be
//!     fn hessian(&self, _: &Vector1<f64>) -> Matrix1<f64> { Matrix1::new(1.0) }
//! }
//! let violation = check_potential(&Damper, &[Vector1::new(-1.0), Vector1::new(2.0)]).unwrap_err();
//! assert!(violation.to_string().contains("the impulse is not the derivative of the cost"));
//! ```

mod body;
mod checked_solver;
mod dynamics;
#[cfg(test)]
mod free_flight;
mod mass_spring_net;
mod particle_blob;
mod potential;
mod probe;
mod reference;
mod scenes;
mod solver;
mod vertex_dynamics;

use std::fmt;

pub use body::check_body;
pub use checked_solver::{CheckedSolver, check_solution};
pub use dynamics::check_dynamics;
pub use mass_spring_net::{MassSpringNet, NetSettings};
pub use particle_blob::{BlobSettings, ParticleBlob};
pub use potential::check_potential;
pub use reference::{minimiser, residual};
pub use solver::check_solver;

/// A broken promise: which, where, and by how much.
///
/// ```
/// use pliant_contact_sap::DenseDynamics;
/// use pliant_contact_sap::conformance::check_dynamics;
///
/// // A = [2 1; 0 3], column by column: a body whose A is not symmetric.
/// let violation = check_dynamics(&DenseDynamics::new(vec![2.0, 0.0, 1.0, 3.0], vec![0.0; 2])).unwrap_err();
/// assert!(violation.to_string().contains("symmetric"), "{violation}");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(String);

impl fmt::Debug for Violation {
    /// As the message, which is what a test's `unwrap` should show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Ok if `kept`, otherwise the violation that `says` describes.
fn promise(kept: bool, says: impl FnOnce() -> String) -> Result<(), Violation> {
    if kept { Ok(()) } else { Err(Violation(says())) }
}
