//! Materials behind one trait.
//!
//! A step maps a particle's elastic deformation F to (I + G)F, with G = δt ∇v. A material is therefore a set of functions of G: the energy
//! ψ(G), its gradient ∂ψ/∂G (at G = 0 the Kirchhoff stress τ), its second derivative, and the strain after plastic flow. This holds for
//! solids and for liquids, whose J becomes J(1 + tr G). G is linear in the velocities: a law that is convex in G makes the step a
//! convex problem.

mod hencky_von_mises;
mod hyperelastic;
mod lane_law;
mod linear_corotated;
mod liquid;
mod presets;
mod sand;
mod shader_law;
mod tangent;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use nalgebra::Matrix3;
use pliant_constitutive::{Real, symmetric_part};

pub use hencky_von_mises::HenckyVonMises;
pub use lane_law::{LaneLaw, LaneMaterial, LaneStrain, MaterialLaw, ParticleLaw};
pub use linear_corotated::{LinearCorotated, ReturnForm};
pub use liquid::{Liquid, Tension, VolumeForm};
pub use presets::Preset;
pub use sand::{FrictionAngle, Sand};
pub use shader_law::ShaderLaw;
pub use tangent::{Definiteness, Tangent};

/// The internal state of a particle.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{Material, Preset, Strain};
///
/// // Water at rest: F stays I, and the first internal variable is the volume ratio.
/// let water = Preset::ShallowWater.material();
/// let strain = Strain { f: Matrix3::identity(), internal: water.fresh() };
/// assert_eq!((strain.internal[0], water.volume_ratio(&strain)), (1.0, 1.0));
/// assert_eq!(water.pressure(&strain), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strain<T> {
    /// Elastic deformation gradient F^E.
    pub f: Matrix3<T>,
    /// Two internal variables, defined by each material and read by [`Material::plastic_strain`] and [`Material::volume_ratio`].
    pub internal: [T; 2],
}

/// What a material may depend on beside its strain.
///
/// ```
/// use pliant_mpm::{GridPlace, Liquid, Material};
///
/// // A liquid behind walls that hold nodes does not follow the packing of its particles.
/// let water = Liquid::new(1e4, 7.0)?;
/// let place = GridPlace { density: 1000.0, spacing: 0.02, has_held_walls: true };
/// assert!(water.follows_packing());
/// assert!(!water.on_grid(&place).expect("a liquid").follows_packing());
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridPlace {
    /// Of the object, kg/m³.
    pub density: f64,
    /// Of the grid, m.
    pub spacing: f64,
    /// Whether walls of the model hold nodes.
    pub has_held_walls: bool,
}

/// Lagged quantities: fixed during a step.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_mpm::{Lagged, Law, Liquid, Material, Strain};
///
/// // Oil of 0.1 Pa·s at a shear rate of 50 1/s: τ_xy = μ_v · 50, by the velocity gradient at the start.
/// let oil = Liquid::new(1e4, 7.0)?.with_viscosity(0.1)?;
/// let mut velocity_gradient = Matrix3::<f64>::zeros();
/// velocity_gradient[(0, 1)] = 50.0;
/// let lagged = Lagged { velocity_gradient, ..Lagged::default() };
/// let at_rest = Strain { f: Matrix3::identity(), internal: oil.fresh() };
/// assert!((oil.kirchhoff(&at_rest, &lagged)[(0, 1)] - 5.0).abs() < 1e-12);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lagged<T> {
    /// R₀, the rotation of F at the start.
    pub rotation: Matrix3<T>,
    /// The rest stretch sym(R₀ᵀR₁) of a solid that rotates from R₀ to R₁ within the step; the identity without rotation.
    pub target: Matrix3<T>,
    /// Strain rates are G divided by this time, s; if it is zero, they are `velocity_gradient`.
    pub time_s: T,
    /// C at the start, 1/s.
    pub velocity_gradient: Matrix3<T>,
}

impl<T: Real> Default for Lagged<T> {
    fn default() -> Self {
        Self {
            rotation: Matrix3::identity(),
            target: Matrix3::identity(),
            time_s: T::zero(),
            velocity_gradient: Matrix3::zeros(),
        }
    }
}

impl<T: Real> Lagged<T> {
    /// sym ∇v, 1/s.
    pub(crate) fn strain_rate(&self, g: &Matrix3<T>) -> Matrix3<T> {
        if self.time_s > T::zero() {
            symmetric_part(g) / self.time_s
        } else {
            symmetric_part(&self.velocity_gradient)
        }
    }
}

/// How ψ depends on G.
///
/// ```
/// use pliant_mpm::{EnergyForm, Material, Preset};
///
/// // Foam is linear about the rotation at the start of a step; the pressure of water is a power of its volume.
/// assert_eq!(Preset::FoamCube.material().energy_form(), EnergyForm::Quadratic);
/// assert_eq!(Preset::ShallowWater.material().energy_form(), EnergyForm::General);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyForm {
    /// Quadratic: a step without constraints is one linear system.
    Quadratic,
    /// Any other: the free motion needs Newton's method.
    General,
}

