//! The default law: linear about the rotation at the start of the step.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Lame, corotated_stretch};

use super::{Lag, Linearity, Material, Tangent};

/// Linear corotated elasticity: Ψ = μ‖ε‖² + λ/2 tr²ε with ε = sym(R₀ᵀF) − T.
///
/// R₀ is the rotation of F at the start of the step, so Ψ is quadratic in F and its second derivative is positive
/// semidefinite: a step is one convex problem. T is the stretch without stress: I in the paper, and
/// [`rest_stretch`](pliant_constitutive::rest_stretch) of the rotation predicted for the step with
/// [`Rotation::Followed`](crate::Rotation::Followed), without which rotation increases the volume.
///
/// Source: Han, Masterjohn, Castro (2023), "A convex formulation of frictional contact between rigid and deformable bodies",
/// section V-B and appendix.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_constitutive::Lame;
/// use pliant_fem::{Lag, LinearCorotated, Linearity, Material};
///
/// // Twice the strain, twice the stress: P_xx = (2μ + λ) ε with μ = λ = 1 MPa.
/// let law = LinearCorotated::new(Lame::new(1e6, 1e6)?);
/// let stress = |e: f64| law.first_piola(&Matrix3::from_diagonal(&Vector3::new(1.0 + e, 1.0, 1.0)), &Lag::default());
/// assert!((stress(0.1)[(0, 0)] - 3e5).abs() < 1e-6);
/// assert!((stress(0.2) - 2.0 * stress(0.1)).norm() < 1e-6);
/// assert_eq!(law.linearity(), Linearity::Corotated);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearCorotated {
    lame: Lame,
}

impl LinearCorotated {
    /// The law with the given parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }

    fn strain(F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
        corotated_stretch(&lag.rotation, F) - lag.target
    }
}

impl Material for LinearCorotated {
    fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64 {
        self.lame.hooke().energy_density(&Self::strain(F, lag))
    }

    fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
        lag.rotation * self.lame.hooke().stress(&Self::strain(F, lag))
    }

    fn tangent(&self, _: &Matrix3<f64>, lag: &Lag) -> Tangent {
        Tangent::Hooke {
            rotation: lag.rotation,
            hooke: self.lame.hooke(),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn with_zero_lambda(&self) -> Option<Arc<dyn Material>> {
        Some(Arc::new(Self::new(self.lame.with_zero_lambda())))
    }

    fn linearity(&self) -> Linearity {
        Linearity::Corotated
    }
}
