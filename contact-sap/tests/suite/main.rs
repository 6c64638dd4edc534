//! The solvers: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod convergence;
mod flawed_bodies;
mod linear_algebra;
mod oracle;
mod refusals;
mod soft_bodies;
mod solutions;
mod support;
