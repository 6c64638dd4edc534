//! `sources` of `[[material_points]]` and `sinks` of `[grid]`: creation and removal of particles.

use nalgebra::{Isometry3, Vector3};

use crate::scene::SourceLocation;
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::pose::pose;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::shape::{ShapeEntry, shape};

pub(super) static TABLES: [&TableSchema; 2] = [&SOURCE, &SINK];

static SOURCE: TableSchema = TableSchema {
    name: "material_points.sources",
    keys: &[
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: REQUIRED,
            about: "shape that is filled with particles repeatedly; a slab across the flow makes a uniform jet; not a half space",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "pose of the shape in the world",
        },
        Key {
            name: "velocity",
            value: ValueKind::Vector3,
            unit: "m/s",
            default: REQUIRED,
            about: "velocity of new particles, world axes; not zero, since new particles must not overlap older ones",
        },
        Key {
            name: "from_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0",
            about: "time of the first fill",
        },
        Key {
            name: "until_s",
            value: ValueKind::Described("number > from_s"),
            unit: "s",
            default: "never",
            about: "time of the last possible fill",
        },
        Key {
            name: "every_s",
            value: ValueKind::Positive,
            unit: "s",
            default: "how long the shape takes to pass",
            about: "time between fills; with the default they join without a gap",
        },
    ],
};

static SINK: TableSchema = TableSchema {
    name: "grid.sinks",
    keys: &[
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: REQUIRED,
            about: "particles inside at the end of a step are removed; a half space removes all particles below its plane",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "pose of the shape in the world",
        },
    ],
};

/// A source of particles.
#[derive(Clone, Debug)]
pub(crate) struct SourceEntry {
    /// The shape that is filled.
    pub(crate) shape: ShapeEntry,
    /// Its location in the file.
    pub(crate) at: SourceLocation,
    /// Its pose in the world.
    pub(crate) pose: Isometry3<f64>,
    /// Velocity of new particles, m/s, world axes.
    pub(crate) velocity: Vector3<f64>,
    /// Time of the first fill, s.
    pub(crate) from_s: f64,
    /// Time of the last possible fill, s.
    pub(crate) until_s: Option<f64>,
    /// Time between fills, s; `None`: the time in which the shape moves by its own length.
    pub(crate) every_s: Option<f64>,
}

/// A sink of particles.
#[derive(Clone, Debug)]
pub(crate) struct SinkEntry {
    /// The shape in which particles are removed.
    pub(crate) shape: ShapeEntry,
    /// Its location in the file.
    pub(crate) at: SourceLocation,
    /// Its pose in the world.
    pub(crate) pose: Isometry3<f64>,
}

/// An element of `sources`.
pub(super) fn source(item: &Item<'_>) -> Result<SourceEntry, SceneError> {
    let table = item.table(&SOURCE)?;
    let filled = table.required("shape")?;
    let velocity = table.required("velocity")?;
    let until = table.optional("until_s");
    let every = table.optional("every_s");
    let entry = SourceEntry {
        shape: finite(&filled)?,
        at: filled.at(),
        pose: pose(table.optional("pose").as_ref())?,
        velocity: velocity.vector3()?,
        from_s: table.non_negative_or("from_s", 0.0)?,
        until_s: until.as_ref().map(Item::positive).transpose()?,
        every_s: every.map(|item| item.positive()).transpose()?,
    };
    if entry.velocity == Vector3::zeros() {
        return Err(velocity.out_of_range(
            "[0, 0, 0]",
            "must not be zero: particles would come on top of each other",
        ));
    }
    if let (Some(item), Some(until)) = (until, entry.until_s)
        && until <= entry.from_s
    {
        return Err(item.out_of_range(until, &format!("must be after from_s = {}", entry.from_s)));
    }
    table.finish();
    Ok(entry)
}

/// An element of `sinks`.
pub(super) fn sink(item: &Item<'_>) -> Result<SinkEntry, SceneError> {
    let table = item.table(&SINK)?;
    let taking = table.required("shape")?;
    let entry = SinkEntry {
        shape: shape(&taking)?,
        at: taking.at(),
        pose: pose(table.optional("pose").as_ref())?,
    };
    table.finish();
    Ok(entry)
}

/// A shape that can be filled.
pub(super) fn finite(item: &Item<'_>) -> Result<ShapeEntry, SceneError> {
    let shape = shape(item)?;
    if shape.is_half_space() {
        return Err(item.out_of_range("half_space", "must be a shape of finite size"));
    }
    Ok(shape)
}
