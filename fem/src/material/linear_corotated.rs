//! The default law: linear about a rotation that is known before the step.

use nalgebra::Matrix3;

use super::{Lag, Lame, Linearity, Material, Tangent};
use crate::error::FemError;

/// Ψ = μ‖ε‖² + λ/2 tr²ε with ε = sym(R₀ᵀF) − T.
///
/// R₀ is the rotation of F at the start of the step, so Ψ is quadratic in F and its second derivative is positive
/// semidefinite: one linear solve a step, and contact stays convex. T is the stretch without stress: I in the paper, and
/// where the element will have turned to by [`Rotation::Followed`](crate::Rotation::Followed), without which turning
/// bodies grow.
///
/// Source: Han, Masterjohn, Castro (2023), section V-B and appendix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearCorotated {
    lame: Lame,
}

impl LinearCorotated {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }

    fn strain(F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
        let turned = lag.rotation.transpose() * F;
        0.5 * (turned + turned.transpose()) - lag.target
    }
}

impl Material for LinearCorotated {
    fn energy_density(&self, F: &Matrix3<f64>, lag: &Lag) -> f64 {
        self.lame.energy_density(&Self::strain(F, lag))
    }

    fn first_piola(&self, F: &Matrix3<f64>, lag: &Lag) -> Matrix3<f64> {
        lag.rotation * self.lame.stress(&Self::strain(F, lag))
    }

    fn tangent(&self, _: &Matrix3<f64>, lag: &Lag) -> Tangent {
        Tangent::Hooke {
            rotation: lag.rotation,
            lame: self.lame,
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn linearity(&self) -> Linearity {
        Linearity::Corotated
    }
}
