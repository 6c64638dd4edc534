//! pliant: convex frictional contact between rigid robots and soft things.
//!
//! This package is the face of the workspace: scenes, recordings and the command line.

pub mod recording;
pub mod scene;
