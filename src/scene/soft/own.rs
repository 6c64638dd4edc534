//! Bodies of registered kinds: `[[NAME]]`.

use nalgebra::{Isometry3, Vector3};

use super::{Matter, Shown, SoftEntry};
use crate::registry::{MakeBody, Part, ReadBody};
use crate::scene::body;
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, TableSchema, ValueKind};
use crate::scene::table::Context;

pub(super) static OWN: TableSchema = TableSchema {
    name: "bodies of one's own",
    keys: &[
        body::NAME,
        Key {
            name: "material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: "`default`",
            about: "surface material: the name of a `[materials.NAME]`, or an inline table with its keys",
        },
        body::COLOR,
    ],
};

/// A body of a registered kind: what makes it, with the settings of its table already read.
///
/// ```
/// use pliant::Registry;
/// use pliant::runner::check;
/// use pliant::scene::{Matter, Scene, SceneOptions};
/// # use nalgebra::{Point3, Vector3};
/// # use pliant_contact_sap::{BodyState, BodyStep, DeformableModel, Energy, Surface};
/// # use pliant_multibody::{CapsuleChain, CapsuleChainSpec, RestShape};
/// # struct Chain(CapsuleChain);
/// # impl Chain {
/// #     fn new() -> Self {
/// #         let nodes = (0..4).map(|i| Point3::new(0.1 * f64::from(i), 0.0, 1.0)).collect();
/// #         let (stiffness, rest) = (1e-3, RestShape::AsBuilt);
/// #         Self(CapsuleChain::new(&CapsuleChainSpec {
/// #             nodes,
/// #             radius: 0.01,
/// #             linear_density: 0.5,
/// #             bending_stiffness: stiffness,
/// #             twisting_stiffness: stiffness,
/// #             stiffness_damping: 0.01,
/// #             rest,
/// #         }).expect("its numbers are valid"))
/// #     }
/// # }
/// # impl DeformableModel for Chain {
/// #     fn default_state(&self) -> BodyState { self.0.default_state() }
/// #     fn new_step(&self) -> Box<dyn BodyStep> { self.0.new_step() }
/// #     fn surface(&self, state: &BodyState, out: &mut Surface) { self.0.surface(state, out); }
/// #     fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy { self.0.energy(state, gravity) }
/// # }
/// # impl pliant::registry::SceneBody for Chain {
/// #     fn masses(&self, _: &BodyState) -> Vec<f64> { (0..self.0.n_nodes()).map(|node| self.0.node_mass(node)).collect() }
/// #     fn velocities(&self, _: &BodyState) -> Vec<Vector3<f64>> { vec![Vector3::zeros(); self.0.n_nodes()] }
/// # }
///
/// // `Chain` is a `SceneBody`, and `[[chains]]` are its tables.
/// let mut registry = Registry::default();
/// registry.body("chains", &[], |_| Ok(Chain::new));
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// let text = "schema = 1\ntitle = \"a chain\"\nsimulation = { smoke_s = 1 }\n[[chains]]\nname = \"chain\"\n";
/// let scene = Scene::parse("chain.toml", text, &options)?;
/// assert!(matches!(scene.soft.entries[0].matter, Matter::Own(_)));
/// assert!(check(&scene)?.world.find_body("chain").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OwnBodyEntry {
    make: MakeBody,
}

impl OwnBodyEntry {
    /// A new instance of the body.
    pub(crate) fn make(&self) -> std::sync::Arc<dyn crate::registry::SceneBody> {
        (self.make)()
    }
}

impl std::fmt::Debug for OwnBodyEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnBodyEntry").finish_non_exhaustive()
    }
}

/// An element of the list of tables that `kind` is named after.
pub(super) fn own(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
    kind: &Part<ReadBody>,
) -> Result<SoftEntry, SceneError> {
    let table = item.table_of_kind(&OWN, kind)?;
    Ok(SoftEntry {
        name: table.required("name")?.new_name()?,
        pose: Isometry3::identity(),
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
        surface: materials.soft_surface(context, table.optional("material").as_ref())?,
        regions: Vec::new(),
        color: body::color(&table)?,
        shown: Shown::Color,
        shown_max: None,
        matter: Matter::Own(OwnBodyEntry {
            make: kind.read()(&table)?,
        }),
    })
}
