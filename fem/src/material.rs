//! Hyperelastic materials: energy, stress and tangent as functions of the deformation gradient, behind one trait.
//!
//! Every isotropic law of `pliant-constitutive` is a [`Material`]; its README has their energies. The laws here are linear within
//! a step:
//!
//! | law | energy density | |
//! |---|---|---|
//! | [`LinearCorotated`] | μ‖ε‖² + λ/2 tr²ε, ε = sym(R₀ᵀF) − T, R₀ and T fixed during the step | quadratic: one linear solve, always positive semidefinite |
//! | [`Linear`] | μ‖ε‖² + λ/2 tr²ε, ε = sym(F) − I | only for small rotations |
//!
//! All of them agree with Hooke's law of their Lamé parameters at small strain, and are free of stress and energy at rest.

mod linear;
mod linear_corotated;
mod presets;
mod principal;
mod tangent;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use nalgebra::Matrix3;
use pliant_constitutive::{Domain, Lame};

pub use linear::Linear;
pub use linear_corotated::LinearCorotated;
pub use presets::{LawKind, MATERIAL_PRESETS, MaterialPreset, material_preset};
pub use tangent::{Principal, Tangent};

/// A hyperelastic law, given by its energy density Ψ(F).
///
/// F is the deformation gradient (3×3, dimensionless, F = I at rest); `lag` has the quantities that are fixed during a step,
/// for laws that are linear within it. The three quantities must be derivatives of each other: `conformance::check_material` (feature
/// `conformance`) verifies P = ∂Ψ/∂F and δP = (∂P/∂F):δF.
///
/// An isotropic law is best written as a [`PrincipalLaw`](pliant_constitutive::PrincipalLaw), which implements this trait.
pub trait Material: Send + Sync + Debug {
    /// Ψ, J per m³ of rest volume; zero at rest.
    fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64;
    /// First Piola stress P = ∂Ψ/∂F, Pa.
    fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64>;
    /// ∂P/∂F, Pa; symmetric, may be indefinite. [`Tangent::semidefinite`] removes negative eigenvalues.
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

/// The state of an element at the start of a step, fixed during it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    /// R₀, the rotation of F at the start of the step.
    pub rotation: Matrix3<f64>,
    /// T, the stretch relative to R₀ that is free of stress; symmetric, I unless the element is expected to rotate.
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
    /// Nonlinear.
    Nonlinear,
    /// P = 2με + λ tr(ε) I with ε = sym(F) − I.
    Linear,
    /// P = R₀(2με + λ tr(ε) I) with ε = sym(R₀ᵀF) − T.
    Corotated,
}
