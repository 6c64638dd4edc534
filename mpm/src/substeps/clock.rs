//! Times the stages of a substep.

use std::time::Instant;

/// A clock with laps.
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the last lap, s.
    pub(super) fn lap_s(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now - self.0;
        self.0 = now;
        lap.as_secs_f64()
    }
}
