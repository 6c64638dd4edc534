//! Constitutive materials of finite-element bodies: `made_of = "rubber"`, or a law and its constants.

use std::sync::Arc;

use pliant_constitutive::{Lame, MooneyRivlin};
use pliant_fem::{LawKind, Material, material_preset};

use crate::scene::error::{SceneError, SceneFault};
use crate::scene::item::Item;
use crate::scene::schema::{Key, TableSchema};
use crate::scene::table::TableReader;

pub(super) static MADE_OF: TableSchema = TableSchema {
    name: "fem.made_of",
    keys: &[
        Key {
            name: "law",
            value: "`linear-corotated`, `corotational`, `stable-neo-hookean`, `neo-hookean`, `st-venant-kirchhoff`, `linear` or `mooney-rivlin`",
            unit: "",
            default: "`linear-corotated`",
            about: "the hyperelastic law; the first needs one linear solve a step",
        },
        Key {
            name: "preset",
            value: "name",
            unit: "",
            default: "none",
            about: "moduli and density of a published material, see above; the other keys replace its values",
        },
        Key {
            name: "youngs_modulus",
            value: "number > 0",
            unit: "Pa",
            default: "the preset's",
            about: "E",
        },
        Key {
            name: "poissons_ratio",
            value: "number in (-1, 0.5)",
            unit: "",
            default: "the preset's",
            about: "ν; not negative for `neo-hookean`; linear tetrahedra lock beyond 0.45 or so",
        },
        Key {
            name: "c1",
            value: "number > 0",
            unit: "Pa",
            default: "none",
            about: "C₁ of `mooney-rivlin`",
        },
        Key {
            name: "c2",
            value: "number >= 0",
            unit: "Pa",
            default: "none",
            about: "C₂ of `mooney-rivlin`",
        },
        Key {
            name: "bulk_modulus",
            value: "number > 0",
            unit: "Pa",
            default: "none",
            about: "K of `mooney-rivlin`, at rest",
        },
    ],
};

/// A law with its constants, and the density of a preset.
pub(super) struct Stuff {
    pub(super) law: Arc<dyn Material>,
    pub(super) density: Option<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Law {
    Lame(LawKind),
    MooneyRivlin,
}

const LAWS: [(&str, Law); 7] = [
    ("linear-corotated", Law::Lame(LawKind::LinearCorotated)),
    ("corotational", Law::Lame(LawKind::Corotational)),
    ("stable-neo-hookean", Law::Lame(LawKind::StableNeoHookean)),
    ("neo-hookean", Law::Lame(LawKind::NeoHookean)),
    ("st-venant-kirchhoff", Law::Lame(LawKind::StVenantKirchhoff)),
    ("linear", Law::Lame(LawKind::Linear)),
    ("mooney-rivlin", Law::MooneyRivlin),
];

/// The constants of a law of Lamé's two parameters, and of Mooney and Rivlin's.
const MODULI: [&str; 2] = ["youngs_modulus", "poissons_ratio"];
const MOONEY_RIVLIN: [&str; 3] = ["c1", "c2", "bulk_modulus"];

/// `made_of`.
pub(super) fn stuff(item: &Item<'_>) -> Result<Stuff, SceneError> {
    if item.is_text() {
        let preset = material_preset(&item.mention()?.name).map_err(|e| refused(item, &e))?;
        return Ok(Stuff {
            law: LawKind::default()
                .of(preset.lame())
                .map_err(|e| refused(item, &e))?,
            density: Some(preset.density),
        });
    }
    let table = item.table(&MADE_OF)?;
    let law = table.choice_or_first("law", &LAWS)?;
    let preset = match table.optional("preset") {
        Some(item) => Some(material_preset(&item.mention()?.name).map_err(|e| refused(&item, &e))?),
        None => None,
    };
    let stuff = Stuff {
        density: preset.map(|preset| preset.density),
        law: match law {
            Law::Lame(kind) => {
                without(&table, &MOONEY_RIVLIN, kind.name(), &MODULI)?;
                let modulus = constant(&table, "youngs_modulus", preset.map(|p| p.youngs_modulus))?;
                let ratio = constant(&table, "poissons_ratio", preset.map(|p| p.poissons_ratio))?;
                Lame::from_young_poisson(modulus.0, ratio.0)
                    .and_then(|lame| kind.of(lame))
                    .map_err(|error| {
                        let given = match error.parameter {
                            "poissons_ratio" => ratio.1,
                            _ => modulus.1,
                        };
                        refused(given.as_ref().unwrap_or(item), &error)
                    })?
            }
            Law::MooneyRivlin => {
                if preset.is_some() {
                    return Err(table.conflict(
                        "presets have no C1 and C2; give `c1`, `c2` and `bulk_modulus` with `law = \"mooney-rivlin\"`",
                    ));
                }
                without(&table, &MODULI, "mooney-rivlin", &MOONEY_RIVLIN)?;
                let [c1, c2, bulk] = [
                    constant(&table, "c1", None)?.0,
                    constant(&table, "c2", None)?.0,
                    constant(&table, "bulk_modulus", None)?.0,
                ];
                Arc::new(MooneyRivlin::new(c1, c2, bulk).map_err(|error| refused(item, &error))?)
            }
        },
    };
    table.finish();
    Ok(stuff)
}

/// A constant of the law with the key that gives it, or the preset's.
fn constant<'a>(
    table: &TableReader<'a>,
    key: &'static str,
    preset: Option<f64>,
) -> Result<(f64, Option<Item<'a>>), SceneError> {
    match (table.optional(key), preset) {
        (Some(item), _) => Ok((item.number()?, Some(item))),
        (None, Some(value)) => Ok((value, None)),
        (None, None) => Err(table.missing(key)),
    }
}

/// Refuses constants of other laws; `own` are those of this one.
fn without(
    table: &TableReader<'_>,
    keys: &[&'static str],
    law: &str,
    own: &[&str],
) -> Result<(), SceneError> {
    let given: Vec<_> = keys
        .iter()
        .filter(|key| table.optional(key).is_some())
        .collect();
    match given.first() {
        Some(key) => Err(table.conflict(format!(
            "`{key}` is no constant of the law `{law}`, which takes `{}`",
            own.join("`, `")
        ))),
        None => Ok(()),
    }
}

fn refused(item: &Item<'_>, error: &impl std::fmt::Display) -> SceneError {
    item.error(SceneFault::Conflict {
        table: item.table.clone(),
        reason: error.to_string(),
    })
}
