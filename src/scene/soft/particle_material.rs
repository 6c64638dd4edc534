//! Constitutive materials of `[[material_points]]`: `constitutive_material = "pizza-dough"`, or a law and its constants.

use std::sync::Arc;

use pliant_constitutive::{FixedCorotated, Lame, NeoHookean};
use pliant_mpm::{
    FrictionAngle, HenckyVonMises, LinearCorotated, Liquid, Material, MpmError, Preset, Sand,
    Tension, VolumeForm,
};

use crate::registry::Registry;
use crate::scene::error::{SceneError, SceneFault, remedy};
use crate::scene::item::Item;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::TableReader;

use super::fem_material::refused_parameter;

/// `constitutive_material` of `[[material_points]]`.
pub(super) static TABLES: [&TableSchema; 5] = [&LAW, &ELASTIC, &PLASTIC, &SAND, &LIQUID];

const fn constant(
    name: &'static str,
    value: ValueKind,
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

static LAW: TableSchema = TableSchema {
    name: "material_points.constitutive_material",
    keys: &[constant(
        "law",
        ValueKind::Described("name of a law"),
        "",
        "`linear-corotated`",
        "`linear-corotated`, which makes a step one linear problem, `fixed-corotated`, `neo-hookean`, `hencky`, `sand` or `liquid`",
    )],
};

const YOUNGS_MODULUS: Key = constant("youngs_modulus", ValueKind::Positive, "Pa", REQUIRED, "E");
const POISSONS_RATIO: Key = constant(
    "poissons_ratio",
    ValueKind::Between(-1.0, 0.5),
    "",
    REQUIRED,
    "ν; not negative for `neo-hookean` and `fixed-corotated`; locks beyond 0.45 or so",
);

static ELASTIC: TableSchema = TableSchema {
    name: "material_points.constitutive_material law = \"fixed-corotated\" or \"neo-hookean\"",
    keys: &[YOUNGS_MODULUS, POISSONS_RATIO],
};
static PLASTIC: TableSchema = TableSchema {
    name: "material_points.constitutive_material law = \"linear-corotated\" or \"hencky\"",
    keys: &[
        YOUNGS_MODULUS,
        POISSONS_RATIO,
        constant(
            "yield_stress",
            ValueKind::Positive,
            "Pa",
            "none: elastic",
            "of `linear-corotated`: bound of the Frobenius norm of the deviator, √(2/3) of that in tension; of `hencky`: in tension",
        ),
    ],
};
static SAND: TableSchema = TableSchema {
    name: "material_points.constitutive_material law = \"sand\"",
    keys: &[
        YOUNGS_MODULUS,
        POISSONS_RATIO,
        constant(
            "friction_angle",
            ValueKind::Described("number in (0, pi/2)"),
            "rad",
            REQUIRED,
            "of Drucker and Prager's cone",
        ),
        constant(
            "friction_cone",
            ValueKind::Choice(&["plane-strain", "triaxial-compression"]),
            "",
            "`plane-strain`",
            "the tests in which its angle is `friction_angle`",
        ),
    ],
};
static LIQUID: TableSchema = TableSchema {
    name: "material_points.constitutive_material law = \"liquid\"",
    keys: &[
        constant(
            "bulk_modulus",
            ValueKind::Positive,
            "Pa",
            REQUIRED,
            "κ in p = κ(J^-γ - 1); 200 ρ g depth/γ keeps the density within 1%",
        ),
        constant(
            "exponent",
            ValueKind::Described("number in (1, 20]"),
            "",
            "7",
            "γ",
        ),
        constant("viscosity", ValueKind::NonNegative, "Pa s", "0", "dynamic"),
        constant(
            "tension",
            ValueKind::Choice(&["none", "full"]),
            "",
            "`none`",
            "of `liquid`: its pressure when pulled apart, zero or negative",
        ),
        constant(
            "volume",
            ValueKind::Choice(&["automatic", "packed", "advected"]),
            "",
            "`automatic`",
            "of `liquid`: `packed`: its volume tends to that which its particles fill; `advected`: it follows the divergence of the velocity alone; `automatic`: advected under full tension and on a grid with walls that hold nodes, otherwise packed",
        ),
    ],
};

/// A law with its constants, and the density of a preset.
pub(super) struct Constitutive {
    pub(super) law: Arc<dyn Material>,
    pub(super) density: Option<f64>,
}

/// Registers the built-in laws, the default first.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .particle_material("linear-corotated", PLASTIC.keys, |table| {
            let elastic = LinearCorotated::new(lame(table)?);
            let yields = table.number_if_given("yield_stress")?;
            legal(
                table,
                yields.map_or(Ok(elastic), |stress| elastic.with_yield_stress(stress)),
            )
        })
        .particle_material("fixed-corotated", ELASTIC.keys, |table| {
            let solid = FixedCorotated::new(lame(table)?);
            solid.map_err(|error| refused_parameter(table, &error))
        })
        .particle_material("neo-hookean", ELASTIC.keys, |table| {
            let solid = NeoHookean::new(lame(table)?);
            solid.map_err(|error| refused_parameter(table, &error))
        })
        .particle_material("hencky", PLASTIC.keys, |table| {
            let lame = lame(table)?;
            let stress = table.number_if_given("yield_stress")?;
            legal(
                table,
                HenckyVonMises::new(lame, stress.unwrap_or(f64::INFINITY)),
            )
        })
        .particle_material("sand", SAND.keys, |table| {
            let lame = lame(table)?;
            let angle = table.number("friction_angle")?.to_degrees();
            let cone = table.choice_or_first(
                "friction_cone",
                &[
                    ("plane-strain", FrictionAngle::PlaneStrain),
                    ("triaxial-compression", FrictionAngle::TriaxialCompression),
                ],
            )?;
            legal(table, Sand::new(lame, angle, cone))
        })
        .particle_material("liquid", LIQUID.keys, |table| {
            let liquid = Liquid::new(table.number("bulk_modulus")?, table.number("exponent")?);
            let viscosity = table.number("viscosity")?;
            let tension = table.choice_or_first(
                "tension",
                &[("none", Tension::None), ("full", Tension::Full)],
            )?;
            let liquid = legal(table, liquid.and_then(|l| l.with_viscosity(viscosity)))?;
            let liquid = liquid.with_tension(tension);
            let volume = table.choice_or_first(
                "volume",
                &[
                    ("automatic", VolumeForm::Automatic),
                    ("packed", Liquid::PACKED),
                    ("advected", VolumeForm::Advected),
                ],
            )?;
            legal(table, liquid.with_volume(volume))
        });
}

