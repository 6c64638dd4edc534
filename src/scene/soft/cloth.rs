//! `[[cloth]]`: triangle meshes among the material points.

mod entry;

use pliant_hydroelastic::mesh::generate::Shirt;
use pliant_mpm::{BendingModel, ClothMaterial, InPlaneLaw};

use super::{Matter, RegionEntry, SoftEntry, common, region_named, with_soft_keys};
use crate::scene::drive::{AT, INTERPOLATION, INTERPOLATIONS, read_knots};
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::{Context, TableReader};
use crate::scene::track::Track;
pub use entry::ClothEntry;
pub(crate) use entry::{ClothShape, HeldRegion};

pub(super) static TABLES: [&TableSchema; 8] = [
    &CLOTH,
    &SHEET,
    &STAGGERED_SHEET,
    &DISC,
    &SHIRT,
    &SURFACE,
    &HELD,
    &HELD_KNOT,
];

/// The variants of `mesh`.
static MESHES: [&TableSchema; 5] = [&SHEET, &STAGGERED_SHEET, &DISC, &SHIRT, &SURFACE];

static CLOTH: TableSchema = TableSchema {
    name: "[[cloth]]",
    keys: with_soft_keys![
        Key {
            name: "mesh",
            value: ValueKind::Described("mesh"),
            unit: "",
            default: REQUIRED,
            about: "triangles at rest: `{ sheet = { ... } }`, `{ staggered_sheet = { ... } }`, `{ disc = { ... } }`, `{ shirt = { ... } }` or `{ surface = { ... } }`, see below; no edge may be longer than the grid spacing",
        },
        Key {
            name: "thickness",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "of the material, for its mass and its stiffness",
        },
        Key {
            name: "density",
            value: ValueKind::Positive,
            unit: "kg/m³",
            default: "1000",
            about: "density at rest",
        },
        Key {
            name: "youngs_modulus",
            value: ValueKind::Positive,
            unit: "Pa",
            default: REQUIRED,
            about: "in the plane",
        },
        Key {
            name: "poissons_ratio",
            value: ValueKind::Described("number from -1 to 1"),
            unit: "",
            default: "0.3",
            about: "in the plane",
        },
        Key {
            name: "law",
            value: ValueKind::Choice(&["fixed-corotated", "st-venant-kirchhoff"]),
            unit: "",
            default: "`fixed-corotated`",
            about: "in the plane",
        },
        Key {
            name: "normal_stiffness",
            value: ValueKind::NonNegative,
            unit: "Pa",
            default: "`youngs_modulus`",
            about: "between layers, against compression",
        },
        Key {
            name: "shear_stiffness",
            value: ValueKind::NonNegative,
            unit: "Pa",
            default: "0",
            about: "between layers, against sliding, up to friction",
        },
        Key {
            name: "layer_friction",
            value: ValueKind::NonNegative,
            unit: "",
            default: "0",
            about: "Coulomb friction between layers, with `shear_stiffness`",
        },
        Key {
            name: "bending_stiffness",
            value: ValueKind::NonNegative,
            unit: "N·m",
            default: "0",
            about: "of the surface; that of a plate is E t³/(12 (1 − ν²))",
        },
        Key {
            name: "bending_model",
            value: ValueKind::Choice(&["plate", "hinges"]),
            unit: "",
            default: "`plate`",
            about: "`plate`: the same in every direction of any mesh; `hinges`: every edge by itself, cheaper, exact for cylinders along the rows of a regular mesh and up to a quarter too soft otherwise. A GPU has only `hinges`",
        },
        Key {
            name: "damping_time",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0",
            about: "Kelvin-Voigt damping in the plane",
        },
        Key {
            name: "affine_fraction",
            value: ValueKind::Described("number from 0 to 1"),
            unit: "",
            default: "1",
            about: "part of the strain rate that particles hand to the grid; less damps deformation and no rigid motion",
        },
        Key {
            name: "contact_radius",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "a quarter of the grid spacing",
            about: "radius of the spheres about vertices and centroids in contact with rigid bodies",
        },
        Key {
            name: "held",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "`{ region, from_s, until_s, interpolation, knots }`: vertices that are held in place or moved, until they are released. Triangles between held vertices of one entry are a clamp; one row of vertices alone is a hinge",
        },
    ],
};

