//! A tree's step: free motion, held and driven joints, limits, friction, couplers.

mod driven;
mod free_motion;
mod limits;
mod promises;
mod reactions;
mod test_bench;
