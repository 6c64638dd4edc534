//! `[grid]` and `[[material_points]]`: bodies of particles on one grid.

use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_mpm::{
    GradientForm, Material, MatrixForm, RotationTarget, Sampling, TransferScheme, Wall, WallForm,
    WallKind,
};

use super::flow::{SinkEntry, SourceEntry, finite, sink, source};
use super::particle_material::constitutive;
use super::{Matter, SoftEntry, common, with_soft_keys};
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::shape::ShapeEntry;
use crate::scene::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 3] = [&GRID, &WALL, &POINTS];

static GRID: TableSchema = TableSchema {
    name: "[grid]",
    keys: &[
        Key {
            name: "spacing",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "distance between grid nodes; objects on the grid interact below about this distance",
        },
        Key {
            name: "gradient",
            value: ValueKind::Described("`true` or `moving-least-squares`"),
            unit: "",
            default: "`true`",
            about: "velocity gradient used for the deformation of particles",
        },
        Key {
            name: "rotation_target",
            value: ValueKind::Choice(&["end", "start"]),
            unit: "",
            default: "`end`",
            about: "of `linear-corotated`: rotations at the end of a step, or at its start (Zong et al. 2024), which inflates bodies that rotate fast",
        },
        Key {
            name: "matrix",
            value: ValueKind::Choice(&["automatic", "assembled", "matrix-free"]),
            unit: "",
            default: "`automatic`",
            about: "whether the matrix of a step is assembled, as the solver `newton` requires, or applied particle by particle",
        },
        Key {
            name: "transfer",
            value: ValueKind::Choice(&["automatic", "apic", "affine-flip"]),
            unit: "",
            default: "`automatic`",
            about: "`apic`: particles take their velocities from the grid in every step, which damps flows of a few cells; `affine-flip`: they keep for `memory_s` what the grid does not represent; `automatic`: `affine-flip` in substeps of liquids alone on their grid, otherwise `apic`",
        },
        Key {
            name: "memory_s",
            value: ValueKind::Positive,
            unit: "s",
            default: "1",
            about: "time constant of `affine-flip`; the numerical viscosity of a flow of wave number k is k²h⁴/42 over it",
        },
        Key {
            name: "wall_form",
            value: ValueKind::Choice(&["automatic", "held", "mirrored"]),
            unit: "",
            default: "`automatic`",
            about: "`held`: walls hold the nodes on and behind them and lie a third of a cell behind their planes; `mirrored`: they reflect the motion in front of them exactly, on planes of grid nodes normal to an axis; `automatic`: mirrored in substeps of liquids alone on their grid where the plane allows it, otherwise held",
        },
        Key {
            name: "walls",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "half spaces with boundary conditions on grid nodes, see below",
        },
        Key {
            name: "sinks",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "shapes that remove particles inside them, see below",
        },
        Key {
            name: "low",
            value: ValueKind::Vector3,
            unit: "m",
            default: "none",
            about: "lower corner of a box; the run ends when a particle leaves it",
        },
        Key {
            name: "high",
            value: ValueKind::Vector3,
            unit: "m",
            default: "none",
            about: "upper corner of the box",
        },
    ],
};

static WALL: TableSchema = TableSchema {
    name: "grid.walls",
    keys: &[
        Key {
            name: "point",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "a point on the wall; a plane through grid nodes is the most accurate",
        },
        Key {
            name: "normal",
            value: ValueKind::Vector3,
            unit: "",
            default: REQUIRED,
            about: "normal towards the free side; normalised",
        },
        Key {
            name: "kind",
            value: ValueKind::Choice(&["slides", "sticks"]),
            unit: "",
            default: "`slides`",
            about: "motion at the wall: tangential only, or none; sliding requires a wall normal to an axis",
        },
    ],
};

static POINTS: TableSchema = TableSchema {
    name: "[[material_points]]",
    keys: with_soft_keys![
        Key {
            name: "shape",
            value: ValueKind::Described("shape"),
            unit: "",
            default: "none, if there are `sources`",
            about: "shape that is filled with particles at the start, in the body frame; not a half space",
        },
        Key {
            name: "sources",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "sources of further particles, see below; all particles have the size of those of `shape`, or of the first source",
        },
        Key {
            name: "per_cell",
            value: ValueKind::Positive,
            unit: "",
            default: "8",
            about: "mean number of particles per grid cell",
        },
        Key {
            name: "sampling",
            value: ValueKind::Choice(&["lattice", "random", "conforming"]),
            unit: "",
            default: "`lattice`",
            about: "arrangement of particles; `random`: with a minimum distance and no preferred direction; `conforming`: also a layer half a spacing below the surface",
        },
        Key {
            name: "seed",
            value: ValueKind::Described("whole number"),
            unit: "",
            default: "0",
            about: "seed of `random` and `conforming`",
        },
        Key {
            name: "constitutive_material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: REQUIRED,
            about: "a preset (`cookie-dough`, `pizza-dough`, `foam-cube`, `dry-sand`, `shallow-water`), or a law and its constants",
        },
        Key {
            name: "density",
            value: ValueKind::Positive,
            unit: "kg/m³",
            default: "the preset's, or 1000",
            about: "density at rest",
        },
        Key {
            name: "contact_radius",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "half the distance of particles",
            about: "radius of spheres about particles for contact with rigid shapes; 0: points (Zong et al. 2024)",
        },
        Key {
            name: "drawn_max",
            value: ValueKind::Described("whole number"),
            unit: "",
            default: "20000",
            about: "maximum number of particles in the replay and in tables, evenly selected",
        },
    ],
};