static SHEET: TableSchema = TableSchema {
    name: "cloth.mesh.sheet",
    keys: &[
        Key {
            name: "size",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "edge lengths along x and y; centred at the origin",
        },
        Key {
            name: "cells",
            value: ValueKind::Described("2 whole numbers"),
            unit: "",
            default: REQUIRED,
            about: "number of squares along x and y, each of two triangles",
        },
    ],
};

static STAGGERED_SHEET: TableSchema = TableSchema {
    name: "cloth.mesh.staggered_sheet",
    keys: &[
        Key {
            name: "size",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "edge lengths along x and y; centred at the origin",
        },
        Key {
            name: "edge",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "bound on the edges of the nearly equilateral triangles: just below the grid spacing, the coarsest mesh for this grid",
        },
    ],
};

static DISC: TableSchema = TableSchema {
    name: "cloth.mesh.disc",
    keys: &[
        Key {
            name: "radius",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "centred at the origin, in the plane z = 0",
        },
        Key {
            name: "edge",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "bound on the edges; the disc has rings of vertices that are 0.69 edges apart or less",
        },
    ],
};

static SHIRT: TableSchema = TableSchema {
    name: "cloth.mesh.shirt",
    keys: &[
        Key {
            name: "body",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "width along x, and length along y from hem to shoulder; centred at the origin, the front towards +z",
        },
        Key {
            name: "sleeve",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "length from the side of the body to the cuff, and width",
        },
        Key {
            name: "neck",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "m",
            default: REQUIRED,
            about: "width of the neck hole, and its depth in the front",
        },
        Key {
            name: "gap",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "distance of front and back away from the seams",
        },
        Key {
            name: "edge",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "bound on the edges of the nearly equilateral triangles; 3% more near seams",
        },
    ],
};

