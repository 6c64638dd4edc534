//! Tests on whatever Vulkan adapter is there.

mod cloth;
mod conformance;
