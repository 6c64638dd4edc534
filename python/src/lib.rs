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
mod run;
mod scene;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
fn _pliant(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add(module)?;
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
