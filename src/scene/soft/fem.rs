//! `[[fem]]`: bodies of finite elements.

use std::sync::Arc;

use pliant_fem::{Axis, Element, Kinematics, MassKind, Material, Rayleigh, Rotation};

use super::fem_material::constitutive;
use super::force_density::{ForceDensity, force_density};
use super::mesh::{SolidMesh, mesh};
use super::{Matter, RegionEntry, SoftEntry, common, region_named, with_soft_keys};
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};
use crate::scene::table::{Context, TableReader};

pub(super) static TABLES: [&TableSchema; 2] = [&FEM, &FIXED];

static FEM: TableSchema = TableSchema {
    name: "[[fem]]",
    keys: with_soft_keys![
        Key {
            name: "mesh",
            value: ValueKind::Described("mesh"),
            unit: "",
            default: REQUIRED,
            about: "tetrahedral mesh",
        },
        Key {
            name: "constitutive_material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: REQUIRED,
            about: "the name of a preset, or a law and its constants",
        },
        Key {
            name: "element",
            value: ValueKind::Choice(&["smoothed", "linear", "quadratic"]),
            unit: "",
            default: "`smoothed`",
            about: "edge-based smoothed tetrahedra, which bend right with two cells across at any Poisson's ratio; linear ones, which cost half to a third and bend too stiffly with fewer than four cells across or a Poisson's ratio near 0.5; or quadratic ones, which bend right with one cell across, keep the curved edges of ten-node mesh files, and have a vertex on each edge in addition",
        },
        Key {
            name: "density",
            value: ValueKind::Positive,
            unit: "kg/m³",
            default: "the preset's, or 1000",
            about: "density at rest",
        },
        Key {
            name: "mass_damping",
            value: ValueKind::NonNegative,
            unit: "1/s",
            default: "0",
            about: "Rayleigh coefficient α: drag proportional to mass, also in free flight",
        },
        Key {
            name: "stiffness_damping",
            value: ValueKind::NonNegative,
            unit: "s",
            default: "0.01",
            about: "Rayleigh coefficient β: damping proportional to stiffness, a viscosity of the material",
        },
        Key {
            name: "force_density",
            value: ValueKind::Described("three expressions of `x`, `y`, `z`"),
            unit: "N/m³",
            default: "none",
            about: "force density per rest volume as a function of the world position (m) at the start of a step: wind, buoyancy, a magnet; integrated over each element, with a warning where it is narrower than the elements; coordinates take precedence over parameters of the same name",
        },
        Key {
            name: "mass_matrix",
            value: ValueKind::Choice(&["lumped", "consistent"]),
            unit: "",
            default: "`lumped`",
            about: "lumped or consistent mass matrix",
        },
        Key {
            name: "rotation",
            value: ValueKind::Choice(&["followed", "lagged"]),
            unit: "",
            default: "`followed`",
            about: "of `linear-corotated`: whether rotations are updated within a step, or lag by one step (Han et al. 2023), which inflates bodies that rotate fast",
        },
        Key {
            name: "kinematics",
            value: ValueKind::Choice(&["solid", "plane-strain"]),
            unit: "",
            default: "`solid`",
            about: "`plane-strain`: no displacement along the world's z axis",
        },
        Key {
            name: "fixed",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: "none",
            about: "`{ region, axes }`: vertices fixed along these axes",
        },
        Key {
            name: "touches_by",
            value: ValueKind::Choice(&["surface", "vertices"]),
            unit: "",
            default: "`surface`",
            about: "contact geometry: surface triangles against shapes and tetrahedra against soft bodies, or vertices; pairs with `point` contact use vertices",
        },
        Key {
            name: "contact_radius",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0",
            about: "radius of spheres about the surface vertices, for contact with vertices of other soft bodies and for self-contact",
        },
        Key {
            name: "self_contact",
            value: ValueKind::Choice(&["absent", "present"]),
            unit: "",
            default: "`absent`",
            about: "self-contact; contact by vertices requires a `contact_radius`",
        },
    ],
};

static FIXED: TableSchema = TableSchema {
    name: "fem.fixed",
    keys: &[
        Key {
            name: "region",
            value: ValueKind::Described("name"),
            unit: "",
            default: REQUIRED,
            about: "one of the body's `regions`",
        },
        Key {
            name: "axes",
            value: ValueKind::Described("some of `xyz`"),
            unit: "",
            default: "`xyz`",
            about: "world axes",
        },
    ],
};

/// A body of finite elements.
///
/// ```
/// use pliant::scene::{Matter, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a cushion"
///     simulation = { smoke_s = 1 }
///     [[fem]]
///     name = "cushion"
///     mesh = { box = { size = [0.2, 0.2, 0.06], cells = [4, 4, 2] } }
///     constitutive_material = { youngs_modulus = 5e4, poissons_ratio = 0.3 }
///     density = 200
/// "#;
/// let scene = Scene::parse("cushion.toml", text, &SceneOptions::default())?;
/// let Matter::Fem(cushion) = &scene.soft.entries[0].matter else { panic!("it is made of finite elements") };
/// assert_eq!(cushion.density, 200.0);
/// assert!((cushion.material.lame().youngs_modulus() - 5e4).abs() < 1e-6);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FemEntry {
    /// Tetrahedral mesh.
    pub(crate) mesh: SolidMesh,
    /// Location of `mesh = ...` in the file.
    pub(crate) at: crate::scene::SourceLocation,
    /// Constitutive law.
    pub material: Arc<dyn Material>,
    /// Linear, smoothed or quadratic tetrahedra.
    pub element: Element,
    /// Density at rest, kg/m³.
    pub density: f64,
    /// Rayleigh damping.
    pub damping: Rayleigh,
    /// Force density as a function of position.
    pub(crate) force_density: Option<ForceDensity>,
    /// Lumped or consistent mass matrix.
    pub mass_kind: MassKind,
    /// Treatment of element rotations.
    pub rotation: Rotation,
    /// Three-dimensional or plane strain.
    pub kinematics: Kinematics,
    /// Fixed vertices.
    pub(crate) fixed: Vec<FixedRegion>,
    /// Contact geometry.
    pub(crate) touches_by: TouchesBy,
    /// Radius of spheres about surface vertices, m.
    pub contact_radius: f64,
    /// Self-contact.
    pub(crate) self_contact: SelfContact,
}