/// The grid that all material points share.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a jelly"
///     simulation = { smoke_s = 1 }
///     grid = { spacing = 0.05, low = [-1, -1, 0], high = [1, 1, 2] }
///     [[material_points]]
///     name = "jelly"
///     shape = { box = { size = [0.2, 0.2, 0.2] } }
///     constitutive_material = { youngs_modulus = 1e4, poissons_ratio = 0.3 }
/// "#;
/// let grid = Scene::parse("jelly.toml", text, &SceneOptions::default())?.soft.grid.ok_or("no grid")?;
/// assert_eq!((grid.spacing, grid.bounds.map(|[low, high]| high - low)), (0.05, Some([2.0, 2.0, 2.0].into())));
/// assert!(grid.walls.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridEntry {
    /// Location of `[grid]` in the file.
    pub at: crate::scene::SourceLocation,
    /// Distance between grid nodes, m.
    pub spacing: f64,
    /// Velocity gradient of particles.
    pub gradient: GradientForm,
    /// Rotations used by the linear corotated law.
    pub rotation_target: RotationTarget,
    /// Whether the matrix A is assembled.
    pub matrix: MatrixForm,
    /// What particles keep of velocities that the grid does not represent.
    pub transfer: TransferScheme,
    /// What walls do to nodes.
    pub wall_form: WallForm,
    /// Boundary conditions on grid nodes.
    pub walls: Vec<Wall>,
    /// Sinks.
    pub(crate) sinks: Vec<SinkEntry>,
    /// Box that particles may not leave.
    pub bounds: Option<[Point3<f64>; 2]>,
}

/// A body of material points.
///
/// ```
/// use pliant::scene::{Matter, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "sand"
///     simulation = { smoke_s = 1 }
///     grid = { spacing = 0.02 }
///     [[material_points]]
///     name = "sand"
///     shape = { box = { size = [0.2, 0.2, 0.2] } }
///     constitutive_material = "dry-sand"
///     density = 1600
///     drawn_max = 5000
/// "#;
/// let scene = Scene::parse("sand.toml", text, &SceneOptions::default())?;
/// let Matter::Points(sand) = &scene.soft.entries[0].matter else { panic!("it is made of points") };
/// assert_eq!((sand.density, sand.drawn_max), (1600.0, 5000));
/// assert!(sand.shape.is_some());
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PointsEntry {
    /// Shape that is filled at the start.
    pub shape: Option<ShapeEntry>,
    /// Location of `shape = ...`, or else of `sources`, in the file.
    pub at: crate::scene::SourceLocation,
    /// Sources of further particles.
    pub(crate) sources: Vec<SourceEntry>,
    /// Arrangement of particles.
    pub sampling: Sampling,
    /// Constitutive law.
    pub material: Arc<dyn Material>,
    /// Density at rest, kg/m³.
    pub density: f64,
    /// Radius of spheres about particles for contact with rigid shapes, m.
    pub contact_radius: Option<f64>,
    /// Maximum number of particles in the replay.
    pub drawn_max: usize,
}

