//! The energy ψ₂ of the stretch within the surface, and its derivatives.
//!
//! ψ₂ is a function of the 3×2 deformation gradient F₁₂ = [q₁ q₂] R₂, or of its principal stretches σ₁, σ₂:
//!
//! ```text
//! fixed corotated (Stomakhin et al. 2012)    μ Σ (σ_i − 1)² + λ/2 (σ₁σ₂ − 1)²
//! St. Venant-Kirchhoff                       μ Σ ε_i² + λ/2 (Σ ε_i)²,  ε_i = (σ_i² − 1)/2
//! ```

use nalgebra::{Matrix2, Matrix3x2, SMatrix, Vector2, Vector3};
use pliant_constitutive::{Hooke, Real};

use super::material::InPlaneLaw;

/// Least denominator of the divided differences of [`second_derivative`]: stretches below a hundredth are no matter of precision.
const LEAST_STRETCH: f64 = 0.01;

/// A law with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InPlane<T> {
    pub(crate) law: InPlaneLaw,
    pub(crate) hooke: Hooke<T>,
}

/// Treatment of negative eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eigenvalues {
    All,
    /// Negative ones are set to zero.
    NotNegative,
}

impl Eigenvalues {
    fn of<T: Real>(self, value: T) -> T {
        match self {
            Self::All => value,
            Self::NotNegative => value.max(T::zero()),
        }
    }
}

/// F₁₂ = Σ σ_i u_i v_iᵀ, σ₁ ≥ σ₂ ≥ 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrincipalStretches<T> {
    pub(crate) stretches: [T; 2],
    /// u₁, u₂ in the basis q₁, q₂.
    left: Matrix2<T>,
    right: Matrix2<T>,
}

impl<T: Real> PrincipalStretches<T> {
    /// Of an upper triangular R₂ without negative diagonal entries.
    pub(crate) fn of(r: &Matrix2<T>) -> Self {
        let c = r.tr_mul(r);
        let half = T::of(0.5);
        let angle = half * (T::of(2.0) * c.m12).atan2(c.m11 - c.m22);
        let (sine, cosine) = angle.sin_cos();
        let right = Matrix2::new(cosine, -sine, sine, cosine);
        let image = r * right.column(0);
        let first = image.norm();
        let (u, second) = match first > T::zero() {
            true => (image / first, r.m11 * r.m22 / first),
            false => (Vector2::x(), first),
        };
        Self {
            stretches: [first, second],
            left: Matrix2::new(u.x, -u.y, u.y, u.x),
            right,
        }
    }
}

impl<T: Real> InPlane<T> {
    /// ψ₂, J/m³.
    #[inline(always)]
    pub(crate) fn energy(&self, r: &Matrix2<T>) -> T {
        let half = T::of(0.5);
        match self.law {
            InPlaneLaw::FixedCorotated => {
                let dilation = r.m11 * r.m22 - T::one();
                self.hooke.mu * (r - rotation(r)).norm_squared()
                    + half * self.hooke.lambda * dilation * dilation
            }
            InPlaneLaw::StVenantKirchhoff => {
                let strain = green_strain(r);
                half * strain.dot(&self.stress_of(&strain))
            }
        }
    }

    /// ∂ψ₂/∂R₂ of the four entries of a general R₂, at an upper triangular one, Pa.
    #[inline(always)]
    pub(crate) fn stress(&self, r: &Matrix2<T>) -> Matrix2<T> {
        match self.law {
            InPlaneLaw::FixedCorotated => {
                let cofactor = Matrix2::new(r.m22, T::zero(), -r.m12, r.m11);
                let dilation = r.m11 * r.m22 - T::one();
                (r - rotation(r)) * (T::of(2.0) * self.hooke.mu)
                    + cofactor * (self.hooke.lambda * dilation)
            }
            InPlaneLaw::StVenantKirchhoff => r * self.stress_of(&green_strain(r)),
        }
    }

