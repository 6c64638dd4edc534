//! Damping of a rod.

/// Rayleigh damping, force −(αM + βK) v.
///
/// K is the material part of the stiffness at the start of the step. It is positive semidefinite, so damping never adds
/// energy to a rod in compression, and rigid motion is not damped. A mode of frequency ω has the damping ratio
/// ζ = α/(2ω) + βω/2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// α, 1/s.
    pub mass: f64,
    /// β, s.
    pub stiffness: f64,
}
