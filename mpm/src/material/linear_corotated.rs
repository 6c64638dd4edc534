//! Corotated elasticity, linear about the rotation at the start of the step, with von Mises plasticity. Its energy is quadratic within a
//! step (Zong, Jiang, Han 2024, section VI).

use nalgebra::Matrix3;
use pliant_constitutive::{
    Lame, Real, axial_vector, corotated_stretch, deviator, polar_rotation, rest_stretch,
    symmetric_part,
};

use super::{Definiteness, EnergyForm, Lagged, Law, Material, Strain, Tangent};
use crate::error::{MpmError, positive};

/// The deformation gradient F̃ after the return mapping, with sym(R₀ᵀF̃) = S̃.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnForm {
    /// F̃ = R Ṽ with R the rotation of the trial F and Ṽ symmetric: eq. 26 of the paper, a 3×3 system. Rotations of more than 60°
    /// within a step, for which it becomes singular, use `Additive`.
    #[default]
    KeepRotation,
    /// F̃ = F + R₀ (S̃ − S): without polar decomposition, never singular; its rotation differs by an amount of second order in the step.
    Additive,
}

/// ψ = μ|ε|² + (λ/2) tr(ε)² with ε = sym(R₀ᵀ(I + G)F) − T, R₀ the rotation of F.
///
/// T = I is the paper's model. It is not invariant under rotations within a step: a body that rotates by θ is free of stress if it
/// expands by θ². T = sym(R₀ᵀR₁), R₁ a prediction of the rotation at the end, removes this error without a change of the second
/// derivative; see [`RotationTarget`](crate::RotationTarget).
///
/// With a yield stress η, flow begins at |dev(P R₀ᵀ)| = η, that is |dev ε| = η/(2μ); larger deviators are scaled back at the end of the
/// step (eqs. 22-26). η bounds the Frobenius norm: the yield stress in uniaxial tension is √(3/2) η. `internal[0]` is the accumulated
/// plastic strain √(2/3) Σ|Δε|. Flow preserves tr ε, which is the volume to first order; `internal[1]` is the remaining change
/// Σ ln(det F_before/det F_after).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearCorotated {
    lame: Lame,
    yield_norm: f64,
    form: ReturnForm,
}

impl LinearCorotated {
    /// An elastic solid.
    #[must_use]
    pub fn new(lame: Lame) -> Self {
        Self {
            lame,
            yield_norm: f64::INFINITY,
            form: ReturnForm::default(),
        }
    }

    /// The same solid with plastic flow at |dev(P R₀ᵀ)| = η, Pa.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless η is positive and finite.
    pub fn with_yield_stress(mut self, eta: f64) -> Result<Self, MpmError> {
        self.yield_norm = positive("linear corotated", "yield_stress", eta)?;
        Ok(self)
    }

    /// The same solid with another return mapping.
    #[must_use]
    pub fn with_return_form(mut self, form: ReturnForm) -> Self {
        self.form = form;
        self
    }

    /// μ and λ.
    #[must_use]
    pub fn lame(&self) -> Lame {
        self.lame
    }
}

/// S = sym(R₀ᵀ(I + G)F).
fn stretch<T: Real>(strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
    corotated_stretch(&lagged.rotation, &(strain.f + g * strain.f))
}

/// Symmetric V with sym(QV) = S for a rotation Q: V = Qᵀ(S + x̂), (tr(Q) I − Q)/2 x = −ax(QᵀS). `None` beyond 60°.
pub(crate) fn rotated_stretch<T: Real>(q: &Matrix3<T>, s: &Matrix3<T>) -> Option<Matrix3<T>> {
    let half = T::of(0.5);
    if (q.trace() - T::one()) * half < half {
        return None;
    }
    let l = (Matrix3::from_diagonal_element(q.trace()) - q) * half;
    let x = -(l.try_inverse()? * axial_vector(&(q.transpose() * s)));
    Some(symmetric_part(&(q.transpose() * (s + x.cross_matrix()))))
}

impl<T: Real> Law<T> for LinearCorotated {
    fn lag(&self, strain: &Strain<T>, predicted: Option<&Matrix3<T>>, lagged: &mut Lagged<T>) {
        lagged.rotation = polar_rotation(&strain.f);
        lagged.target = match predicted {
            None => Matrix3::identity(),
            Some(g) => {
                let r1 = polar_rotation(&(strain.f + g * strain.f));
                rest_stretch(&(lagged.rotation.transpose() * r1))
            }
        };
    }

    fn energy(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> T {
        let e = stretch(strain, lagged, g) - lagged.target;
        self.lame.hooke().energy_density(&e)
    }

    fn stress(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let e = stretch(strain, lagged, g) - lagged.target;
        lagged.rotation * self.lame.hooke().stress(&e) * strain.f.transpose()
    }

    fn tangent(
        &self,
        strain: &Strain<T>,
        lagged: &Lagged<T>,
        _: &Matrix3<T>,
        _: Definiteness,
    ) -> Tangent<T> {
        Tangent::Isotropic {
            map: lagged.rotation * strain.f.transpose(),
            hooke: self.lame.hooke(),
        }
    }

    fn advance(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let f = strain.f + g * strain.f;
        if self.yield_norm == f64::INFINITY {
            return Strain { f, ..*strain };
        }
        let s = stretch(strain, lagged, g);
        let beyond = deviator(&(s - lagged.target));
        let norm = beyond.norm();
        let bound = T::of(self.yield_norm / (2.0 * self.lame.mu()));
        if norm <= bound {
            return Strain { f, ..*strain };
        }
        let excess = T::one() - bound / norm;
        let mut returned = s - beyond * excess;
        // The model does not resist inversion: the mean stretch after plastic flow is at least a tenth.
        let mean = returned.trace() / T::of(3.0);
        returned += Matrix3::from_diagonal_element((T::of(0.1) - mean).max(T::zero()));
        let additive = f + lagged.rotation * (returned - s);
        let kept = match self.form {
            ReturnForm::Additive => None,
            ReturnForm::KeepRotation => {
                let r = polar_rotation(&f);
                rotated_stretch(&(lagged.rotation.transpose() * r), &returned).map(|v| r * v)
            }
        };
        let sound = |f: &Matrix3<T>| f.determinant() > T::zero();
        let upright = || lagged.rotation * returned;
        let sound_one = [kept, Some(additive)].into_iter().flatten().find(sound);
        let left = sound_one.unwrap_or_else(upright);
        let flowed = norm * excess * T::of((2.0_f64 / 3.0).sqrt());
        let lost = f.determinant() / left.determinant();
        // The volume change of an inverted trial state is undefined.
        let lost = if lost > T::zero() {
            lost.ln()
        } else {
            T::zero()
        };
        Strain {
            f: left,
            internal: [strain.internal[0] + flowed, strain.internal[1] + lost],
        }
    }

    // Plastic flow requires a positive mean stretch.
    fn is_crushed(&self, strain: &Strain<T>, g: &Matrix3<T>) -> bool {
        self.yield_norm == f64::INFINITY && (strain.f + g * strain.f).determinant() <= T::zero()
    }
}

impl Material for LinearCorotated {
    fn name(&self) -> &'static str {
        "linear_corotated"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::Quadratic
    }
    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        (self.yield_norm < f64::INFINITY).then_some(strain.internal[0])
    }
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.f.determinant() * strain.internal[1].exp()
    }
}
