//! Hooke's law in fixed axes.

use nalgebra::Matrix3;

use super::{Lag, Lame, Linearity, Material, Tangent};
use crate::error::FemError;

/// Ψ = μ‖ε‖² + λ/2 tr²ε with ε = sym(F) − I: small turns only, a turned body swells.
///
/// For comparison with textbooks; bodies that move take [`LinearCorotated`](super::LinearCorotated).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    lame: Lame,
}

impl Linear {
    /// # Errors
    /// [`FemError::Parameter`] of [`Lame::validate`].
    pub fn new(lame: Lame) -> Result<Self, FemError> {
        lame.validate()?;
        Ok(Self { lame })
    }

    fn strain(F: &Matrix3<f64>) -> Matrix3<f64> {
        0.5 * (F + F.transpose()) - Matrix3::identity()
    }
}

impl Material for Linear {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.lame.energy_density(&Self::strain(F))
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        self.lame.stress(&Self::strain(F))
    }

    fn tangent(&self, _: &Matrix3<f64>, _: &Lag) -> Tangent {
        Tangent::Hooke {
            rotation: Matrix3::identity(),
            lame: self.lame,
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn linearity(&self) -> Linearity {
        Linearity::Linear
    }
}
