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
use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Domain, Lame, PrincipalLaw};

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
/// An isotropic law is best written as a [`PrincipalLaw`], which implements this trait.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, StableNeoHookean};
/// use pliant_fem::{Lag, Material};
///
/// // Simple shear γ = 0.2 of an isotropic law: P_xy = μγ.
/// let law: &dyn Material = &StableNeoHookean::new(Lame::new(1e6, 4e6)?);
/// let F = Matrix3::new(1.0, 0.2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
/// let P = law.first_piola(&F, &Lag::default());
/// assert!((P[(0, 1)] - 2e5).abs() < 1e-6);
/// // δP = (∂P/∂F):δF, here as a difference.
/// let dF = Matrix3::new(0.0, 1e-6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
/// let dP = law.first_piola(&(F + dF), &Lag::default()) - P;
/// assert!((law.tangent(&F, &Lag::default()).apply(&dF) - dP).norm() < 1e-5);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
pub trait Material: Send + Sync + Debug {
    /// Ψ, J per m³ of rest volume; zero at rest.
    fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64;
    /// First Piola stress P = ∂Ψ/∂F, Pa.
    fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64>;
    /// ∂P/∂F, Pa; symmetric, may be indefinite. [`Tangent::semidefinite`] removes negative eigenvalues.
    fn tangent(&self, F: &Matrix3<f64>, lag: &Lag) -> Tangent;
    /// Hooke's law at small strain.
    fn lame(&self) -> Lame;
    /// The law of principal stretches, of materials that are one. Their decompositions are computed for several elements side by side, and once for
    /// stress and tangent.
    fn principal_law(&self) -> Option<&dyn PrincipalLaw> {
        None
    }
    /// The same law with λ = 0: without it [`Element::Smoothed`](crate::Element::Smoothed) has no volumetric part to average over patches, and
    /// locks near ν = ½. None: the law has no such part.
    fn with_zero_lambda(&self) -> Option<Arc<dyn Material>> {
        None
    }
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
///
/// ```
/// use nalgebra::{Matrix3, Rotation3};
/// use pliant_constitutive::Lame;
/// use pliant_fem::{Lag, LinearCorotated, Material};
///
/// // A body that has turned by 90° about z is free of stress in the axes of that rotation.
/// let rotation = Rotation3::from_euler_angles(0.0, 0.0, std::f64::consts::FRAC_PI_2).into_inner();
/// let law = LinearCorotated::new(Lame::new(1e6, 1e6)?);
/// let turned = Lag { rotation, ..Lag::default() };
/// assert!(law.first_piola(&rotation, &turned).norm() < 1e-9);
/// assert!(law.first_piola(&rotation, &Lag::default()).norm() > 1e6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
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
///
/// ```
/// use nalgebra::{Matrix3, Rotation3, Vector3};
/// use pliant_constitutive::{Lame, StableNeoHookean};
/// use pliant_fem::{Lag, Linear, LinearCorotated, Linearity, Material};
///
/// let lame = Lame::new(1e6, 1e6)?;
/// let laws: [&dyn Material; 3] = [&StableNeoHookean::new(lame), &Linear::new(lame), &LinearCorotated::new(lame)];
/// let linearity = laws.map(|law| law.linearity());
/// assert_eq!(linearity, [Linearity::Nonlinear, Linearity::Linear, Linearity::Corotated]);
/// // A rotation of 30°, without strain: only the law that knows it from F itself is free of stress.
/// let turned = Rotation3::from_scaled_axis(Vector3::new(0.0, 0.0, 0.52)).into_inner();
/// let stress = laws.map(|law| law.first_piola(&turned, &Lag::default()).norm());
/// assert!(stress[0] < 1e-6 && stress[1] > 1e5 && stress[2] > 1e5);
/// // The corotated law is, too, once its lag has the rotation.
/// let lag = Lag { rotation: turned, target: Matrix3::identity() };
/// assert!(laws[2].first_piola(&turned, &lag).norm() < 1e-6);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linearity {
    /// Nonlinear.
    Nonlinear,
    /// P = 2με + λ tr(ε) I with ε = sym(F) − I.
    Linear,
    /// P = R₀(2με + λ tr(ε) I) with ε = sym(R₀ᵀF) − T.
    Corotated,
}
