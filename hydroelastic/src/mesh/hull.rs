//! The convex hull of a mesh: only its points matter, whatever its triangles are.

use super::cells::RequestedCells;
use super::drawn::{drawn_from_bytes, is_of_scenes};
use super::error::{Flaw, MeshError};
use super::names::Names;
use super::options::SurfaceOptions;
use super::read::{bytes_of, grid_from_bytes};
use super::report::LoadReport;
use super::vertex_checks::{check_extent, check_finite, scale as scale_points};
use crate::ConvexHull;
use nalgebra::{Point3, Vector3};
use std::path::Path;

/// Reads the convex hull of a mesh in any format of [`read_surface`](super::read_surface), or of the points of a tetrahedral mesh;
/// `scale` is the factor on each coordinate.
///
/// Points that no element uses are left out, unless the file has no elements. How the elements are connected has no effect: they may
/// repeat, cross, leave holes, or meet at an edge in any number.
///
/// # Errors
/// [`MeshError`] for a file that its format does not allow, for a coordinate that is not finite, and [`MeshError::Topology`] for points
/// that lie in one plane.
pub fn read_hull(
    path: impl AsRef<Path>,
    scale: &Vector3<f64>,
) -> Result<(ConvexHull, LoadReport), MeshError> {
    let (bytes, name) = bytes_of(path.as_ref())?;
    hull_from_bytes(&bytes, &name, scale)
}

/// [`read_hull`] from memory; `file_name` is used in messages, and its extension to guess the format.
///
/// # Errors
/// As [`read_hull`].
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, hull_from_bytes, surface_from_bytes};
///
/// // Three triangles meet at the edge 1-2: no surface, but five points that span a volume.
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 2 3\nf 1 2 4\nf 1 2 5\n";
/// let options = SurfaceOptions::default();
/// assert!(surface_from_bytes(obj, "fin.obj", SurfaceUse::Cloth, &options).is_err());
/// let (hull, _) = hull_from_bytes(obj, "fin.obj", &Vector3::repeat(1.0))?;
/// assert_eq!(hull.vertices().len(), 5);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn hull_from_bytes(
    bytes: &[u8],
    file_name: &str,
    scale: &Vector3<f64>,
) -> Result<(ConvexHull, LoadReport), MeshError> {
    let options = SurfaceOptions {
        scale: *scale,
        ..SurfaceOptions::default()
    };
    options.validate()?;
    let (names, mut points, mut report) = points(bytes, file_name)?;
    check_finite(&names, &points)?;
    scale_points(&mut points, scale);
    check_extent(&names, &points, &mut report)?;
    let points: Vec<Point3<f64>> = points.into_iter().map(Point3::from).collect();
    let hull = ConvexHull::new(&points).map_err(|_| {
        let what = format!("its {} points lie in one plane", points.len());
        let remedy =
            "A body in contact needs a volume: give the mesh a thickness, or use a thin box";
        MeshError::Topology(Flaw::new(names.whole(), what, remedy))
    })?;
    Ok((hull, report))
}

fn points(bytes: &[u8], file: &str) -> Result<(Names, Vec<Vector3<f64>>, LoadReport), MeshError> {
    if !is_of_scenes(Path::new(file)) {
        return Ok(grid_from_bytes(bytes, file, RequestedCells::Surface)?.into_used_points());
    }
    let (parts, report) = drawn_from_bytes(bytes, file, &Vector3::repeat(1.0))?;
    let names = Names::of_arrays(file, "triangle", "triangles");
    let points = parts.into_iter().flat_map(|part| part.vertices);
    Ok((names, points.collect(), report))
}
