//! How fast a run goes by the clock on the wall.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::hub::Hub;

/// Simulated time for each second of the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// Not faster than this rate: 1 is real time.
    AtMost(f64),
    /// As fast as it can.
    Free,
}

impl Pace {
    /// Not faster than `rate`.
    ///
    /// # Errors
    /// A rate that is not a positive number.
    pub(crate) fn at(rate: f64) -> Result<Self, String> {
        match rate > 0.0 && rate.is_finite() {
            true => Ok(Self::AtMost(rate)),
            false => Err(format!("a pace of {rate}: must be a positive number")),
        }
    }
}

/// Ties simulated time to that of the wall.
#[derive(Default)]
pub(super) struct Clock {
    tied: Option<Tie>,
}

/// The longest time to wait for, s: of a slower pace the run stands still.
const WAIT_MAX_S: f64 = 1e9;

#[derive(Clone, Copy)]
struct Tie {
    at: Instant,
    time_s: f64,
    pace: Pace,
}

/// A run that is later than this is not hurried.
const LATE: Duration = Duration::from_millis(100);
/// How often a waiting run looks for a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Clock {
    /// Waits until the run may go on from `time_s`.
    pub(super) fn wait(
        &mut self,
        hub: &Hub,
        time_s: f64,
        ended: &dyn Fn() -> bool,
    ) -> ControlFlow<()> {
        loop {
            if ended() {
                return ControlFlow::Break(());
            }
            let Some(pace) = hub.going() else {
                self.tied = None;
                hub.wait_for_change(POLL_INTERVAL);
                continue;
            };
            let Pace::AtMost(rate) = pace else {
                self.tied = None;
                return ControlFlow::Continue(());
            };
            let now = Instant::now();
            let new = Tie {
                at: now,
                time_s,
                pace,
            };
            let tie = self.tied.filter(|tie| tie.pace == pace).unwrap_or(new);
            let waits_s = ((time_s - tie.time_s) / rate).clamp(0.0, WAIT_MAX_S);
            let due = tie.at + Duration::from_secs_f64(waits_s);
            self.tied = Some(if now > due + LATE { new } else { tie });
            if now >= due {
                return ControlFlow::Continue(());
            }
            hub.wait_for_change((due - now).min(POLL_INTERVAL));
        }
    }
}
