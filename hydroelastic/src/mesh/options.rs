//! What a mesh is for, and what loading may repair.

use super::error::{FilePosition, Flaw, MeshError, Place};
use nalgebra::Vector3;

/// What a surface is for; it decides what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceUse {
    /// The skin of a solid: closed, every edge between two triangles, consistently oriented, outward.
    Solid,
    /// A thin sheet: may be open; every edge between at most two triangles.
    Cloth,
}

/// Which vertices are one and the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weld {
    /// Vertices stay apart, even at the same place.
    Never,
    /// Vertices with equal coordinates become one.
    Exact,
    /// Vertices closer than this fraction of the bounding box's diagonal become one; in [1e-12, 0.1).
    Within {
        /// Fraction of the diagonal, dimensionless.
        relative_distance: f64,
    },
}

/// When a surface is welded. STL files have no shared vertices and are always welded, at least exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeldWhen {
    /// Only a solid that is open as written.
    OpenSolid,
    /// Always.
    Always,
}

/// What to do with triangles of no area: a repeated vertex, or three vertices on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degenerate {
    /// An error naming the triangle.
    Refuse,
    /// Dropped and reported. A solid that is open without it is still refused.
    Drop,
}

/// What to do with elements whose vertices are in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// An error naming the element.
    Refuse,
    /// Put in order and reported.
    Reorder,
}

/// Whether a solid's surface is tested against itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfIntersections {
    /// Tested; the first crossing found is reported as suspicious.
    Report,
    /// Not tested: saves time on large meshes known to be good.
    Skip,
}

/// How a surface is loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Factor on each coordinate, e.g. 0.001 for a file in millimetres; no component may be 0. An odd number of
    /// negative components mirrors the shape; the triangles are then reversed so that outward stays outward.
    pub scale: Vector3<f64>,
    /// Which vertices are one.
    pub weld: Weld,
    /// When they are.
    pub weld_when: WeldWhen,
    /// Triangles of no area.
    pub degenerate: Degenerate,
    /// Triangles against their neighbours, and shells that point inwards.
    pub orientation: Orientation,
    /// Whether a solid is tested against itself.
    pub self_intersections: SelfIntersections,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        Self {
            scale: Vector3::repeat(1.0),
            weld: Weld::Exact, // never changes the shape; a distance would need to know the unit
            weld_when: WeldWhen::OpenSolid, // seams of a cloth, and bodies that only touch, stay apart
            degenerate: Degenerate::Drop,   // contributes neither area nor a normal
            orientation: Orientation::Reorder,
            self_intersections: SelfIntersections::Report,
        }
    }
}

/// How a tetrahedral mesh is loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetOptions {
    /// Factor on each coordinate, as in [`SurfaceOptions::scale`].
    pub scale: Vector3<f64>,
    /// Which vertices are one.
    pub weld: Weld,
    /// Tetrahedra of negative volume.
    pub orientation: Orientation,
}

impl Default for TetOptions {
    fn default() -> Self {
        Self {
            scale: Vector3::repeat(1.0),
            weld: Weld::Never, // two bodies in one file may touch without being glued; coincident points are reported
            orientation: Orientation::Reorder,
        }
    }
}

impl SurfaceOptions {
    /// Refuses a scale or weld distance out of range.
    ///
    /// # Errors
    /// [`MeshError::Setting`].
    pub fn validate(&self) -> Result<(), MeshError> {
        validate_scale_and_weld(&self.scale, self.weld)
    }
}

impl TetOptions {
    /// Refuses a scale or weld distance out of range.
    ///
    /// # Errors
    /// [`MeshError::Setting`].
    pub fn validate(&self) -> Result<(), MeshError> {
        validate_scale_and_weld(&self.scale, self.weld)
    }
}

fn validate_scale_and_weld(scale: &Vector3<f64>, weld: Weld) -> Result<(), MeshError> {
    if !scale
        .iter()
        .all(|factor| factor.is_finite() && *factor != 0.0)
    {
        return Err(refuse(
            format!("scale = ({}, {}, {})", scale.x, scale.y, scale.z),
            "Each factor must be finite and not 0",
        ));
    }
    if let Weld::Within { relative_distance } = weld
        && !(1e-12..0.1).contains(&relative_distance)
    {
        return Err(refuse(
            format!("weld relative_distance = {relative_distance}"),
            "It is a fraction of the bounding box's diagonal and must lie in [1e-12, 0.1); 1e-6 suits most files",
        ));
    }
    Ok(())
}

fn refuse(what: String, remedy: &str) -> MeshError {
    MeshError::Setting(Flaw::new(
        Place::new("mesh options", FilePosition::Whole),
        what,
        remedy,
    ))
}
