//! Conformance check of a [`SubstepBackend`](crate::SubstepBackend) by another crate or for a device.
//!
//! [`check_substeps`] compares a backend with a plain reference in f64: every particle scatters to every node that its spline reaches, all contacts
//! of a substep are solved together by Newton's method in their impulses, and nothing is sorted, skipped or warm-started. The check
//! returns the deviations that it found, or a [`Violation`]: the broken promise, in which scene, and by how much. Nothing here is needed at
//! run time; the feature `conformance` is for tests.
//!
//! ```
//! use pliant_mpm::conformance::{SubstepBounds, check_substeps};
//! use pliant_mpm::CpuSubsteps;
//!
//! let found = check_substeps(
//!     &|model| Box::new(CpuSubsteps::<f64>::new(model)),
//!     &SubstepBounds::double(),
//! )
//! .unwrap();
//! println!("{found}");
//! ```

mod cloth;
mod contacts;
mod held;
mod more_scenes;
mod reference;
mod scenes;
mod substeps;

use std::fmt;

pub use substeps::{MakeBackend, SubstepBounds, SubstepDeviations, check_substeps};

/// A broken promise: which, where, and by how much.
///
/// ```
/// use pliant_mpm::CpuSubsteps;
/// use pliant_mpm::conformance::{SubstepBounds, Violation, check_substeps};
///
/// // Substeps in f32 do not keep the bounds of f64: the message has the scene, the number of substeps, and by how much.
/// let broken: Violation =
///     check_substeps(&|model| Box::new(CpuSubsteps::<f32>::new(model)), &SubstepBounds::double()).unwrap_err();
/// assert!(broken.to_string().contains(", N = 1: "));
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
