//! Energy, stress and return mapping of a cloth as functions of F = [d₁ d₂ d₃].

use nalgebra::{Matrix2, Matrix3, Matrix3x2, RowVector2, Vector2, Vector3};
use pliant_constitutive::Real;

use super::FADING_AREA_RATIO;
use super::material::InPlaneLaw;
use super::surface_frame::SurfaceFrame;

/// Least |r₃₃| after the return mapping: a normal of length zero could never grow again.
const LEAST_NORMAL: f64 = 1e-3;

/// Constants of a [`ClothMaterial`](super::ClothMaterial) in the precision of `T`, and the functions of F that they define.
///
/// d₁ and d₂ are the deformed edges D_s D_m⁻¹ of a triangle, d₃ its convected normal. At rest F is a rotation.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{ClothLaw, ClothMaterial, InPlaneLaw};
///
/// let material = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 5e-4)?;
/// let law: ClothLaw<f64> = material.law();
/// // Two layers pressed together to half their distance: the pressure k (1 − r₃₃)² r₃₃.
/// let F = Matrix3::from_diagonal(&[1.0, 1.0, 0.5].into());
/// assert_eq!(law.energy(&F), 1e5 / 3.0 * 0.125);
/// assert_eq!(law.kirchhoff(&F)[(2, 2)], -1e5 * 0.25 * 0.5);
/// // Pulled apart, they separate without tension.
/// let F = Matrix3::from_diagonal(&[1.0, 1.0, 1.5].into());
/// assert_eq!(law.stress(&F).norm(), 0.0);
/// assert_eq!(law.return_normal(&F).z, 1.0);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothLaw<T> {
    pub(super) in_plane: InPlaneLaw,
    pub(super) mu: T,
    pub(super) lambda: T,
    pub(super) normal: T,
    pub(super) shear: T,
    pub(super) friction: T,
    pub(super) damping_time: T,
    pub(super) affine_fraction: T,
}

/// ψ and its derivatives with respect to r₁₃, r₂₃, r₃₃.
struct Transverse<T> {
    energy: T,
    stress: Vector3<T>,
    /// What a tilt of the surface against d₃ = (r₁₃, r₂₃, r₃₃) costs: −∂ψ/∂q₃ = `tilt` d₃.
    tilt: T,
}

impl<T: Real> ClothLaw<T> {
    /// ψ, J per m³ of cloth at rest (Jiang, Gast, Teran 2017):
    ///
    /// ```text
    /// ψ = ψ₂(R₂) + γ/2 (r₁₃² + r₂₃²) + k/3 (1 − r₃₃)³        F = QR, the last term for r₃₃ < 1 only
    /// ```
    #[must_use]
    pub fn energy(&self, F: &Matrix3<T>) -> T {
        let frame = SurfaceFrame::of(F);
        self.in_plane_energy(&frame.in_plane) + self.transverse(&frame).energy
    }

