//! Corotated elasticity, linear about the rotation at the start of the step, with von Mises plasticity. Its energy is quadratic within a
//! step (Zong, Jiang, Han 2024, section VI).

use nalgebra::Matrix3;
use pliant_constitutive::{
    Lame, Mask, Number, Real, Tensor, corotated_stretch, corotated_stretches, polar_rotation,
    polar_rotations, rest_stretch,
};

use super::lane_law::{is_flat, never};
use super::{
    Definiteness, EnergyForm, Lagged, LaneLaw, LaneMaterial, LaneStrain, Law, Material, ShaderLaw,
    Strain, Tangent,
};
use crate::error::{MpmError, positive};

/// The deformation gradient F̃ after the return mapping, with sym(R₀ᵀF̃) = S̃.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_mpm::{Lagged, Law, LinearCorotated, ReturnForm, Strain};
///
/// // Clay is stretched and sheared by 0.1, far beyond its yield strain.
/// let clay = LinearCorotated::new(Lame::new(1e4, 1e4)?).with_yield_stress(70.0)?;
/// let at_rest = Strain { f: Matrix3::<f64>::identity(), internal: [0.0; 2] };
/// let mut g = Matrix3::from_diagonal(&[0.1, 0.1, 0.0].into());
/// g[(0, 1)] = 0.1;
/// let [kept, added] = [ReturnForm::KeepRotation, ReturnForm::Additive].map(|form| {
///     clay.with_return_form(form).advance(&at_rest, &Lagged::default(), &g).f
/// });
/// // Both scale sym F̃ back in the same way. Only one keeps the rotation of (I + G)F about z, here as its tangent.
/// let symmetric = |f: &Matrix3<f64>| (f + f.transpose()) * 0.5;
/// assert!((symmetric(&kept) - symmetric(&added)).norm() < 1e-12);
/// let turn = |f: &Matrix3<f64>| (f[(1, 0)] - f[(0, 1)]) / (f[(0, 0)] + f[(1, 1)]);
/// assert!((turn(&kept) + 0.1 / 2.2).abs() < 1e-12 && (turn(&added) + 0.1 / 2.2).abs() > 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_mpm::{EnergyForm, Lagged, Law, LinearCorotated, Material, Strain};
///
/// // The energy is quadratic in G: twice the shear, four times the energy μγ²/2.
/// let foam = LinearCorotated::new(Lame::new(1e4, 1e4)?);
/// let at_rest = Strain { f: Matrix3::<f64>::identity(), internal: [0.0; 2] };
/// let energy = |gamma: f64| {
///     let mut g = Matrix3::zeros();
///     g[(0, 1)] = gamma;
///     foam.energy(&at_rest, &Lagged::default(), &g)
/// };
/// assert!((energy(0.1) - 0.5 * 1e4 * 0.01).abs() < 1e-9);
/// assert!((energy(0.2) / energy(0.1) - 4.0).abs() < 1e-12);
/// assert_eq!(foam.energy_form(), EnergyForm::Quadratic);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
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

/// What a step holds fixed, of one particle or of several.
struct Fixed<N> {
    /// R₀.
    rotation: Tensor<N>,
    /// T.
    target: Tensor<N>,
}

impl<T: Real> From<&Lagged<T>> for Fixed<T> {
    fn from(lagged: &Lagged<T>) -> Self {
        Self {
            rotation: Tensor::from(&lagged.rotation),
            target: Tensor::from(&lagged.target),
        }
    }
}

impl<N: Number> Fixed<N> {
    /// At the start of an explicit substep, in which no particle rotates far.
    #[inline(always)]
    fn at_start(strain: &LaneStrain<N>) -> Self {
        let one = strain.internal[0].like(1.0);
        Self {
            rotation: polar_rotations(&strain.f),
            target: Tensor::diagonal(one),
        }
    }
}

/// Symmetric V with sym(QV) = S for a rotation Q: V = Qᵀ(S + x̂), (tr(Q) I − Q)/2 x = −ax(QᵀS). False beyond 60°.
#[inline(always)]
pub(crate) fn rotated_stretch<N: Number>(q: &Tensor<N>, s: &Tensor<N>) -> (Tensor<N>, N::Mask) {
    let trace = q.trace();
    let half = trace.like(0.5);
    let is_near = trace.like(2.0).below(trace);
    let l = (Tensor::diagonal(trace) - *q) * half;
    let right = q.transposed_product(s).axial_vector();
    // L⁻¹ = cof(L)ᵀ/det L.
    let scale = -trace.like(1.0) / l.determinant();
    let x = l.cofactor().transpose().times_vector(&right);
    let x = [x[0] * scale, x[1] * scale, x[2] * scale];
    let v = q.transposed_product(&(*s + Tensor::cross_matrix(&x)));
    (v.symmetric_part(), is_near)
}

