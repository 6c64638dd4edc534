//! The compiled part of the Python package `pliant`: scenes, runs and steps. Numbers cross as native bytes, of which the Python part
//! makes read-only NumPy arrays; the interpreter is released while a step is computed.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ and the deformation gradient F are the field's notation"
)]

mod error;
mod model;
mod packing;
mod parts;
mod points;
mod process;
mod run;
mod scene;
mod simulation;

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pymodule]
fn _pliant(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add(module)?;
    process::begin();
    let py = module.py();
    let close = wrap_pyfunction!(process::close, module)?;
    py.import("atexit")?.call_method1("register", (close,))?;
    let os = py.import("os")?;
    if os.hasattr("register_at_fork")? {
        let after_fork = PyDict::new(py);
        after_fork.set_item(
            "after_in_child",
            wrap_pyfunction!(process::after_fork, module)?,
        )?;
        os.call_method("register_at_fork", (), Some(&after_fork))?;
    }
    module.add_class::<scene::Scene>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::SimulationBatch>()?;
    module.add_class::<simulation::State>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<parts::Parts>()?;
    module.add_class::<parts::Snapshot>()?;
    module.add_class::<parts::ContactInputs>()?;
    module.add_class::<parts::ContactLaw>()?;
    module.add_function(wrap_pyfunction!(scene::scene_names, module)?)?;
    Ok(())
}