/// The formulas of a material in one precision. Implement it generically, `impl<T: Real> Law<T> for Mine`; every isotropic
/// [`PrincipalLaw`](pliant_constitutive::PrincipalLaw) is a law.
///
/// ```
/// use nalgebra::Matrix3;
/// use pliant_constitutive::{Lame, NeoHookean};
/// use pliant_mpm::{Lagged, Law, Strain};
///
/// // Rubber at rest is sheared by γ = 0.5 within the step: ∂ψ/∂G at G is P Fᵀ, here with F = I.
/// let rubber = NeoHookean::new(Lame::new(1e6, 1e6)?)?;
/// let at_rest = Strain { f: Matrix3::<f64>::identity(), internal: [0.0; 2] };
/// let mut g = Matrix3::zeros();
/// g[(0, 1)] = 0.5;
/// let stress = rubber.stress(&at_rest, &Lagged::default(), &g);
/// assert!((stress[(0, 1)] - 5e5).abs() < 1e-6); // μγ, Pa
/// assert_eq!(rubber.advance(&at_rest, &Lagged::default(), &g).f[(0, 1)], 0.5);
/// # Ok::<(), pliant_constitutive::ParameterError>(())
/// ```
pub trait Law<T: Real> {
    /// Computes the lagged quantities of a step from `strain`; `predicted` is a prediction of G at its end, for the rotation target.
    fn lag(&self, strain: &Strain<T>, predicted: Option<&Matrix3<T>>, lagged: &mut Lagged<T>) {
        let _ = (strain, predicted, lagged);
    }
    /// ψ(G), J per m³ of rest volume; infinite outside the range of the law.
    fn energy(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> T;
    /// ∂ψ/∂G = P Fᵀ, Pa, with P at (I + G)F.
    fn stress(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T>;
    /// ∂²ψ/∂G², Pa.
    fn tangent(
        &self,
        strain: &Strain<T>,
        lagged: &Lagged<T>,
        g: &Matrix3<T>,
        definiteness: Definiteness,
    ) -> Tangent<T>;
    /// The strain after a step with G, plastic flow included.
    fn advance(&self, strain: &Strain<T>, lagged: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        let _ = lagged;
        Strain {
            f: strain.f + g * strain.f,
            internal: strain.internal,
        }
    }
    /// Whether a step with G reduces the volume to zero or below the range of the law, which contact can do, as it uses the tangent only.
    /// `advance` then stops at the limit, and the step has a warning.
    fn is_crushed(&self, strain: &Strain<T>, g: &Matrix3<T>) -> bool {
        (strain.f + g * strain.f).determinant() <= T::zero()
    }
    /// The strain once the law knows the packing around a particle, the volume at rest of particles per volume that they fill, after a time in
    /// which sound passes `crossings` cells.
    fn packed(&self, strain: &Strain<T>, packing: T, crossings: T) -> Strain<T> {
        let _ = (packing, crossings);
        *strain
    }
    /// τ at `strain`, Pa; viscous parts with the velocity gradient of `lagged`.
    fn kirchhoff(&self, strain: &Strain<T>, lagged: &Lagged<T>) -> Matrix3<T> {
        let mut lagged = *lagged;
        self.lag(strain, None, &mut lagged);
        self.stress(strain, &lagged, &Matrix3::zeros())
    }
}

/// A material: its [`Law`] in both precisions, and properties.
///
/// ```
/// use pliant_mpm::{Material, Preset};
///
/// let dough = Preset::CookieDough.material();
/// // λ + 2μ = E (1 − ν)/((1 + ν)(1 − 2ν)) with E = 10⁵ Pa, ν = 0.4; waves travel at 14.6 m/s.
/// assert!((dough.wave_modulus() - 1e5 * 0.6 / (1.4 * 0.2)).abs() < 1e-6);
/// assert!(((dough.wave_modulus() / Preset::CookieDough.density()).sqrt() - 14.64).abs() < 0.01);
/// assert!(dough.bears_shear() && !Preset::ShallowWater.material().bears_shear());
/// ```
pub trait Material: Law<f64> + Law<f32> + fmt::Debug + Send + Sync {
    /// Its name in messages and files.
    fn name(&self) -> &'static str;
    /// How ψ depends on G.
    fn energy_form(&self) -> EnergyForm;
    /// ρc² of the fastest wave at rest, Pa: λ + 2μ of a solid.
    fn wave_modulus(&self) -> f64;
    /// Its formulas for several particles side by side, if it has them; explicit substeps then take a fraction of the time.
    fn in_lanes(&self) -> Option<&dyn LaneMaterial> {
        None
    }
    /// Its parameters, if it is one of this crate's laws: backends on a device have the formulas in their own language.
    fn shader_law(&self) -> Option<ShaderLaw> {
        None
    }
    /// Whether it resists shear. Particles of other materials make contact at their centres.
    fn bears_shear(&self) -> bool {
        true
    }
    /// Whether its strain depends on the packing of particles ([`Law::packed`]).
    fn follows_packing(&self) -> bool {
        false
    }
    /// The material for particles in this place, if it depends on it.
    fn on_grid(&self, place: &GridPlace) -> Option<Arc<dyn Material>> {
        let _ = place;
        None
    }
    /// The internal variables of undeformed material.
    fn fresh(&self) -> [f64; 2] {
        [0.0; 2]
    }
    /// Accumulated plastic strain; `None` for a material without plastic flow.
    fn plastic_strain(&self, strain: &Strain<f64>) -> Option<f64> {
        let _ = strain;
        None
    }
    /// Current volume over volume at rest, including plastic volume change: the product of det(I + G) of all steps.
    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.f.determinant()
    }
    /// Pressure, Pa, positive in compression, for output.
    fn pressure(&self, strain: &Strain<f64>) -> f64 {
        let tau = Law::<f64>::kirchhoff(self, strain, &Lagged::default());
        let ratio = strain.f.determinant();
        -tau.trace() / (3.0 * ratio.max(f64::MIN_POSITIVE))
    }
}
