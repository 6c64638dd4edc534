//! Simulations that Python steps together, in one call with the interpreter released.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pliant::runner::{self, SimulationSteps};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use super::{Simulation, inner};
use crate::error::of_run;
use crate::process::{forked_threads, released_here};

/// How long a call goes on between looks for signals such as Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Steps simulations together, in threads of its own or in those of all computations.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct SimulationBatch {
    batch: runner::SimulationBatch,
    threads: Option<usize>,
    /// Of that many threads, with the process that they are of.
    pool: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

/// More threads than this are a mistake.
const THREADS_MAX: usize = 1024;

#[pymethods]
impl SimulationBatch {
    #[new]
    fn new(threads: Option<usize>) -> PyResult<Self> {
        if let Some(n) = threads.filter(|n| !(1..=THREADS_MAX).contains(n)) {
            return Err(PyValueError::new_err(format!(
                "threads must be from 1 to {THREADS_MAX}; it is {n}"
            )));
        }
        Ok(Self {
            batch: runner::SimulationBatch::default(),
            threads,
            pool: Mutex::default(),
        })
    }

    /// Takes so many steps of each of the simulations, which are different ones; Ctrl-C ends them between two steps. Returns what is raised
    /// of each simulation whose step failed, with its index.
    fn step<'py>(
        &self,
        py: Python<'py>,
        simulations: Vec<Bound<'py, Simulation>>,
        counts: Vec<u64>,
    ) -> PyResult<Vec<(usize, PyErr)>> {
        let borrowed = simulations
            .iter()
            .map(|simulation| simulation.try_borrow_mut());
        let mut borrowed = borrowed.collect::<Result<Vec<_>, _>>().map_err(|_| {
            PyRuntimeError::new_err("a simulation is being stepped by another thread")
        })?;
        let faults: Vec<_> = borrowed.iter().map(|s| s.faults.clone()).collect();
        let mut steps = Vec::with_capacity(borrowed.len());
        for (simulation, count) in borrowed.iter_mut().zip(counts) {
            let Simulation {
                held, overrides, ..
            } = &mut **simulation;
            let controls = move |controls: &mut [_]| {
                overrides.iter_mut().for_each(|o| o.apply(controls));
            };
            steps.push(SimulationSteps::new(inner(held)?, count).with_control(controls));
        }
        let outcomes = self.until_signal(py, |is_ended| {
            let watch =
                |index: usize| match is_ended.load(Ordering::Relaxed) || faults[index].is_kept() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                };
            self.batch.step(steps, &watch)
        })?;
        for faults in &faults {
            faults.raise()?;
        }
        let outcomes = outcomes.into_iter().enumerate();
        Ok(outcomes
            .filter_map(|(i, outcome)| Some((i, of_run(&outcome.err()?))))
            .collect())
    }
}

impl SimulationBatch {
    /// Does `work` with the interpreter released, and tells it when a signal has come.
    ///
    /// # Errors
    /// What the handler of the signal raises.
    fn until_signal<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&AtomicBool) -> T + Send,
    ) -> PyResult<T> {
        let is_ended = AtomicBool::new(false);
        let pool = self.pool();
        let pool = pool.map_err(|error| PyOSError::new_err(error.to_string()))?;
        released_here(py, || match &pool {
            Some(pool) => pool.in_place_scope(|scope| done_in(scope, work, &is_ended)),
            None => rayon::in_place_scope(|scope| done_in(scope, work, &is_ended)),
        })?
    }

    /// The threads of this process that the batch is to use; `None`: those that the process has anyway.
    fn pool(&self) -> Result<Option<Arc<ThreadPool>>, ThreadPoolBuildError> {
        let Some(n) = self.threads else {
            return forked_threads();
        };
        let process = std::process::id();
        let mut known = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, pool)) = &*known
            && *of == process
        {
            return Ok(Some(Arc::clone(pool)));
        }
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(n).build()?);
        // A pool of the parent of this process has no threads here that could end.
        std::mem::forget(known.replace((process, Arc::clone(&pool))));
        Ok(Some(pool))
    }
}

/// Does `work` in a thread of the scope, and meanwhile looks for signals.
fn done_in<'s, T: Send + 's>(
    scope: &rayon::Scope<'s>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 's,
    is_ended: &'s AtomicBool,
) -> PyResult<T> {
    let (give, take) = mpsc::channel();
    scope.spawn(move |_| {
        // The receiver waits.
        let _ = give.send(work(is_ended));
    });
    let mut signal = Ok(());
    loop {
        match take.recv_timeout(LOOK_EVERY) {
            Ok(done) => return signal.map(|()| done),
            Err(RecvTimeoutError::Timeout) if signal.is_ok() => {
                signal = Python::attach(|py| py.check_signals());
                is_ended.store(signal.is_err(), Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The scope goes on with the panic.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a step ended in a panic"));
            }
        }
    }
}
