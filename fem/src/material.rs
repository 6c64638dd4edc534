//! What a solid is made of: energy, stress and tangent of one deformation gradient, behind one trait.
//!
//! | law | energy density | near and beyond inversion |
//! |---|---|---|
//! | [`LinearCorotated`] | μ‖ε‖² + λ/2 tr²ε, ε = sym(R₀ᵀF) − T, R₀ and T known before the step | quadratic: one linear solve, always positive semidefinite |
//! | [`Corotational`] | μ‖S − I‖² + λ/2 tr²(S − I), F = RS | finite; kink where two stretches cancel |
//! | [`StableNeoHookean`] | μ/2 (I_C − 3) + ½(λ + μ)(J − 1 − μ/(λ + μ))² + const | finite and smooth |
//! | [`NeoHookean`] | μ/2 (I_C − 3) − μ ln J + λ/2 ln²J | a barrier: infinite at J = 0 |
//! | [`StVenantKirchhoff`] | μ‖E‖² + λ/2 tr²E, E = ½(FᵀF − I) | finite; goes soft under compression |
//! | [`MooneyRivlin`] | C₁(I_C − 3) + C₂(II_C − 3) + κ/2 (J − 1 − p)² + const | finite and smooth |
//! | [`Linear`] | μ‖ε‖² + λ/2 tr²ε, ε = sym(F) − I | only for small turns |
//!
//! All of them agree with Hooke's law of their Lamé parameters at small strain, and are free of stress and energy at rest.

mod corotational;
mod linear;
mod linear_corotated;
mod mooney_rivlin;
mod neo_hookean;
mod parameters;
mod presets;
mod principal;
mod st_venant_kirchhoff;
mod stable_neo_hookean;
mod tangent;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use nalgebra::Matrix3;

pub use corotational::Corotational;
pub use linear::Linear;
pub use linear_corotated::LinearCorotated;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use parameters::{Lame, lame_parameters};
pub use presets::{LawKind, MATERIAL_PRESETS, MaterialPreset, material_preset};
pub use principal::{PrincipalLaw, Spectrum};
pub use st_venant_kirchhoff::StVenantKirchhoff;
pub use stable_neo_hookean::StableNeoHookean;
pub(crate) use tangent::hooke_block;
pub use tangent::{Principal, Tangent};

/// A hyperelastic law, given by its energy density Ψ(F).
///
/// F is the deformation gradient (3×3, dimensionless, F = I at rest); `lag` is what the step knew of the element
/// beforehand, of use to laws that are linear in it only. The three quantities must belong together:
/// `conformance::check_material` (feature `conformance`) verifies P = ∂Ψ/∂F and δP = (∂P/∂F):δF.
///
/// Isotropic laws are written shortest as a [`PrincipalLaw`], which brings this trait with it.
pub trait Material: Send + Sync + Debug {
    /// Ψ, J per m³ of rest volume; zero at rest.
    fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64;
    /// First Piola stress P = ∂Ψ/∂F, Pa.
    fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64>;
    /// ∂P/∂F, Pa; symmetric, may be indefinite. [`Tangent::semidefinite`] removes what is negative.
    fn tangent(&self, F: &Matrix3<f64>, lag: &Lag) -> Tangent;
    /// Hooke's law at small strain.
    fn lame(&self) -> Lame;
    /// How the stress depends on F.
    fn linearity(&self) -> Linearity {
        Linearity::Nonlinear
    }
    /// Where the law is defined.
    fn domain(&self) -> Domain {
        Domain::Everywhere
    }
}

/// What is known of an element when a step starts and stays fixed in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    /// R₀, the rotation of F at the start of the step.
    pub rotation: Matrix3<f64>,
    /// T, the stretch seen from R₀ that is free of stress; symmetric, I unless the element is about to turn.
    pub target: Matrix3<f64>,
}

impl Default for Lag {
    fn default() -> Self {
        Self {
            rotation: Matrix3::identity(),
            target: Matrix3::identity(),
        }
    }
}

/// How the stress of a law depends on F, within one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linearity {
    /// In no simple way.
    Nonlinear,
    /// P = 2με + λ tr(ε) I with ε = sym(F) − I.
    Linear,
    /// P = R₀(2με + λ tr(ε) I) with ε = sym(R₀ᵀF) − T.
    Corotated,
}

/// Where a law is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// For every F, inverted elements too.
    Everywhere,
    /// For det F > 0; the energy grows without bound towards inversion.
    PositiveVolume,
}
