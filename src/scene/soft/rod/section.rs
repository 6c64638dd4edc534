//! The cross-section of a rod: outline, stiffnesses and inertia per length.

use pliant_der::{Material, RodProperties, Section};

use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::TableReader;

pub(super) static CIRCLE: TableSchema = TableSchema {
    name: "section.circle",
    keys: &[Key {
        name: "radius",
        value: ValueKind::Positive,
        unit: "m",
        default: REQUIRED,
        about: "radius",
    }],
};
pub(super) static ELLIPSE: TableSchema = TableSchema {
    name: "section.ellipse",
    keys: &[Key {
        name: "semi_axes",
        value: ValueKind::Described("2 numbers > 0"),
        unit: "m",
        default: REQUIRED,
        about: "semi-axes along m1 and m2",
    }],
};
pub(super) static RECTANGLE: TableSchema = TableSchema {
    name: "section.rectangle",
    keys: &[Key {
        name: "size",
        value: ValueKind::Described("2 numbers > 0"),
        unit: "m",
        default: REQUIRED,
        about: "full extents along m1 and m2",
    }],
};

/// Reads the outline of the cross-section.
pub(super) fn section(item: &Item<'_>) -> Result<Section, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("section.");
    let (schema, table) = item.variant(&[&CIRCLE, &ELLIPSE, &RECTANGLE], tag)?;
    let two = |key| {
        let item = table.required(key)?;
        let sizes = item.numbers::<2>()?;
        match sizes.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
            Some(wrong) => Err(item.out_of_range(wrong, "must be positive")),
            None => Ok(sizes),
        }
    };
    let section = match tag(schema) {
        "circle" => Section::Circle {
            radius: table.required("radius")?.positive()?,
        },
        "ellipse" => {
            let [semi_axis_1, semi_axis_2] = two("semi_axes")?;
            Section::Ellipse {
                semi_axis_1,
                semi_axis_2,
            }
        }
        _ => {
            let [extent_1, extent_2] = two("size")?;
            Section::Rectangle { extent_1, extent_2 }
        }
    };
    table.finish();
    Ok(section)
}

/// Stiffnesses and inertia: those of the section, unless they are given.
pub(super) fn properties(
    table: &TableReader<'_>,
    section: &Section,
) -> Result<RodProperties, SceneError> {
    let modulus = table.required("youngs_modulus")?.positive()?;
    let ratio = table.optional("poissons_ratio");
    let nu = match &ratio {
        Some(item) => item.number()?,
        None => 0.3,
    };
    let density = table.positive_or("density", 1000.0)?;
    let checked = Material::isotropic(modulus, nu, density)
        .and_then(|material| section.properties(&material));
    let mut properties = match (checked, &ratio) {
        (Ok(properties), _) => properties,
        (Err(_), Some(item)) => return Err(item.out_of_range(nu, "must lie in (-1, 0.5]")),
        (Err(error), None) => return Err(table.conflict(error.to_string())),
    };
    if let Some(item) = table.optional("stretching_stiffness") {
        properties.stretch = item.positive()?;
    }
    if let Some(item) = table.optional("bending_stiffness") {
        let both = item.numbers::<2>()?;
        if let Some(wrong) = both.iter().find(|x| !(**x >= 0.0 && x.is_finite())) {
            return Err(item.out_of_range(wrong, "must not be negative"));
        }
        [properties.bend_1, properties.bend_2] = both;
    }
    if let Some(item) = table.optional("twisting_stiffness") {
        properties.twist = item.non_negative()?;
    }
    Ok(properties)
}
