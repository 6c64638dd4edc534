//! Signals that end a run: the first after its present step, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Failure;
use super::output::say;

/// Of a run that was interrupted, as of shells.
pub(super) const EXIT_CODE: u8 = 130;

/// Whether an interrupt (Ctrl-C), a hang-up or a request to terminate has come.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes the signals of the process.
    pub(super) fn listen() -> Result<Self, Failure> {
        let come = Arc::new(AtomicBool::new(false));
        let interrupt = Self(Arc::clone(&come));
        ctrlc::set_handler(move || {
            if come.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(EXIT_CODE));
            }
            say!("\nends after this step; once more ends at once, without files");
        })?;
        Ok(interrupt)
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
