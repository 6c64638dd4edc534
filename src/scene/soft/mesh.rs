//! Tetrahedra of `[[fem]]`: structured, from a file, or filling shapes.

use nalgebra::{Isometry3, Vector3};

use crate::scene::error::SceneError;
use crate::scene::item::{Item, NamedReference};
use crate::scene::pose::pose;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::shape::{ShapeEntry, shape};
use crate::scene::table::TableReader;

/// The variants of `mesh`.
pub(super) static MESHES: [&TableSchema; 7] = [
    &BOX,
    &CYLINDER,
    &TORUS,
    &BELT,
    &HEXAHEDRON,
    &TETRAHEDRA,
    &FILLED,
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

const fn count(name: &'static str, about: &'static str) -> Key {
    Key {
        name,
        value: ValueKind::Described("whole number"),
        unit: "",
        default: REQUIRED,
        about,
    }
}

const SIDES: Key = count(
    "sides",
    "sectors of the cross-section, at least 3; 4 sectors and one ring make a square",
);
const RINGS: Key = count(
    "rings",
    "rings of the cross-section; k rings have 1 + sides k(k + 1)/2 vertices",
);

static BOX: TableSchema = TableSchema {
    name: "mesh.box",
    keys: &[
        Key {
            name: "size",
            value: ValueKind::Described("3 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "full edge lengths; centred at the origin",
        },
        Key {
            name: "cells",
            value: ValueKind::Described("3 whole numbers"),
            unit: "",
            default: REQUIRED,
            about: "number of cells along x, y, z, each of six tetrahedra",
        },
    ],
};
static CYLINDER: TableSchema = TableSchema {
    name: "mesh.cylinder",
    keys: &[
        length("radius", "about the z axis; the mesh is inscribed"),
        length("length", "along z; centred at the origin"),
        SIDES,
        RINGS,
        count("layers", "along z"),
    ],
};
static TORUS: TableSchema = TableSchema {
    name: "mesh.torus",
    keys: &[
        length(
            "major_radius",
            "from the centre to the centre line of the tube, around z",
        ),
        length("minor_radius", "of the tube; the mesh is inscribed"),
        count("segments", "around z"),
        SIDES,
        RINGS,
    ],
};
static BELT: TableSchema = TableSchema {
    name: "mesh.belt",
    keys: &[
        length("axles", "between the axles of two pulleys, along x"),
        length("radius", "of the pulleys, whose axles lie along y"),
        length("width", "along y"),
        length("thickness", "of the belt"),
        Key {
            name: "cells",
            value: ValueKind::Described("3 whole numbers"),
            unit: "",
            default: REQUIRED,
            about: "number of cells along, across and through the belt, each of six tetrahedra",
        },
    ],
};
static HEXAHEDRON: TableSchema = TableSchema {
    name: "mesh.hexahedron",
    keys: &[Key {
        name: "corners",
        value: ValueKind::Described("8 times 3 numbers"),
        unit: "m",
        default: REQUIRED,
        about: "corners, x fastest, then y, then z: 0 to 3 below, 4 to 7 above; divided into six tetrahedra",
    }],
};
static TETRAHEDRA: TableSchema = TableSchema {
    name: "mesh.tetrahedra",
    keys: &[
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "VTK, VTU or Gmsh file with tetrahedra of four or ten nodes, relative to the scene file",
        },
        Key {
            name: "scale",
            value: ValueKind::Positive,
            unit: "",
            default: "1",
            about: "factor on the coordinates of the file",
        },
    ],
};
static FILLED: TableSchema = TableSchema {
    name: "mesh.filled",
    keys: &[
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: "none",
            about: "the shape to be filled with tetrahedra: any bounded shape, including a closed surface from a file",
        },
        Key {
            name: "shapes",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "instead of `shape`: several overlapping shapes, united into one body",
        },
        length("edge_length", "target edge length of the tetrahedra"),
    ],
};
pub(super) static PART: TableSchema = TableSchema {
    name: "mesh.filled.shapes",
    keys: &[
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: REQUIRED,
            about: "shape of this part",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "pose in the body frame",
        },
    ],
};

/// Source of the tetrahedra of a body; lengths in m, in the body frame.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) enum SolidMesh {
    /// Cells of six tetrahedra each.
    Box {
        /// Full edge lengths.
        size: Vector3<f64>,
        /// Number of cells along x, y, z.
        cells: [u32; 3],
    },
    /// A disc of triangles, swept along z.
    Cylinder {
        /// Radius of the circumscribed circle.
        radius: f64,
        /// Length along z.
        length: f64,
        /// Sectors of the disc.
        sides: u32,
        /// Rings of the disc.
        rings: u32,
        /// Layers along z.
        layers: u32,
    },
    /// A disc of triangles, swept around z.
    Torus {
        /// From the centre to the centre line of the tube.
        major_radius: f64,
        /// Radius of the tube.
        minor_radius: f64,
        /// Segments around z.
        segments: u32,
        /// Sectors of the disc.
        sides: u32,
        /// Rings of the disc.
        rings: u32,
    },
    /// Cells in a loop around two pulleys.
    Belt {
        /// Distance between the axles, which lie along y.
        axles: f64,
        /// Radius of the pulleys.
        radius: f64,
        /// Width along y.
        width: f64,
        /// Thickness of the belt.
        thickness: f64,
        /// Cells along, across and through it.
        cells: [u32; 3],
    },
    /// Six tetrahedra between eight corners, x fastest.
    Hexahedron([Vector3<f64>; 8]),
    /// From a file.
    File {
        /// Path of the file, as written.
        file: NamedReference,
        /// Factor on its coordinates.
        scale: f64,
    },
    /// Tetrahedra that fill shapes.
    Filled {
        /// One shape, or several that are united.
        parts: Vec<FilledPart>,
        /// Target edge length.
        edge_length: f64,
    },
}

