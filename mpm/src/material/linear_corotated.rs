//! Corotated elasticity, linear about the rotation at the start of the step, with von Mises flow: the material that makes a
//! step quadratic (Zong, Jiang, Han 2024, section VI).

use nalgebra::Matrix3;

use super::{Definiteness, EnergyForm, Lagged, Law, Material, Moduli, Strain, Tangent};
use crate::error::{MpmError, positive};
use crate::rotation::{deviator, polar_rotation, sym};
use crate::scalar::Real;

/// How the returned strain S̃ becomes a deformation gradient with sym(R₀ᵀF̃) = S̃.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnForm {
    /// F̃ = R Ṽ with R the rotation of the trial F and Ṽ symmetric: eq. 26 of the paper, as a 3×3 solve. Turns of more than
    /// 60° within a step, where that system becomes singular, fall back to `Additive`.
    #[default]
    KeepRotation,
    /// F̃ = F + R₀ (S̃ − S): no polar decomposition, no solve, never singular; attributes the rotation differently, by an
    /// amount of second order in the step.
    Additive,
}

/// ψ = μ|ε|² + (λ/2) tr(ε)² with ε = sym(R₀ᵀ(I + G)F) − T, R₀ the rotation of F.
///
/// T = I is the paper's model. It is not invariant under rotations within a step: a body that turns by θ must grow by θ² to be
/// without stress. T = sym(R₀ᵀR₁), R₁ an estimate of the rotation at the end, removes that and leaves the second
/// derivative as it is; see [`RotationTarget`](crate::RotationTarget).
///
/// With a yield stress η, flow begins at |dev(P R₀ᵀ)| = η, that is |dev ε| = η/(2μ); what is beyond is scaled back at the
/// end of the step (eqs. 22-26). η bounds the Frobenius norm: in uniaxial tension it flows at √(3/2) η. `internal[0]` is the
/// accumulated plastic strain √(2/3) Σ|Δε|. Flow keeps tr ε, which is the volume to first order; `internal[1]` is the rest,
/// Σ ln(det F_before/det F_after).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearCorotated {
    moduli: Moduli,
    yield_norm: f64,
    form: ReturnForm,
}

impl LinearCorotated {
    /// An elastic solid.
    ///
    /// # Errors
    /// [`MpmError::Parameter`], see [`Moduli::new`].
    pub fn new(youngs_modulus: f64, poissons_ratio: f64) -> Result<Self, MpmError> {
        Ok(Self {
            moduli: Moduli::new("linear corotated", youngs_modulus, poissons_ratio)?,
            yield_norm: f64::INFINITY,
            form: ReturnForm::default(),
        })
    }

    /// The same solid flowing at |dev(P R₀ᵀ)| = η, Pa.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless η is positive and finite.
    pub fn with_yield_stress(mut self, eta: f64) -> Result<Self, MpmError> {
        self.yield_norm = positive("linear corotated", "yield_stress", eta)?;
        Ok(self)
    }

    /// The same solid with another way back from the yield surface.
    #[must_use]
    pub fn with_return_form(mut self, form: ReturnForm) -> Self {
        self.form = form;
        self
    }

    /// μ and λ.
    #[must_use]
    pub fn moduli(&self) -> Moduli {
        self.moduli
    }

    fn constants<T: Real>(&self) -> (T, T) {
        (T::of(self.moduli.mu), T::of(self.moduli.lambda))
    }
}

/// S = sym(R₀ᵀ(I + G)F).
fn stretch<T: Real>(strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
    sym(&(lagged.rotation.transpose() * (strain.f + g * strain.f)))
}

/// sym(R₀ᵀR₁), bounded so that the target stays invertible: turns beyond about 73° count as 73°.
fn target<T: Real>(r0: &Matrix3<T>, r1: &Matrix3<T>) -> Matrix3<T> {
    let target = sym(&(r0.transpose() * r1));
    let cosine = (target.trace() - T::one()) * T::of(0.5);
    if cosine < T::of(0.3) {
        let identity = Matrix3::identity();
        return identity + (target - identity) * (T::of(0.7) / (T::one() - cosine));
    }
    target
}

