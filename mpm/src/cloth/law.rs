//! Energy, stress and return mapping of a cloth as functions of F = [d₁ d₂ d₃].

use nalgebra::{Matrix2, Matrix3, Matrix3x2, RowVector2, Vector3};
use pliant_constitutive::Real;

use super::fading::Fading;
use super::in_plane::InPlane;
use super::layers::Layers;
use super::surface_frame::SurfaceFrame;

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
/// // Two layers pressed together to half their distance: the pressure k ln² r₃₃.
/// let F = Matrix3::from_diagonal(&[1.0, 1.0, 0.5].into());
/// let pressure = 1e5 * 0.5_f64.ln().powi(2);
/// assert!((law.kirchhoff(&F)[(2, 2)] + pressure).abs() < 1e-9);
/// // Pulled apart, they separate without tension.
/// let F = Matrix3::from_diagonal(&[1.0, 1.0, 1.5].into());
/// assert_eq!(law.stress(&F).norm(), 0.0);
/// assert_eq!(law.return_normal(&F).z, 1.0);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothLaw<T> {
    pub(super) in_plane: InPlane<T>,
    pub(super) layers: Layers<T>,
    pub(super) damping_time: T,
    pub(super) affine_fraction: T,
}

impl<T: Real> ClothLaw<T> {
    /// ψ, J per m³ of cloth at rest:
    ///
    /// ```text
    /// ψ = ψ₂(R₂) + φ(J) (γ/2 (r₁₃² + r₂₃²) + k/3 (−ln r₃₃)³)        F = QR, the last term for r₃₃ < 1 only
    /// ```
    ///
    /// φ is 1 unless the triangle has lost nine tenths of its area; below that, φ = a²(3 − 2a) with a = 10 J: torques about the edges of a
    /// triangle without area would be infinite forces, and its normal has no direction. The last term continues quadratically below
    /// r₃₃ = 0.1.
    ///
    /// The decomposition and the terms are those of Jiang, Gast, Teran (2017), apart from the logarithm, see
    /// [`ClothMaterial`](super::ClothMaterial), and from φ.
    #[must_use]
    pub fn energy(&self, F: &Matrix3<T>) -> T {
        self.frame_energy(&SurfaceFrame::of(F), T::of(f64::INFINITY))
    }

    /// First Piola stress P = ∂ψ/∂F, Pa, finite for every F. Its first two columns act on the vertices, the third on the convected normal.
    #[must_use]
    #[inline]
    pub fn stress(&self, F: &Matrix3<T>) -> Matrix3<T> {
        self.frame_stress(&SurfaceFrame::of(F), T::of(f64::INFINITY))
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
        let strain_rate = strain_rate(F, rate);
        edges * (self.in_plane.stress_of(&strain_rate) * self.damping_time)
    }

    /// The potential of [`Self::viscous_stress`] as a function of the rate: half of the dissipated power, W/m³.
    pub(crate) fn viscous_potential(&self, F: &Matrix3<T>, rate: &Matrix3x2<T>) -> T {
        let strain_rate = strain_rate(F, rate);
        let stress = self.in_plane.stress_of(&strain_rate) * self.damping_time;
        T::of(0.5) * stress.dot(&strain_rate)
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
    /// | r₃₃ < 0.1 | crushed or inverted: r₃₃ = 0.1 |
    /// | γ \|(r₁₃, r₂₃)\| > c_F π | slips: the shear is scaled down to the bound, π = k (ln r₃₃)²/r₃₃ |
    ///
    /// Without γ shear has no energy; it is removed. The normal of a triangle without area is left alone.
    ///
    /// Source: Jiang, Gast, Teran (2017), who turn inverted normals into −1 < r₃₃ < 0.
    #[must_use]
    #[inline]
    pub fn return_normal(&self, F: &Matrix3<T>) -> Vector3<T> {
        let mut frame = SurfaceFrame::of(F);
        self.layers.return_frame(&mut frame);
        frame.third_column()
    }

    /// The affine velocity to be transferred to the grid, (1+b)/2 C + (b−1)/2 Cᵀ: its rotation whole, its rate of strain by the
    /// fraction b. For the transfer only: d₃ is convected with the undamped gradient.
    #[must_use]
    #[inline]
    pub fn transferred_affine(&self, C: &Matrix3<T>) -> Matrix3<T> {
        let (b, half) = (self.affine_fraction, T::of(0.5));
        C * (half * (T::one() + b)) + C.transpose() * (half * (b - T::one()))
    }

    /// c_F π, Pa: what the shear traction between layers cannot exceed.
    pub(crate) fn friction_bound(&self, F: &Matrix3<T>) -> T {
        self.layers.friction_bound(SurfaceFrame::of(F).normal)
    }

    /// ψ with the shear traction between layers bounded by `bound`, Pa.
    pub(crate) fn frame_energy(&self, frame: &SurfaceFrame<T>, bound: T) -> T {
        let fading = Fading::of(frame.area_ratio);
        let across = self.layers.transverse(frame, bound).energy * fading.factor;
        self.in_plane.energy(&frame.in_plane) + across
    }

    /// P with the shear traction between layers bounded by `bound`, Pa.
    #[inline(always)]
    pub(crate) fn frame_stress(&self, frame: &SurfaceFrame<T>, bound: T) -> Matrix3<T> {
        let r = &frame.in_plane;
        let transverse = self.layers.transverse(frame, bound);
        let fading = Fading::of(frame.area_ratio);
        let cofactor = Matrix2::new(r.m22, T::zero(), -r.m12, r.m11);
        let in_plane = self.in_plane.stress(r) + cofactor * (transverse.energy * fading.slope);
        let stress = transverse.stress * fading.factor;
        // q₃ tilts by −(q₃·δd_α) d^α with the dual vectors d^α = cofactor_α/J.
        let across: RowVector2<T> =
            frame.shear.tr_mul(&cofactor) * (transverse.tilt * fading.factor_by_ratio);
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
}

/// Ė = sym(F₁₂ᵀ Ḟ₁₂), 1/s.
#[inline(always)]
fn strain_rate<T: Real>(F: &Matrix3<T>, rate: &Matrix3x2<T>) -> Matrix2<T> {
    let velocity_gradient = F.fixed_columns::<2>(0).tr_mul(rate);
    (velocity_gradient + velocity_gradient.transpose()) * T::of(0.5)
}