    /// 2μ ε + λ tr(ε) I.
    #[inline(always)]
    pub(crate) fn stress_of(&self, strain: &Matrix2<T>) -> Matrix2<T> {
        let pressure = self.hooke.lambda * strain.trace();
        strain * (T::of(2.0) * self.hooke.mu) + Matrix2::from_diagonal_element(pressure)
    }

    /// ∂²ψ₂/∂F₁₂², Pa, on vec F₁₂ column by column, with q = [q₁ q₂ q₃].
    ///
    /// Its eigenvectors are those of any isotropic law (Smith, de Goes, Kim 2019), here with a third direction across the surface:
    ///
    /// ```text
    /// stretches                     u₁v₁ᵀ, u₂v₂ᵀ              the 2×2 matrix ∂²ψ₂/∂σ_i∂σ_j
    /// rotation within the surface   (u₁v₂ᵀ − u₂v₁ᵀ)/√2        (ψ₁ + ψ₂)/(σ₁ + σ₂)
    /// shear                         (u₁v₂ᵀ + u₂v₁ᵀ)/√2        (ψ₁ − ψ₂)/(σ₁ − σ₂)
    /// rotation out of the surface   q₃v_iᵀ                    ψ_i/σ_i                      ψ_i = ∂ψ₂/∂σ_i
    /// ```
    ///
    /// The last one is the tension: it is negative where the sheet is compressed and may buckle.
    pub(crate) fn second_derivative(
        &self,
        q: [Vector3<T>; 3],
        principal: &PrincipalStretches<T>,
        eigenvalues: Eigenvalues,
    ) -> SMatrix<T, 6, 6> {
        let [s1, s2] = principal.stretches;
        let PrincipalStretches { left, right, .. } = principal;
        let u = [0, 1].map(|i| q[0] * left[(0, i)] + q[1] * left[(1, i)]);
        let v = [0, 1].map(|i| right.column(i).into_owned());
        let dyad = |a: &Vector3<T>, b: &Vector2<T>| -> Matrix3x2<T> { a * b.transpose() };
        let least = T::of(LEAST_STRETCH);
        let slopes = self.slopes([s1, s2]);
        let mut sum = SMatrix::<T, 6, 6>::zeros();
        let mut add = |value: T, mode: Matrix3x2<T>| {
            let mode = SMatrix::<T, 6, 1>::from_column_slice(mode.as_slice());
            sum += mode * mode.transpose() * value;
        };
        let along = [dyad(&u[0], &v[0]), dyad(&u[1], &v[1])];
        let [(first, a), (second, b)] = symmetric_eigen(&self.curvature([s1, s2]));
        add(eigenvalues.of(first), along[0] * a.x + along[1] * a.y);
        add(eigenvalues.of(second), along[0] * b.x + along[1] * b.y);
        let (crossed, back) = (dyad(&u[0], &v[1]), dyad(&u[1], &v[0]));
        let half = T::of(0.5);
        let turning = (slopes[0] + slopes[1]) / (s1 + s2).max(least);
        add(half * eigenvalues.of(turning), crossed - back);
        add(
            half * eigenvalues.of(self.shearing([s1, s2])),
            crossed + back,
        );
        for i in 0..2 {
            let tension = slopes[i] / principal.stretches[i].max(least);
            add(eigenvalues.of(tension), dyad(&q[2], &v[i]));
        }
        sum
    }

    /// The largest eigenvalue of the second derivative, Pa: the stiffness that limits an explicit time step. 2μ + 2λ at rest.
    pub(crate) fn stiffness(&self, [s1, s2]: [T; 2]) -> T {
        let [(first, _), (second, _)] = symmetric_eigen(&self.curvature([s1, s2]));
        let [p1, p2] = self.slopes([s1, s2]);
        let least = T::of(LEAST_STRETCH);
        let mut largest = first.max(second).max(self.shearing([s1, s2]));
        for (slope, stretch) in [(p1 + p2, s1 + s2), (p1, s1), (p2, s2)] {
            largest = largest.max(slope / stretch.max(least));
        }
        largest
    }