static SURFACE: TableSchema = TableSchema {
    name: "cloth.mesh.surface",
    keys: &[
        Key {
            name: "file",
            value: ValueKind::Described("path"),
            unit: "",
            default: REQUIRED,
            about: "OBJ, STL, PLY, VTK, VTU or Gmsh file with triangles, relative to the scene file; holes and boundaries are allowed",
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

static HELD: TableSchema = TableSchema {
    name: "cloth.held",
    keys: &[
        Key {
            name: "region",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "one of `regions`",
        },
        Key {
            name: "from_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0",
            about: "time from which they are held, where they are then",
        },
        Key {
            name: "until_s",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "the end of the run",
            about: "time of release",
        },
        INTERPOLATION,
        Key {
            name: "knots",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "held in place",
            about: "`{ at_s, offset }`: path of the vertices: they move as the offset changes",
        },
    ],
};

static HELD_KNOT: TableSchema = TableSchema {
    name: "cloth.held.knots",
    keys: &[
        AT,
        Key {
            name: "offset",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "world axes; from where they begin to be held, if it is zero then",
        },
    ],
};

/// An element of `[[cloth]]`.
pub(super) fn cloth(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<SoftEntry, SceneError> {
    let mut table = item.table(&CLOTH)?;
    let entry = common(context, &mut table, materials, |table, regions| {
        cloth_keys(context, table, regions).map(|cloth| Matter::Cloth(Box::new(cloth)))
    })?;
    table.finish();
    Ok(entry)
}

fn cloth_keys(
    context: &Context,
    table: &TableReader<'_>,
    regions: &[RegionEntry],
) -> Result<ClothEntry, SceneError> {
    let item = table.required("mesh")?;
    let radius = table.optional("contact_radius");
    Ok(ClothEntry {
        mesh: shape(&item)?,
        at: item.at(),
        material: material(table)?,
        contact_radius: radius.map(|item| item.non_negative()).transpose()?,
        held: table.optional("held").map_or(Ok(Vec::new()), |list| {
            let elements = list.tables()?;
            elements.iter().map(|e| held(context, e, regions)).collect()
        })?,
    })
}

fn material(table: &TableReader<'_>) -> Result<ClothMaterial, SceneError> {
    let law = table.choice_or_first(
        "law",
        &[
            ("fixed-corotated", InPlaneLaw::FixedCorotated),
            ("st-venant-kirchhoff", InPlaneLaw::StVenantKirchhoff),
        ],
    )?;
    let bending_model = table.choice_or_first(
        "bending_model",
        &[
            ("plate", BendingModel::Plate),
            ("hinges", BendingModel::Hinges),
        ],
    )?;
    let modulus = table.required("youngs_modulus")?.positive()?;
    let ratio = match table.optional("poissons_ratio") {
        Some(item) => item.number()?,
        None => 0.3,
    };
    let affine = match table.optional("affine_fraction") {
        Some(item) => item.number()?,
        None => 1.0,
    };
    let normal = match table.optional("normal_stiffness") {
        Some(item) => item.non_negative()?,
        None => modulus,
    };
    let shear = table.non_negative_or("shear_stiffness", 0.0)?;
    let friction = table.non_negative_or("layer_friction", 0.0)?;
    let bending = table.non_negative_or("bending_stiffness", 0.0)?;
    let damping = table.non_negative_or("damping_time", 0.0)?;
    let density = table.positive_or("density", 1000.0)?;
    let thickness = table.required("thickness")?.positive()?;
    ClothMaterial::new(law, modulus, ratio, density, thickness)
        .and_then(|m| m.with_normal_stiffness(normal))
        .and_then(|m| m.with_shear_stiffness(shear))
        .and_then(|m| m.with_friction(friction))
        .and_then(|m| m.with_bending_stiffness(bending))
        .map(|m| m.with_bending_model(bending_model))
        .and_then(|m| m.with_damping_time(damping))
        .and_then(|m| m.with_affine_fraction(affine))
        .map_err(|error| table.conflict(error.to_string()))
}

fn shape(item: &Item<'_>) -> Result<ClothShape, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("cloth.mesh.");
    let (schema, table) = item.variant(&MESHES, tag)?;
    let shape = match tag(schema) {
        "sheet" => ClothShape::Sheet {
            size: two_lengths(&table, "size")?,
            cells: cells(&table.required("cells")?)?,
        },
        "staggered_sheet" => ClothShape::StaggeredSheet {
            size: two_lengths(&table, "size")?,
            edge: table.required("edge")?.positive()?,
        },
        "disc" => ClothShape::Disc {
            radius: table.required("radius")?.positive()?,
            edge: table.required("edge")?.positive()?,
        },
        "shirt" => ClothShape::Shirt(Shirt {
            body: two_lengths(&table, "body")?,
            sleeve: two_lengths(&table, "sleeve")?,
            neck: two_lengths(&table, "neck")?,
            gap: table.required("gap")?.positive()?,
            edge: table.required("edge")?.positive()?,
        }),
        _ => ClothShape::Surface {
            file: table.required("file")?.reference()?,
            scale: table.positive_or("scale", 1.0)?,
        },
    };
    table.finish();
    Ok(shape)
}

fn two_lengths(table: &TableReader<'_>, key: &'static str) -> Result<[f64; 2], SceneError> {
    let item = table.required(key)?;
    let elements = item.elements()?;
    let [x, y] = elements.as_slice() else {
        return Err(item.out_of_range(format!("{} numbers", elements.len()), "must be 2 numbers"));
    };
    Ok([x.positive()?, y.positive()?])
}

fn cells(item: &Item<'_>) -> Result<[u32; 2], SceneError> {
    let elements = item.elements()?;
    let [x, y] = elements.as_slice() else {
        return Err(item.out_of_range(
            format!("{} numbers", elements.len()),
            "must be 2 whole numbers",
        ));
    };
    let count = |item: &Item<'_>| item.integer(1, 10_000).map(|n| n as u32);
    Ok([count(x)?, count(y)?])
}

fn held(
    context: &Context,
    item: &Item<'_>,
    regions: &[RegionEntry],
) -> Result<HeldRegion, SceneError> {
    let table = item.table(&HELD)?;
    let reference = table.required("region")?.reference()?;
    let interpolation = table.choice_or_first("interpolation", &INTERPOLATIONS)?;
    let path = match table.optional("knots") {
        Some(list) => {
            let knots = read_knots(&list, &HELD_KNOT, |knot| {
                let offset = knot.required("offset")?.vector3()?;
                Ok(offset.iter().copied().collect::<Vec<f64>>())
            })?;
            Some(Track::new(interpolation, &knots))
        }
        None => None,
    };
    let entry = HeldRegion {
        path,
        region: region_named(context, regions, &reference)?,
        from_s: match table.optional("from_s") {
            Some(item) => item.non_negative()?,
            None => 0.0,
        },
        until_s: match table.optional("until_s") {
            Some(item) => item.non_negative()?,
            None => f64::INFINITY,
        },
    };
    table.finish();
    Ok(entry)
}
