//! Shapes of bodies: `shape = { box = { size = [0.1, 0.1, 0.1] } }`.

use nalgebra::Point3;
use pliant_hydroelastic::AnalyticShape;

use super::error::SceneError;
use super::height_field::{HEIGHT_FIELD, HeightFieldEntry};
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 10] = [
    &HALF_SPACE,
    &SPHERE,
    &BOX,
    &CYLINDER,
    &CAPSULE,
    &ELLIPSOID,
    &CONE,
    &HULL,
    &HEIGHT_FIELD,
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
        length("radius", "radius of the cylinder and of the hemispheres"),
        length(
            "length",
            "length of the cylindrical part, along z; centred at the origin",
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
        about: "semi-axes along x, y, z; centred at the origin",
    }],
};
static CONE: TableSchema = TableSchema {
    name: "shape.cone",
    keys: &[
        length("radius", "radius of the base, at z = -height/2"),
        length(
            "height",
            "distance of the apex, at z = +height/2, from the base",
        ),
    ],
};
static HULL: TableSchema = TableSchema {
    name: "shape.convex_hull",
    keys: &[Key {
        name: "points",
        value: ValueKind::Described("list of 3 numbers"),
        unit: "m",
        default: REQUIRED,
        about: "at least four points that do not lie in one plane",
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
            about: "OBJ, STL, PLY, VTK, VTU, Gmsh, COLLADA or glTF file, relative to the scene file; of a tetrahedral mesh, the surface is used",
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
            about: "whether contact uses the closed surface or its convex hull",
        },
    ],
};

/// A shape as a scene file gives it; lengths in m.
///
/// ```
/// use pliant::scene::ShapeEntry;
/// use pliant_hydroelastic::AnalyticShape;
///
/// let tetrahedron = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
/// let hull = ShapeEntry::ConvexHull { points: tetrahedron.map(Into::into).to_vec() };
/// assert!((hull.radius_about_origin().ok_or("it has points")? - 3.0_f64.sqrt()).abs() < 1e-12);
/// assert_eq!(hull.scaled(2.0).radius_about_origin(), hull.radius_about_origin().map(|radius| 2.0 * radius));
/// let floor = ShapeEntry::from(AnalyticShape::HalfSpace {});
/// assert_eq!(floor.radius_about_origin(), Some(f64::INFINITY));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeEntry {
    /// A shape given by its sizes.
    Analytic(AnalyticShape),
    /// The hull of points.
    ConvexHull {
        /// At least four points, m.
        points: Vec<Point3<f64>>,
    },
    /// Ground given by its heights on a grid.
    HeightField(HeightFieldEntry),
    /// A mesh from a file.
    Mesh {
        /// Path of the file, as written.
        file: NamedReference,
        /// Factor on its coordinates.
        scale: f64,
        /// The surface or its hull.
        used: MeshUse,
    },
}

/// How a mesh is used in contact.
///
/// ```
/// use pliant::scene::{MeshUse, Scene, SceneOptions, ShapeEntry};
///
/// let text = r#"
///     schema = 1
///     title = "a bowl"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "bowl"
///     shape = { mesh = { file = "meshes/bowl.obj", use = "surface" } }
/// "#;
/// let used = |text: &str| -> Result<MeshUse, pliant::scene::SceneError> {
///     let scene = Scene::parse("bowl.toml", text, &SceneOptions::default())?;
///     let ShapeEntry::Mesh { used, .. } = scene.bodies[0].body.shapes[0].shape else { panic!("it is a mesh") };
///     Ok(used)
/// };
/// // The surface of a bowl is hollow, its hull is not.
/// assert_eq!(used(text)?, MeshUse::Surface);
/// assert_eq!(used(&text.replace("\"surface\"", "\"convex-hull\""))?, MeshUse::ConvexHull);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshUse {
    /// The closed surface.
    Surface,
    /// Its convex hull.
    ConvexHull,
}

/// Reads `shape = { ... }`.
pub(super) fn shape(item: &Item<'_>) -> Result<ShapeEntry, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("shape.");
    let (schema, table) = item.variant(&TABLES, tag)?;
    let length = |key| table.required(key).and_then(|item| item.positive());
    let lengths = |key| table.required(key).and_then(|item| item.lengths3());
    let shape = match tag(schema) {
        "half_space" => AnalyticShape::HalfSpace {}.into(),
        "sphere" => AnalyticShape::Sphere {
            radius: length("radius")?,
        }
        .into(),
        "box" => AnalyticShape::Box {
            size: lengths("size")?,
        }
        .into(),
        "cylinder" => AnalyticShape::Cylinder {
            radius: length("radius")?,
            length: length("length")?,
        }
        .into(),
        "capsule" => AnalyticShape::Capsule {
            radius: length("radius")?,
            length: length("length")?,
        }
        .into(),
        "ellipsoid" => AnalyticShape::Ellipsoid {
            semi_axes: lengths("semi_axes")?,
        }
        .into(),
        "cone" => AnalyticShape::Cone {
            radius: length("radius")?,
            height: length("height")?,
        }
        .into(),
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
        "height_field" => ShapeEntry::HeightField(HeightFieldEntry::read(&table)?),
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

impl From<AnalyticShape> for ShapeEntry {
    fn from(shape: AnalyticShape) -> Self {
        Self::Analytic(shape)
    }
}

impl ShapeEntry {
    /// Whether it is a half space, which has neither volume nor mass.
    pub(super) fn is_half_space(&self) -> bool {
        matches!(self, Self::Analytic(AnalyticShape::HalfSpace {}))
    }

    /// The same shape with all lengths multiplied by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Analytic(shape) => shape.scaled(factor).into(),
            Self::ConvexHull { points } => Self::ConvexHull {
                points: points.iter().map(|p| p * factor).collect(),
            },
            Self::HeightField(field) => Self::HeightField(field.scaled(factor)),
            Self::Mesh { file, scale, used } => Self::Mesh {
                file: file.clone(),
                scale: scale * factor,
                used: *used,
            },
        }
    }

    /// Radius in m of a sphere about the origin that contains the shape; infinite for a half space, and `None` for a mesh,
    /// whose file is not read here.
    pub fn radius_about_origin(&self) -> Option<f64> {
        match self {
            Self::Analytic(shape) => Some(shape.radius_about_origin()),
            Self::ConvexHull { points } => points.iter().map(|p| p.coords.norm()).reduce(f64::max),
            Self::HeightField(field) => field.radius_about_origin(),
            Self::Mesh { .. } => None,
        }
    }
}