impl LinearCorotated {
    /// R₀ C:ε F₀ᵀ with ε = sym(R₀ᵀF) − T.
    #[inline(always)]
    fn stresses<N: Number>(&self, f0: &Tensor<N>, f: &Tensor<N>, fixed: &Fixed<N>) -> Tensor<N> {
        let strain = corotated_stretches(&fixed.rotation, f) - fixed.target;
        fixed.rotation * self.lame.hooke::<f64>().stresses(&strain) * f0.transpose()
    }

    /// The strain after plastic flow of a trial F.
    #[inline(always)]
    fn flow<N: Number>(
        &self,
        f: Tensor<N>,
        internal: [N; 2],
        fixed: impl FnOnce() -> Fixed<N>,
    ) -> LaneStrain<N> {
        let elastic = LaneStrain { f, internal };
        if self.yield_norm == f64::INFINITY {
            return elastic;
        }
        let fixed = fixed();
        let s = corotated_stretches(&fixed.rotation, &f);
        let beyond = (s - fixed.target).deviator();
        let norm = beyond.dot(&beyond).root();
        let (zero, one) = (norm.like(0.0), norm.like(1.0));
        let bound = norm.like(self.yield_norm / (2.0 * self.lame.mu()));
        let flows = bound.below(norm);
        if !flows.any() {
            return elastic;
        }
        let excess = one - bound / norm;
        let returned = s - beyond * excess;
        // The model does not resist inversion: the mean stretch after plastic flow is at least a tenth.
        let mean = returned.trace() / norm.like(3.0);
        let returned = returned.plus_diagonal((norm.like(0.1) - mean).larger(zero));
        let additive = f + fixed.rotation * (returned - s);
        let upright = fixed.rotation * returned;
        let is_sound = zero.below(additive.determinant());
        let sound = Tensor::select(is_sound, &additive, &upright);
        let left = match self.form {
            ReturnForm::Additive => sound,
            ReturnForm::KeepRotation => {
                let r = polar_rotations(&f);
                let q = fixed.rotation.transposed_product(&r);
                let (stretch, is_near) = rotated_stretch(&q, &returned);
                let kept = r * stretch;
                let is_sound = zero.below(kept.determinant());
                Tensor::select(is_near.and(is_sound), &kept, &sound)
            }
        };
        let flowed = norm * excess * norm.like((2.0_f64 / 3.0).sqrt());
        let ratio = f.determinant() / left.determinant();
        // The volume change of an inverted trial state is undefined.
        let lost = N::select(zero.below(ratio).and(flows), ratio, one).logarithm();
        LaneStrain {
            f: Tensor::select(flows, &left, &f),
            internal: [
                internal[0] + N::select(flows, flowed, zero),
                internal[1] + lost,
            ],
        }
    }
}

impl LaneLaw for LinearCorotated {
    #[inline(always)]
    fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, _: &Tensor<N>) -> Tensor<N> {
        self.stresses(&strain.f, &strain.f, &Fixed::at_start(strain))
    }

    #[inline(always)]
    fn lane_advance<N: Number>(
        &self,
        strain: &LaneStrain<N>,
        g: &Tensor<N>,
    ) -> (LaneStrain<N>, N::Mask) {
        let f = strain.deformed(g);
        let next = self.flow(
            f,
            strain.internal,
            #[inline(always)]
            || Fixed::at_start(strain),
        );
        // Plastic flow requires a positive mean stretch.
        let crushed = match self.yield_norm == f64::INFINITY {
            true => is_flat(&f),
            false => never(&f),
        };
        (next, crushed)
    }
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
        let f = strain.f + g * strain.f;
        let e = corotated_stretch(&lagged.rotation, &f) - lagged.target;
        self.lame.hooke().energy_density(&e)
    }

    fn stress(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let strain = LaneStrain::from(strain);
        let f = strain.deformed(&Tensor::from(g));
        self.stresses(&strain.f, &f, &Fixed::from(lagged)).into()
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
        let f = LaneStrain::from(strain).deformed(&Tensor::from(g));
        self.flow(f, strain.internal, || Fixed::from(lagged)).into()
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
    fn shader_law(&self) -> Option<ShaderLaw> {
        Some(ShaderLaw::LinearCorotated {
            lame: self.lame,
            yield_norm: self.yield_norm,
            form: self.form,
        })
    }
    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        (self.yield_norm < f64::INFINITY).then_some(strain.internal[0])
    }
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.f.determinant() * strain.internal[1].exp()
    }
}
