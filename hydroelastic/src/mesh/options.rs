//! Options of loading: the purpose of a mesh and the allowed repairs.

use super::error::{FilePosition, Flaw, Location, MeshError};
use nalgebra::Vector3;

/// Purpose of a surface; it determines the checks.
///
/// ```
/// use pliant_hydroelastic::mesh::{MeshError, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // A single triangle is a cloth with a boundary, but bounds no solid.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let load = |surface_use| surface_from_bytes(obj, "flag.obj", surface_use, &SurfaceOptions::default());
/// let (flag, _) = load(SurfaceUse::Cloth)?;
/// assert_eq!(flag.boundary_edges().count(), 3);
/// assert!(matches!(load(SurfaceUse::Solid), Err(MeshError::Topology(_))));
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceUse {
    /// The boundary of a solid: closed, every edge shared by two triangles, consistently oriented, outward.
    Solid,
    /// A thin sheet: may be open; every edge shared by at most two triangles.
    Cloth,
}

/// Which vertices are merged.
///
/// ```
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, Weld, WeldWhen, surface_from_bytes};
///
/// // Two triangles that share a side, in a file that repeats its ends with an error of 1 µm.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 1 1 0\nv 0.000001 1 0\nv 1 0.000001 0\nf 6 4 5\n";
/// let vertices = |weld| {
///     let options = SurfaceOptions { weld, weld_when: WeldWhen::Always, ..SurfaceOptions::default() };
///     surface_from_bytes(obj, "sail.obj", SurfaceUse::Cloth, &options).map(|(mesh, _)| mesh.vertices().len())
/// };
/// assert_eq!(vertices(Weld::Exact)?, 6);
/// assert_eq!(vertices(Weld::Within { relative_distance: 1e-5 })?, 4);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weld {
    /// Vertices stay separate, even at the same position.
    Never,
    /// Vertices with equal coordinates are merged.
    Exact,
    /// Vertices closer than this fraction of the bounding box's diagonal are merged; in [1e-12, 0.1).
    Within {
        /// Fraction of the diagonal, dimensionless.
        relative_distance: f64,
    },
}

/// When a surface is welded. STL files have no shared vertices and are always welded, at least with [`Weld::Exact`].
///
/// ```
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, WeldWhen, surface_from_bytes};
///
/// // Two panels of a cloth with a seam: vertices 4 and 5 repeat the ends of the side between them.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 4 6 5\n";
/// let panels = |weld_when| {
///     let options = SurfaceOptions { weld_when, ..SurfaceOptions::default() };
///     surface_from_bytes(obj, "shirt.obj", SurfaceUse::Cloth, &options).map(|(mesh, _)| mesh.component_count())
/// };
/// assert_eq!(panels(WeldWhen::OpenSolid)?, 2);
/// assert_eq!(panels(WeldWhen::Always)?, 1);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeldWhen {
    /// Only a solid that is open as given.
    OpenSolid,
    /// Always.
    Always,
}

/// Treatment of triangles without area: a repeated vertex, or three collinear vertices.
///
/// ```
/// use pliant_hydroelastic::mesh::{Degenerate, MeshError, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // The second triangle has three corners on a line.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\n";
/// let load = |degenerate| {
///     let options = SurfaceOptions { degenerate, ..SurfaceOptions::default() };
///     surface_from_bytes(obj, "flag.obj", SurfaceUse::Cloth, &options)
/// };
/// assert_eq!(load(Degenerate::Drop)?.0.triangles().len(), 1);
/// assert!(matches!(load(Degenerate::Refuse), Err(MeshError::Element(_))));
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Degenerate {
    /// An error with the index of the triangle.
    Refuse,
    /// Dropped and reported. A solid that is open without it is still an error.
    Drop,
}

/// Treatment of elements with the wrong order of vertices.
///
/// ```
/// use pliant_hydroelastic::mesh::{MeshError, Orientation, SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // The surface of a tetrahedron, whose last triangle has the wrong order.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n";
/// let load = |orientation| {
///     let options = SurfaceOptions { orientation, ..SurfaceOptions::default() };
///     surface_from_bytes(obj, "corner.obj", SurfaceUse::Solid, &options)
/// };
/// let (mesh, report) = load(Orientation::Reorder)?;
/// assert!((mesh.solid_moments().expect("it is closed").volume - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(report.entries.len(), 1);
/// assert!(matches!(load(Orientation::Refuse), Err(MeshError::Element(_))));
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// An error with the index of the element.
    Refuse,
    /// Reordered and reported.
    Reorder,
}

