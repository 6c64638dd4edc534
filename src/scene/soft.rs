//! Deformable bodies: the keys that all kinds share, and `copies` of one entry.
//!
//! Each kind has its own list, `[[fem]]`, `[[material_points]]`, `[[cloth]]` or `[[rods]]`. Its table has the keys of [`with_soft_keys`] after its own, and its
//! reader reads them with [`common`].

mod centreline;
mod cloth;
mod entry;
mod fem;
mod fem_material;
mod flow;
mod force_density;
mod mesh;
mod own;
mod particle_material;
mod points;
mod region;
mod rod;

use nalgebra::Matrix3;
use pliant_mpm::{Material, Strain};

use super::error::{SceneError, SceneFault, remedy};
use super::item::{Item, NamedReference};
use super::material::Materials;
use super::pose::pose;
use super::schema::{Key, TableSchema, ValueKind};
use super::table::{Context, TableReader};
use super::{body, budget};
use crate::registry::Registry;

pub use centreline::CentrelineEntry;
pub use cloth::ClothEntry;
pub(crate) use cloth::ClothShape;
pub(crate) use entry::Shown;
pub use entry::{Matter, SoftBodies, SoftEntry};
pub use fem::FemEntry;
pub(crate) use fem::{SelfContact, TouchesBy};
pub(crate) use flow::SourceEntry;
pub(crate) use mesh::{FilledPart, SolidMesh};
pub use own::OwnBodyEntry;
pub use points::{GridEntry, PointsEntry};
pub(crate) use region::{RegionEntry, RegionShape};
pub use rod::{NaturalScatter, RodEntry};
pub(crate) use rod::{RodEnd, RodModel};

pub(super) fn table_schemas() -> Vec<&'static TableSchema> {
    let mut tables = fem::TABLES.to_vec();
    tables.extend(fem_material::TABLES);
    tables.extend(mesh::MESHES);
    tables.push(&mesh::PART);
    tables.extend(points::TABLES);
    tables.extend(particle_material::TABLES);
    tables.extend(cloth::TABLES);
    tables.extend(flow::TABLES);
    tables.extend(rod::TABLES);
    tables.extend(centreline::TABLES);
    tables.extend(region::TABLES);
    tables
}

/// Registers the built-in constitutive materials.
pub(crate) fn register_materials(registry: &mut Registry) {
    fem_material::register(registry);
    particle_material::register(registry);
}

/// Maximum number of elements of one list.
const COPIES_MAX: u64 = 100_000;

/// The keys that all deformable bodies share, after those of the kind.
macro_rules! with_soft_keys {
    ($($key:expr),* $(,)?) => {
        &[
            $crate::scene::soft::KEYS[0],
            $crate::scene::soft::KEYS[1],
            $crate::scene::soft::KEYS[2],
            $($key,)*
            $crate::scene::soft::KEYS[3],
            $crate::scene::soft::KEYS[4],
            $crate::scene::soft::KEYS[5],
            $crate::scene::soft::KEYS[6],
            $crate::scene::soft::KEYS[7],
            $crate::scene::soft::KEYS[8],
            $crate::scene::soft::KEYS[9],
        ]
    };
}
use with_soft_keys;

pub(super) const KEYS: [Key; 10] = [
    body::NAME,
    Key {
        name: "copies",
        value: ValueKind::Described("whole number"),
        unit: "",
        default: "none",
        about: "number of bodies `NAME_0`, `NAME_1`, ..., each read with its own `i` = 0, 1, ... in expressions; `NAME` stands for all of them",
    },
    Key {
        name: "pose",
        value: ValueKind::Described("pose"),
        unit: "",
        default: "identity",
        about: "initial pose of the body frame in the world",
    },
    Key {
        name: "velocity",
        value: ValueKind::Vector3,
        unit: "m/s",
        default: "[0, 0, 0]",
        about: "initial velocity of the centre of mass, world axes",
    },
    Key {
        name: "angular_velocity",
        value: ValueKind::Vector3,
        unit: "rad/s",
        default: "[0, 0, 0]",
        about: "initial angular velocity about the centre of mass, world axes",
    },
    Key {
        name: "material",
        value: ValueKind::Described("name or table"),
        unit: "",
        default: "`default`",
        about: "surface material: the name of a `[materials.NAME]`, or an inline table with its keys",
    },
    Key {
        name: "regions",
        value: ValueKind::Described("table of name = region"),
        unit: "",
        default: "none",
        about: "named parts of the body, `NAME/REGION`, in the body frame at rest",
    },
    body::COLOR,
    Key {
        name: "color_by",
        value: ValueKind::Choice(&[
            "color",
            "displacement",
            "speed",
            "stress",
            "pressure",
            "plastic-strain",
        ]),
        unit: "",
        default: "`color`",
        about: "what colours it in the replay: its color, the displacement from where the motion of the whole body takes it, or from the start if points are held (m), the speed (m/s), for `[[fem]]` the von Mises stress (Pa), for `[[material_points]]` the pressure (Pa) or, for materials that flow, the accumulated plastic strain",
    },
    Key {
        name: "color_max",
        value: ValueKind::Positive,
        unit: "as `color_by`",
        default: "the largest that occurs",
        about: "value of the brightest colour; 0 is the darkest",
    },
];

