//! `[[bodies]]`: rigid bodies made of shapes. `[[fixed]]`: fixed shapes.

mod entry;

use nalgebra::Isometry3;

use super::error::SceneError;
use super::item::Item;
use super::material::{Materials, Surface};
use super::pose::pose;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::shape::{ShapeEntry, shape};
use super::table::{Context, TableReader};
pub(crate) use entry::FixedEntry;
pub use entry::{BodyEntry, BodyTemplate, GravityEntry, PlacedShape};

pub(super) static TABLES: [&TableSchema; 3] = [&FIXED, &BODY, &PART];

pub(super) const COLOR: Key = Key {
    name: "color",
    value: ValueKind::Described("3 or 4 numbers in 0..1"),
    unit: "",
    default: "chosen",
    about: "red, green, blue and opacity in the replay",
};
const MATERIAL: Key = Key {
    name: "material",
    value: ValueKind::Described("name or table"),
    unit: "",
    default: "`default`",
    about: "surface material: the name of a `[materials.NAME]`, or an inline table with its keys",
};
const SURFACE_VELOCITY: Key = Key {
    name: "surface_velocity",
    value: ValueKind::Vector3,
    unit: "m/s",
    default: "[0, 0, 0]",
    about: "tangential velocity of the surface, as of a conveyor belt; axes of the shape",
};
const VISUAL: Key = Key {
    name: "visual",
    value: ValueKind::Described("shape"),
    unit: "",
    default: "`shape`",
    about: "what the replay draws in place of the shape, in its frame; a mesh may be open here",
};
const POSE: Key = Key {
    name: "pose",
    value: ValueKind::Described("pose"),
    unit: "",
    default: "identity",
    about: "in the world",
};
pub(super) const NAME: Key = Key {
    name: "name",
    value: ValueKind::Text,
    unit: "",
    default: REQUIRED,
    about: "letters, digits, `_`, `-`, `.`; unique in the scene",
};

static FIXED: TableSchema = TableSchema {
    name: "[[fixed]]",
    keys: &[
        NAME,
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: REQUIRED,
            about: "its shape",
        },
        POSE,
        MATERIAL,
        SURFACE_VELOCITY,
        VISUAL,
        COLOR,
    ],
};

/// The keys that `[[bodies]]` and `[[repeat.templates]]` share, after those of the table.
macro_rules! with_body_keys {
    ($($key:expr),* $(,)?) => {
        &[
            $($key,)*
            Key {
                name: "shape",
                value: ValueKind::Described("shape"),
                unit: "",
                default: "none",
                about: "shape of the body, unless `shapes` lists several",
            },
            Key {
                name: "shapes",
                value: ValueKind::Described(crate::scene::schema::LIST_OF_TABLES),
                unit: "",
                default: "none",
                about: "instead of `shape`: several shapes, `[[bodies.shapes]]`",
            },
            Key {
                name: "density",
                value: ValueKind::Positive,
                unit: "kg/m³",
                default: "1000",
                about: "uniform density of the shapes, from which mass and inertia follow",
            },
            Key {
                name: "mass",
                value: ValueKind::Positive,
                unit: "kg",
                default: "none",
                about: "instead of `density`: total mass, distributed uniformly over the volume of all shapes",
            },
            $crate::scene::body::KEYS[0],
            $crate::scene::body::KEYS[1],
            $crate::scene::body::KEYS[2],
            $crate::scene::body::KEYS[3],
            Key {
                name: "velocity",
                value: ValueKind::Vector3,
                unit: "m/s",
                default: "[0, 0, 0]",
                about: "initial velocity of the body's origin, world axes",
            },
            Key {
                name: "angular_velocity",
                value: ValueKind::Vector3,
                unit: "rad/s",
                default: "[0, 0, 0]",
                about: "initial angular velocity, world axes",
            },
            Key {
                name: "gravity",
                value: ValueKind::Choice(&["acts", "absent"]),
                unit: "",
                default: "`acts`",
                about: "whether gravity acts on it",
            },
        ]
    };
}
pub(super) use with_body_keys;

pub(super) const KEYS: [Key; 4] = [MATERIAL, SURFACE_VELOCITY, VISUAL, COLOR];

static BODY: TableSchema = TableSchema {
    name: "[[bodies]]",
    keys: with_body_keys![NAME, POSE],
};

static PART: TableSchema = TableSchema {
    name: "[[bodies.shapes]]",
    keys: &[
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: REQUIRED,
            about: "one shape of the body",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "in the body's frame",
        },
        Key {
            name: "density",
            value: ValueKind::Positive,
            unit: "kg/m³",
            default: "the body's",
            about: "density of this shape",
        },
        Key {
            name: "material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: "the body's",
            about: "surface material of this shape",
        },
        Key {
            name: "surface_velocity",
            value: ValueKind::Vector3,
            unit: "m/s",
            default: "[0, 0, 0]",
            about: "tangential velocity of the surface; axes of the shape",
        },
        VISUAL,
        COLOR,
    ],
};

pub(super) const GRAVITY: [(&str, GravityEntry); 2] = [
    ("acts", GravityEntry::Acts),
    ("absent", GravityEntry::Absent),
];

