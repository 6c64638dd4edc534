//! Shapes of bodies: `shape = { box = { size = [0.1, 0.1, 0.1] } }`.

use nalgebra::{Point3, Vector3};

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 9] = [
    &HALF_SPACE,
    &SPHERE,
    &BOX,
    &CYLINDER,
    &CAPSULE,
    &ELLIPSOID,
    &CONE,
    &HULL,
    &MESH,
];

const fn length(name: &'static str, about: &'static str) -> Key {
    Key {
        name,
        value: ValueKind::Positive,
        unit: "m",
        default: REQUIRED,
        about,
    }
}

static HALF_SPACE: TableSchema = TableSchema {
    name: "shape.half_space",
    keys: &[],
};
static SPHERE: TableSchema = TableSchema {
    name: "shape.sphere",
    keys: &[length("radius", "centred at the origin")],
};
static BOX: TableSchema = TableSchema {
    name: "shape.box",
    keys: &[Key {
        name: "size",
        value: ValueKind::Described("3 numbers > 0"),
        unit: "m",
        default: REQUIRED,
        about: "full edge lengths; centred at the origin",
    }],
};
static CYLINDER: TableSchema = TableSchema {
    name: "shape.cylinder",
    keys: &[
        length("radius", "about the z axis"),
        length("length", "along z; centred at the origin"),
    ],
};
static CAPSULE: TableSchema = TableSchema {
    name: "shape.capsule",
    keys: &[
        length("radius", "of the cylinder and of its round ends"),
        length(
            "length",
            "of the cylindrical part, along z; centred at the origin",
        ),
    ],
};
static ELLIPSOID: TableSchema = TableSchema {
    name: "shape.ellipsoid",
    keys: &[Key {
        name: "semi_axes",
        value: ValueKind::Described("3 numbers > 0"),
        unit: "m",
        default: REQUIRED,
        about: "half lengths along x, y, z; centred at the origin",
    }],
};
static CONE: TableSchema = TableSchema {
    name: "shape.cone",
    keys: &[
        length("radius", "of the base, at z = -height/2"),
        length("height", "apex at z = +height/2"),
    ],
};
static HULL: TableSchema = TableSchema {
    name: "shape.convex_hull",
    keys: &[Key {
        name: "points",
        value: ValueKind::Described("list of 3 numbers"),
        unit: "m",
        default: REQUIRED,
        about: "at least four that do not lie in one plane",
    }],
};
static MESH: TableSchema = TableSchema {
    name: "shape.mesh",
    keys: &[
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "OBJ, STL, VTK, VTU or Gmsh, beside the scene file; a tetrahedral mesh gives its surface",
        },
        Key {
            name: "scale",
            value: ValueKind::Positive,
            unit: "",
            default: "1",
            about: "factor on the coordinates of the file",
        },
        Key {
            name: "use",
            value: ValueKind::Choice(&["surface", "convex-hull"]),
            unit: "",
            default: "`surface`",
            about: "whether the closed surface or its hull touches",
        },
    ],
};

/// A shape as a scene file gives it; lengths in m, axes of symmetry along z.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeEntry {
    /// Everything at z ≤ 0.
    HalfSpace,
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A rectangular box.
    Box {
        /// Full edge lengths.
        size: Vector3<f64>,
    },
    /// A solid cylinder.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Along z.
        length: f64,
    },
    /// A cylinder with round ends.
    Capsule {
        /// Its radius.
        radius: f64,
        /// Of the cylindrical part.
        length: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half lengths.
        semi_axes: Vector3<f64>,
    },
    /// A solid cone.
    Cone {
        /// Of the base.
        radius: f64,
        /// From base to apex.
        height: f64,
    },
    /// The hull of points.
    ConvexHull {
        /// At least four.
        points: Vec<Point3<f64>>,
    },
    /// A mesh from a file.
    Mesh {
        /// The path as written.
        file: NamedReference,
        /// Factor on its coordinates.
        scale: f64,
        /// The surface or its hull.
        used: MeshUse,
    },
}