fn lame(table: &TableReader<'_>) -> Result<Lame, SceneError> {
    let (youngs_modulus, poissons_ratio) = (
        table.number("youngs_modulus")?,
        table.number("poissons_ratio")?,
    );
    Lame::from_young_poisson(youngs_modulus, poissons_ratio)
        .map_err(|error| refused_parameter(table, &error))
}

fn legal<M>(table: &TableReader<'_>, material: Result<M, MpmError>) -> Result<M, SceneError> {
    material.map_err(|error| table.conflict(error.to_string()))
}

/// `constitutive_material`.
pub(super) fn constitutive(item: &Item<'_>) -> Result<Constitutive, SceneError> {
    if item.is_text() {
        return preset(item);
    }
    let laws = &item.context.registry.particle_materials;
    let (table, law) = item.part_table(&LAW, "law", laws)?;
    Ok(Constitutive {
        law: law.read()(&table)?,
        density: None,
    })
}

fn preset(item: &Item<'_>) -> Result<Constitutive, SceneError> {
    let reference = item.reference()?;
    let word = |preset: &Preset| preset.name().replace('_', "-");
    let Some(preset) = Preset::ALL.into_iter().find(|p| word(p) == reference.name) else {
        let words: Vec<String> = Preset::ALL.iter().map(word).collect();
        return Err(item.error(SceneFault::UnknownName {
            what: "constitutive material of material points".into(),
            name: reference.name.clone(),
            remedy: remedy(&reference.name, words.iter().map(String::as_str)),
        }));
    };
    Ok(Constitutive {
        law: preset.material(),
        density: Some(preset.density()),
    })
}
