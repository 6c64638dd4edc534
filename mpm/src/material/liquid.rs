//! A weakly compressible liquid with an equation of state and viscosity.

use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Hooke, Mask, Number, Real, Tensor};

use super::{
    Definiteness, EnergyForm, GridPlace, Lagged, LaneLaw, LaneMaterial, LaneStrain, Law, Material,
    ShaderLaw, Strain, Tangent,
};
use crate::error::{MpmError, not_negative, positive, within};

/// Below this volume ratio, where the pressure is 127 κ, the equation of state is continued by its tangent. Flows in the range of the law
/// stay above it; iterates of a line search do not, and Newton's method on the power law would increase J by only an eighth per
/// iteration.
const STRAIGHT_BELOW: f64 = 0.5;

/// Smallest volume after a step, relative to that at rest.
const RATIO_MIN: f64 = 0.1;

/// Largest J of a liquid whose volume follows its particles: drops that fly apart are not remembered as larger.
const RATIO_MAX: f64 = 1.5;

/// Bulk viscosity in explicit steps over ρch, of a liquid whose volume follows its particles. It acts on the rate of compression alone, so that
/// it damps sound of a few cells within some of its periods and no flow of constant volume. A transfer of low dissipation leaves that
/// to the liquid.
const SOUND_DAMPING: f64 = 0.1;

/// The time constant of [`Liquid::PACKED`].
const CROSSINGS: f64 = 100.0;

/// The behaviour of a liquid under tension.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{Liquid, Material, Strain, Tension};
///
/// // Water that is 1 % too large: it separates, or it pulls with κ (1 − 1.01⁻⁷).
/// let separates = Liquid::new(1e4, 7.0)?;
/// let pulls = separates.with_tension(Tension::Full);
/// let expanded = Strain { f: Matrix3::identity(), internal: [1.01, 0.0] };
/// assert_eq!(separates.pressure(&expanded), 0.0);
/// assert!((pulls.pressure(&expanded) + 1e4 * (1.0 - 1.01_f64.powi(-7))).abs() < 1e-9);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tension {
    /// No negative pressure: the liquid separates, and J stays 1. A free surface does not form clumps.
    #[default]
    None,
    /// The equation of state holds for negative pressures, too: a smooth convex energy, for closed vessels.
    Full,
}

/// How J is kept in agreement with the positions of particles.
///
/// The divergence of the velocity at particles says how their volume changes, but not where they go: in a splash they crowd in one
/// place and thin out in another at the same J, and a liquid with tension that its surface has lost never finds out that it has closed again. Without
/// a correction, water loses a tenth of its level in one breaking wave.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{Law, Liquid, Strain, VolumeForm};
///
/// // Particles that lie 10 % too densely: a liquid that follows them builds up pressure, another does not notice.
/// let water = Liquid::new(1e4, 7.0)?;
/// let rest = Strain { f: Matrix3::identity(), internal: [1.0, 0.0] };
/// for (form, ratio) in [(VolumeForm::Packed { crossings: 100.0 }, 1.0 / 1.1), (VolumeForm::Advected, 1.0)] {
///     let later = Law::<f64>::packed(&water.with_volume(form)?, &rest, 1.1, 1e4);
///     assert!((later.internal[0] - ratio).abs() < 1e-12);
/// }
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeForm {
    /// Advected under full tension and in a model with walls that hold nodes, behind which a packed liquid would sink; otherwise
    /// [`Liquid::PACKED`].
    Automatic,
    /// J(1 + tr G) alone; where the liquid separates, J stays 1.
    Advected,
    /// The same, and J tends to the inverse of the packing of particles. It grows beyond 1, without a pressure, where the liquid separates.
    Packed {
        /// The time constant, in the times that sound takes through a cell.
        crossings: f64,
    },
}