/// `[grid]`.
pub(super) fn grid(item: &Item<'_>) -> Result<GridEntry, SceneError> {
    let table = item.table(&GRID)?;
    let corner = |key| table.optional(key).map(|item| item.vector3()).transpose();
    let bounds = match (corner("low")?, corner("high")?) {
        (Some(low), Some(high)) => Some([low.into(), high.into()]),
        (None, None) => None,
        _ => return Err(table.conflict("`low` and `high` go together")),
    };
    let entry = GridEntry {
        at: item.at(),
        spacing: table.required("spacing")?.positive()?,
        gradient: table.choice_or_first(
            "gradient",
            &[
                ("true", GradientForm::True),
                ("moving-least-squares", GradientForm::Mls),
            ],
        )?,
        rotation_target: table.choice_or_first(
            "rotation_target",
            &[
                ("end", RotationTarget::End),
                ("start", RotationTarget::Start),
            ],
        )?,
        matrix: table.choice_or_first(
            "matrix",
            &[
                ("automatic", MatrixForm::default()),
                ("assembled", MatrixForm::Assembled),
                ("matrix-free", MatrixForm::MatrixFree),
            ],
        )?,
        transfer: transfer(&table)?,
        wall_form: table.choice_or_first(
            "wall_form",
            &[
                ("automatic", WallForm::Automatic),
                ("held", WallForm::Held),
                ("mirrored", WallForm::Mirrored),
            ],
        )?,
        walls: table.optional("walls").map_or(Ok(Vec::new()), |list| {
            list.tables()?.iter().map(wall).collect()
        })?,
        sinks: table.optional("sinks").map_or(Ok(Vec::new()), |list| {
            list.tables()?.iter().map(sink).collect()
        })?,
        bounds,
    };
    table.finish();
    Ok(entry)
}

fn transfer(table: &TableReader<'_>) -> Result<TransferScheme, SceneError> {
    let memory_s = table.number_if_given("memory_s")?;
    let flip = TransferScheme::AffineFlip {
        memory_s: memory_s.unwrap_or(TransferScheme::MEMORY_S),
    };
    let choices = [
        ("automatic", TransferScheme::Automatic),
        ("apic", TransferScheme::Apic),
        ("affine-flip", flip),
    ];
    let chosen = table.choice_or_first("transfer", &choices)?;
    if memory_s.is_some() && chosen != flip {
        return Err(table.conflict("`memory_s` is of `transfer = \"affine-flip\"`"));
    }
    Ok(chosen)
}

fn wall(item: &Item<'_>) -> Result<Wall, SceneError> {
    let table = item.table(&WALL)?;
    let normal: Vector3<f64> = table.required("normal")?.direction()?;
    let wall = Wall {
        p_WQ: table.required("point")?.vector3()?.into(),
        normal_W: normal,
        kind: table.choice_or_first(
            "kind",
            &[("slides", WallKind::Slides), ("sticks", WallKind::Sticks)],
        )?,
    };
    table.finish();
    Ok(wall)
}

/// An element of `[[material_points]]`.
pub(super) fn points(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<SoftEntry, SceneError> {
    let mut table = item.table(&POINTS)?;
    let entry = common(context, &mut table, materials, |table, _| {
        points_keys(table).map(Matter::Points)
    })?;
    table.finish();
    Ok(entry)
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Lattice,
    Random,
    Conforming,
}

fn points_keys(table: &TableReader<'_>) -> Result<PointsEntry, SceneError> {
    let material = constitutive(&table.required("constitutive_material")?)?;
    let sources = table.optional("sources");
    let item = match (table.optional("shape"), &sources) {
        (Some(item), _) => Some(item),
        (None, Some(_)) => None,
        (None, None) => return Err(table.missing("shape")),
    };
    let list = sources.as_ref().map_or(Ok(Vec::new()), Item::tables)?;
    let sources: Vec<SourceEntry> = list.iter().map(source).collect::<Result<_, _>>()?;
    let at = match (&item, sources.first()) {
        (Some(item), _) => item.at(),
        (None, Some(first)) => first.at,
        (None, None) => return Err(table.missing("shape")),
    };
    let per_cell = table.positive_or("per_cell", 8.0)?;
    let layout = table.choice_or_first(
        "sampling",
        &[
            ("lattice", Layout::Lattice),
            ("random", Layout::Random),
            ("conforming", Layout::Conforming),
        ],
    )?;
    let seed = table.optional("seed");
    if seed.is_some() && layout == Layout::Lattice {
        return Err(table.conflict("`seed` goes with `sampling = \"random\"` or `\"conforming\"`"));
    }
    let seed = seed.map_or(Ok(0), |item| item.integer(0, u64::from(u32::MAX)))?;
    let radius = table.optional("contact_radius");
    let drawn_max = table.optional("drawn_max");
    Ok(PointsEntry {
        shape: item.as_ref().map(finite).transpose()?,
        at,
        sources,
        sampling: match layout {
            Layout::Lattice => Sampling::Regular { per_cell },
            Layout::Random => Sampling::PoissonDisk { per_cell, seed },
            Layout::Conforming => Sampling::Conforming { per_cell, seed },
        },
        material: material.law,
        density: match table.optional("density") {
            Some(item) => item.positive()?,
            None => material.density.unwrap_or(1000.0),
        },
        contact_radius: radius.map(|item| item.non_negative()).transpose()?,
        drawn_max: drawn_max.map_or(Ok(20_000), |item| item.integer(1, 1_000_000))? as usize,
    })
}
