//! Entry points of the readers: from a path or bytes to a checked mesh and a load report.

use super::cells::{Grid, RequestedCells};
use super::drawn::{DrawnPart, drawn_from_bytes, is_of_scenes};
use super::error::{FilePosition, Flaw, Location, MeshError};
use super::format::MeshFormat;
use super::names::Names;
use super::options::{SurfaceOptions, SurfaceUse, TetOptions};
use super::report::LoadReport;
use super::soup::Soup;
use super::surface_build::build_surface;
use super::tet_build::build_tets;
use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use super::{gmsh, mujoco_msh, obj, ply, stl, vtk, vtu};
use nalgebra::Vector3;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Larger files are refused: their indices would approach the limit of 32 bits.
const FILE_BYTES_MAX: u64 = 1 << 32;

/// Reads a surface from an OBJ, STL, PLY, legacy VTK, VTU, Gmsh, MuJoCo MSH, COLLADA or glTF file.
///
/// The format is determined by the content, otherwise by the extension; COLLADA (`.dae`) and glTF (`.glb`, `.gltf`) by the extension. All
/// parts of their scene are one surface, at their poses.
///
/// # Errors
/// [`MeshError`] with the file, the line or byte, the element, the value and the remedy.
pub fn read_surface(
    path: impl AsRef<Path>,
    surface_use: SurfaceUse,
    options: &SurfaceOptions,
) -> Result<(TriMesh, LoadReport), MeshError> {
    let (bytes, name) = bytes_of(path.as_ref())?;
    surface_from_bytes(&bytes, &name, surface_use, options)
}

/// The parts of a scene as one surface.
fn surface_of_scene(
    bytes: &[u8],
    file: &str,
    surface_use: SurfaceUse,
    options: &SurfaceOptions,
) -> Result<(TriMesh, LoadReport), MeshError> {
    let (parts, report) = drawn_from_bytes(bytes, file, &Vector3::repeat(1.0))?;
    let whole = DrawnPart::joined(parts);
    let soup = Soup {
        names: Names::of_arrays(file, "triangle", "triangles"),
        vertices: whole.vertices,
        element_of: (0..whole.triangles.len() as u32).collect(),
        triangles: whole.triangles,
    };
    build_surface(soup, surface_use, options, report)
}

/// Reads a tetrahedral mesh from a legacy VTK, VTU or Gmsh file, of tetrahedra with four or ten nodes ([`TetMesh::edge_nodes`]).
///
/// # Errors
/// [`MeshError`] with the file, the line or byte, the element, the value and the remedy.
pub fn read_tets(
    path: impl AsRef<Path>,
    options: &TetOptions,
) -> Result<(TetMesh, LoadReport), MeshError> {
    let (bytes, name) = bytes_of(path.as_ref())?;
    tets_from_bytes(&bytes, &name, options)
}

/// [`read_surface`] from memory; `file_name` is used in messages, and its extension to guess the format. Coordinates become m by
/// [`SurfaceOptions::scale`].
///
/// # Errors
/// As [`read_surface`].
pub fn surface_from_bytes(
    bytes: &[u8],
    file_name: &str,
    surface_use: SurfaceUse,
    options: &SurfaceOptions,
) -> Result<(TriMesh, LoadReport), MeshError> {
    if is_of_scenes(Path::new(file_name)) {
        return surface_of_scene(bytes, file_name, surface_use, options);
    }
    let (soup, report) = grid_from_bytes(bytes, file_name, RequestedCells::Surface)?.into_soup()?;
    build_surface(soup, surface_use, options, report)
}

/// [`read_tets`] from memory; `file_name` is used in messages, and its extension to guess the format. Coordinates become m by
/// [`TetOptions::scale`].
///
/// # Errors
/// As [`read_tets`].
///
/// ```
/// use pliant_hydroelastic::mesh::{MeshError, TetOptions, tets_from_bytes};
///
/// let vtk = b"# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
///     0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";
/// let (mesh, _) = tets_from_bytes(vtk, "one.vtk", &TetOptions::default())?;
/// assert!((mesh.solid_moments().volume - 1.0 / 6.0).abs() < 1e-15);
/// // An OBJ file has no tetrahedra.
/// assert!(matches!(tets_from_bytes(b"v 0 0 0\n", "one.obj", &TetOptions::default()), Err(MeshError::Unsupported(_))));
/// # Ok::<(), MeshError>(())
/// ```
pub fn tets_from_bytes(
    bytes: &[u8],
    file_name: &str,
    options: &TetOptions,
) -> Result<(TetMesh, LoadReport), MeshError> {
    let (soup, report) =
        grid_from_bytes(bytes, file_name, RequestedCells::Tets)?.into_tet_soup()?;
    build_tets(soup, options, report)
}

pub(super) fn grid_from_bytes(
    bytes: &[u8],
    file: &str,
    requested: RequestedCells,
) -> Result<Grid, MeshError> {
    let mut report = LoadReport::default();
    let format = MeshFormat::choose(file, bytes, &mut report)?;
    if requested == RequestedCells::Tets && !format.may_have_tets() {
        return Err(MeshError::Unsupported(Flaw::new(
            Location::new(file, FilePosition::Whole),
            format!(
                "{} files contain surfaces only, but a tetrahedral mesh was requested",
                format.name()
            ),
            "Use legacy VTK, VTU or Gmsh",
        )));
    }
    match format {
        MeshFormat::Obj => obj::parse(bytes, file, report),
        MeshFormat::Stl => stl::parse(bytes, file, report),
        MeshFormat::Ply => ply::parse(bytes, file, report),
        MeshFormat::LegacyVtk => vtk::parse(bytes, file, requested, report),
        MeshFormat::Vtu => vtu::parse(bytes, file, report),
        MeshFormat::Gmsh => gmsh::parse(bytes, file, report),
        MeshFormat::MujocoMsh => mujoco_msh::parse(bytes, file, report),
    }
}

/// The content of a file of at most `bytes_max` bytes; memory grows with the bytes that are there.
///
/// ```
/// use pliant_hydroelastic::mesh::read_bounded;
///
/// let path = std::env::temp_dir().join(format!("read-bounded-{}", std::process::id()));
/// std::fs::write(&path, [7; 100])?;
/// assert_eq!(read_bounded(&path, 100)?.len(), 100);
/// assert_eq!(read_bounded(&path, 99).unwrap_err().kind(), std::io::ErrorKind::FileTooLarge);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Something else than a file, such as a device, which may have no end; more bytes; an error of the file system.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no file"));
    }
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let most = match bytes_max >> 20 {
            0 => format!("{bytes_max} bytes"),
            mebibytes => format!("{mebibytes} MiB"),
        };
        let reason = format!("has more than {most}, the most that is read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

pub(super) fn bytes_of(path: &Path) -> Result<(Vec<u8>, String), MeshError> {
    let name = path.display().to_string();
    match read_bounded(path, FILE_BYTES_MAX) {
        Ok(bytes) => Ok((bytes, name)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(MeshError::TooLarge(Flaw::new(
                Location::new(&name, FilePosition::Whole),
                format!("the file has more than {FILE_BYTES_MAX} bytes"),
                "Split the mesh",
            )))
        }
        Err(source) => Err(MeshError::Unreadable { file: name, source }),
    }
}
