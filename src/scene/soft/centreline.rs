//! Centrelines of `[[rods]]`: lines, circles, curves given by expressions, points, files.

use nalgebra::Point3;
use pliant_der::{Centreline, Closure};

use crate::scene::error::SceneError;
use crate::scene::item::{Item, NamedReference};
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 5] = [&LINE, &CIRCLE, &CURVE, &POINTS, &FILE];

const fn position(name: &'static str, about: &'static str) -> Key {
    Key {
        name,
        value: ValueKind::Vector3,
        unit: "m",
        default: REQUIRED,
        about,
    }
}

const EDGES: Key = Key {
    name: "edges",
    value: ValueKind::Described("whole number"),
    unit: "",
    default: REQUIRED,
    about: "number of edges",
};
const ENDS: Key = Key {
    name: "ends",
    value: ValueKind::Choice(&["open", "joined"]),
    unit: "",
    default: "`open`",
    about: "`joined`: one more edge joins the last node to the first",
};

static LINE: TableSchema = TableSchema {
    name: "centreline.line",
    keys: &[
        position("from", "first node"),
        position("to", "last node"),
        EDGES,
    ],
};
static CIRCLE: TableSchema = TableSchema {
    name: "centreline.circle",
    keys: &[
        Key {
            name: "radius",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "radius of the circle about z on which the nodes lie",
        },
        EDGES,
    ],
};
static CURVE: TableSchema = TableSchema {
    name: "centreline.curve",
    keys: &[
        Key {
            name: "point",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "expressions in `s`, from 0 to 1 in equal steps, and `n`, the index of the node",
        },
        EDGES,
        Key {
            name: "ends",
            value: ValueKind::Choice(&["open", "joined"]),
            unit: "",
            default: "`open`",
            about: "`joined`: a closed curve, without a node at `s` = 1",
        },
        Key {
            name: "spacing",
            value: ValueKind::Choice(&["by-s", "even"]),
            unit: "",
            default: "`by-s`",
            about: "`even`: nodes at equal distances along the curve; `n` is then not an integer",
        },
    ],
};
static POINTS: TableSchema = TableSchema {
    name: "centreline.points",
    keys: &[
        Key {
            name: "nodes",
            value: ValueKind::Described("list of 3 numbers"),
            unit: "m",
            default: REQUIRED,
            about: "nodes in order",
        },
        ENDS,
    ],
};
static FILE: TableSchema = TableSchema {
    name: "centreline.nodes",
    keys: &[
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "text file, relative to the scene file: three numbers per line; text after `#` is a comment",
        },
        ENDS,
    ],
};

/// The initial nodes of a rod.
///
/// ```
/// use pliant::scene::{CentrelineEntry, Matter, Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ring"
/// #     simulation = { smoke_s = 1 }
/// #     [[rods]]
/// #     name = "ring"
/// #     centreline = { circle = { radius = 0.1, edges = 40 } }
/// #     section = { circle = { radius = 0.002 } }
/// #     youngs_modulus = 1e6
/// # "#;
/// # let scene = Scene::parse("ring.toml", text, &SceneOptions::default())?;
/// // A rod with `centreline = { circle = { radius = 0.1, edges = 40 } }`.
/// let Matter::Rod(ring) = &scene.soft.entries[0].matter else { panic!("it is a rod") };
/// let CentrelineEntry::Nodes(line) = &ring.centreline else { panic!("it is in no file") };
/// assert_eq!(line.nodes.len(), 40);
/// assert!(line.nodes.iter().all(|node| (node.coords.norm() - 0.1).abs() < 1e-12));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum CentrelineEntry {
    /// Given nodes.
    Nodes(Centreline),
    /// Nodes from a file.
    File {
        /// Path of the file.
        file: NamedReference,
        /// Whether the rod is closed.
        closure: Closure,
    },
}

impl CentrelineEntry {
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Nodes(line) => line.closure == Closure::Closed,
            Self::File { closure, .. } => *closure == Closure::Closed,
        }
    }
}