/// Symmetric V with sym(QV) = S for a rotation Q: V = Qᵀ(S + x̂), (tr(Q) I − Q)/2 x = −ax(QᵀS). `None` beyond 60°.
pub(crate) fn turned_stretch<T: Real>(q: &Matrix3<T>, s: &Matrix3<T>) -> Option<Matrix3<T>> {
    let half = T::of(0.5);
    if (q.trace() - T::one()) * half < half {
        return None;
    }
    let axial = |m: &Matrix3<T>| {
        nalgebra::Vector3::new(
            m[(2, 1)] - m[(1, 2)],
            m[(0, 2)] - m[(2, 0)],
            m[(1, 0)] - m[(0, 1)],
        ) * half
    };
    let l = (Matrix3::from_diagonal_element(q.trace()) - q) * half;
    let x = -(l.try_inverse()? * axial(&(q.transpose() * s)));
    Some(sym(&(q.transpose() * (s + x.cross_matrix()))))
}

impl<T: Real> Law<T> for LinearCorotated {
    fn lag(&self, strain: &Strain<T>, coming: Option<&Matrix3<T>>, lagged: &mut Lagged<T>) {
        lagged.rotation = polar_rotation(&strain.f);
        lagged.target = match coming {
            None => Matrix3::identity(),
            Some(g) => {
                let r1 = polar_rotation(&(strain.f + g * strain.f));
                target(&lagged.rotation, &r1)
            }
        };
    }

    fn energy(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> T {
        let (mu, lambda) = self.constants::<T>();
        let e = stretch(strain, lagged, g) - lagged.target;
        let trace = e.trace();
        mu * e.norm_squared() + T::of(0.5) * lambda * trace * trace
    }

    fn stress(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let (mu, lambda) = self.constants::<T>();
        let e = stretch(strain, lagged, g) - lagged.target;
        let pressure = Matrix3::from_diagonal_element(lambda * e.trace());
        lagged.rotation * (e * (T::of(2.0) * mu) + pressure) * strain.f.transpose()
    }

    fn tangent(
        &self,
        strain: &Strain<T>,
        lagged: &Lagged<T>,
        _: &Matrix3<T>,
        _: Definiteness,
    ) -> Tangent<T> {
        let (mu, lambda) = self.constants();
        Tangent::Isotropic {
            map: lagged.rotation * strain.f.transpose(),
            mu,
            lambda,
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
        let bound = T::of(self.yield_norm / (2.0 * self.moduli.mu));
        if norm <= bound {
            return Strain { f, ..*strain };
        }
        let excess = T::one() - bound / norm;
        let mut returned = s - beyond * excess;
        // The model does not resist inversion; a particle on its way through is stopped at a tenth of its size.
        let mean = returned.trace() / T::of(3.0);
        returned += Matrix3::from_diagonal_element((T::of(0.1) - mean).max(T::zero()));
        let additive = f + lagged.rotation * (returned - s);
        let kept = match self.form {
            ReturnForm::Additive => None,
            ReturnForm::KeepRotation => {
                let r = polar_rotation(&f);
                turned_stretch(&(lagged.rotation.transpose() * r), &returned).map(|v| r * v)
            }
        };
        let sound = |f: &Matrix3<T>| f.determinant() > T::zero();
        let upright = || lagged.rotation * returned;
        let sound_one = [kept, Some(additive)].into_iter().flatten().find(sound);
        let left = sound_one.unwrap_or_else(upright);
        let flowed = norm * excess * T::of((2.0_f64 / 3.0).sqrt());
        let lost = f.determinant() / left.determinant();
        // A trial turned inside out has no volume to give account of.
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

    // Flow stops what is on its way through.
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
        self.moduli.wave_modulus()
    }
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        (self.yield_norm < f64::INFINITY).then_some(strain.internal[0])
    }
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.f.determinant() * strain.internal[1].exp()
    }
}
