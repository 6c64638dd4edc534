//! The laws of this crate as numbers, for programs that cannot call [`Law`](super::Law): shaders.

use pliant_constitutive::Lame;

use super::{FrictionAngle, ReturnForm, Tension};

/// A material of this crate by its parameters. Its formulas are those of the type of the same name.
///
/// ```
/// use pliant_mpm::{Liquid, Material, Preset, ShaderLaw, VolumeForm};
///
/// // What a shader gets of an oil; of dry sand it gets a friction angle of h0 − h3 = 25 degrees at first.
/// let oil = Liquid::new(1e4, 7.0)?.with_viscosity(0.1)?.with_volume(VolumeForm::Advected)?;
/// let Some(ShaderLaw::Liquid { bulk_modulus, exponent, viscosity, .. }) = oil.shader_law() else { panic!("a liquid") };
/// assert_eq!((bulk_modulus, exponent, viscosity), (1e4, 7.0, 0.1));
/// let Some(ShaderLaw::Sand { hardening, .. }) = Preset::DrySand.material().shader_law() else { panic!("sand") };
/// assert!((hardening[0] - hardening[3] - 25_f64.to_radians()).abs() < 1e-12);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShaderLaw {
    /// [`LinearCorotated`](super::LinearCorotated).
    LinearCorotated {
        /// Moduli, Pa.
        lame: Lame,
        /// Bound of 2μ‖dev ε‖, Pa; infinite without plastic flow.
        yield_norm: f64,
        /// How plastic flow treats the rotation.
        form: ReturnForm,
    },
    /// [`HenckyVonMises`](super::HenckyVonMises).
    HenckyVonMises {
        /// Moduli, Pa.
        lame: Lame,
        /// Pa; infinite without plastic flow.
        yield_stress: f64,
    },
    /// [`Sand`](super::Sand).
    Sand {
        /// Moduli, Pa.
        lame: Lame,
        /// h of the friction angle, radians.
        hardening: [f64; 4],
        /// What the friction angle is measured in.
        angle: FrictionAngle,
    },
    /// [`Liquid`](super::Liquid).
    Liquid {
        /// κ, Pa.
        bulk_modulus: f64,
        /// γ.
        exponent: f64,
        /// Pa·s.
        viscosity: f64,
        /// Behaviour under tension.
        tension: Tension,
    },
    /// [`NeoHookean`](pliant_constitutive::NeoHookean).
    NeoHookean(Lame),
    /// [`FixedCorotated`](pliant_constitutive::FixedCorotated).
    FixedCorotated(Lame),
}
