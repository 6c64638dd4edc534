//! Hooke's law in fixed axes.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Lame, symmetric_part};

use super::{Lag, Linearity, Material, Tangent};

/// Linear elasticity: Ψ = μ‖ε‖² + λ/2 tr²ε with ε = sym(F) − I. For small rotations only: rotation increases the volume.
///
/// For comparison with analytical solutions; for bodies in motion use [`LinearCorotated`](super::LinearCorotated).
///
/// ```
/// use nalgebra::{Matrix3, Rotation3};
/// use pliant_constitutive::Lame;
/// use pliant_fem::{Lag, Linear, Material};
///
/// // μ = λ = 1 MPa, turned by θ = 0.1 rad about z: sym(F) − I = −½θ² in x and y, so that P_zz = λ tr ε ≈ −λθ².
/// let law = Linear::new(Lame::new(1e6, 1e6)?);
/// let turned = Rotation3::from_euler_angles(0.0, 0.0, 0.1).into_inner();
/// let P = law.first_piola(&turned, &Lag::default());
/// assert!((P[(2, 2)] / -1e4 - 1.0).abs() < 1e-3);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    lame: Lame,
}

impl Linear {
    /// The law with the given parameters.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self { lame }
    }

    fn strain(F: &Matrix3<f64>) -> Matrix3<f64> {
        symmetric_part(F) - Matrix3::identity()
    }
}

impl Material for Linear {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.lame.hooke().energy_density(&Self::strain(F))
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        self.lame.hooke().stress(&Self::strain(F))
    }

    fn tangent(&self, _: &Matrix3<f64>, _: &Lag) -> Tangent {
        Tangent::Hooke {
            rotation: Matrix3::identity(),
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
        Linearity::Linear
    }
}