/// A shape that is filled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilledPart {
    /// The shape.
    pub(crate) shape: ShapeEntry,
    /// Its location in the file.
    pub(crate) at: crate::scene::SourceLocation,
    /// Pose in the body frame.
    pub(crate) pose: Isometry3<f64>,
}

/// The mesh of `mesh = { ... }`.
pub(super) fn mesh(item: &Item<'_>) -> Result<SolidMesh, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("mesh.");
    let (schema, table) = item.variant(&MESHES, tag)?;
    let length = |key| table.required(key).and_then(|item| item.positive());
    let count = |key, least| {
        let item = table.required(key)?;
        item.integer(least, 100_000).map(|n| n as u32)
    };
    let mesh = match tag(schema) {
        "box" => SolidMesh::Box {
            size: table.required("size")?.lengths3()?,
            cells: cells(&table.required("cells")?)?,
        },
        "cylinder" => SolidMesh::Cylinder {
            radius: length("radius")?,
            length: length("length")?,
            sides: count("sides", 3)?,
            rings: count("rings", 1)?,
            layers: count("layers", 1)?,
        },
        "torus" => SolidMesh::Torus {
            major_radius: length("major_radius")?,
            minor_radius: length("minor_radius")?,
            segments: count("segments", 3)?,
            sides: count("sides", 3)?,
            rings: count("rings", 1)?,
        },
        "belt" => SolidMesh::Belt {
            axles: length("axles")?,
            radius: length("radius")?,
            width: length("width")?,
            thickness: length("thickness")?,
            cells: cells(&table.required("cells")?)?,
        },
        "hexahedron" => SolidMesh::Hexahedron(corners(&table.required("corners")?)?),
        "tetrahedra" => SolidMesh::File {
            file: table.required("file")?.reference()?,
            scale: table.positive_or("scale", 1.0)?,
        },
        _ => SolidMesh::Filled {
            parts: parts(&table)?,
            edge_length: length("edge_length")?,
        },
    };
    table.finish();
    Ok(mesh)
}

fn cells(item: &Item<'_>) -> Result<[u32; 3], SceneError> {
    let elements = item.elements()?;
    let [x, y, z] = elements.as_slice() else {
        return Err(item.out_of_range(
            format!("{} numbers", elements.len()),
            "must be 3 whole numbers",
        ));
    };
    let count = |item: &Item<'_>| item.integer(1, 256).map(|n| n as u32);
    Ok([count(x)?, count(y)?, count(z)?])
}

fn corners(item: &Item<'_>) -> Result<[Vector3<f64>; 8], SceneError> {
    let elements = item.elements()?;
    let corners: Result<Vec<_>, _> = elements.iter().map(Item::vector3).collect();
    corners?.try_into().map_err(|wrong: Vec<_>| {
        item.out_of_range(format!("{} corners", wrong.len()), "must be 8 corners")
    })
}

fn parts(table: &TableReader<'_>) -> Result<Vec<FilledPart>, SceneError> {
    let bounded = |item: &Item<'_>| {
        let shape = shape(item)?;
        if shape.is_half_space() {
            return Err(item.out_of_range(
                "half_space",
                "is unbounded and cannot be filled; take a box",
            ));
        }
        Ok(shape)
    };
    match (table.optional("shape"), table.optional("shapes")) {
        (Some(item), None) => Ok(vec![FilledPart {
            shape: bounded(&item)?,
            at: item.at(),
            pose: Isometry3::identity(),
        }]),
        (None, Some(list)) => {
            let elements = list.tables()?;
            if elements.is_empty() {
                return Err(list.out_of_range("[]", "must hold at least one shape"));
            }
            let part = |element: &Item<'_>| {
                let table = element.table(&PART)?;
                let item = table.required("shape")?;
                let part = FilledPart {
                    shape: bounded(&item)?,
                    at: item.at(),
                    pose: pose(table.optional("pose").as_ref())?,
                };
                table.finish();
                Ok(part)
            };
            elements.iter().map(part).collect()
        }
        (Some(_), Some(_)) => Err(table.conflict("`shape` and `shapes` are both given; keep one")),
        (None, None) => Err(table.missing("shape")),
    }
}
