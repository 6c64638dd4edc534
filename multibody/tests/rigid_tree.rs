//! A tree's step: free motion, held and driven joints, limits, friction, couplers.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

#[path = "rigid_tree/test_bench.rs"]
mod test_bench;

#[path = "rigid_tree/free_motion.rs"]
mod free_motion;

#[path = "rigid_tree/driven.rs"]
mod driven;

#[path = "rigid_tree/limits.rs"]
mod limits;

#[path = "rigid_tree/reactions.rs"]
mod reactions;

#[path = "rigid_tree/promises.rs"]
mod promises;