/// What of a mesh touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshUse {
    /// The closed surface.
    Surface,
    /// Its convex hull.
    ConvexHull,
}

/// The shape of a `shape = { ... }`.
pub(super) fn shape(item: &Item<'_>) -> Result<ShapeEntry, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("shape.");
    let (schema, table) = item.variant(&TABLES, tag)?;
    let length = |key| table.required(key).and_then(|item| item.positive());
    let lengths = |key| table.required(key).and_then(|item| item.lengths3());
    let shape = match tag(schema) {
        "half_space" => ShapeEntry::HalfSpace,
        "sphere" => ShapeEntry::Sphere {
            radius: length("radius")?,
        },
        "box" => ShapeEntry::Box {
            size: lengths("size")?,
        },
        "cylinder" => ShapeEntry::Cylinder {
            radius: length("radius")?,
            length: length("length")?,
        },
        "capsule" => ShapeEntry::Capsule {
            radius: length("radius")?,
            length: length("length")?,
        },
        "ellipsoid" => ShapeEntry::Ellipsoid {
            semi_axes: lengths("semi_axes")?,
        },
        "cone" => ShapeEntry::Cone {
            radius: length("radius")?,
            height: length("height")?,
        },
        "convex_hull" => {
            let item = table.required("points")?;
            let points = item
                .elements()?
                .iter()
                .map(|point| point.vector3().map(Point3::from))
                .collect::<Result<Vec<_>, _>>()?;
            if points.len() < 4 {
                return Err(
                    item.out_of_range(format!("{} points", points.len()), "must be at least 4")
                );
            }
            ShapeEntry::ConvexHull { points }
        }
        _ => ShapeEntry::Mesh {
            file: table.required("file")?.reference()?,
            scale: table.positive_or("scale", 1.0)?,
            used: table.choice_or_first(
                "use",
                &[
                    ("surface", MeshUse::Surface),
                    ("convex-hull", MeshUse::ConvexHull),
                ],
            )?,
        },
    };
    table.finish();
    Ok(shape)
}

impl ShapeEntry {
    /// The same shape with all lengths multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::HalfSpace => Self::HalfSpace,
            Self::Sphere { radius } => Self::Sphere {
                radius: radius * factor,
            },
            Self::Box { size } => Self::Box {
                size: size * factor,
            },
            Self::Cylinder { radius, length } => Self::Cylinder {
                radius: radius * factor,
                length: length * factor,
            },
            Self::Capsule { radius, length } => Self::Capsule {
                radius: radius * factor,
                length: length * factor,
            },
            Self::Ellipsoid { semi_axes } => Self::Ellipsoid {
                semi_axes: semi_axes * factor,
            },
            Self::Cone { radius, height } => Self::Cone {
                radius: radius * factor,
                height: height * factor,
            },
            Self::ConvexHull { points } => Self::ConvexHull {
                points: points.iter().map(|p| p * factor).collect(),
            },
            Self::Mesh { file, scale, used } => Self::Mesh {
                file: file.clone(),
                scale: scale * factor,
                used: *used,
            },
        }
    }

    /// Radius in m of a ball about the origin that holds the shape; `None` for a half space, and for a mesh, which is
    /// not opened here.
    pub fn radius_about_origin(&self) -> Option<f64> {
        match self {
            Self::HalfSpace | Self::Mesh { .. } => None,
            Self::Sphere { radius } => Some(*radius),
            Self::Box { size } => Some(0.5 * size.norm()),
            Self::Cylinder { radius, length }
            | Self::Cone {
                radius,
                height: length,
            } => Some(radius.hypot(0.5 * length)),
            Self::Capsule { radius, length } => Some(radius + 0.5 * length),
            Self::Ellipsoid { semi_axes } => Some(semi_axes.max()),
            Self::ConvexHull { points } => points.iter().map(|p| p.coords.norm()).reduce(f64::max),
        }
    }
}
