//! Laws and published materials by name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use pliant_constitutive::{
    Corotational, FixedCorotated, Lame, NeoHookean, ParameterError, StVenantKirchhoff,
    StableNeoHookean,
};

use super::{Linear, LinearCorotated, Material};
use crate::error::FemError;

/// The laws with two Lamé parameters, selected by name.
///
/// ```
/// use pliant_constitutive::Lame;
/// use pliant_fem::LawKind;
///
/// let law: LawKind = "stable-neo-hookean".parse()?;
/// let rubber = law.of(Lame::from_young_poisson(1e6, 0.45)?)?;
/// assert!((rubber.lame().youngs_modulus() - 1e6).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LawKind {
    /// `linear-corotated`: [`LinearCorotated`].
    #[default]
    LinearCorotated,
    /// `corotational`: [`Corotational`].
    Corotational,
    /// `fixed-corotated`: [`FixedCorotated`].
    FixedCorotated,
    /// `stable-neo-hookean`: [`StableNeoHookean`].
    StableNeoHookean,
    /// `neo-hookean`: [`NeoHookean`].
    NeoHookean,
    /// `st-venant-kirchhoff`: [`StVenantKirchhoff`].
    StVenantKirchhoff,
    /// `linear`: [`Linear`].
    Linear,
}

impl LawKind {
    /// All laws.
    pub const ALL: [Self; 7] = [
        Self::LinearCorotated,
        Self::Corotational,
        Self::FixedCorotated,
        Self::StableNeoHookean,
        Self::NeoHookean,
        Self::StVenantKirchhoff,
        Self::Linear,
    ];

    /// Its name in scene files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LinearCorotated => "linear-corotated",
            Self::Corotational => "corotational",
            Self::FixedCorotated => "fixed-corotated",
            Self::StableNeoHookean => "stable-neo-hookean",
            Self::NeoHookean => "neo-hookean",
            Self::StVenantKirchhoff => "st-venant-kirchhoff",
            Self::Linear => "linear",
        }
    }

    /// The law with the given parameters.
    ///
    /// # Errors
    /// [`ParameterError`] of [`FixedCorotated::new`] and [`NeoHookean::new`].
    pub fn of(self, lame: Lame) -> Result<Arc<dyn Material>, ParameterError> {
        Ok(match self {
            Self::LinearCorotated => Arc::new(LinearCorotated::new(lame)),
            Self::Corotational => Arc::new(Corotational::new(lame)),
            Self::FixedCorotated => Arc::new(FixedCorotated::new(lame)?),
            Self::StableNeoHookean => Arc::new(StableNeoHookean::new(lame)),
            Self::NeoHookean => Arc::new(NeoHookean::new(lame)?),
            Self::StVenantKirchhoff => Arc::new(StVenantKirchhoff::new(lame)),
            Self::Linear => Arc::new(Linear::new(lame)),
        })
    }
}

impl fmt::Display for LawKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LawKind {
    type Err = FemError;

    fn from_str(name: &str) -> Result<Self, FemError> {
        let found = Self::ALL.into_iter().find(|law| law.name() == name);
        found.ok_or_else(|| unknown("material law", name, Self::ALL.iter().map(|l| l.name())))
    }
}

/// Elastic constants and density of a published material.
///
/// ```
/// use pliant_fem::material_preset;
///
/// let rubber = material_preset("rubber")?;
/// assert!((rubber.lame().poissons_ratio() - 0.47).abs() < 1e-12);
/// assert!(rubber.source.starts_with("Sussman and Bathe (1987)"));
/// # Ok::<(), pliant_fem::FemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaterialPreset {
    /// Its name in scene files.
    pub name: &'static str,
    /// E, Pa.
    pub youngs_modulus: f64,
    /// ν.
    pub poissons_ratio: f64,
    /// kg/m³.
    pub density: f64,
    /// Source of the values.
    pub source: &'static str,
}

impl MaterialPreset {
    /// Its Lamé parameters.
    #[must_use]
    pub fn lame(&self) -> Lame {
        Lame::from_young_poisson(self.youngs_modulus, self.poissons_ratio)
            .expect("presets are in range: checked by a test")
    }
}

