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

use std::time::{Duration, Instant};

use rayon::prelude::*;

/// Takes steps of several worlds, in parallel on the threads of the current rayon pool, in one part or two.
///
/// The first step is in one part. After a step on a device whose preparation took more than a third of it, the next one is in two parts.
///
/// ```
/// use pliant_coupling::StepPipeline;
///
/// // Worlds that count: twice in the part of a step before a device is needed, once after it. None is on a device.
/// let mut worlds = [0; 8];
/// let mut pipeline = StepPipeline::default();
/// for _ in 0..3 {
///     pipeline.step(&mut worlds, |world| *world += 2, |_| false, |world| *world += 1);
/// }
/// assert_eq!(worlds, [9; 8]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct StepPipeline {
    parts: Parts,
}

impl StepPipeline {
    /// Takes a step of every world: `prepare` does what comes before a device is needed, `start` begins what was prepared on the device and returns whether a
    /// device now works on this world, and `finish` waits for the device and does the rest.
    pub fn step<W: Send>(
        &mut self,
        worlds: &mut [W],
        prepare: impl Fn(&mut W) + Sync,
        start: impl Fn(&mut W) -> bool,
        finish: impl Fn(&mut W) + Sync,
    ) {
        let clock = Instant::now();
        let first = (self.parts).first(worlds.len(), rayon::current_num_threads());
        let (one, two) = worlds.split_at_mut(first);
        let mut parts = [one, two];
        // Loops within a step share the pool: idle threads take whole worlds first, and parts of a step when none is left.
        let mut on_device = false;
        for part in &mut parts {
            part.par_iter_mut().with_max_len(1).for_each(&prepare);
            for world in &mut **part {
                on_device |= start(world);
            }
        }
        let prepared = clock.elapsed();
        for part in parts {
            part.par_iter_mut().with_max_len(1).for_each(&finish);
        }
        self.parts = match on_device {
            true => Parts::after(prepared, clock.elapsed()),
            false => Parts::One,
        };
    }

    /// The next step is in two parts.
    #[cfg(test)]
    pub(super) fn take_two_parts(&mut self) {
        self.parts = Parts::Two;
    }

    #[cfg(test)]
    pub(super) fn takes_one_part(&self) -> bool {
        self.parts == Parts::One
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Parts {
    #[default]
    One,
    Two,
}

impl Parts {
    /// After a step of this length, whose preparation took so long.
    fn after(prepared: Duration, step: Duration) -> Self {
        match 3 * prepared > step {
            true => Self::Two,
            false => Self::One,
        }
    }

    /// How many worlds the first part has: no more than half of them, and so many for each thread that the threads do no more rounds than without parts.
    fn first(self, worlds: usize, threads: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Two => worlds / (2 * threads) * threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_are_for_steps_of_which_preparation_is_more_than_a_third() {
        let after =
            |a_ms, t_ms| Parts::after(Duration::from_millis(a_ms), Duration::from_millis(t_ms));
        assert_eq!(after(9, 30), Parts::One);
        assert_eq!(after(11, 30), Parts::Two);
        // At most half of the worlds, in rounds of all threads.
        let first = |worlds, threads| Parts::Two.first(worlds, threads);
        assert_eq!([first(9, 1), first(64, 16), first(95, 16)], [4, 32, 32]);
        assert_eq!([first(31, 16), first(1, 1), first(0, 4)], [0, 0, 0]);
        assert_eq!(Parts::One.first(64, 16), 0);
    }
}