/// All soft bodies of a scene.
pub(super) fn soft_bodies(
    context: &Context,
    table: &TableReader<'_>,
    materials: &Materials,
) -> Result<SoftBodies, SceneError> {
    let mut bodies = SoftBodies::default();
    for item in table
        .optional("fem")
        .map_or(Ok(Vec::new()), |item| item.tables())?
    {
        bodies.add(context, &item, |context, item| {
            fem::fem(context, item, materials)
        })?;
    }
    bodies.grid = table
        .optional("grid")
        .map(|item| points::grid(&item))
        .transpose()?;
    for item in table
        .optional("material_points")
        .map_or(Ok(Vec::new()), |item| item.tables())?
    {
        if bodies.grid.is_none() {
            return Err(table.conflict("`[[material_points]]` needs a `[grid]` with a `spacing`"));
        }
        bodies.add(context, &item, |context, item| {
            points::points(context, item, materials)
        })?;
    }
    for item in table
        .optional("cloth")
        .map_or(Ok(Vec::new()), |item| item.tables())?
    {
        if bodies.grid.is_none() {
            return Err(table.conflict("`[[cloth]]` needs a `[grid]` with a `spacing`"));
        }
        bodies.add(context, &item, |context, item| {
            cloth::cloth(context, item, materials)
        })?;
    }
    for item in table
        .optional("rods")
        .map_or(Ok(Vec::new()), |item| item.tables())?
    {
        bodies.add(context, &item, |context, item| {
            rod::rod(context, item, materials)
        })?;
    }
    for kind in context.registry.bodies.iter() {
        for item in table.of_kind(kind)? {
            bodies
                .entries
                .push(own::own(context, &item, materials, kind)?);
        }
    }
    Ok(bodies)
}

