//! From a scene to a world: reads files, resolves names to indices, and sets initial poses.

mod bodies;
mod capsule_chains;
mod cloth;
mod constraints;
mod contact;
mod default_stiffness;
mod directory;
mod patch;
mod picture;
mod points;
mod robots;
mod rods;
mod soft;
mod solid_meshes;
mod solids;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pliant_contact_sap::BodyState;
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, PairRule, RigidSurface, State, World, WorldBuilder,
    WorldError,
};
use pliant_hydroelastic::ContactMaterial;
use pliant_multibody::Model;

use crate::scene::{Scene, SceneError, SceneFault, Surface};

pub(crate) use cloth::Hold;
pub(crate) use directory::{Directory, FrameRef, JointRef, MassRef, SoftPart, TendonRef};
pub(crate) use picture::Picture;
pub(crate) use soft::SoftBody;

/// A world made from a scene, ready to be stepped.
///
/// ```
/// use pliant::runner::Assembly;
/// use pliant::scene::{Scene, SceneOptions};
///
/// # let text = r#"
/// #     schema = 1
/// #     title = "a ball falls"
/// #     [simulation]
/// #     smoke_s = 0.1
/// #     time_step_s = 0.01
/// #     [[bodies]]
/// #     name = "ball"
/// #     shape = { sphere = { radius = 0.1 } }
/// #     pose = { position = [0, 0, 1] }
/// # "#;
/// # let scene = Scene::parse("ball.toml", text, &SceneOptions::default())?;
/// let assembly = Assembly::new(&scene)?;
/// let ball = assembly.world.find_body("ball").expect("it is in the scene");
/// assert_eq!(assembly.state.bodies[ball.0].q[2], 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Assembly {
    /// The world.
    pub world: World,
    /// Its initial state.
    pub state: State,
    /// Notes on robot and mesh files: ignored, repaired or suspicious content.
    pub notes: Vec<String>,
    pub(crate) directory: Directory,
    pub(crate) picture: Picture,
    /// Vertices of cloths that are held until a time.
    pub(crate) holds: Vec<Hold>,
}

/// Collected data of a world under construction.
struct Draft<'s> {
    scene: &'s Scene,
    builder: WorldBuilder,
    directory: Directory,
    picture: Picture,
    /// Initial positions q of each body.
    starts: Vec<Vec<f64>>,
    /// Initial state of deformable bodies.
    soft_starts: Vec<(BodyIdx, BodyState)>,
    holds: Vec<Hold>,
    notes: Vec<String>,
    /// Contact of pairs of shapes that robot files prescribe, in ascending order of the geometries.
    file_rules: BTreeMap<(GeometryIdx, GeometryIdx), PairRule>,
    /// Shapes of robots that touch in pairs of their file only.
    of_pairs_only: Vec<GeometryIdx>,
    /// Geometries whose material names no stiffness.
    of_default_stiffness: Vec<GeometryIdx>,
    /// Geometries with a side of a contact patch.
    with_patch: BTreeSet<GeometryIdx>,
}

impl Assembly {
    /// Builds the world of `scene`.
    ///
    /// # Errors
    /// Files that cannot be used, unknown names in robots, and errors of the world, with their location in the scene file if
    /// there is one.
    pub fn new(scene: &Scene) -> Result<Self, SceneError> {
        let mut draft = Draft {
            scene,
            builder: WorldBuilder::default(),
            directory: Directory::default(),
            picture: Picture::default(),
            starts: Vec::new(),
            soft_starts: Vec::new(),
            holds: Vec::new(),
            notes: Vec::new(),
            file_rules: BTreeMap::new(),
            of_pairs_only: Vec::new(),
            of_default_stiffness: Vec::new(),
            with_patch: BTreeSet::new(),
        };
        draft
            .builder
            .gravity(scene.simulation.gravity)
            .contact(scene.contact.clone());
        for entry in &scene.fixed {
            draft.add_fixed(entry)?;
        }
        for (index, entry) in scene.bodies.iter().enumerate() {
            draft.add_body(index, entry)?;
        }
        for (name, range) in &scene.repeats {
            draft.directory.add_repeat(&name.name, range.clone());
        }
        for entry in &scene.models {
            draft.add_robot(entry)?;
        }
        for entry in &scene.soft.entries {
            draft.add_soft(entry)?;
        }
        draft.add_points()?;
        for (name, range) in &scene.soft.copies {
            let copies = &scene.soft.entries[range.clone()];
            let names = copies.iter().map(|entry| &*entry.name.name);
            draft.directory.add_copies(&name.name, names);
        }
        draft.stiffen_for_the_load();
        draft.add_pairs()?;
        draft.add_constraints()?;
        let Draft {
            builder,
            directory,
            picture,
            notes,
            soft_starts,
            holds,
            ..
        } = draft;
        let world = builder
            .build()
            .map_err(|error| refused_world(scene, &error))?;
        let mut state = world.default_state();
        for (body, start) in soft_starts {
            state.bodies[body.0] = start;
        }
        Ok(Self {
            world,
            state,
            notes,
            directory,
            picture,
            holds,
        })
    }

