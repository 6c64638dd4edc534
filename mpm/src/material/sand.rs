//! Dry sand: Drucker-Prager plasticity.

use nalgebra::Matrix3;
use pliant_constitutive::{Hencky, Hooke, Lame, Mask, Number, Real, SignedSvds, Tensor};

use super::hyperelastic::{self, clamped_log, with_least_stretches};
use super::lane_law::is_flat;
use super::{
    Definiteness, EnergyForm, Lagged, LaneLaw, LaneMaterial, LaneStrain, Law, Material, ShaderLaw,
    Strain, Tangent,
};
use crate::error::{MpmError, within};

/// The relation between the angle of friction φ and the slope α of the Drucker-Prager cone.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_mpm::{FrictionAngle, Lagged, Law, Material, Sand, Strain};
///
/// // Sand of 30 degrees under pressure, sheared until it flows: |dev τ| = −α tr τ.
/// let mut shear = Matrix3::<f64>::zeros();
/// shear[(0, 1)] = 0.2;
/// let (triaxial, plane) = ((2.0_f64 / 3.0).sqrt() / 2.5, 2.0_f64.sqrt() / 6.0);
/// for (angle, alpha) in [(FrictionAngle::TriaxialCompression, triaxial), (FrictionAngle::PlaneStrain, plane)] {
///     let sand = Sand::new(Lame::from_young_poisson(3.5e5, 0.3)?, 30.0, angle)?;
///     let pressed = Strain { f: Matrix3::from_diagonal_element(0.98), internal: sand.fresh() };
///     let flowing = sand.advance(&pressed, &Lagged::default(), &shear);
///     let tau = sand.kirchhoff(&flowing, &Lagged::default());
///     let deviator = tau - Matrix3::from_diagonal_element(tau.trace() / 3.0);
///     assert!((deviator.norm() / -tau.trace() - alpha).abs() < 1e-9);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionAngle {
    /// α = √(2/3) · 2 sin φ/(3 − sin φ): Mohr-Coulomb in triaxial compression (Klár et al. 2016). In plane strain the
    /// effective angle is larger: sin φ' = 2√3 sin φ/(3 − sin φ), 43.9° for 30°.
    TriaxialCompression,
    /// α = (√2/3) sin φ: Mohr-Coulomb in plane strain with flow that keeps the volume.
    PlaneStrain,
}

/// Drucker-Prager sand in Hencky strain, without cohesion, with a volume correction against spurious expansion.
///
/// ```text
/// ε = ln σ + v_c/3,  ε̂ = dev ε
/// tr ε > 0:             σ ← 1,  δq = |ln σ|                          no cohesion
/// δγ = |ε̂| + α (3λ + 2μ)/(2μ) tr ε ≤ 0:   σ stays                   elastic
/// else:                 ln σ ← ε − δγ ε̂/|ε̂|,  δq = δγ                shear flow
/// after either change   v_c ← v_c + ln det σ_before − ln det σ_after,  q ← q + δq
/// φ = h0 + (h1 q − h3) exp(−h2 q)                                     hardening
/// ```
///
/// `internal` is (v_c, q). Sources: Klár et al. (2016), "Drucker-Prager elastoplasticity for sand animation"; Tampubolon et
/// al. (2017), "Multi-species simulation of porous sand and water mixtures", for v_c.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::Lame;
/// use pliant_mpm::{FrictionAngle, Lagged, Law, Material, Sand, Strain};
///
/// // Pulled apart, sand has no stress; its grains remember the volume that they gained.
/// let sand = Sand::new(Lame::from_young_poisson(3.5e5, 0.3)?, 30.0, FrictionAngle::TriaxialCompression)?;
/// let at_rest = Strain { f: Matrix3::<f64>::identity(), internal: sand.fresh() };
/// let strain = sand.advance(&at_rest, &Lagged::default(), &Matrix3::from_diagonal_element(0.1));
/// assert!(sand.kirchhoff(&strain, &Lagged::default()).norm() < 1e-6);
/// assert!((sand.volume_ratio(&strain) - 1.1_f64.powi(3)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sand {
    lame: Lame,
    /// h0..h3, angles in radians.
    hardening: [f64; 4],
    angle: FrictionAngle,
}

impl Sand {
    /// Sand with a constant angle of friction φ, degrees.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless 0 < φ < 90.
    pub fn new(
        lame: Lame,
        friction_angle_deg: f64,
        angle: FrictionAngle,
    ) -> Result<Self, MpmError> {
        let hardening = [friction_angle_deg, 0.0, 0.0, 0.0];
        Self::hardening(lame, hardening, angle)
    }

