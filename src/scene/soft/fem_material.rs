//! Constitutive materials of `[[fem]]`: `constitutive_material = "rubber"`, or a law and its constants.

use std::sync::Arc;

use pliant_constitutive::{Lame, MooneyRivlin, ParameterError};
use pliant_fem::{LawKind, Material, MaterialPreset, material_preset};

use crate::registry::Registry;
use crate::scene::error::{SceneError, SceneFault};
use crate::scene::item::Item;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::TableReader;

/// `constitutive_material` of `[[fem]]`.
pub(super) static TABLES: [&TableSchema; 3] = [&LAW, &TWO_MODULI, &MOONEY_RIVLIN];

static LAW: TableSchema = TableSchema {
    name: "fem.constitutive_material",
    keys: &[Key {
        name: "law",
        value: ValueKind::Described("name of a law"),
        unit: "",
        default: "`linear-corotated`",
        about: "the hyperelastic law: `linear-corotated`, which needs one linear solve per time step, `corotational`, `fixed-corotated`, `stable-neo-hookean`, `neo-hookean`, `st-venant-kirchhoff`, `linear` or `mooney-rivlin`",
    }],
};

static TWO_MODULI: TableSchema = TableSchema {
    name: "fem.constitutive_material, laws of two moduli",
    keys: &[
        Key {
            name: "preset",
            value: ValueKind::Described("name"),
            unit: "",
            default: "none",
            about: "a preset with moduli and density, see above; the other keys replace its values",
        },
        Key {
            name: "youngs_modulus",
            value: ValueKind::Positive,
            unit: "Pa",
            default: "the preset's",
            about: "Young's modulus E",
        },
        Key {
            name: "poissons_ratio",
            value: ValueKind::Between(-1.0, 0.5),
            unit: "",
            default: "the preset's",
            about: "Poisson's ratio ν; not negative for `fixed-corotated` and `neo-hookean`; linear tetrahedra lock above about 0.45, smoothed and quadratic ones do not",
        },
    ],
};

static MOONEY_RIVLIN: TableSchema = TableSchema {
    name: "fem.constitutive_material law = \"mooney-rivlin\"",
    keys: &[
        Key {
            name: "c1",
            value: ValueKind::Positive,
            unit: "Pa",
            default: REQUIRED,
            about: "coefficient C₁",
        },
        Key {
            name: "c2",
            value: ValueKind::NonNegative,
            unit: "Pa",
            default: REQUIRED,
            about: "coefficient C₂",
        },
        Key {
            name: "bulk_modulus",
            value: ValueKind::Positive,
            unit: "Pa",
            default: REQUIRED,
            about: "bulk modulus K at rest",
        },
    ],
};

/// A law with its constants, and the density of a preset.
pub(super) struct Constitutive {
    pub(super) law: Arc<dyn Material>,
    pub(super) density: Option<f64>,
}

/// Registers the built-in laws, the default first.
pub(crate) fn register(registry: &mut Registry) {
    for kind in LawKind::ALL {
        registry.shared_fem_material(kind.name(), TWO_MODULI.keys, move |table| {
            let preset = preset(table)?;
            let stiffness = modulus(table, "youngs_modulus", preset.map(|p| p.youngs_modulus))?;
            let ratio = modulus(table, "poissons_ratio", preset.map(|p| p.poissons_ratio))?;
            Lame::from_young_poisson(stiffness, ratio)
                .and_then(|lame| kind.of(lame))
                .map_err(|error| refused_parameter(table, &error))
        });
    }
    registry.fem_material("mooney-rivlin", MOONEY_RIVLIN.keys, |table| {
        let [c1, c2] = [table.number("c1")?, table.number("c2")?];
        MooneyRivlin::new(c1, c2, table.number("bulk_modulus")?)
            .map_err(|error| refused_parameter(table, &error))
    });
}

/// `constitutive_material`.
pub(super) fn constitutive(item: &Item<'_>) -> Result<Constitutive, SceneError> {
    if item.is_text() {
        let preset = material_preset(&item.reference()?.name).map_err(|e| refused(item, &e))?;
        let law = LawKind::default().of(preset.lame());
        return Ok(Constitutive {
            law: law.map_err(|e| refused(item, &e))?,
            density: Some(preset.density),
        });
    }
    let laws = &item.context.registry.fem_materials;
    let (table, law) = item.part_table(&LAW, "law", laws)?;
    let preset = match table.declares("preset") {
        true => preset(&table)?,
        false => None,
    };
    Ok(Constitutive {
        law: law.read()(&table)?,
        density: preset.map(|preset| preset.density),
    })
}

fn preset(table: &TableReader<'_>) -> Result<Option<&'static MaterialPreset>, SceneError> {
    let Some(item) = table.optional("preset") else {
        return Ok(None);
    };
    let preset = material_preset(&item.reference()?.name);
    preset.map(Some).map_err(|error| refused(&item, &error))
}

/// A constant of the law, or the preset's.
fn modulus(
    table: &TableReader<'_>,
    key: &'static str,
    preset: Option<f64>,
) -> Result<f64, SceneError> {
    match (table.number_if_given(key)?, preset) {
        (Some(value), _) | (None, Some(value)) => Ok(value),
        (None, None) => Err(table.missing(key)),
    }
}

fn refused(item: &Item<'_>, error: &impl std::fmt::Display) -> SceneError {
    item.error(SceneFault::Conflict {
        table: item.table.clone(),
        reason: error.to_string(),
    })
}

/// The error of an elastic constant, at the key that gives it.
pub(super) fn refused_parameter(table: &TableReader<'_>, error: &ParameterError) -> SceneError {
    table.refused(error.parameter, error.to_string())
}
