//! Tests on whatever Vulkan adapter is there.

mod conformance;
