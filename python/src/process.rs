//! Work with the interpreter released, in processes that fork and interpreters that end.
//!
//! A child of `fork` has no threads but the one that forked: work on the threads of its parent would wait for ever. It gets threads of its own.
//! A thread that comes back from its work while the interpreter is being taken down is ended in the middle of compiled code: before that,
//! [`close`] cancels all steps and waits for them.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use pliant_contact_sap::Cancellation;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::error::PliantError;

/// The process that imported the package.
static IMPORTED_IN: AtomicU32 = AtomicU32::new(0);
/// Threads of a process that was forked from it.
static THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
/// Pieces of work that run without the interpreter.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static CLOSING: LazyLock<Cancellation> = LazyLock::new(Cancellation::default);

/// How often [`close`] looks whether all work has ended.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Requested when the interpreter ends; for every simulation.
pub(crate) fn closing() -> &'static Cancellation {
    &CLOSING
}

pub(crate) fn begin() {
    IMPORTED_IN.store(std::process::id(), Ordering::Relaxed);
}

/// Does `work` with the interpreter released, on threads of this process.
///
/// # Errors
/// The interpreter is ending; threads cannot be made.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = released_here(py, || match forked_threads()? {
        Some(threads) => Ok(threads.install(work)),
        None => Ok(work()),
    })?;
    done.map_err(|error: ThreadPoolBuildError| PliantError::new_err(error.to_string()))
}

/// Does `work` with the interpreter released, on this thread.
///
/// # Errors
/// The interpreter is ending.
pub(crate) fn released_here<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if IS_CLOSED.load(Ordering::SeqCst) {
        return Err(PliantError::new_err(
            "the interpreter is ending; no simulation can be used any more",
        ));
    }
    // Counted while this thread has the interpreter, so that `close` sees it.
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _counted = Counted;
    Ok(py.detach(work))
}

/// A piece of work, until dropped, also by a panic.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Threads of this process, if it was forked from the one that imported the package.
pub(crate) fn forked_threads() -> Result<Option<Arc<ThreadPool>>, ThreadPoolBuildError> {
    let process = std::process::id();
    if IMPORTED_IN.load(Ordering::Relaxed) == process {
        return Ok(None);
    }
    let mut known = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, threads)) = &*known
        && *of == process
    {
        return Ok(Some(Arc::clone(threads)));
    }
    let threads = Arc::new(ThreadPoolBuilder::new().build()?);
    let before = known.replace((process, Arc::clone(&threads)));
    // Those of the parent are not here; to end them would be to wait for them.
    std::mem::forget(before);
    Ok(Some(threads))
}

/// Ends all work, for good: the interpreter calls it before it ends.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    IS_CLOSED.store(true, Ordering::SeqCst);
    CLOSING.request();
    py.detach(|| {
        while RUNNING.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(LOOK_EVERY);
        }
    });
}

/// A child of `fork` has only the thread that forked, and none of the work of the others.
#[pyfunction]
pub(crate) fn after_fork() {
    RUNNING.store(0, Ordering::SeqCst);
}
