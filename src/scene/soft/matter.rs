//! Constitutive materials of material points: `made_of = "pizza-dough"`, or a law and its constants.

use std::sync::Arc;

use pliant_constitutive::{FixedCorotated, Lame, NeoHookean, ParameterError};
use pliant_mpm::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, Preset, Sand, Tension,
};

use crate::scene::error::{SceneError, SceneFault, remedy};
use crate::scene::item::Item;
use crate::scene::schema::{Key, TableSchema};
use crate::scene::table::TableReader;

const fn constant(
    name: &'static str,
    value: &'static str,
    unit: &'static str,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        value,
        unit,
        default,
        about,
    }
}

pub(super) static MADE_OF_POINTS: TableSchema = TableSchema {
    name: "material_points.made_of",
    keys: &[
        constant(
            "law",
            "`linear-corotated`, `fixed-corotated`, `neo-hookean`, `hencky`, `sand` or `liquid`",
            "",
            "`linear-corotated`",
            "a step of the first is one linear problem; it and `hencky` flow at a yield stress",
        ),
        constant(
            "youngs_modulus",
            "number > 0",
            "Pa",
            "none",
            "E; needed by all but `liquid`",
        ),
        constant(
            "poissons_ratio",
            "number in (-1, 0.5)",
            "",
            "none",
            "ν; needed by all but `liquid`; not negative for `neo-hookean` and `fixed-corotated`; locks beyond 0.45 or so",
        ),
        constant(
            "yield_stress",
            "number > 0",
            "Pa",
            "none: elastic",
            "of `linear-corotated`: bound of the Frobenius norm of the deviator, √(2/3) of that in tension; of `hencky`: in tension",
        ),
        constant(
            "friction_angle",
            "number in (0, pi/2)",
            "rad",
            "none",
            "needed by `sand`",
        ),
        constant(
            "friction_cone",
            "`plane-strain` or `triaxial-compression`",
            "",
            "`plane-strain`",
            "of `sand`: the tests in which its angle is `friction_angle`",
        ),
        constant(
            "bulk_modulus",
            "number > 0",
            "Pa",
            "none",
            "κ, needed by `liquid`: p = κ(J^-γ - 1); 200 ρ g depth/γ keeps the density within 1%",
        ),
        constant("exponent", "number in (1, 20]", "", "7", "γ of `liquid`"),
        constant("viscosity", "number >= 0", "Pa s", "0", "of `liquid`"),
        constant(
            "tension",
            "`none` or `full`",
            "",
            "`none`",
            "of `liquid`: its pressure when pulled apart, zero or negative",
        ),
    ],
};

/// A law with its constants, and the density of a preset.
pub(super) struct Stuff {
    pub(super) law: Arc<dyn Material>,
    pub(super) density: Option<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Law {
    LinearCorotated,
    FixedCorotated,
    NeoHookean,
    Hencky,
    Sand,
    Liquid,
}

const LAWS: [(&str, Law); 6] = [
    ("linear-corotated", Law::LinearCorotated),
    ("fixed-corotated", Law::FixedCorotated),
    ("neo-hookean", Law::NeoHookean),
    ("hencky", Law::Hencky),
    ("sand", Law::Sand),
    ("liquid", Law::Liquid),
];

const SOLID: [&str; 2] = ["youngs_modulus", "poissons_ratio"];
const GRAINS: [&str; 2] = ["friction_angle", "friction_cone"];
const FLUID: [&str; 4] = ["bulk_modulus", "exponent", "viscosity", "tension"];
const YIELD: &str = "yield_stress";

/// `made_of`.
pub(super) fn stuff(item: &Item<'_>) -> Result<Stuff, SceneError> {
    if item.is_text() {
        return preset(item);
    }
    let table = item.table(&MADE_OF_POINTS)?;
    let law = table.choice_or_first("law", &LAWS)?;
    let own: Vec<&'static str> = match law {
        Law::Liquid => FLUID.to_vec(),
        Law::Sand => [SOLID, GRAINS].concat(),
        Law::LinearCorotated | Law::Hencky => [&SOLID[..], &[YIELD]].concat(),
        Law::FixedCorotated | Law::NeoHookean => SOLID.to_vec(),
    };
    let all = SOLID.into_iter().chain(GRAINS).chain(FLUID).chain([YIELD]);
    for key in all.filter(|key| !own.contains(key)) {
        if table.optional(key).is_some() {
            let word = LAWS.iter().find(|(_, l)| *l == law).map_or("", |(w, _)| w);
            return Err(table.conflict(format!(
                "`{key}` is no constant of the law `{word}`, which takes `{}`",
                own.join("`, `")
            )));
        }
    }
    let law = build(law, &table, item)?;
    table.finish();
    Ok(Stuff { law, density: None })
}

