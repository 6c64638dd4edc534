//! Soft bodies: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod adaptive_step;
mod bad_input;
mod conformance;
mod constraints;
mod contact;
mod crushing;
mod implicit;
mod lagged_rotations;
mod linear_algebra;
mod loads;
mod long_steps;
mod parts;
mod passing_through;
mod properties;
mod quadratic;
mod random_contact;
mod shared_data;
mod silicones;
mod smoothed;
mod soft_patches;
mod statics;
mod stones;
mod support;
mod time_rules;
mod turning;
