//! Rigid bodies and fixed shapes as data.

use nalgebra::{Isometry3, Vector3};

use crate::scene::item::NamedReference;
use crate::scene::material::Surface;
use crate::scene::shape::ShapeEntry;
use crate::scene::text::SourceLocation;

/// A shape with its pose and surface material.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a hammer"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "hammer"
///     shapes = [
///         { shape = { cylinder = { radius = 0.01, length = 0.3 } }, density = 700 },
///         { shape = { box = { size = [0.1, 0.03, 0.03] } }, pose = { position = [0, 0, 0.15] }, density = 7800 },
///     ]
/// "#;
/// let shapes = &Scene::parse("hammer.toml", text, &SceneOptions::default())?.bodies[0].body.shapes;
/// assert_eq!((shapes[0].density, shapes[1].density), (700.0, 7800.0));
/// // Poses are in the frame of the body.
/// assert_eq!(shapes[1].pose.translation.z, 0.15);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlacedShape {
    /// The shape.
    pub shape: ShapeEntry,
    /// Location of `shape = ...` in the file.
    pub at: SourceLocation,
    /// Its pose in the body's frame, or in the world.
    pub pose: Isometry3<f64>,
    /// Surface material, before the defaults of `[materials.default]`.
    pub surface: Surface,
    /// Tangential velocity of the surface, m/s, axes of the shape.
    pub surface_velocity: Vector3<f64>,
    /// What is drawn in place of the shape, in its frame.
    pub visual: Option<ShapeEntry>,
    /// Colour: red, green, blue, opacity.
    pub color: Option<[f64; 4]>,
    /// Density of this shape, kg/m³; only for bodies without a given mass.
    pub density: f64,
}

/// A fixed shape.
#[derive(Clone, Debug)]
pub(crate) struct FixedEntry {
    /// Name.
    pub(crate) name: NamedReference,
    /// The shape, with its pose in the world.
    pub(crate) shape: PlacedShape,
}

/// The shapes, mass and initial velocity of a rigid body, without name and pose: one entry of `[[repeat]]` makes many bodies of it.
///
/// ```
/// use pliant::scene::{GravityEntry, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "three balls"
///     simulation = { smoke_s = 1 }
///     [[repeat]]
///     name = "ball"
///     count = 3
///     grid = { origin = [0, 0, 0], spacing = [1, 1, 1], counts = [3, 1, 1] }
///     [[repeat.templates]]
///     shape = { sphere = { radius = 0.1 } }
///     mass = 2
///     velocity = [0, 0, 1]
/// "#;
/// let bodies = Scene::parse("balls.toml", text, &SceneOptions::default())?.bodies;
/// assert_eq!(bodies.len(), 3);
/// for entry in &bodies {
///     assert_eq!((entry.body.mass, entry.body.velocity.z, entry.body.shapes.len()), (Some(2.0), 1.0, 1));
///     assert_eq!(entry.body.gravity, GravityEntry::Acts);
/// }
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyTemplate {
    /// Shapes, at least one.
    pub shapes: Vec<PlacedShape>,
    /// Mass, kg; `None` if it follows from densities.
    pub mass: Option<f64>,
    /// Initial velocity of the origin, m/s, world axes.
    pub velocity: Vector3<f64>,
    /// Initial angular velocity, rad/s, world axes.
    pub angular_velocity: Vector3<f64>,
    /// Whether gravity acts on it.
    pub gravity: GravityEntry,
}

/// Whether gravity acts on a body.
///
/// ```
/// use pliant::runner::{RunOptions, run};
/// use pliant::scene::{GravityEntry, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a balloon"
///     simulation = { smoke_s = 0.1 }
///     [[bodies]]
///     name = "balloon"
///     shape = { sphere = { radius = 0.1 } }
///     gravity = "absent"
/// "#;
/// let scene = Scene::parse("balloon.toml", text, &SceneOptions::default())?;
/// assert_eq!(scene.bodies[0].body.gravity, GravityEntry::Absent);
/// // It stays where it is.
/// assert_eq!(run(&scene, &RunOptions::default(), &mut |_| {})?.state.bodies[0].q[2], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GravityEntry {
    /// Gravity acts.
    Acts,
    /// Without gravity.
    Absent,
}

/// A rigid body.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a crate"
///     simulation = { smoke_s = 1 }
///     [[bodies]]
///     name = "crate"
///     shape = { box = { size = [0.4, 0.3, 0.2] } }
///     mass = 5
///     pose = { position = [0, 0, 1] }
/// "#;
/// let crate_of_wood = &Scene::parse("crate.toml", text, &SceneOptions::default())?.bodies[0];
/// assert_eq!((crate_of_wood.name.name.as_str(), crate_of_wood.body.mass), ("crate", Some(5.0)));
/// assert_eq!(crate_of_wood.pose.translation.z, 1.0);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyEntry {
    /// Name.
    pub name: NamedReference,
    /// Initial pose in the world.
    pub pose: Isometry3<f64>,
    /// Shapes, mass, initial velocity.
    pub body: BodyTemplate,
}