/// Vertices that are fixed along some axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedRegion {
    /// One of the body's regions.
    pub(crate) region: usize,
    /// World axes.
    pub(crate) axes: Vec<Axis>,
}

/// Contact geometry of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TouchesBy {
    /// Triangles and tetrahedra.
    Surface,
    /// Vertices, as points or spheres.
    Vertices,
}

/// Self-contact of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelfContact {
    /// No self-contact.
    Absent,
    /// Self-contact.
    Present,
}

/// An element of `[[fem]]`.
pub(super) fn fem(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<SoftEntry, SceneError> {
    let mut table = item.table(&FEM)?;
    let entry = common(context, &mut table, materials, |table, regions| {
        fem_keys(context, table, regions).map(|fem| Matter::Fem(Box::new(fem)))
    })?;
    table.finish();
    Ok(entry)
}

fn fem_keys(
    context: &Context,
    table: &TableReader<'_>,
    regions: &[RegionEntry],
) -> Result<FemEntry, SceneError> {
    let material = constitutive(&table.required("constitutive_material")?)?;
    let item = table.required("mesh")?;
    let contact_radius = table.non_negative_or("contact_radius", 0.0)?;
    let self_contact = table.choice_or_first(
        "self_contact",
        &[
            ("absent", SelfContact::Absent),
            ("present", SelfContact::Present),
        ],
    )?;
    let touches_by = table.choice_or_first(
        "touches_by",
        &[
            ("surface", TouchesBy::Surface),
            ("vertices", TouchesBy::Vertices),
        ],
    )?;
    let by_points = touches_by == TouchesBy::Vertices;
    if self_contact == SelfContact::Present && by_points && contact_radius == 0.0 {
        return Err(
            table.conflict("`self_contact` by vertices needs a `contact_radius` above zero")
        );
    }
    Ok(FemEntry {
        mesh: mesh(&item)?,
        at: item.at(),
        material: material.law,
        element: table.choice_or_first(
            "element",
            &[
                ("smoothed", Element::Smoothed),
                ("linear", Element::Linear),
                ("quadratic", Element::Quadratic),
            ],
        )?,
        density: match table.optional("density") {
            Some(item) => item.positive()?,
            None => material.density.unwrap_or(1000.0),
        },
        damping: Rayleigh {
            mass: table.non_negative_or("mass_damping", 0.0)?,
            stiffness: table.non_negative_or("stiffness_damping", 0.01)?,
        },
        force_density: (table.optional("force_density"))
            .map(|item| force_density(context, &item))
            .transpose()?,
        mass_kind: table.choice_or_first(
            "mass_matrix",
            &[
                ("lumped", MassKind::Lumped),
                ("consistent", MassKind::Consistent),
            ],
        )?,
        rotation: table.choice_or_first(
            "rotation",
            &[
                ("followed", Rotation::Followed),
                ("lagged", Rotation::Lagged),
            ],
        )?,
        kinematics: table.choice_or_first(
            "kinematics",
            &[
                ("solid", Kinematics::Solid),
                ("plane-strain", Kinematics::PlaneStrain),
            ],
        )?,
        fixed: table.optional("fixed").map_or(Ok(Vec::new()), |list| {
            let elements = list.tables()?;
            elements
                .iter()
                .map(|e| fixed(context, e, regions))
                .collect()
        })?,
        touches_by,
        contact_radius,
        self_contact,
    })
}

fn fixed(
    context: &Context,
    item: &Item<'_>,
    regions: &[RegionEntry],
) -> Result<FixedRegion, SceneError> {
    let table = item.table(&FIXED)?;
    let reference = table.required("region")?.reference()?;
    let axes = match table.optional("axes") {
        None => Axis::ALL.to_vec(),
        Some(item) => {
            let letters = item.text()?;
            let axis = |letter| match letter {
                'x' => Ok(Axis::X),
                'y' => Ok(Axis::Y),
                'z' => Ok(Axis::Z),
                _ => Err(item.out_of_range(
                    format!("{letters:?}"),
                    "must consist of the letters x, y and z",
                )),
            };
            let axes: Vec<Axis> = letters.chars().map(axis).collect::<Result<_, _>>()?;
            if axes.is_empty() {
                return Err(item.out_of_range("\"\"", "must name at least one axis"));
            }
            axes
        }
    };
    let fixed = FixedRegion {
        region: region_named(context, regions, &reference)?,
        axes,
    };
    table.finish();
    Ok(fixed)
}
