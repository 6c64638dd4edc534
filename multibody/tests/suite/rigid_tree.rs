//! Steps of a tree: free motion, held joints, actuators, limits, friction, couplings.

mod backlash;
mod conformance;
mod driven;
mod free_motion;
mod limits;
mod reactions;
mod struck;
pub(crate) mod test_bench;
