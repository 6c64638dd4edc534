//! Exceptions of functions that are called within a step, where no error can be returned.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// Keeps the first exception until the step has ended.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<Mutex<Option<PyErr>>>);

impl Faults {
    /// The value, or `instead` and the exception for later.
    pub(super) fn or<T>(&self, value: PyResult<T>, instead: T) -> T {
        value.unwrap_or_else(|error| {
            let kept = self.0.lock();
            kept.unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(error);
            instead
        })
    }

    /// Whether there is an exception to raise.
    pub(crate) fn is_kept(&self) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.is_some()
    }

    /// The exception since the last call.
    ///
    /// # Errors
    /// That exception.
    pub(crate) fn raise(&self) -> PyResult<()> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take().map_or(Ok(()), Err)
    }
}
