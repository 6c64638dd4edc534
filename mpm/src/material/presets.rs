//! Materials of published experiments, with their sources.

use std::sync::Arc;

use pliant_constitutive::Lame;

use super::{FrictionAngle, LinearCorotated, Liquid, Material, Sand};
use crate::error::MpmError;

/// A published material with its density.
///
/// ```
/// use pliant_mpm::{Material, Preset};
///
/// assert_eq!((Preset::DrySand.name(), Preset::DrySand.density()), ("dry_sand", 2200.0));
/// assert_eq!(Preset::DrySand.material().name(), "sand");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Hard cookie dough: E 10⁵ Pa, ν 0.4, η 6·10³ Pa, 1000 kg/m³. Zong, Jiang, Han (2024), VII-B.
    CookieDough,
    /// Soft pizza dough: E 2·10⁴ Pa, ν 0.4, η 10³ Pa, 1000 kg/m³. Zong, Jiang, Han (2024), VII-C.
    PizzaDough,
    /// The elastic cube between panels: E 10⁵ Pa, ν 0.4, 400 kg/m³. Zong, Jiang, Han (2024), VII-E.
    FoamCube,
    /// Dry sand: E 3.537·10⁵ Pa, ν 0.3, 2200 kg/m³, h = (35°, 9°, 0.2, 10°). Klár et al. (2016), table 3.
    DrySand,
    /// Water of a depth up to 20 cm: κ = 200 ρ g H/γ = 5.6·10⁴ Pa, γ 7, 1000 kg/m³, 10⁻³ Pa·s. Monaghan (1994).
    ShallowWater,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 5] = [
        Self::CookieDough,
        Self::PizzaDough,
        Self::FoamCube,
        Self::DrySand,
        Self::ShallowWater,
    ];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CookieDough => "cookie_dough",
            Self::PizzaDough => "pizza_dough",
            Self::FoamCube => "foam_cube",
            Self::DrySand => "dry_sand",
            Self::ShallowWater => "shallow_water",
        }
    }

    /// Density, kg/m³.
    #[must_use]
    pub fn density(self) -> f64 {
        match self {
            Self::CookieDough | Self::PizzaDough | Self::ShallowWater => 1000.0,
            Self::FoamCube => 400.0,
            Self::DrySand => 2200.0,
        }
    }

    /// The material.
    #[must_use]
    pub fn material(self) -> Arc<dyn Material> {
        let built: Result<Arc<dyn Material>, MpmError> = match self {
            Self::CookieDough => dough(1e5, 6e3),
            Self::PizzaDough => dough(2e4, 1e3),
            Self::FoamCube => Ok(shared(LinearCorotated::new(solid(1e5, 0.4)))),
            Self::DrySand => {
                let angle = FrictionAngle::TriaxialCompression;
                Sand::hardening(solid(3.537e5, 0.3), [35.0, 9.0, 0.2, 10.0], angle).map(shared)
            }
            Self::ShallowWater => Liquid::for_depth(0.2, 1000.0, 9.81)
                .and_then(|water| water.with_viscosity(1e-3))
                .map(shared),
        };
        built.expect("published parameters are in range: checked by a test")
    }
}

fn shared(material: impl Material + 'static) -> Arc<dyn Material> {
    Arc::new(material)
}

fn solid(youngs_modulus: f64, poissons_ratio: f64) -> Lame {
    Lame::from_young_poisson(youngs_modulus, poissons_ratio)
        .expect("published parameters are in range: checked by a test")
}

fn dough(youngs_modulus: f64, eta: f64) -> Result<Arc<dyn Material>, MpmError> {
    let elastic = LinearCorotated::new(solid(youngs_modulus, 0.4));
    Ok(shared(elastic.with_yield_stress(eta)?))
}