    /// First Piola stress P = ∂ψ/∂F, Pa. Its first two columns act on the vertices, the third on the convected normal.
    ///
    /// Torques about the edges of a triangle without area would be infinite forces, and the direction of its normal has no
    /// meaning. A triangle that has lost more than nine tenths of its area therefore loses its transverse stress in proportion:
    /// P Fᵀ stays symmetric, but P is no longer the gradient of ψ. P is finite for every F.
    #[must_use]
    #[inline]
    pub fn stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.frame_stress(&SurfaceFrame::of(F))
    }

    /// Kirchhoff stress of the normal column, P₃ d₃ᵀ, Pa.
    ///
    /// It is scattered like any other stress from the triangle's centroid. It is not symmetric by itself: its torque balances
    /// that of the vertex forces.
    #[must_use]
    #[inline]
    pub fn kirchhoff(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.stress(F).column(2) * F.column(2).transpose()
    }

    /// P of the first two columns from damping in the plane, Pa: F₁₂ S with S = β (2μ Ė + λ tr(Ė) I), `rate` = ∂F₁₂/∂t in 1/s.
    #[must_use]
    #[inline]
    pub fn viscous_stress(&self, F: &Matrix3<T>, rate: &Matrix3x2<T>) -> Matrix3x2<T> {
        let edges = F.fixed_columns::<2>(0);
        let velocity_gradient = edges.tr_mul(rate);
        let strain_rate = (velocity_gradient + velocity_gradient.transpose()) * T::of(0.5);
        edges * (self.hooke(&strain_rate) * self.damping_time)
    }

    /// Whether [`Self::viscous_stress`] is not always zero.
    #[must_use]
    pub fn is_damped(&self) -> bool {
        self.damping_time > T::zero()
    }

    /// The normal d₃ after layers have separated or slipped: friction as plasticity. d₁ and d₂ stay as they are.
    ///
    /// | | |
    /// |---|---|
    /// | r₃₃ > 1 | separated: r₃₃ = 1, no shear |
    /// | r₃₃ < 0 | inverted: r₃₃ ≥ −1, no shear |
    /// | γ \|(r₁₃, r₂₃)\| > c_F k (1 − r₃₃)² | slips: the shear is scaled down to the bound |
    ///
    /// Without γ shear has no energy; it is removed. \|r₃₃\| < 0.001 becomes 0.001, as a normal of length zero would stay so.
    /// The normal of a triangle without area is left alone.
    ///
    /// Source: Jiang, Gast, Teran (2017).
    #[must_use]
    #[inline]
    pub fn return_normal(&self, F: &Matrix3<T>) -> Vector3<T> {
        let mut frame = SurfaceFrame::of(F);
        self.return_frame(&mut frame);
        frame.third_column()
    }

    /// The same for the third column of R.
    #[inline(always)]
    pub(super) fn return_frame(&self, frame: &mut SurfaceFrame<T>) {
        if !(frame.area_ratio > T::zero()) {
            return;
        }
        let (one, least) = (T::one(), T::of(LEAST_NORMAL));
        if frame.normal.abs() < least {
            frame.normal = least;
        }
        let compression = one - frame.normal;
        let bound = self.friction * self.normal * compression * compression;
        let traction = self.shear * frame.shear.norm();
        let holds = self.shear > T::zero() && compression >= T::zero() && frame.normal > T::zero();
        if !holds {
            frame.shear = Vector2::zeros();
        } else if traction > bound {
            frame.shear *= bound / traction;
        }
        // `min` and `max` would make a number of NaN.
        if frame.normal > one {
            frame.normal = one;
        } else if frame.normal < -one {
            frame.normal = -one;
        }
    }

    /// The affine velocity to be transferred to the grid, (1+b)/2 C + (b−1)/2 Cᵀ: its rotation whole, its rate of strain by the
    /// fraction b. For the transfer only: d₃ is convected with the undamped gradient.
    #[must_use]
    #[inline]
    pub fn transferred_affine(&self, C: &Matrix3<T>) -> Matrix3<T> {
        let (b, half) = (self.affine_fraction, T::of(0.5));
        C * (half * (T::one() + b)) + C.transpose() * (half * (b - T::one()))
    }

    #[inline(always)]
    pub(super) fn frame_stress(&self, frame: &SurfaceFrame<T>) -> Matrix3<T> {
        let r = &frame.in_plane;
        let cofactor = Matrix2::new(r.m22, T::zero(), -r.m12, r.m11);
        let Transverse { stress, tilt, .. } = self.transverse(frame);
        let area_ratio = frame.area_ratio.max(T::of(FADING_AREA_RATIO));
        let stress = stress * (frame.area_ratio / area_ratio);
        let in_plane = self.in_plane_stress(r);
        // q₃ tilts by −(q₃·δd_α) d^α with the dual vectors d^α = cofactor_α/J.
        let across: RowVector2<T> = frame.shear.tr_mul(&cofactor) * (tilt / area_ratio);
        let local = Matrix3::new(
            in_plane.m11,
            in_plane.m12,
            stress.x,
            in_plane.m21,
            in_plane.m22,
            stress.y,
            across.x,
            across.y,
            stress.z,
        );
        frame.q * local
    }

    #[inline(always)]
    fn transverse(&self, frame: &SurfaceFrame<T>) -> Transverse<T> {
        let compression = (T::one() - frame.normal).max(T::zero());
        let pressure = self.normal * compression * compression;
        let shear = frame.shear * self.shear;
        let half = T::of(0.5);
        Transverse {
            energy: half * shear.dot(&frame.shear) + pressure * compression / T::of(3.0),
            stress: Vector3::new(shear.x, shear.y, -pressure),
            tilt: self.shear * frame.normal + pressure,
        }
    }

    /// ψ₂.
    #[inline(always)]
    fn in_plane_energy(&self, r: &Matrix2<T>) -> T {
        let half = T::of(0.5);
        match self.in_plane {
            InPlaneLaw::FixedCorotated => {
                let dilation = r.m11 * r.m22 - T::one();
                self.mu * (r - rotation(r)).norm_squared()
                    + half * self.lambda * dilation * dilation
            }
            InPlaneLaw::StVenantKirchhoff => {
                let strain = green_strain(r);
                half * strain.dot(&self.hooke(&strain))
            }
        }
    }

    /// ∂ψ₂/∂R₂ of the four entries of a general R₂, at an upper triangular one.
    #[inline(always)]
    fn in_plane_stress(&self, r: &Matrix2<T>) -> Matrix2<T> {
        match self.in_plane {
            InPlaneLaw::FixedCorotated => {
                let cofactor = Matrix2::new(r.m22, T::zero(), -r.m12, r.m11);
                let dilation = r.m11 * r.m22 - T::one();
                (r - rotation(r)) * (T::of(2.0) * self.mu) + cofactor * (self.lambda * dilation)
            }
            InPlaneLaw::StVenantKirchhoff => r * self.hooke(&green_strain(r)),
        }
    }

    /// 2μ ε + λ tr(ε) I.
    #[inline(always)]
    fn hooke(&self, strain: &Matrix2<T>) -> Matrix2<T> {
        let pressure = self.lambda * strain.trace();
        strain * (T::of(2.0) * self.mu) + Matrix2::from_diagonal_element(pressure)
    }
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
