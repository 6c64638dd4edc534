#![doc = include_str!("../README.md")]
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WG are the field's notation"
)]

mod adapter;
mod backend;
mod buffers;
mod error;
#[cfg(test)]
mod function_tests;
mod layout;
mod read_back;
mod refused;
mod shader;
mod support;
mod tables;

pub use adapter::{AdapterDescription, Gpu, adapters};
pub use backend::GpuSubsteps;
pub use error::GpuError;
pub use refused::Refused;