impl SoftBodies {
    /// Reads an element once, or once for each of its copies.
    fn add(
        &mut self,
        context: &Context,
        item: &Item<'_>,
        read: impl Fn(&Context, &Item<'_>) -> Result<SoftEntry, SceneError>,
    ) -> Result<(), SceneError> {
        let Some((name, count)) = copies(item)? else {
            self.entries.push(read(context, item)?);
            return self.check_size(item);
        };
        let first = self.entries.len();
        for index in 0..count {
            let mut scope = context.scope.clone();
            scope.set("i", index as f64);
            let context = context.with_scope(scope);
            let mut entry = read(&context, &item.within(&context))?;
            entry.name.name = format!("{}_{index}", name.name);
            self.entries.push(entry);
            self.check_size(item)?;
        }
        self.copies.push((name, first..self.entries.len()));
        Ok(())
    }
}

impl SoftBodies {
    /// Adds the elements of the last entry to those of all; refuses more than the budget.
    fn check_size(&mut self, item: &Item<'_>) -> Result<(), SceneError> {
        self.elements += self
            .entries
            .last()
            .map_or(0.0, |entry| elements(&entry.matter));
        if self.elements <= budget::ELEMENTS {
            return Ok(());
        }
        Err(item.error(SceneFault::World(format!(
            "the deformable bodies so far have {:.1e} tetrahedra, triangles and rod edges, at most {:.0e} are made; take fewer cells or copies",
            self.elements,
            budget::ELEMENTS
        ))))
    }
}

/// Tetrahedra, triangles or edges of a body whose entry says how many they are; others are checked where they are made.
fn elements(matter: &Matter) -> f64 {
    let product = |counts: &[u32]| counts.iter().map(|n| f64::from(*n)).product::<f64>();
    match matter {
        Matter::Fem(fem) => match &fem.mesh {
            SolidMesh::Box { cells, .. } | SolidMesh::Belt { cells, .. } => 6.0 * product(cells),
            SolidMesh::Cylinder {
                sides,
                rings,
                layers,
                ..
            } => 6.0 * product(&[*sides, *rings, *layers]),
            SolidMesh::Torus {
                segments,
                sides,
                rings,
                ..
            } => 6.0 * product(&[*segments, *sides, *rings]),
            SolidMesh::Hexahedron(_) | SolidMesh::File { .. } | SolidMesh::Filled { .. } => 0.0,
        },
        Matter::Cloth(cloth) => match &cloth.mesh {
            ClothShape::Sheet { cells, .. } => 2.0 * product(cells),
            ClothShape::StaggeredSheet { size, edge } => 2.0 * size[0] * size[1] / (edge * edge),
            ClothShape::Disc { radius, edge } => 12.7 * (radius / edge).powi(2),
            ClothShape::Shirt(_) | ClothShape::Surface { .. } => 0.0,
        },
        Matter::Rod(rod) => match &rod.centreline {
            CentrelineEntry::Nodes(line) => line.nodes.len() as f64,
            CentrelineEntry::File { .. } => 0.0,
        },
        Matter::Points(_) | Matter::Own(_) => 0.0,
    }
}

/// The name of an element with `copies`, and how many they are.
fn copies(item: &Item<'_>) -> Result<Option<(NamedReference, u64)>, SceneError> {
    let entries = item.entries()?;
    let of = |key: &str| entries.iter().find(|(m, _)| m.name == key);
    match (of("copies"), of("name")) {
        (Some((_, copies)), Some((_, name))) => {
            let count = copies.integer(1, COPIES_MAX)?;
            Ok(Some((name.new_name()?, count)))
        }
        // A missing name is reported by the reader of the element.
        _ => Ok(None),
    }
}

fn keeps_plastic_strain(material: &dyn Material) -> bool {
    let fresh = Strain {
        f: Matrix3::identity(),
        internal: material.fresh(),
    };
    material.plastic_strain(&fresh).is_some()
}

/// Reads the keys that all kinds share.
fn common(
    context: &Context,
    table: &mut TableReader<'_>,
    materials: &Materials,
    matter: impl FnOnce(&TableReader<'_>, &[RegionEntry]) -> Result<Matter, SceneError>,
) -> Result<SoftEntry, SceneError> {
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    table.optional("copies");
    let regions = region::regions(table.optional("regions").as_ref())?;
    let shown = table.choice_or_first(
        "color_by",
        &[
            ("color", Shown::Color),
            ("displacement", Shown::Displacement),
            ("speed", Shown::Speed),
            ("stress", Shown::Stress),
            ("pressure", Shown::Pressure),
            ("plastic-strain", Shown::PlasticStrain),
        ],
    )?;
    let shown_max = table.optional("color_max");
    if shown_max.is_some() && shown == Shown::Color {
        return Err(table.conflict("`color_max` goes with a `color_by` that has numbers"));
    }
    let matter = matter(table, &regions)?;
    let known = match (&matter, shown) {
        (_, Shown::Color | Shown::Displacement | Shown::Speed) => true,
        (Matter::Fem(_), shown) => shown == Shown::Stress,
        (Matter::Points(_), shown) => shown != Shown::Stress,
        (Matter::Cloth(_) | Matter::Rod(_) | Matter::Own(_), _) => false,
    };
    if !known {
        return Err(table.conflict(
            "`color_by` names a value that such a body does not have: `stress` is of `[[fem]]`, `pressure` and `plastic-strain` are of `[[material_points]]`",
        ));
    }
    if let (Matter::Points(points), Shown::PlasticStrain, Some(item)) =
        (&matter, shown, table.optional("color_by"))
        && !keeps_plastic_strain(&*points.material)
    {
        return Err(item.error(SceneFault::Conflict {
            table: item.table.clone(),
            reason: "`color_by = \"plastic-strain\"`, but its material has no plastic flow: give the law `linear-corotated` or `hencky` a `yield_stress`, take `sand`, or color by `pressure`, `speed` or `displacement`".into(),
        }));
    }
    Ok(SoftEntry {
        name,
        pose: pose(table.optional("pose").as_ref())?,
        velocity: table.vector3_or_zero("velocity")?,
        angular_velocity: table.vector3_or_zero("angular_velocity")?,
        surface: materials.soft_surface(context, table.optional("material").as_ref())?,
        color: body::color(table)?,
        shown,
        shown_max: shown_max.map(|item| item.positive()).transpose()?,
        matter,
        regions,
    })
}

/// The region of a body that `reference` names.
fn region_named(
    context: &Context,
    regions: &[RegionEntry],
    reference: &NamedReference,
) -> Result<usize, SceneError> {
    let index = regions.iter().position(|r| r.name.name == reference.name);
    index.ok_or_else(|| {
        let known = regions.iter().map(|r| r.name.name.as_str());
        let fault = SceneFault::UnknownName {
            what: "region of the body".into(),
            name: reference.name.clone(),
            remedy: remedy(&reference.name, known),
        };
        context.text.error(reference.at, fault)
    })
}
