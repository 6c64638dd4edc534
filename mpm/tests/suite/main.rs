//! Material points: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod adaptive_step;
mod any_state;
mod asynchronous;
mod asynchronous_contact;
mod asynchronous_faults;
mod asynchronous_impact;
mod asynchronous_truth;
mod cloth;
mod collapse;
mod contact;
mod explicit;
mod friction_in_substeps;
mod one_step;
mod properties;
mod random_problems;
mod sand;
mod shapes;
mod substep_conformance;
mod substep_coupling;
mod support;
mod tools;
mod truth;
mod water;