/// All presets.
///
/// Elastomers are nearly incompressible; here they have ν = 0.47, with which linear tetrahedra lock unless they are several cells thick
/// ([`Element::Smoothed`](crate::Element::Smoothed)). Moduli of cast silicones are those at 100 % strain of their data sheets; at small strain they are up to twice as stiff.
pub const MATERIAL_PRESETS: &[MaterialPreset] = &[
    MaterialPreset {
        name: "silicone-ecoflex-00-30",
        youngs_modulus: 6.9e4,
        poissons_ratio: 0.47,
        density: 1070.0,
        source: "Smooth-On, Ecoflex 00-30 technical bulletin: 100 % modulus 10 psi, specific gravity 1.07",
    },
    MaterialPreset {
        name: "silicone-dragon-skin-10",
        youngs_modulus: 1.52e5,
        poissons_ratio: 0.47,
        density: 1070.0,
        source: "Smooth-On, Dragon Skin 10 technical bulletin: 100 % modulus 22 psi, specific gravity 1.07",
    },
    MaterialPreset {
        name: "silicone-dragon-skin-30",
        youngs_modulus: 5.93e5,
        poissons_ratio: 0.47,
        density: 1080.0,
        source: "Smooth-On, Dragon Skin 30 technical bulletin: 100 % modulus 86 psi, specific gravity 1.08",
    },
    MaterialPreset {
        name: "rubber",
        youngs_modulus: 2.82e6,
        poissons_ratio: 0.47,
        density: 1000.0,
        source: "Sussman and Bathe (1987), rubber cylinder: C1 0.293 MPa, C2 0.177 MPa, so E = 6(C1 + C2)",
    },
    MaterialPreset {
        name: "dough",
        youngs_modulus: 1e5,
        poissons_ratio: 0.4,
        density: 1000.0,
        source: "Zong, Jiang, Han (2024), section VI, dough tearing; elastic part only",
    },
    MaterialPreset {
        name: "sponge",
        youngs_modulus: 2.8e4,
        poissons_ratio: 0.3,
        density: 30.0,
        source: "Gibson and Ashby (1997), open-cell foam: E = E_s (density/density_s)^2, polyurethane E_s 45 MPa, density_s 1200",
    },
    MaterialPreset {
        name: "plush",
        youngs_modulus: 1e4,
        poissons_ratio: 0.4,
        density: 1000.0,
        source: "Han, Masterjohn, Castro (2023), section VII-C, teddy bear; density of their public example",
    },
    MaterialPreset {
        name: "soft-ball",
        youngs_modulus: 2.5e4,
        poissons_ratio: 0.4,
        density: 1000.0,
        source: "Han, Masterjohn, Castro (2023), section VII-D; density not printed, that of water",
    },
    MaterialPreset {
        name: "air-bubble",
        youngs_modulus: 5e4,
        poissons_ratio: 0.3,
        density: 10.0,
        source: "Han, Masterjohn, Castro (2023), section VII-C, air-filled gripper pads; density of their public example",
    },
    MaterialPreset {
        name: "stiff-foam-rubber",
        youngs_modulus: 1e7,
        poissons_ratio: 0.4,
        density: 500.0,
        source: "Han, Masterjohn, Castro (2023), section VII-F, links of the chain",
    },
    MaterialPreset {
        name: "masonry",
        youngs_modulus: 2e10,
        poissons_ratio: 0.3,
        density: 2300.0,
        source: "Han, Masterjohn, Castro (2023), section VII-B, stones of the arch",
    },
];

/// The preset of this name.
///
/// # Errors
/// [`FemError::UnknownName`], listing all.
pub fn material_preset(name: &str) -> Result<&'static MaterialPreset, FemError> {
    let found = MATERIAL_PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| {
        let names = MATERIAL_PRESETS.iter().map(|preset| preset.name);
        unknown("material preset", name, names)
    })
}

fn unknown(kind: &'static str, name: &str, known: impl Iterator<Item = &'static str>) -> FemError {
    FemError::UnknownName {
        kind,
        name: name.into(),
        known: known.collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_solid_with_a_source() {
        for preset in MATERIAL_PRESETS {
            let youngs_modulus = preset.lame().youngs_modulus();
            assert!((youngs_modulus / preset.youngs_modulus - 1.0).abs() < 1e-12);
            assert!(
                preset.density > 0.0 && preset.source.len() > 20,
                "{preset:?}"
            );
            assert_eq!(material_preset(preset.name).unwrap(), preset);
        }
        let text = material_preset("jelly").unwrap_err().to_string();
        assert!(text.contains("jelly") && text.contains("sponge"));
    }

    #[test]
    fn laws_are_found_by_name_and_keep_their_parameters() {
        let lame = Lame::from_young_poisson(2e5, 0.4).unwrap();
        for law in LawKind::ALL {
            assert_eq!(law.name().parse::<LawKind>().unwrap(), law);
            assert_eq!(law.of(lame).unwrap().lame(), lame);
        }
        assert!("jelly".parse::<LawKind>().is_err());
    }
}