/// p = κ(J⁻ᵞ − 1) with the volume ratio J, which becomes J(1 + tr G) within a step: linear in the velocities, so that the energy
///
/// ```text
/// Ψ(J) = κ (J^(1−γ)/(γ−1) + J − γ/(γ−1)),   Ψ' = −p,   Ψ'' = κγ J^(−γ−1) > 0
/// ```
///
/// is convex in them. Viscosity adds τ = 2 μ_v J sym ∇v. `internal[0]` is J, `internal[1]` the logarithm of the volume ratio of
/// separation of a liquid with [`VolumeForm::Advected`], which has no influence on the stress; F stays I.
///
/// κ = ρc²/γ. The true stiffness of water is not needed: with c ten times the largest flow speed v, density changes are about (v/c)² = 1%;
/// for a column of height H, v² = 2gH, this is κ = 200 ρ g H/γ ([`Liquid::for_depth`]). Sources: Monaghan (1994), "Simulating free surface flows with
/// SPH"; Tampubolon et al. (2017).
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{Liquid, Material, Strain};
///
/// // Water of 0.2 m: the pressure ρgH at its bottom is that of a density 1/(1 + 7/200)^(−1/7) times that at rest.
/// let water = Liquid::for_depth(0.2, 1000.0, 9.81)?;
/// let ratio = (1.0 + 7.0 / 200.0_f64).powf(-1.0 / 7.0);
/// let bottom = Strain { f: Matrix3::identity(), internal: [ratio, 0.0] };
/// assert!((water.pressure(&bottom) - 1000.0 * 9.81 * 0.2).abs() < 1e-6);
/// assert!((1.0 / ratio - 1.005).abs() < 1e-4); // half a percent denser
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Liquid {
    bulk_modulus: f64,
    exponent: f64,
    viscosity: f64,
    tension: Tension,
    volume: VolumeForm,
    /// Pa·s, on a grid; see [`SOUND_DAMPING`].
    bulk_viscosity: f64,
}

impl Liquid {
    /// κ in Pa, γ > 1 (7 for water).
    ///
    /// # Errors
    /// [`MpmError::Parameter`].
    pub fn new(bulk_modulus: f64, exponent: f64) -> Result<Self, MpmError> {
        Ok(Self {
            bulk_modulus: positive("liquid", "bulk_modulus", bulk_modulus)?,
            exponent: within(
                "liquid",
                "exponent",
                exponent,
                exponent > 1.0 && exponent <= 20.0,
                "must lie in (1, 20]; water has 7",
            )?,
            viscosity: 0.0,
            tension: Tension::default(),
            volume: VolumeForm::Automatic,
            bulk_viscosity: 0.0,
        })
    }

    /// κ = 200 ρ g H/γ with γ = 7: c is ten times √(2gH). At rest, the bottom of a column is half a percent denser than its top.
    ///
    /// `depth` H in m, `density` ρ in kg/m³, `gravity` g in m/s².
    ///
    /// # Errors
    /// [`MpmError::Parameter`].
    pub fn for_depth(depth: f64, density: f64, gravity: f64) -> Result<Self, MpmError> {
        positive("liquid", "depth", depth)?;
        positive("liquid", "density", density)?;
        positive("liquid", "gravity", gravity)?;
        Self::new(200.0 * density * gravity * depth / 7.0, 7.0)
    }

    /// The same liquid with a dynamic viscosity μ_v, Pa·s.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] if it is negative.
    pub fn with_viscosity(mut self, viscosity: f64) -> Result<Self, MpmError> {
        self.viscosity = not_negative("liquid", "viscosity", viscosity)?;
        Ok(self)
    }

    /// What [`VolumeForm::Automatic`] is without tension and held walls.
    pub const PACKED: VolumeForm = VolumeForm::Packed {
        crossings: CROSSINGS,
    };

    /// The same liquid with another behaviour under tension.
    #[must_use]
    pub fn with_tension(mut self, tension: Tension) -> Self {
        self.tension = tension;
        self
    }

    /// The same liquid with another form of the volume.
    ///
    /// # Errors
    /// [`MpmError::Parameter`] if the time constant is not positive.
    pub fn with_volume(mut self, volume: VolumeForm) -> Result<Self, MpmError> {
        if let VolumeForm::Packed { crossings } = volume {
            positive("liquid", "crossings", crossings)?;
        }
        self.volume = volume;
        Ok(self)
    }

    /// The time constant of the packing, in the times that sound takes through a cell; `None` for an advected volume.
    fn crossings(&self) -> Option<f64> {
        match (self.volume, self.tension) {
            (VolumeForm::Packed { crossings }, _) => Some(crossings),
            (VolumeForm::Automatic, Tension::None) => Some(CROSSINGS),
            (VolumeForm::Automatic, Tension::Full) | (VolumeForm::Advected, _) => None,
        }
    }

