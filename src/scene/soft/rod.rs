//! `[[rods]]`: ropes, rings, belts and strips.

mod entry;
mod natural;
mod section;

pub use entry::RodEntry;
pub(crate) use entry::{RodEnd, RodModel};
pub use natural::NaturalScatter;

use nalgebra::Vector3;
use pliant_der::{Linearised, Rayleigh, Section};
use pliant_hydroelastic::Tips;

use super::centreline::{CentrelineEntry, centreline};
use super::{Matter, SelfContact, Shown, SoftEntry, common, with_soft_keys};
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 5] = [
    &ROD,
    &natural::SCATTER,
    &section::CIRCLE,
    &section::ELLIPSE,
    &section::RECTANGLE,
];

const fn given(
    name: &'static str,
    value: ValueKind,
    unit: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        value,
        unit,
        default: "of the section",
        about,
    }
}

static ROD: TableSchema = TableSchema {
    name: "[[rods]]",
    keys: with_soft_keys![
        Key {
            name: "centreline",
            value: ValueKind::Described("centreline"),
            unit: "",
            default: REQUIRED,
            about: "initial nodes, in the body frame",
        },
        Key {
            name: "model",
            value: ValueKind::Choice(&["elastic-rod", "capsule-chain"]),
            unit: "",
            default: "`elastic-rod`",
            about: "`capsule-chain`, for comparison: rigid capsules on joints with bending and twisting springs; only open, round rods with free ends, without drag, tension or natural curvature",
        },
        Key {
            name: "section",
            value: ValueKind::Described("section"),
            unit: "",
            default: REQUIRED,
            about: "cross-section; in contact, segments are capsules, elliptic cylinders or boxes",
        },
        Key {
            name: "youngs_modulus",
            value: ValueKind::Positive,
            unit: "Pa",
            default: REQUIRED,
            about: "Young's modulus E of a homogeneous rod",
        },
        Key {
            name: "poissons_ratio",
            value: ValueKind::Described("number in (-1, 0.5]"),
            unit: "",
            default: "0.3",
            about: "Poisson's ratio ν, for the shear modulus G = E/2(1 + ν)",
        },
        Key {
            name: "density",
            value: ValueKind::Positive,
            unit: "kg/m³",
            default: "1000",
            about: "density of the material",
        },
        given(
            "stretching_stiffness",
            ValueKind::Positive,
            "N",
            "EA, for what is not homogeneous"
        ),
        given(
            "bending_stiffness",
            ValueKind::Described("2 numbers >= 0"),
            "N·m²",
            "EI₁ about m2, EI₂ about m1"
        ),
        given(
            "twisting_stiffness",
            ValueKind::NonNegative,
            "N·m²",
            "GJ, J the torsion constant"
        ),
        Key {
            name: "mass_damping",
            value: ValueKind::NonNegative,
            unit: "1/s",
            default: "0",
            about: "Rayleigh coefficient α: drag proportional to mass, also in free flight",
        },
        Key {
            name: "stiffness_damping",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0",
            about: "Rayleigh coefficient β: damping proportional to stiffness, a viscosity of the material",
        },
        Key {
            name: "linearised",
            value: ValueKind::Choice(&["at-free-motion", "at-start"]),
            unit: "",
            default: "`at-free-motion`",
            about: "where the balance of momentum is linearised for contact: at the free motion, or at the start of the step, which suits ropes under tension over posts and through loops",
        },
        Key {
            name: "director",
            value: ValueKind::Vector3,
            unit: "",
            default: "some direction across the first edge",
            about: "director m1 of the first edge, a unit vector in the body frame",
        },
        Key {
            name: "natural_shape",
            value: ValueKind::Choice(&["straight", "as-built"]),
            unit: "",
            default: "`straight`",
            about: "the unstressed configuration, to which `natural_curvature` and `natural_twist` are added",
        },
        Key {
            name: "natural_curvature",
            value: ValueKind::Described("2 numbers"),
            unit: "1/m",
            default: "[0, 0]",
            about: "uniform curvature along m2 and -m1",
        },
        Key {
            name: "natural_twist",
            value: ValueKind::Number,
            unit: "rad/m",
            default: "0",
            about: "uniform twist rate of the section about the tangent",
        },
        Key {
            name: "natural_scatter",
            value: ValueKind::Described("natural_scatter"),
            unit: "",
            default: "none",
            about: "random scatter of the natural strains from node to node",
        },
        Key {
            name: "curvature_schedule",
            value: ValueKind::Described("list of [time, factor]"),
            unit: "s, 1",
            default: "always 1",
            about: "factor on the natural curvature and its scatter over time, linear between knots",
        },
        Key {
            name: "twist_schedule",
            value: ValueKind::Described("list of [time, factor]"),
            unit: "s, 1",
            default: "always 1",
            about: "factor on the natural twist and its scatter over time",
        },
        Key {
            name: "rest_length_scale",
            value: ValueKind::Positive,
            unit: "",
            default: "1",
            about: "rest length of edges over their length in the centreline; below 1 the rod starts under tension",
        },
        Key {
            name: "start",
            value: ValueKind::Choice(&["free", "pinned", "clamped", "welded"]),
            unit: "",
            default: "`free`",
            about: "how the first node is held in the world; `clamped`: also tangent and spin; `welded`: the same, by a constraint between a region of this node and another body",
        },
        Key {
            name: "finish",
            value: ValueKind::Choice(&["free", "pinned", "clamped", "welded"]),
            unit: "",
            default: "`free`",
            about: "how the last node is held",
        },
        Key {
            name: "tips",
            value: ValueKind::Choice(&["round", "flat"]),
            unit: "",
            default: "`round`",
            about: "shape of the free ends: hemispheres for round sections, cones for all sections in patch contact; `flat`: cut at the last node",
        },
        Key {
            name: "self_contact",
            value: ValueKind::Choice(&["present", "absent"]),
            unit: "",
            default: "`present`",
            about: "self-contact between segments that are further apart along the rod than its width",
        },
    ],
};

