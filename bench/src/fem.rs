//! Soft bodies, timed: against Drake's, one mesh, one step, one material and one friction in both.

mod engine;
mod scene;

pub use engine::{FemEngine, FemModel, FemOutcome, measure_fem, peak_memory_kib};
pub use scene::{FemMesh, FemScene, Hook, SoftBody, Wall, chain, fem_catalogue, torus_of};
