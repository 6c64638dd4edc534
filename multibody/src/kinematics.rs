//! Forward kinematics from the root to the tips: positions, velocities, accelerations.
//!
//! Each stage is a separate workspace, filled by `update`: positions from q, velocities from positions and v, accelerations
//! from both and v̇. The signature of an algorithm shows which stages it requires.

mod acceleration;
mod position;
mod velocity;

pub use acceleration::AccelerationKinematics;
pub use position::PositionKinematics;
pub use velocity::VelocityKinematics;
