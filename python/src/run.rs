//! What a run yields.

use std::path::PathBuf;

use pliant::runner::{Outcome, RunOutcome};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::RecordingError;
use crate::packing::floats;
use crate::process::released;

/// A finished run.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Run {
    outcome: RunOutcome,
}

impl Run {
    pub(crate) fn new(outcome: RunOutcome) -> Self {
        Self { outcome }
    }
}

fn refused(error: pliant::recording::RecordingError) -> PyErr {
    RecordingError::new_err(error.to_string())
}

#[pymethods]
impl Run {
    /// Times of the rows.
    fn row_times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let times = self.outcome.recording.row_times_s();
        Ok(floats(py, times.map_err(refused)?))
    }

    /// Name, unit and values of every observable.
    fn columns<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(String, String, Bound<'py, PyBytes>)>> {
        let recording = &self.outcome.recording;
        let columns = recording.observables().iter().enumerate();
        columns
            .map(|(index, column)| {
                let values = floats(py, recording.column(index).map_err(refused)?);
                Ok((column.name.clone(), column.unit.clone(), values))
            })
            .collect()
    }

    /// Verdicts as dictionaries.
    fn expectations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let verdicts = self.outcome.summary.expectations.iter();
        verdicts
            .map(|verdict| {
                let entry = PyDict::new(py);
                entry.set_item("observable", &verdict.observable)?;
                entry.set_item("measured", &verdict.measured)?;
                entry.set_item("found", verdict.found)?;
                entry.set_item("at_least", verdict.at_least)?;
                entry.set_item("at_most", verdict.at_most)?;
                let outcome = match verdict.outcome {
                    Outcome::Met => "met",
                    Outcome::Failed => "failed",
                    Outcome::Skipped => "skipped",
                };
                entry.set_item("outcome", outcome)?;
                entry.set_item("source", &verdict.source)?;
                Ok(entry)
            })
            .collect()
    }

    /// As `pliant run --json` prints it.
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&self.outcome.summary)
            .map_err(|error| RecordingError::new_err(error.to_string()))
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.outcome.summary.steps
    }

    #[getter]
    fn unconverged_steps(&self) -> u64 {
        self.outcome.summary.unconverged_steps
    }

    #[getter]
    fn time(&self) -> f64 {
        self.outcome.state.time_s
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.outcome.notes.clone()
    }

    fn save_replay(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        released(py, || self.outcome.recording.write_replay(&path))?
            .map_err(|error| RecordingError::new_err(error.to_string()))
    }

    fn save_csv(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        released(py, || self.outcome.recording.write_csv(&path))?
            .map_err(|error| RecordingError::new_err(error.to_string()))
    }
}
