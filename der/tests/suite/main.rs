//! Rods: tests in one binary, so that they are linked once and run in parallel.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod adaptive_step;
mod bad_input;
mod buckling;
mod conformance;
mod contact;
mod derivatives;
mod invariants;
mod iterations;
mod knot_files;
mod patch_contact;
mod properties;
mod relinearised;
mod section_contact;
mod segment_contact;
mod shared_data;
mod statics;
mod support;
mod vibration;
