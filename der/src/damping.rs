//! Damping of a rod.

/// Rayleigh damping, force −(αM + βK) v.
///
/// K is the material part of the stiffness at the start of the step. It is positive semidefinite, so damping never adds
/// energy to a rod in compression, and rigid motion is not damped. A mode of frequency ω has the damping ratio
/// ζ = α/(2ω) + βω/2.
///
/// ```
/// use pliant_der::Rayleigh;
///
/// // ζ = βω/2 of 2 % at 5 Hz, and no drag.
/// let omega = std::f64::consts::TAU * 5.0;
/// let damping = Rayleigh { mass: 0.0, stiffness: 2.0 * 0.02 / omega };
/// assert!((damping.stiffness - 1.27e-3).abs() < 1e-5); // s
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// α, 1/s.
    pub mass: f64,
    /// β, s.
    pub stiffness: f64,
}