    /// The kinematic tree of each rigid body and robot: the first bodies of the world.
    pub fn trees(&self) -> &[Arc<Model>] {
        &self.directory.trees
    }
}

/// An error of the world, at the location of the entry it comes from, if it names one.
fn refused_world(scene: &Scene, error: &WorldError) -> SceneError {
    let part = error.part();
    // Geometries are called NAME, NAME#1, NAME/LINK#1.
    let entry = part.name().and_then(|name| name.split(['/', '#']).next());
    match entry.and_then(|entry| scene.names.place(entry)) {
        Some(place) => scene
            .text
            .error(place, SceneFault::World(error.to_string())),
        None => SceneError::World {
            file: scene.text.name().into(),
            reason: error.to_string(),
        },
    }
}

impl Draft<'_> {
    /// The full contact material of a surface: missing properties come from `[materials.default]`, then from the built-in defaults.
    fn material(&self, surface: Surface) -> ContactMaterial {
        let surface = self.filled(surface);
        let built_in = ContactMaterial::default();
        ContactMaterial {
            stiffness: surface.stiffness.unwrap_or(built_in.stiffness),
            dissipation: surface.dissipation.unwrap_or(built_in.dissipation),
            relaxation_time_s: surface
                .relaxation_time_s
                .unwrap_or(built_in.relaxation_time_s),
            friction: surface.friction.unwrap_or(built_in.friction),
        }
    }

    /// Impacts and resistance to turning of a rigid shape.
    fn rigid_surface(&self, surface: Surface) -> RigidSurface {
        let surface = self.filled(surface);
        RigidSurface {
            restitution: surface.restitution,
            torsional_friction: surface.torsional_friction.unwrap_or(0.0),
            rolling_friction: surface.rolling_friction.unwrap_or(0.0),
        }
    }

    /// A surface with missing properties from `[materials.default]`.
    fn filled(&self, surface: Surface) -> Surface {
        surface.or(self.scene.materials.default_surface())
    }

    /// Adds a geometry with the material of `surface`, and records its owner.
    fn add_geometry(
        &mut self,
        owner: directory::Owner,
        surface: Surface,
        geometry: Geometry,
    ) -> GeometryIdx {
        debug_assert_eq!(
            matches!(geometry.mount, Mount::World(_)),
            matches!(owner, directory::Owner::Fixed)
        );
        self.directory.owners.push(owner);
        let has_patch = geometry.patch.is_some();
        let geometry = self.builder.add_geometry(geometry);
        if has_patch {
            self.with_patch.insert(geometry);
        }
        if self.filled(surface).stiffness.is_none() {
            self.of_default_stiffness.push(geometry);
        }
        geometry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    #[test]
    fn what_the_world_refuses_is_said_at_the_entry_it_comes_from() {
        let text = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n";
        let scene = Scene::parse("s.toml", text, &SceneOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let refused = |name: &str| {
            let name = name.into();
            refused_world(&scene, &WorldError::ShapeMissing { name }).to_string()
        };
        for name in ["ball", "ball#1", "ball/link#0"] {
            assert!(refused(name).starts_with("s.toml:6:8: geometry \"ball"));
        }
        assert!(refused("other").starts_with("s.toml: geometry \"other\" has no shape"));
    }
}
