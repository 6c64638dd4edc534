//! `[[constraints]]`: constraints between two bodies, permanent or until a given time.

use nalgebra::Vector3;

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 1] = [&CONSTRAINT];

static CONSTRAINT: TableSchema = TableSchema {
    name: "[[constraints]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "unique in the scene",
        },
        Key {
            name: "kind",
            value: ValueKind::Choice(&["weld", "ball", "distance"]),
            unit: "",
            default: "`weld`",
            about: "`weld`: constant relative pose, that of the start; `ball`: two points coincide; `distance`: two points are `length` apart",
        },
        Key {
            name: "between",
            value: ValueKind::Described("2 names"),
            unit: "",
            default: REQUIRED,
            about: "two bodies, links, `world`, or `SOFT/REGION`, all of whose points are fixed in the frame of the other",
        },
        Key {
            name: "points",
            value: ValueKind::Described("2 times 3 numbers"),
            unit: "m",
            default: "both origins",
            about: "the constrained points, each in the frame of its body",
        },
        Key {
            name: "length",
            value: ValueKind::Positive,
            unit: "m",
            default: "of the start",
            about: "for `distance`: the distance",
        },
        Key {
            name: "release_at_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "never",
            about: "time at which it is released",
        },
    ],
};

/// A constraint between two bodies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConstraintEntry {
    /// Name.
    pub(crate) name: NamedReference,
    /// Kind of the constraint.
    pub(crate) kind: ConstraintKind,
    /// The two bodies, links or `world`.
    pub(crate) between: [NamedReference; 2],
    /// The constrained points, each in the frame of its body, m.
    pub(crate) points: [Vector3<f64>; 2],
    /// Time of release, s.
    pub(crate) release_at_s: Option<f64>,
}

/// Kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ConstraintKind {
    /// Constant relative pose.
    Weld,
    /// Two points coincide.
    Ball,
    /// Constant distance between two points, m; `None`: the initial distance.
    Distance(Option<f64>),
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Weld,
    Ball,
    Distance,
}

/// An element of `[[constraints]]`.
pub(super) fn constraint(item: &Item<'_>) -> Result<ConstraintEntry, SceneError> {
    let mut table = item.table(&CONSTRAINT)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let kind = table.choice_or_first(
        "kind",
        &[
            ("weld", Kind::Weld),
            ("ball", Kind::Ball),
            ("distance", Kind::Distance),
        ],
    )?;
    let length = table
        .optional("length")
        .map(|item| item.positive())
        .transpose()?;
    if length.is_some() && kind != Kind::Distance {
        return Err(table.conflict("`length` goes with `kind = \"distance\"` only"));
    }
    let mut points = [Vector3::zeros(); 2];
    if let Some(item) = table.optional("points") {
        let elements = item.elements()?;
        if elements.len() != 2 {
            return Err(item.out_of_range(format!("{} points", elements.len()), "must be 2 points"));
        }
        for (point, element) in points.iter_mut().zip(&elements) {
            *point = element.vector3()?;
        }
    }
    let entry = ConstraintEntry {
        name,
        kind: match kind {
            Kind::Weld => ConstraintKind::Weld,
            Kind::Ball => ConstraintKind::Ball,
            Kind::Distance => ConstraintKind::Distance(length),
        },
        between: table.required("between")?.two_references()?,
        points,
        release_at_s: table
            .optional("release_at_s")
            .map(|item| item.non_negative())
            .transpose()?,
    };
    table.finish();
    Ok(entry)
}