    /// ψ_i.
    fn slopes(&self, [s1, s2]: [T; 2]) -> [T; 2] {
        let one = T::one();
        let Hooke { mu, lambda } = self.hooke;
        let two_mu = T::of(2.0) * mu;
        match self.law {
            InPlaneLaw::FixedCorotated => {
                let pressure = lambda * (s1 * s2 - one);
                [
                    two_mu * (s1 - one) + pressure * s2,
                    two_mu * (s2 - one) + pressure * s1,
                ]
            }
            InPlaneLaw::StVenantKirchhoff => {
                let strains = [s1, s2].map(|s| T::of(0.5) * (s * s - one));
                let pressure = lambda * (strains[0] + strains[1]);
                [
                    s1 * (two_mu * strains[0] + pressure),
                    s2 * (two_mu * strains[1] + pressure),
                ]
            }
        }
    }

    /// ∂²ψ₂/∂σ_i∂σ_j.
    fn curvature(&self, [s1, s2]: [T; 2]) -> Matrix2<T> {
        let one = T::one();
        let Hooke { mu, lambda } = self.hooke;
        let two = T::of(2.0);
        match self.law {
            InPlaneLaw::FixedCorotated => {
                let mixed = lambda * (two * s1 * s2 - one);
                Matrix2::new(
                    two * mu + lambda * s2 * s2,
                    mixed,
                    mixed,
                    two * mu + lambda * s1 * s1,
                )
            }
            InPlaneLaw::StVenantKirchhoff => {
                let half = T::of(0.5);
                let squares = [s1 * s1, s2 * s2];
                let pressure = lambda * half * (squares[0] + squares[1] - two);
                let own = |s: T| mu * (T::of(3.0) * s - one) + lambda * s + pressure;
                let mixed = lambda * s1 * s2;
                Matrix2::new(own(squares[0]), mixed, mixed, own(squares[1]))
            }
        }
    }

    /// (ψ₁ − ψ₂)/(σ₁ − σ₂), a polynomial.
    fn shearing(&self, [s1, s2]: [T; 2]) -> T {
        let one = T::one();
        let Hooke { mu, lambda } = self.hooke;
        match self.law {
            InPlaneLaw::FixedCorotated => T::of(2.0) * mu - lambda * (s1 * s2 - one),
            InPlaneLaw::StVenantKirchhoff => {
                let squares = s1 * s1 + s2 * s2;
                mu * (squares + s1 * s2 - one) + T::of(0.5) * lambda * (squares - T::of(2.0))
            }
        }
    }
}

/// Eigenvalues and unit eigenvectors of a symmetric matrix.
fn symmetric_eigen<T: Real>(m: &Matrix2<T>) -> [(T, Vector2<T>); 2] {
    let half = T::of(0.5);
    let angle = half * (T::of(2.0) * m.m12).atan2(m.m11 - m.m22);
    let (sine, cosine) = angle.sin_cos();
    let mean = half * (m.m11 + m.m22);
    let radius = (half * (m.m11 - m.m22)).hypot(m.m12);
    [
        (mean + radius, Vector2::new(cosine, sine)),
        (mean - radius, Vector2::new(-sine, cosine)),
    ]
}

/// The rotation of the polar decomposition of an upper triangular matrix without negative diagonal entries; I of zero.
#[inline(always)]
fn rotation<T: Real>(r: &Matrix2<T>) -> Matrix2<T> {
    let (x, y) = (r.m11 + r.m22, r.m12);
    let length = (x * x + y * y).sqrt();
    if !(length > T::zero()) {
        return Matrix2::identity();
    }
    let (cosine, sine) = (x / length, -y / length);
    Matrix2::new(cosine, -sine, sine, cosine)
}

/// (RᵀR − I)/2.
#[inline(always)]
fn green_strain<T: Real>(r: &Matrix2<T>) -> Matrix2<T> {
    let half = T::of(0.5);
    let one = T::one();
    let shear = half * r.m11 * r.m12;
    Matrix2::new(
        half * (r.m11 - one) * (r.m11 + one),
        shear,
        shear,
        half * (r.m12 * r.m12 + (r.m22 - one) * (r.m22 + one)),
    )
}
