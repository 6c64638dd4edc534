//! Where everything is, how fast it moves and how it accelerates, from the root to the tips.
//!
//! Each stage is a workspace of its own, filled by `update`: positions from q, velocities from positions and v,
//! accelerations from both and v̇. An algorithm names the stages it reads in its signature.

mod acceleration;
mod position;
mod velocity;

pub use acceleration::AccelerationKinematics;
pub use position::PositionKinematics;
pub use velocity::VelocityKinematics;
