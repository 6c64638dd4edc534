//! Damping of a rod.

/// Rayleigh damping, force −(αM + βK) v.
///
/// K is the material part of the stiffness at the start of the step. It is positive semidefinite, so damping never adds
/// energy to a rod in compression, and β does not damp rigid motion. A mode of frequency ω (rad/s) has the damping ratio
/// ζ = α/(2ω) + βω/2.
///
/// Source: Li and Chou (2025), eq. (6), which has the full stiffness in place of its material part.
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
    /// α, 1/s: drag on all motion, in proportion to mass.
    pub mass: f64,
    /// β, s: resistance to the rate of strain.
    pub stiffness: f64,
}
