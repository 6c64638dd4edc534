//! Signals that end a run: the first with the state before its present step, the second at once.

use pliant_contact_sap::Cancellation;

use super::Failure;
use super::output::say;

/// Of a run that was interrupted, as of shells.
pub(super) const EXIT_CODE: u8 = 130;

/// Whether an interrupt (Ctrl-C), a hang-up or a request to terminate has come.
pub(super) struct Interrupt(Cancellation);

impl Interrupt {
    /// Takes the signals of the process.
    pub(super) fn listen() -> Result<Self, Failure> {
        let come = Cancellation::default();
        let interrupt = Self(come.clone());
        ctrlc::set_handler(move || {
            if come.request() {
                std::process::exit(i32::from(EXIT_CODE));
            }
            say!("\nends before this step; once more ends at once, without files");
        })?;
        Ok(interrupt)
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.is_requested()
    }

    /// Ends the step at hand.
    pub(super) fn cancellation(&self) -> Cancellation {
        self.0.clone()
    }
}
