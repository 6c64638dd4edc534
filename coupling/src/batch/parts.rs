//! In how many parts a batch takes a step. While a device takes the substeps of one part, the processor does the rigid work of the other.
//!
//! ```text
//! processor   prepare 1   prepare 2            finish 1   finish 2
//! device                  substeps of 1   substeps of 2
//! ```
//!
//! In one part a step takes 2 a + d: a to prepare it, about as much to finish it, and d on the device. Half of the worlds may keep a device as long as all of
//! them do, for its stages have a least time. In two parts a step then takes a + 2 d, or 2 a if d < a/2. Two parts are therefore sure to be no slower where
//! d < a, so that a is more than a third of the step.

use std::time::Duration;

/// Of the worlds of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    One,
    Two,
}

impl Parts {
    /// After a step of this length, whose preparation took so long.
    pub(super) fn after(prepared: Duration, step: Duration) -> Self {
        match 3 * prepared > step {
            true => Self::Two,
            false => Self::One,
        }
    }

    /// How many worlds the first part has: no more than half of them, and so many for each thread that the threads do no more rounds than without parts.
    pub(super) fn first(self, worlds: usize, threads: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Two => worlds / (2 * threads) * threads,
        }
    }
}
