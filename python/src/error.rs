//! Rust errors as Python exceptions of their own, each with the Rust message.

use pliant::runner::RunError;
use pliant::scene::SceneError as BadScene;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    pliant,
    PliantError,
    PyException,
    "Anything pliant cannot do."
);
create_exception!(
    pliant,
    SceneError,
    PliantError,
    "A scene that cannot be read or built."
);
create_exception!(
    pliant,
    StepError,
    PliantError,
    "A step that cannot be taken."
);
create_exception!(
    pliant,
    RecordingError,
    PliantError,
    "A recording that cannot be kept or written."
);
create_exception!(
    pliant,
    StateError,
    PliantError,
    "A state that cannot be loaded."
);
create_exception!(
    pliant,
    ControlError,
    PliantError,
    "A control that the body does not have."
);

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("PliantError", py.get_type::<PliantError>())?;
    module.add("SceneError", py.get_type::<SceneError>())?;
    module.add("StepError", py.get_type::<StepError>())?;
    module.add("RecordingError", py.get_type::<RecordingError>())?;
    module.add("StateError", py.get_type::<StateError>())?;
    module.add("ControlError", py.get_type::<ControlError>())
}

pub(crate) fn of_scene(error: &BadScene) -> PyErr {
    SceneError::new_err(error.to_string())
}

pub(crate) fn of_run(error: &RunError) -> PyErr {
    let text = error.to_string();
    match error {
        RunError::Scene(_) => SceneError::new_err(text),
        RunError::Step { .. } => StepError::new_err(text),
        RunError::Recording { .. } => RecordingError::new_err(text),
        _ => PliantError::new_err(text),
    }
}