    fn is_packed(&self) -> bool {
        self.crossings().is_some()
    }

    /// Where the liquid separates.
    #[inline(always)]
    fn parts<N: Number>(&self, ratio: N) -> N::Mask {
        match self.tension {
            Tension::None => ratio.below(ratio.like(1.0)).not(),
            Tension::Full => ratio.below(ratio),
        }
    }

    /// p(J), Pa.
    #[inline(always)]
    fn pressure_at<N: Number>(&self, ratio: N) -> N {
        let (held, beyond) = split_at_range(ratio);
        let pressure = held.like(self.bulk_modulus) * (held.power(-self.exponent) - held.like(1.0));
        let pressure = pressure - self.stiffness_at(ratio) * beyond;
        N::select(self.parts(ratio), ratio.like(0.0), pressure)
    }

    /// −p'(J), Pa.
    #[inline(always)]
    fn stiffness_at<N: Number>(&self, ratio: N) -> N {
        let (held, _) = split_at_range(ratio);
        held.like(self.bulk_modulus * self.exponent) * held.power(-self.exponent - 1.0)
    }

    /// τ of J before the step and at its end, and the strain rate, 1/s.
    #[inline(always)]
    fn stresses<N: Number>(&self, before: N, ratio: N, strain_rate: &Tensor<N>) -> Tensor<N> {
        let viscosity = before.like(2.0 * self.viscosity) * before;
        (*strain_rate * viscosity).plus_diagonal(-before * self.pressure_at(ratio))
    }

    /// τ in an explicit step, which damps sound.
    #[inline(always)]
    fn explicit_stresses<N: Number>(&self, ratio: N, strain_rate: &Tensor<N>) -> Tensor<N> {
        let stress = self.stresses(ratio, ratio, strain_rate);
        if self.bulk_viscosity == 0.0 {
            return stress;
        }
        let damping = ratio.like(self.bulk_viscosity) * ratio * strain_rate.trace();
        stress.plus_diagonal(N::select(self.parts(ratio), ratio.like(0.0), damping))
    }

    /// J and the logarithm of separation after a step to the volume ratio `ratio`.
    #[inline(always)]
    fn flow<N: Number>(&self, separation: N, ratio: N) -> [N; 2] {
        if self.is_packed() {
            let most = ratio.like(RATIO_MAX);
            let bounded = N::select(most.below(ratio), most, ratio);
            return [bounded.larger(ratio.like(RATIO_MIN)), separation];
        }
        let (one, parts) = (ratio.like(1.0), self.parts(ratio));
        let parted = N::select(parts, ratio, one).logarithm();
        let kept = N::select(parts, one, ratio.larger(ratio.like(RATIO_MIN)));
        [kept, separation + parted]
    }
}

/// J bounded to the range of the equation of state, and the remainder of J, not positive.
#[inline(always)]
fn split_at_range<N: Number>(ratio: N) -> (N, N) {
    let held = ratio.larger(ratio.like(STRAIGHT_BELOW));
    (held, ratio - held)
}

/// J(1 + tr G).
fn ratio<T: Real>(strain: &Strain<T>, g: &Matrix3<T>) -> T {
    strain.internal[0] * (T::one() + g.trace())
}

impl LaneLaw for Liquid {
    #[inline(always)]
    fn lane_kirchhoff<N: Number>(&self, strain: &LaneStrain<N>, c: &Tensor<N>) -> Tensor<N> {
        let [before, _] = strain.internal;
        self.explicit_stresses(before, &c.symmetric_part())
    }

    #[inline(always)]
    fn lane_advance<N: Number>(
        &self,
        strain: &LaneStrain<N>,
        g: &Tensor<N>,
    ) -> (LaneStrain<N>, N::Mask) {
        let [before, separation] = strain.internal;
        let one = before.like(1.0);
        let ratio = before * (one + g.trace());
        let next = LaneStrain {
            f: Tensor::diagonal(one),
            internal: self.flow(separation, ratio),
        };
        (next, ratio.below(ratio.like(RATIO_MIN)))
    }
}

