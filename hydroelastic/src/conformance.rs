//! Judges an implementation of [`ContactGeometry`](crate::ContactGeometry): does it keep what the trait promises?
//!
//! For every pair of shapes random poses are brought to a small overlap, and what is found there is put to the laws. Of both kinds:
//! unit normals that point from B into A, the same contact told from the other side and from another frame, the same bits when asked
//! again, keys that tell points apart, and no contact far apart. [`check_rigid_pairs`] judges point contact: gaps that agree with
//! the material points, and no overlap left once A has been moved away. [`check_patch_pairs`] judges patch contact: a force that
//! grows as bodies go together and has no jumps along a path.

mod pair;
mod patches;
mod points;
mod random;

use std::fmt;

pub use patches::{PatchBody, check_patch_pairs};
pub use points::check_rigid_pairs;

/// A broken promise: which, where, and by how much.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(String);

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How an implementation is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// Poses per pair of shapes.
    pub poses: u32,
    /// Start of the random numbers.
    pub seed: u64,
    /// How well the same contact, computed in different frames or order, must agree: distances as a part of the size of the
    /// smaller shape, forces as a part of the sum of their magnitudes.
    pub tolerance: f64,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            poses: 20,
            seed: 1,
            tolerance: 1e-6, // iterative distances converge to about 1e-9
        }
    }
}
