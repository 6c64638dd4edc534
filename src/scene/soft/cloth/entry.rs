//! Cloths as data.

use pliant_hydroelastic::mesh::generate::Shirt;
use pliant_mpm::ClothMaterial;

use crate::scene::item::NamedReference;
use crate::scene::text::SourceLocation;
use crate::scene::track::Track;

/// A cloth.
///
/// ```
/// use pliant::scene::{Matter, Scene, SceneOptions};
///
/// let text = r#"
///     schema = 1
///     title = "a towel"
///     simulation = { smoke_s = 1 }
///     grid = { spacing = 0.05 }
///     [[cloth]]
///     name = "towel"
///     mesh = { sheet = { size = [0.5, 0.3], cells = [20, 12] } }
///     density = 400
///     thickness = 0.002
///     youngs_modulus = 1e5
///     contact_radius = 0.004
/// "#;
/// let scene = Scene::parse("towel.toml", text, &SceneOptions::default())?;
/// let Matter::Cloth(towel) = &scene.soft.entries[0].matter else { panic!("it is a cloth") };
/// // 400 kg/m³ times 2 mm.
/// assert!((towel.material.areal_density() - 0.8).abs() < 1e-12);
/// assert_eq!(towel.contact_radius, Some(0.004));
/// # Ok::<(), pliant::scene::SceneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClothEntry {
    /// Shape at rest.
    pub(crate) mesh: ClothShape,
    /// Location of `mesh = ...` in the file.
    pub(crate) at: SourceLocation,
    /// Material.
    pub material: ClothMaterial,
    /// Radius of the spheres in contact, m; `None`: the default of the model.
    pub contact_radius: Option<f64>,
    /// Held vertices.
    pub(crate) held: Vec<HeldRegion>,
}

/// Where the triangles of a cloth come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClothShape {
    /// A rectangle in the plane z = 0.
    Sheet {
        /// m.
        size: [f64; 2],
        /// Squares along x and y.
        cells: [u32; 2],
    },
    /// A rectangle in the plane z = 0, of nearly equilateral triangles.
    StaggeredSheet {
        /// m.
        size: [f64; 2],
        /// Bound on the edges, m.
        edge: f64,
    },
    /// A circle in the plane z = 0.
    Disc {
        /// m.
        radius: f64,
        /// Bound on the edges, m.
        edge: f64,
    },
    /// A T-shirt.
    Shirt(Shirt),
    /// A file.
    Surface {
        /// Path and place of the key.
        file: NamedReference,
        /// Factor on its coordinates.
        scale: f64,
    },
}

/// Vertices held until a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldRegion {
    /// One of the body's regions.
    pub(crate) region: usize,
    /// s.
    pub(crate) from_s: f64,
    /// s; infinite for the whole run.
    pub(crate) until_s: f64,
    /// Offset over time, m: they move as it changes; `None`: held in place.
    pub(crate) path: Option<Track>,
}
