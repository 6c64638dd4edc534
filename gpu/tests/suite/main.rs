//! Tests on whatever Vulkan adapter is there.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ are the field's notation"
)]

mod cloth;
mod conformance;
mod properties;
