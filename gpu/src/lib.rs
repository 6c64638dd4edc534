#![doc = include_str!("../README.md")]
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WG are the field's notation"
)]

mod adapter;
mod backend;
mod batch;
#[cfg(test)]
mod batch_tests;
mod buffers;
#[cfg(test)]
mod cloth_function_tests;
mod cloth_tables;
mod control;
mod dispatch;
mod error;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod function_tests;
mod layout;
mod mesh_tree;
mod node_box;
mod particles;
mod pipelines;
mod read_back;
mod refused;
#[cfg(test)]
mod resident_tests;
mod shader;
mod shapes;
mod size;
#[cfg(test)]
mod sparse_grid_tests;
mod stage_clock;
#[cfg(test)]
mod stage_clock_tests;
#[cfg(test)]
mod stage_tests;
mod support;
mod tables;
#[cfg(test)]
mod test_scene;

pub use adapter::{AdapterDescription, Gpu, adapters};
pub use backend::GpuSubsteps;
pub use batch::GpuBatch;
pub use error::GpuError;
pub use refused::Refused;
pub use size::StepSize;
pub use stage_clock::DispatchTime;