impl<T: Real> Law<T> for Liquid {
    fn energy(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> T {
        let j = ratio(strain, g);
        let rate = lagged.strain_rate(g).norm_squared();
        let viscous = T::of(self.viscosity) * strain.internal[0] * lagged.time_s * rate;
        if self.parts(j) {
            return viscous;
        }
        let gamma = T::of(self.exponent);
        let less = gamma - T::one();
        let (held, beyond) = split_at_range(j);
        let compressed = held.powf(-less) / less + held - gamma / less;
        let straight =
            (self.stiffness_at(j) * T::of(0.5) * beyond - self.pressure_at(held)) * beyond;
        viscous + T::of(self.bulk_modulus) * compressed + straight
    }

    fn stress(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let rate = Tensor::from(&lagged.strain_rate(g));
        self.stresses(strain.internal[0], ratio(strain, g), &rate)
            .into()
    }

    fn tangent(
        &self,
        strain: &Strain<T>,
        lagged: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T> {
        let before = strain.internal[0];
        let j = ratio(strain, g);
        let stiffness = match (self.parts(j), definiteness) {
            (true, Definiteness::Touching) => T::of(self.bulk_modulus * self.exponent),
            (true, Definiteness::Exact | Definiteness::Projected) => T::zero(),
            (false, _) => self.stiffness_at(j),
        };
        let mu = if lagged.time_s > T::zero() {
            T::of(self.viscosity) * before / lagged.time_s
        } else {
            T::zero()
        };
        Tangent::Isotropic {
            map: Matrix3::identity(),
            hooke: Hooke {
                mu,
                lambda: stiffness * before * before,
            },
        }
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        Strain {
            f: Matrix3::identity(),
            internal: self.flow(strain.internal[1], ratio(strain, g)),
        }
    }

    fn is_crushed(&self, strain: &Strain<T>, g: &Matrix3<T>) -> bool {
        ratio(strain, g) < T::of(RATIO_MIN)
    }

    fn kirchhoff(&self, strain: &Strain<T>, lagged: &Lagged<T>) -> Matrix3<T> {
        let rate = Tensor::from(&lagged.strain_rate(&Matrix3::zeros()));
        self.explicit_stresses(strain.internal[0], &rate).into()
    }

    /// J tends to the inverse of the packing.
    fn packed(&self, strain: &Strain<T>, packing: T, crossings: T) -> Strain<T> {
        let Some(constant) = self.crossings() else {
            return *strain;
        };
        let least = T::of(1.0 / RATIO_MAX);
        let target = T::one() / packing.max(least);
        let part = -(-crossings / T::of(constant)).exp_m1();
        let ratio = strain.internal[0];
        let next = ratio * ((target / ratio).ln() * part).exp();
        Strain {
            internal: [next.max(T::of(RATIO_MIN)), strain.internal[1]],
            ..*strain
        }
    }
}

impl Material for Liquid {
    fn name(&self) -> &'static str {
        "liquid"
    }
    fn energy_form(&self) -> EnergyForm {
        EnergyForm::General
    }
    fn shader_law(&self) -> Option<ShaderLaw> {
        if self.is_packed() {
            return None;
        }
        Some(ShaderLaw::Liquid {
            bulk_modulus: self.bulk_modulus,
            exponent: self.exponent,
            viscosity: self.viscosity,
            tension: self.tension,
        })
    }
    fn wave_modulus(&self) -> f64 {
        self.bulk_modulus * self.exponent
    }
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        Some(self)
    }
    fn bears_shear(&self) -> bool {
        false
    }
    fn follows_packing(&self) -> bool {
        self.is_packed()
    }
    fn on_grid(&self, grid: &GridPlace) -> Option<Arc<dyn Material>> {
        let mut liquid = *self;
        if self.volume == VolumeForm::Automatic && grid.has_held_walls {
            liquid.volume = VolumeForm::Advected;
        }
        if liquid.is_packed() {
            let speed = (Material::wave_modulus(self) / grid.density).sqrt();
            liquid.bulk_viscosity = SOUND_DAMPING * grid.density * speed * grid.spacing;
        }
        Some(Arc::new(liquid))
    }
    fn fresh(&self) -> [f64; 2] {
        [1.0, 0.0]
    }
    /// J; without tension at most 1: space between particles that have separated is not liquid.
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        match self.tension {
            Tension::None => strain.internal[0].min(1.0),
            Tension::Full => strain.internal[0],
        }
    }
    fn pressure(&self, strain: &Strain<f64>) -> f64 {
        self.pressure_at(strain.internal[0])
    }
}
