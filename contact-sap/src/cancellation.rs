//! Requests to end a step before it is complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end a step, made from another thread or a signal handler. Clones share the request.
///
/// Solvers ask for it before each iteration, steppers before each search for contacts and each substep. A step that ends for it is an error
/// ([`SolveError::Cancelled`](crate::SolveError::Cancelled), [`BodyError::Cancelled`](crate::BodyError::Cancelled)) and changes no state.
///
/// ```
/// use pliant_contact_sap::Cancellation;
///
/// let (mine, yours) = { let c = Cancellation::default(); (c.clone(), c) };
/// yours.request();
/// assert!(mine.is_requested());
/// mine.withdraw();
/// assert!(!yours.is_requested());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks for the end; returns whether somebody had asked before.
    pub fn request(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Takes the request back.
    pub fn withdraw(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether somebody has asked.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
