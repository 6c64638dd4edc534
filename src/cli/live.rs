//! Options of `pliant run --live`.

use clap::Args;

use super::Failure;
use super::output::say;
use crate::live::{Pace, Start, Window};
use crate::scene::Scene;

/// How a run is shown while it goes on.
#[derive(Args)]
pub(super) struct LiveOptions {
    /// Pace of a live run: simulated seconds per second of the clock, at most; `max` for no limit
    #[arg(long, value_name = "X", default_value = "1", requires = "live", value_parser = parse_pace)]
    live_pace: Pace,
    /// Begin a live run paused
    #[arg(long, requires = "live")]
    live_paused: bool,
}

fn parse_pace(text: &str) -> Result<Pace, String> {
    if text == "max" {
        return Ok(Pace::Free);
    }
    match text.parse() {
        Ok(rate) => Pace::at(rate),
        Err(_) => Err("a pace is a positive number, or `max`".into()),
    }
}

impl LiveOptions {
    /// Opens the window and prints its address.
    pub(super) fn open(&self, scene: &Scene) -> Result<Window, Failure> {
        let start = match self.live_paused {
            true => Start::Paused,
            false => Start::Running,
        };
        let window = Window::open(start, self.live_pace, scene)
            .map_err(|error| format!("--live: no server on the loopback address: {error}"))?;
        say!("live: open {}", window.address());
        Ok(window)
    }
}