/// Whether a solid's surface is tested for self-intersections.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{SelfIntersections, Severity, SurfaceOptions, SurfaceUse, TriMesh, generate};
///
/// // Two cubes of 1 m in one surface; a corner of each lies in the other.
/// let cube = generate::cuboid(Vector3::repeat(0.5))?;
/// let shifted = cube.vertices().iter().map(|x| x + Vector3::new(0.5, 0.4, -0.3));
/// let vertices: Vec<_> = cube.vertices().iter().copied().chain(shifted).collect();
/// let n = cube.vertices().len() as u32;
/// let triangles: Vec<_> = cube.raw_triangles().chain(cube.raw_triangles().map(|t| t.map(|v| v + n))).collect();
/// let found = |self_intersections| {
///     let options = SurfaceOptions { self_intersections, ..SurfaceOptions::default() };
///     let built = TriMesh::build(vertices.clone(), triangles.clone(), SurfaceUse::Solid, &options);
///     built.map(|(_, report)| report.of(Severity::Suspicious).count())
/// };
/// assert_eq!(found(SelfIntersections::Report)?, 1);
/// assert_eq!(found(SelfIntersections::Skip)?, 0);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfIntersections {
    /// Tested; the first intersection found is reported as suspicious.
    Report,
    /// Not tested: saves time on large meshes known to be valid.
    Skip,
}

/// Options of loading a surface.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, surface_from_bytes};
///
/// // A triangle in millimetres.
/// let obj = b"v 0 0 0\nv 1000 0 0\nv 0 1000 0\nf 1 2 3\n";
/// let options = SurfaceOptions { scale: Vector3::repeat(1e-3), ..SurfaceOptions::default() };
/// let (mesh, _) = surface_from_bytes(obj, "sheet.obj", SurfaceUse::Cloth, &options)?;
/// assert!((mesh.area() - 0.5).abs() < 1e-15); // m²
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Factor on each coordinate, e.g. 0.001 for a file in millimetres; components must be non-zero. An odd number of
    /// negative components mirrors the shape; the triangles are then reversed to keep their outward orientation.
    pub scale: Vector3<f64>,
    /// Which vertices are merged.
    pub weld: Weld,
    /// When vertices are merged.
    pub weld_when: WeldWhen,
    /// Treatment of triangles without area.
    pub degenerate: Degenerate,
    /// Treatment of triangles oriented against their neighbours, of bodies oriented inwards, and of cavities oriented outwards: a shell inside an
    /// odd number of others bounds a cavity.
    pub orientation: Orientation,
    /// Whether a solid is tested for self-intersections.
    pub self_intersections: SelfIntersections,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        Self {
            scale: Vector3::repeat(1.0),
            weld: Weld::Exact, // never changes the shape; a distance would depend on the unit
            weld_when: WeldWhen::OpenSolid, // keeps the seams of a cloth, and bodies that only touch, separate
            degenerate: Degenerate::Drop,   // contributes neither area nor a normal
            orientation: Orientation::Reorder,
            self_intersections: SelfIntersections::Report,
        }
    }
}

/// Options of loading a tetrahedral mesh.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{Severity, TetMesh, TetOptions};
///
/// // A tetrahedron with its corners in the wrong order is repaired, and the report says so.
/// let corners = vec![Vector3::zeros(), Vector3::y(), Vector3::x(), Vector3::z()];
/// let (mesh, report) = TetMesh::build(corners, vec![[0, 1, 2, 3]], &TetOptions::default())?;
/// assert!((mesh.solid_moments().volume - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!(report.of(Severity::Repaired).count(), 1);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetOptions {
    /// Factor on each coordinate, as in [`SurfaceOptions::scale`].
    pub scale: Vector3<f64>,
    /// Which vertices are merged.
    pub weld: Weld,
    /// Treatment of tetrahedra of negative volume.
    pub orientation: Orientation,
}

impl Default for TetOptions {
    fn default() -> Self {
        Self {
            scale: Vector3::repeat(1.0),
            weld: Weld::Never, // two bodies in one file may touch without being joined; coincident points are reported
            orientation: Orientation::Reorder,
        }
    }
}

impl SurfaceOptions {
    /// Checks the ranges of scale and welding distance.
    ///
    /// # Errors
    /// [`MeshError::Setting`].
    pub fn validate(&self) -> Result<(), MeshError> {
        validate_scale_and_weld(&self.scale, self.weld)
    }
}

impl TetOptions {
    /// Checks the ranges of scale and welding distance.
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
            "Each factor must be finite and non-zero",
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
        Location::new("mesh options", FilePosition::Whole),
        what,
        remedy,
    ))
}
