//! Deformable bodies as data.

use std::ops::Range;

use nalgebra::{Isometry3, Vector3};

use super::{ClothEntry, FemEntry, GridEntry, OwnBodyEntry, PointsEntry, RegionEntry, RodEntry};
use crate::scene::item::NamedReference;
use crate::scene::material::Surface;

/// The quantity that colours a body in the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The colour of the body.
    Color,
    /// Displacement from the initial position, m.
    Displacement,
    /// Speed, m/s.
    Speed,
    /// Von Mises stress, Pa.
    Stress,
    /// Pressure, Pa, positive in compression.
    Pressure,
    /// Accumulated plastic strain.
    PlasticStrain,
}

/// A deformable body.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a thrown cushion"
///     simulation = { smoke_s = 1 }
///     [[fem]]
///     name = "cushion"
///     mesh = { box = { size = [0.2, 0.2, 0.06], cells = [4, 4, 2] } }
///     constitutive_material = { youngs_modulus = 5e4, poissons_ratio = 0.3 }
///     pose = { position = [0, 0, 1] }
///     velocity = [2, 0, 0]
/// "#;
/// let cushion = &Scene::parse("cushion.toml", text, &SceneOptions::default())?.soft.entries[0];
/// assert_eq!((cushion.name.name.as_str(), cushion.velocity.x), ("cushion", 2.0));
/// // The pose of the body frame, here the centre of the box.
/// assert_eq!(cushion.pose.translation.z, 1.0);
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SoftEntry {
    /// Name.
    pub name: NamedReference,
    /// Initial pose of the body frame in the world.
    pub pose: Isometry3<f64>,
    /// Initial velocity of the centre of mass, m/s, world axes.
    pub velocity: Vector3<f64>,
    /// Initial angular velocity about the centre of mass, rad/s, world axes.
    pub angular_velocity: Vector3<f64>,
    /// Surface material, before the defaults of `[materials.default]`.
    pub surface: Surface,
    /// Named parts.
    pub(crate) regions: Vec<RegionEntry>,
    /// Colour: red, green, blue, opacity.
    pub color: Option<[f64; 4]>,
    /// Quantity that colours it in the replay.
    pub(crate) shown: Shown,
    /// Value of the brightest colour.
    pub(crate) shown_max: Option<f64>,
    /// Its kind, with all other keys.
    pub matter: Matter,
}

/// The kind of a deformable body, with the keys that only this kind has.
///
/// ```
/// use pliant::scene::{Matter, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a rope and sand"
///     simulation = { smoke_s = 1 }
///     grid = { spacing = 0.05 }
///     [[rods]]
///     name = "rope"
///     centreline = { line = { from = [0, 0, 1], to = [1, 0, 1], edges = 20 } }
///     section = { circle = { radius = 0.005 } }
///     youngs_modulus = 1e7
///     [[material_points]]
///     name = "sand"
///     shape = { box = { size = [0.2, 0.2, 0.2] } }
///     constitutive_material = "dry-sand"
/// "#;
/// let scene = Scene::parse("rope.toml", text, &SceneOptions::default())?;
/// let is_rod = |name: &str| scene.soft.entries.iter().any(|e| e.name.name == name && matches!(e.matter, Matter::Rod(_)));
/// assert!(is_rod("rope") && !is_rod("sand"));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Matter {
    /// A body of a registered kind.
    Own(OwnBodyEntry),
    /// Finite elements.
    Fem(Box<FemEntry>),
    /// Particles on the scene's grid.
    Points(PointsEntry),
    /// A cloth on the scene's grid.
    Cloth(Box<ClothEntry>),
    /// A rod.
    Rod(Box<RodEntry>),
}

/// Deformable bodies in the order of the file, kind by kind, and which of them are copies of one entry.
///
/// ```
/// use pliant::scene::{Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a row of balls"
///     simulation = { smoke_s = 1 }
///     grid = { spacing = 0.05 }
///     [[material_points]]
///     name = "ball"
///     copies = 3
///     shape = { sphere = { radius = 0.1 } }
///     pose = { position = ["0.3*i", 0, 0.1] }
///     constitutive_material = "foam-cube"
/// "#;
/// let soft = Scene::parse("balls.toml", text, &SceneOptions::default())?.soft;
/// assert_eq!(soft.entries.len(), 3);
/// assert_eq!((soft.copies[0].0.name.as_str(), soft.copies[0].1.clone()), ("ball", 0..3));
/// assert_eq!(soft.grid.map(|grid| grid.spacing), Some(0.05));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SoftBodies {
    /// All bodies, including copies.
    pub entries: Vec<SoftEntry>,
    /// Names of entries with `copies`, and the indices of the copies.
    pub copies: Vec<(NamedReference, Range<usize>)>,
    /// The grid of the material points; always given if there are any.
    pub grid: Option<GridEntry>,
    /// Tetrahedra, triangles and rod edges of all entries.
    pub(super) elements: f64,
}
