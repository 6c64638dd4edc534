//! Isotropic laws by their principal stretches.

use std::fmt::Debug;

use nalgebra::{Matrix3, Vector3};

use super::{Domain, Lag, Lame, Material, Principal, Tangent};
use crate::signed_svd::SignedSvd;

/// An isotropic law Ψ(F) = ψ(σ₁, σ₂, σ₃) of the signed principal stretches of F = U diag(σ) Vᵀ, of which the last is
/// negative when F is inverted.
///
/// ψ is symmetric in its arguments. Everything a step needs follows: P = U diag(∂ψ/∂σ) Vᵀ, and the nine eigenvalues of
/// ∂P/∂F from [`Spectrum`], so that negative ones can be removed without a 9×9 eigenproblem.
///
/// Source: Smith, de Goes, Kim (2019), "Analytic eigensystems for isotropic distortion energies".
pub trait PrincipalLaw: Send + Sync + Debug {
    /// ψ, J per m³ of rest volume; zero at σ = (1, 1, 1).
    fn energy(&self, stretches: &Vector3<f64>) -> f64;
    /// ∂ψ/∂σ, Pa.
    fn stresses(&self, stretches: &Vector3<f64>) -> Vector3<f64>;
    /// The second derivative.
    fn spectrum(&self, stretches: &Vector3<f64>) -> Spectrum;
    /// Hooke's law at small strain.
    fn lame(&self) -> Lame;
    /// Where the law is defined.
    fn domain(&self) -> Domain {
        Domain::Everywhere
    }
}

/// The second derivative of an isotropic law in the frame of its principal stretches, Pa.
///
/// Entry k of the arrays belongs to the pair of the other two stretches, (i, j) = (k + 1, k + 2) mod 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum {
    /// ∂²ψ/∂σ_i∂σ_j.
    pub stretching: Matrix3<f64>,
    /// (ψ_i − ψ_j)/(σ_i − σ_j): stiffness against symmetric shear; in closed form, without 0/0 at equal stretches.
    pub symmetric: Vector3<f64>,
    /// (ψ_i + ψ_j)/(σ_i + σ_j): stiffness against turning U against V.
    pub antisymmetric: Vector3<f64>,
}

impl Spectrum {
    /// The other two indices of pair k.
    #[must_use]
    pub fn pair(k: usize) -> (usize, usize) {
        ((k + 1) % 3, (k + 2) % 3)
    }
}

impl<L: PrincipalLaw> Material for L {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.energy(&SignedSvd::of(F).stretches)
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        let svd = SignedSvd::of(F);
        let mut scaled = svd.U;
        for (mut column, stress) in scaled.column_iter_mut().zip(&self.stresses(&svd.stretches)) {
            column *= *stress;
        }
        scaled * svd.V.transpose()
    }

    fn tangent(&self, F: &Matrix3<f64>, _: &Lag) -> Tangent {
        let svd = SignedSvd::of(F);
        Tangent::Principal(Principal {
            U: svd.U,
            V: svd.V,
            spectrum: self.spectrum(&svd.stretches),
        })
    }

    fn lame(&self) -> Lame {
        PrincipalLaw::lame(self)
    }

    fn domain(&self) -> Domain {
        PrincipalLaw::domain(self)
    }
}
