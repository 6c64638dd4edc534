//! What particles keep of a velocity that the grid does not represent.

use crate::error::{MpmError, positive};

/// What particles keep, from transfer to transfer, of the part of their velocity that the grid does not represent.
///
/// Let Q map velocities of the nodes to v and C of the particles, and v⁰ be the velocities of the nodes before the forces of a step and
/// v¹ after. A particle's (v, C) becomes
///
/// ```text
/// Q v¹ + k ((v, C) − Q v⁰)          k = 0: APIC      k = e^(−δt/T): affine FLIP, with the memory T
/// ```
///
/// The affine modes of a particle are orthonormal in the metric m(|v|² + h²|C|²/4), in which the transfer to the grid is the transpose of Q. Therefore both
/// conserve linear and angular momentum in a transfer, and neither gains energy there: without forces (v, C) is replaced by an average of itself and its projection.
///
/// Particles move with Q v¹. Where that is not their own velocity, angular momentum changes at first order in the difference, unlike in APIC.
///
/// APIC loses a part (kh)⁴/42 of a shear flow of wave number k in *every* transfer, for kh ≪ 1 and particles spread evenly: a viscosity
/// ν = k² h⁴/(42 δt) that grows as the substep becomes shorter. Affine FLIP loses it once in T: ν = k² h⁴/(42 T).
///
/// ```
/// use pliant_mpm::TransferScheme;
///
/// let flip = TransferScheme::AffineFlip { memory_s: 1.0 };
/// // In a slot 8 cells wide, at h = 1 cm and δt = 0.1 ms, APIC has the viscosity of syrup, and affine FLIP less than water.
/// let wave_number = std::f64::consts::PI / 0.08;
/// assert!((TransferScheme::Apic.numerical_viscosity(wave_number, 0.01, 1e-4) - 3.67e-3).abs() < 1e-4);
/// assert!(flip.numerical_viscosity(wave_number, 0.01, 1e-4) < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TransferScheme {
    /// Affine FLIP with the memory of [`TransferScheme::MEMORY_S`] if every object is a liquid, and APIC otherwise.
    #[default]
    Automatic,
    /// Nothing is kept.
    Apic,
    /// What is kept fades with a time constant.
    AffineFlip {
        /// T, s.
        memory_s: f64,
    },
}

impl TransferScheme {
    /// The memory of [`TransferScheme::Automatic`] for liquids, s.
    pub const MEMORY_S: f64 = 1.0;

    /// ν, m²/s, of a shear flow of a wave number (1/m) that is small against 1/h, on a grid of `spacing`, m, in steps of `step_s`.
    #[must_use]
    pub fn numerical_viscosity(&self, wave_number: f64, spacing: f64, step_s: f64) -> f64 {
        let lost = 1.0 / 42.0 * wave_number.powi(2) * spacing.powi(4);
        match self {
            Self::Apic => lost / step_s,
            Self::AffineFlip { .. } | Self::Automatic => lost * (1.0 - self.kept(step_s)) / step_s,
        }
    }

    /// k after a step.
    pub(crate) fn kept(&self, step_s: f64) -> f64 {
        match self {
            Self::Apic => 0.0,
            Self::AffineFlip { memory_s } => (-step_s / memory_s).exp(),
            Self::Automatic => (-step_s / Self::MEMORY_S).exp(),
        }
    }

    /// T, s; zero without a memory of its own.
    pub(crate) fn memory_s(&self) -> f64 {
        match self {
            Self::AffineFlip { memory_s } => *memory_s,
            Self::Apic | Self::Automatic => 0.0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), MpmError> {
        match self {
            Self::Automatic | Self::Apic => Ok(()),
            Self::AffineFlip { memory_s } => {
                positive("grid", "memory_s of affine FLIP", *memory_s).map(|_| ())
            }
        }
    }
}