/// Keys that do not apply to a chain of capsules.
const OF_ELASTIC_RODS: [&str; 13] = [
    "linearised",
    "mass_damping",
    "director",
    "natural_curvature",
    "natural_twist",
    "natural_scatter",
    "curvature_schedule",
    "twist_schedule",
    "rest_length_scale",
    "start",
    "finish",
    "tips",
    "stretching_stiffness",
];

/// An element of `[[rods]]`.
pub(super) fn rod(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<SoftEntry, SceneError> {
    let mut table = item.table(&ROD)?;
    let entry = common(context, &mut table, materials, |table, _| {
        rod_keys(context, table).map(|rod| Matter::Rod(Box::new(rod)))
    })?;
    if entry.shown == Shown::Stress {
        return Err(table.conflict("`color_by = \"stress\"` is of bodies of finite elements"));
    }
    table.finish();
    Ok(entry)
}

fn rod_keys(context: &Context, table: &TableReader<'_>) -> Result<RodEntry, SceneError> {
    let section = section::section(&table.required("section")?)?;
    let ends = [end(table, "start")?, end(table, "finish")?];
    let line = centreline(context, &table.required("centreline")?)?;
    if line.is_closed() && ends != [RodEnd::Free; 2] {
        return Err(table.conflict("a closed centreline has no `start` and no `finish`"));
    }
    if line.is_closed() && table.optional("tips").is_some() {
        return Err(table.conflict("a closed centreline has no `tips`"));
    }
    let model = table.choice_or_first(
        "model",
        &[
            ("elastic-rod", RodModel::ElasticRod),
            ("capsule-chain", RodModel::CapsuleChain),
        ],
    )?;
    if model == RodModel::CapsuleChain {
        check_chain(table, &section, &line)?;
    }
    Ok(RodEntry {
        section,
        properties: section::properties(table, &section)?,
        damping: Rayleigh {
            mass: table.non_negative_or("mass_damping", 0.0)?,
            stiffness: table.non_negative_or("stiffness_damping", 0.0)?,
        },
        model,
        linearised: table.choice_or_first(
            "linearised",
            &[
                ("at-free-motion", Linearised::AtFreeMotion),
                ("at-start", Linearised::AtStart),
            ],
        )?,
        director: director(table)?,
        natural: natural::shape(table)?,
        scatter: natural::scatter(table)?,
        drive: natural::drive(table)?,
        rest_length_scale: table.positive_or("rest_length_scale", 1.0)?,
        ends,
        tips: table.choice_or_first("tips", &[("round", Tips::Round), ("flat", Tips::Flat)])?,
        self_contact: table.choice_or_first(
            "self_contact",
            &[
                ("present", SelfContact::Present),
                ("absent", SelfContact::Absent),
            ],
        )?,
        centreline: line,
    })
}

fn director(table: &TableReader<'_>) -> Result<Option<Vector3<f64>>, SceneError> {
    let Some(item) = table.optional("director") else {
        return Ok(None);
    };
    let director = item.vector3()?;
    let length = director.norm();
    // The tolerance of `RodBuilder`.
    if (length - 1.0).abs() <= 1e-6 {
        return Ok(Some(director));
    }
    let remedy = director
        .try_normalize(1e-12)
        .map_or_else(String::new, |unit| {
            format!(", such as [{:.6}, {:.6}, {:.6}]", unit.x, unit.y, unit.z)
        });
    Err(item.out_of_range(
        format!("[{}, {}, {}]", director.x, director.y, director.z),
        &format!("has length {length} at node 0: it must be a unit vector{remedy}"),
    ))
}

fn check_chain(
    table: &TableReader<'_>,
    section: &Section,
    line: &CentrelineEntry,
) -> Result<(), SceneError> {
    if let Some(key) = OF_ELASTIC_RODS
        .iter()
        .find(|key| table.optional(key).is_some())
    {
        return Err(table.conflict(format!("a chain of capsules has no `{key}`")));
    }
    if !matches!(section, Section::Circle { .. }) {
        return Err(table.conflict("capsules have a `section = { circle = ... }`"));
    }
    if line.is_closed() {
        return Err(table.conflict("a chain of capsules is open"));
    }
    if let Some(item) = table.optional("bending_stiffness") {
        let [about_2, about_1] = item.numbers::<2>()?;
        if about_1 != about_2 {
            return Err(item.out_of_range(about_1, "must be the same for both bends of a capsule"));
        }
    }
    Ok(())
}

fn end(table: &TableReader<'_>, key: &'static str) -> Result<RodEnd, SceneError> {
    table.choice_or_first(
        key,
        &[
            ("free", RodEnd::Free),
            ("pinned", RodEnd::Pinned),
            ("clamped", RodEnd::Clamped),
            ("welded", RodEnd::Welded),
        ],
    )
}