fn build(
    law: Law,
    table: &TableReader<'_>,
    item: &Item<'_>,
) -> Result<Arc<dyn Material>, SceneError> {
    let number = |key| match table.optional(key) {
        Some(item) => item.number(),
        None => Err(table.missing(key)),
    };
    let yields = table
        .optional(YIELD)
        .map(|item| item.positive())
        .transpose()?;
    if law == Law::Liquid {
        let bulk = number("bulk_modulus")?;
        let exponent = table.positive_or("exponent", 7.0)?;
        let viscosity = table.non_negative_or("viscosity", 0.0)?;
        let tension = table.choice_or_first(
            "tension",
            &[("none", Tension::None), ("full", Tension::Full)],
        )?;
        let liquid = Liquid::new(bulk, exponent)
            .and_then(|liquid| liquid.with_viscosity(viscosity))
            .map_err(|error| refused(item, &error))?;
        return Ok(Arc::new(liquid.with_tension(tension)));
    }
    let lame = Lame::from_young_poisson(number("youngs_modulus")?, number("poissons_ratio")?)
        .map_err(|error| refused_parameter(table, item, &error))?;
    Ok(match law {
        Law::LinearCorotated => {
            let elastic = LinearCorotated::new(lame);
            let solid = yields.map_or(Ok(elastic), |eta| elastic.with_yield_stress(eta));
            Arc::new(solid.map_err(|error| refused(item, &error))?)
        }
        Law::FixedCorotated => {
            let solid = FixedCorotated::new(lame);
            Arc::new(solid.map_err(|error| refused_parameter(table, item, &error))?)
        }
        Law::NeoHookean => {
            let solid = NeoHookean::new(lame);
            Arc::new(solid.map_err(|error| refused_parameter(table, item, &error))?)
        }
        Law::Hencky => {
            let solid = HenckyVonMises::new(lame, yields.unwrap_or(f64::INFINITY));
            Arc::new(solid.map_err(|error| refused(item, &error))?)
        }
        Law::Sand | Law::Liquid => {
            let angle = number("friction_angle")?.to_degrees();
            let cone = table.choice_or_first(
                "friction_cone",
                &[
                    ("plane-strain", FrictionAngle::PlaneStrain),
                    ("triaxial-compression", FrictionAngle::TriaxialCompression),
                ],
            )?;
            let sand = Sand::new(lame, angle, cone);
            Arc::new(sand.map_err(|error| refused(item, &error))?)
        }
    })
}

fn preset(item: &Item<'_>) -> Result<Stuff, SceneError> {
    let mention = item.mention()?;
    let word = |preset: &Preset| preset.name().replace('_', "-");
    let Some(preset) = Preset::ALL.into_iter().find(|p| word(p) == mention.name) else {
        let words: Vec<String> = Preset::ALL.iter().map(word).collect();
        return Err(item.error(SceneFault::UnknownName {
            what: "preset of material points".into(),
            name: mention.name.clone(),
            remedy: remedy(&mention.name, words.iter().map(String::as_str)),
        }));
    };
    Ok(Stuff {
        law: preset.material(),
        density: Some(preset.density()),
    })
}

/// The error of an elastic constant, at the key that gives it.
fn refused_parameter(
    table: &TableReader<'_>,
    item: &Item<'_>,
    error: &ParameterError,
) -> SceneError {
    let given = table.optional(error.parameter);
    refused(given.as_ref().unwrap_or(item), error)
}

fn refused(item: &Item<'_>, error: &impl std::fmt::Display) -> SceneError {
    item.error(SceneFault::Conflict {
        table: item.table.clone(),
        reason: error.to_string(),
    })
}