/// An element of `[[fixed]]`.
pub(super) fn fixed(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<FixedEntry, SceneError> {
    let mut table = item.table(&FIXED)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let item = table.required("shape")?;
    let shape = PlacedShape {
        shape: shape(&item)?,
        at: item.at(),
        pose: pose(table.optional("pose").as_ref())?,
        surface: materials.surface(context, table.optional("material").as_ref())?,
        surface_velocity: table.vector3_or_zero("surface_velocity")?,
        visual: visual(&table)?,
        color: color(&table)?,
        density: 0.0,
    };
    table.finish();
    Ok(FixedEntry { name, shape })
}

/// An element of `[[bodies]]`.
pub(super) fn body(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<BodyEntry, SceneError> {
    let mut table = item.table(&BODY)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let entry = BodyEntry {
        name,
        pose: pose(table.optional("pose").as_ref())?,
        body: template(context, &table, materials)?,
    };
    table.finish();
    Ok(entry)
}

/// The keys of a body without name and pose.
pub(super) fn template(
    context: &Context,
    table: &TableReader<'_>,
    materials: &Materials,
) -> Result<BodyTemplate, SceneError> {
    let density = table.positive_or("density", 1000.0)?;
    let mass = table
        .optional("mass")
        .map(|item| item.positive())
        .transpose()?;
    if mass.is_some() && table.optional("density").is_some() {
        return Err(table.conflict("`mass` and `density` are both given; keep one"));
    }
    let surface = materials.surface(context, table.optional("material").as_ref())?;
    let surface_velocity = table.vector3_or_zero("surface_velocity")?;
    let color = color(table)?;
    let shapes = match (table.optional("shape"), table.optional("shapes")) {
        (Some(item), None) => vec![PlacedShape {
            shape: solid(&item)?,
            at: item.at(),
            pose: Isometry3::identity(),
            surface,
            surface_velocity,
            visual: visual(table)?,
            color,
            density,
        }],
        (None, Some(list)) => {
            if surface_velocity.norm() > 0.0 {
                return Err(
                    table.conflict("`surface_velocity` belongs to one shape: give it in `shapes`")
                );
            }
            if table.optional("visual").is_some() {
                return Err(table.conflict("`visual` belongs to one shape: give it in `shapes`"));
            }
            parts(
                context,
                &list,
                materials,
                &Shared {
                    surface,
                    color,
                    density,
                    mass,
                },
            )?
        }
        (Some(_), Some(_)) => {
            return Err(table.conflict("`shape` and `shapes` are both given; keep one"));
        }
        (None, None) => return Err(table.missing("shape")),
    };
    Ok(BodyTemplate {
        shapes,
        mass,
        velocity: table.vector3_or_zero("velocity")?,
        angular_velocity: table.vector3_or_zero("angular_velocity")?,
        gravity: table.choice_or_first("gravity", &GRAVITY)?,
    })
}

/// What the shapes of a body inherit from it.
struct Shared {
    surface: Surface,
    color: Option<[f64; 4]>,
    density: f64,
    mass: Option<f64>,
}

fn parts(
    context: &Context,
    list: &Item<'_>,
    materials: &Materials,
    shared: &Shared,
) -> Result<Vec<PlacedShape>, SceneError> {
    let elements = list.tables()?;
    if elements.is_empty() {
        return Err(list.out_of_range("[]", "must hold at least one shape"));
    }
    let part = |element: &Item<'_>| {
        let table = element.table(&PART)?;
        let item = table.required("shape")?;
        let density = table
            .optional("density")
            .map(|item| item.positive())
            .transpose()?;
        if density.is_some() && shared.mass.is_some() {
            return Err(table.conflict("the body's `mass` is given already; drop one of the two"));
        }
        let surface = materials.surface(context, table.optional("material").as_ref())?;
        let placed = PlacedShape {
            shape: solid(&item)?,
            at: item.at(),
            pose: pose(table.optional("pose").as_ref())?,
            surface: surface.or(shared.surface),
            surface_velocity: table.vector3_or_zero("surface_velocity")?,
            visual: visual(&table)?,
            color: color(&table)?.or(shared.color),
            density: density.unwrap_or(shared.density),
        };
        table.finish();
        Ok(placed)
    };
    elements.iter().map(part).collect()
}

/// A shape that has a volume.
fn solid(item: &Item<'_>) -> Result<ShapeEntry, SceneError> {
    let shape = shape(item)?;
    if shape.is_half_space() {
        return Err(item.out_of_range(
            "half_space",
            "is unbounded and has no mass; put it in [[fixed]], or take a box",
        ));
    }
    Ok(shape)
}

fn visual(table: &TableReader<'_>) -> Result<Option<ShapeEntry>, SceneError> {
    table
        .optional("visual")
        .map(|item| shape(&item))
        .transpose()
}

pub(super) fn color(table: &TableReader<'_>) -> Result<Option<[f64; 4]>, SceneError> {
    table.optional("color").map(|item| rgba(&item)).transpose()
}

/// Red, green, blue, opacity.
pub(super) fn rgba(item: &Item<'_>) -> Result<[f64; 4], SceneError> {
    let numbers = item.number_list()?;
    if !numbers.iter().all(|c| (0.0..=1.0).contains(c)) {
        return Err(item.out_of_range(format!("{numbers:?}"), "must lie in 0..1"));
    }
    match numbers[..] {
        [r, g, b] => Ok([r, g, b, 1.0]),
        [r, g, b, a] => Ok([r, g, b, a]),
        _ => Err(item.out_of_range(format!("{numbers:?}"), "must be 3 or 4 numbers")),
    }
}