    /// Sand that hardens: h0, h1, h3 in degrees, h2 without unit.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] unless 0 < h0 − h3 and h0 < 90, h1, h2, h3 ≥ 0.
    pub fn hardening(
        lame: Lame,
        [h0, h1, h2, h3]: [f64; 4],
        angle: FrictionAngle,
    ) -> Result<Self, MpmError> {
        within(
            "sand",
            "friction angle",
            h0,
            h0 < 90.0 && h0 - h3 > 0.0,
            "must lie in (0, 90) degrees",
        )?;
        for (name, h) in [("h1", h1), ("h2", h2), ("h3", h3)] {
            within(
                "sand",
                name,
                h,
                h >= 0.0 && h.is_finite(),
                "must be zero or positive",
            )?;
        }
        Ok(Self {
            lame,
            hardening: [h0.to_radians(), h1.to_radians(), h2, h3.to_radians()],
            angle,
        })
    }

    /// α after a plastic flow of q.
    #[must_use]
    pub fn cone_slope(&self, q: f64) -> f64 {
        let [h0, h1, h2, h3] = self.hardening;
        let sine = (h0 + (h1 * q - h3) * (-h2 * q).exp()).sin();
        match self.angle {
            FrictionAngle::TriaxialCompression => {
                (2.0_f64 / 3.0).sqrt() * 2.0 * sine / (3.0 - sine)
            }
            FrictionAngle::PlaneStrain => 2.0_f64.sqrt() / 3.0 * sine,
        }
    }
}

impl<T: Real> Law<T> for Sand {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        hyperelastic::energy(&Hencky::new(self.lame), strain, g)
    }
    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        hyperelastic::stress(&Hencky::new(self.lame), strain, g)
    }
    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        hyperelastic::tangent(&Hencky::new(self.lame), strain, g, definiteness)
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let strain = LaneStrain::from(strain);
        self.lane_advance(&strain, &Tensor::from(g)).0.into()
    }
}

impl LaneLaw for Sand {
    #[inline(always)]
    fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, _: &Tensor<N>) -> Tensor<N> {
        Hencky::new(self.lame).kirchhoff_stresses(&SignedSvds::of(&strain.f))
    }

    #[inline(always)]
    fn lane_advance<N: Number>(
        &self,
        strain: &LaneStrain<N>,
        g: &Tensor<N>,
    ) -> (LaneStrain<N>, N::Mask) {
        let f = strain.deformed(g);
        let svd = SignedSvds::of(&f);
        let [correction, q] = strain.internal;
        let (zero, third) = (q.like(0.0), q.like(1.0 / 3.0));
        let logs = clamped_log(&svd.stretches);
        let shift = correction * third;
        let e = [logs[0] + shift, logs[1] + shift, logs[2] + shift];
        let trace = e[0] + e[1] + e[2];
        let mean = trace * third;
        let deviator = [e[0] - mean, e[1] - mean, e[2] - mean];
        let [a, b, c] = deviator;
        let norm = (a * a + b * b + c * c).root();
        let slope = q.with_lanes(|lane| N::Scalar::of(self.cone_slope(q.lane(lane).wide())));
        let Hooke { mu, lambda } = self.lame.hooke::<f64>();
        let ratio = q.like((3.0 * lambda + 2.0 * mu) / (2.0 * mu));
        let excess = norm + slope * ratio * trace;
        // Without cohesion the grains part; else the cone bounds the shear.
        let parts = zero.below(trace);
        let flows = parts.or(zero.below(excess));
        let scale = excess / norm;
        let left = [
            N::select(parts, zero, e[0] - a * scale),
            N::select(parts, zero, e[1] - b * scale),
            N::select(parts, zero, e[2] - c * scale),
        ];
        let [x, y, z] = logs;
        let flowed = N::select(parts, (x * x + y * y + z * z).root(), excess);
        let lost = x + y + z - (left[0] + left[1] + left[2]);
        let rebuilt = svd.rebuild(&[
            left[0].exponential(),
            left[1].exponential(),
            left[2].exponential(),
        ]);
        let next = LaneStrain {
            f: Tensor::select(flows, &rebuilt, &with_least_stretches(&f)),
            internal: [
                correction + N::select(flows, lost, zero),
                q + N::select(flows, flowed, zero),
            ],
        };
        (next, is_flat(&f))
    }
}

impl Material for Sand {
    fn name(&self) -> &'static str {
        "sand"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn shader_law(&self) -> Option<ShaderLaw> {
        Some(ShaderLaw::Sand {
            lame: self.lame,
            hardening: self.hardening,
            angle: self.angle,
        })
    }
    fn wave_modulus(&self) -> f64 {
        self.lame.wave_modulus()
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
    /// q.
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        Some(strain.internal[1])
    }
    /// det F^E · exp v_c.
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.f.determinant() * strain.internal[0].exp()
    }
}
