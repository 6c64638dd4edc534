//! Tests of the solvers, in one binary.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod convergence;
mod flawed_bodies;
mod interior_point;
mod linear_algebra;
mod rejections;
mod soft_bodies;
mod solutions;
mod support;