/// The centreline of `centreline = { ... }`.
pub(super) fn centreline(
    context: &Context,
    item: &Item<'_>,
) -> Result<CentrelineEntry, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("centreline.");
    let (schema, table) = item.variant(&TABLES, tag)?;
    let edges = |least| {
        let item = table.required("edges")?;
        item.integer(least, 1_000_000).map(|n| n as usize)
    };
    let point = |key| table.required(key)?.vector3().map(Point3::from);
    let line = match tag(schema) {
        "line" => Centreline::straight(point("from")?, point("to")?, edges(2)?),
        "circle" => Centreline::circle(table.required("radius")?.positive()?, edges(3)?),
        "curve" => curve(context, &table, ends(&table)?, edges(2)?)?,
        "points" => {
            let nodes = table.required("nodes")?.elements()?;
            let nodes: Result<_, _> = nodes
                .iter()
                .map(|p| p.vector3().map(Point3::from))
                .collect();
            Centreline {
                nodes: nodes?,
                closure: ends(&table)?,
            }
        }
        _ => {
            let entry = CentrelineEntry::File {
                file: table.required("file")?.reference()?,
                closure: ends(&table)?,
            };
            table.finish();
            return Ok(entry);
        }
    };
    table.finish();
    Ok(CentrelineEntry::Nodes(line))
}

fn ends(table: &TableReader<'_>) -> Result<Closure, SceneError> {
    table.choice_or_first(
        "ends",
        &[("open", Closure::Open), ("joined", Closure::Closed)],
    )
}

fn curve(
    context: &Context,
    table: &TableReader<'_>,
    closure: Closure,
    edges: usize,
) -> Result<Centreline, SceneError> {
    let item = table.required("point")?;
    let at = |s: f64| -> Result<Point3<f64>, SceneError> {
        let mut scope = context.scope.clone();
        scope.set("s", s);
        scope.set("n", s * edges as f64);
        let context = context.with_scope(scope);
        Ok(item.within(&context).vector3()?.into())
    };
    let count = match closure {
        Closure::Open => edges + 1,
        Closure::Closed => edges,
    };
    let spacing = table.choice_or_first(
        "spacing",
        &[("by-s", Spacing::ByParameter), ("even", Spacing::Even)],
    )?;
    let nodes = match spacing {
        Spacing::ByParameter => (0..count).map(|n| at(n as f64 / edges as f64)).collect(),
        Spacing::Even => evenly(at, edges, count),
    };
    Ok(Centreline {
        nodes: nodes?,
        closure,
    })
}

/// How nodes are distributed along a curve.
#[derive(Clone, Copy)]
enum Spacing {
    ByParameter,
    Even,
}

/// `count` points of a curve from parameter 0 on; its length is that of `edges` distances.
fn evenly(
    at: impl Fn(f64) -> Result<Point3<f64>, SceneError>,
    edges: usize,
    count: usize,
) -> Result<Vec<Point3<f64>>, SceneError> {
    // Lengths along a finer polygon: chords of a 40th of an edge are short by 1e-4 of what an edge's chord is short by.
    let fine = 40 * edges;
    let mut lengths = vec![0.0];
    let mut last = at(0.0)?;
    for k in 1..=fine {
        let next = at(k as f64 / fine as f64)?;
        lengths.push(lengths[k - 1] + (next - last).norm());
        last = next;
    }
    let mut nodes = Vec::with_capacity(count);
    for n in 0..count {
        let target = lengths[fine] * n as f64 / edges as f64;
        let k = lengths.partition_point(|l| *l < target).clamp(1, fine);
        let part = (target - lengths[k - 1]) / (lengths[k] - lengths[k - 1]).max(f64::MIN_POSITIVE);
        nodes.push(at((k as f64 - 1.0 + part) / fine as f64)?);
    }
    Ok(nodes)
}
