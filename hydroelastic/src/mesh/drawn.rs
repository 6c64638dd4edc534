//! Surfaces as they are drawn: triangles and colours, without the checks that contact needs.
//!
//! | format | colours |
//! |---|---|
//! | OBJ | `usemtl` with the diffuse colour `Kd` and the opacity `d` of its MTL file |
//! | COLLADA (DAE) | the diffuse colour of materials; lengths in the unit of the file, its up axis as written, as in ROS |
//! | glTF, GLB | `baseColorFactor` of materials; y is up in these files, and is turned to z |
//! | STL, PLY, VTK, VTU, Gmsh | none |
//!
//! Textures are not read: their materials keep the colour that the file gives.

mod budget;
mod collada;
mod gltf;
mod obj_colours;

use std::collections::HashMap;
use std::path::Path;

use nalgebra::{Matrix4, Point3, Vector3};

use super::cells::RequestedCells;
use super::error::{FilePosition, Flaw, Location, MeshError};
use super::read::{bytes_of, grid_from_bytes};
use super::report::{LoadReport, Severity};

/// Extensions of the files that [`read_drawn`] and [`read_surface`](super::read_surface) read.
pub const SURFACE_FILES: [&str; 9] = [
    "obj", "stl", "ply", "dae", "glb", "gltf", "vtk", "vtu", "msh",
];
/// Nodes of a scene may be nested to this depth.
const DEPTH_MAX: usize = 64;

/// The triangles of one colour of a drawn surface, in the frame of the file after scaling.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::read_drawn;
///
/// // A coloured triangle and one without a colour, in millimetres.
/// let folder = std::env::temp_dir().join(format!("drawn-part-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("paint.mtl"), "newmtl red\nKd 1 0 0\n")?;
/// let obj = "mtllib paint.mtl\nv 0 0 0\nv 1000 0 0\nv 0 1000 0\nf 1 2 3\nusemtl red\nf 3 2 1\n";
/// std::fs::write(folder.join("flag.obj"), obj)?;
/// let (parts, _) = read_drawn(folder.join("flag.obj"), &Vector3::repeat(1e-3))?;
/// assert_eq!(parts.iter().map(|part| part.rgba).collect::<Vec<_>>(), [None, Some([1.0, 0.0, 0.0, 1.0])]);
/// assert!(parts[0].vertices.contains(&Vector3::x())); // 1 m
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnPart {
    /// Positions of the vertices, m.
    pub vertices: Vec<Vector3<f64>>,
    /// Vertex indices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour: red, green, blue and opacity in [0, 1], sRGB; `None` if the file gives none.
    pub rgba: Option<[f64; 4]>,
}

/// Whether the name of a file has one of these extensions.
pub fn is_surface_file(path: &Path) -> bool {
    SURFACE_FILES.contains(&&*extension(path))
}

fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// Reads a surface for drawing, one part per colour; `scale` is the factor on each coordinate. Surfaces may be open, and edges may
/// have any number of triangles. Files beside it are opened only if they have the extension `.mtl` or `.bin`.
///
/// # Errors
/// [`MeshError`] with the file, the place if known, the value and the remedy.
pub fn read_drawn(
    path: impl AsRef<Path>,
    scale: &Vector3<f64>,
) -> Result<(Vec<DrawnPart>, LoadReport), MeshError> {
    let (bytes, name) = bytes_of(path.as_ref())?;
    drawn_from_bytes(&bytes, &name, scale)
}

/// [`read_drawn`] from memory; `file_name` is used in messages, to guess the format, and to find the files beside it.
///
/// # Errors
/// As [`read_drawn`].
pub fn drawn_from_bytes(
    bytes: &[u8],
    file_name: &str,
    scale: &Vector3<f64>,
) -> Result<(Vec<DrawnPart>, LoadReport), MeshError> {
    let path = Path::new(file_name);
    let mut report = LoadReport::default();
    let mut parts = match &*extension(path) {
        "dae" => collada::parse(bytes, file_name, &mut report)?,
        "glb" | "gltf" => gltf::parse(bytes, path, &mut report)?,
        other => {
            let grid = grid_from_bytes(bytes, file_name, RequestedCells::Surface)?;
            let (soup, _) = grid.into_soup()?;
            let material_of = match other {
                "obj" => obj_colours::read(bytes, path, &mut report)?,
                _ => obj_colours::FaceColours::default(),
            };
            material_of.split(&soup.vertices, &soup.triangles, &soup.element_of)
        }
    };
    parts.retain(|part| !part.triangles.is_empty());
    if parts.is_empty() {
        let remedy = "Write the mesh again";
        return Err(fault(file_name, "has no triangles", remedy));
    }
    for part in &mut parts {
        part.check(file_name)?;
        part.finish(scale);
    }
    Ok((parts, report))
}

/// Whether a file has scenes with materials, whose parts are read by [`read_drawn`] only.
pub(super) fn is_of_scenes(path: &Path) -> bool {
    ["dae", "glb", "gltf"].contains(&&*extension(path))
}

/// An error about the whole file.
fn fault(file: &str, what: impl Into<String>, remedy: &str) -> MeshError {
    let at = Location::new(file, FilePosition::Whole);
    MeshError::Syntax(Flaw::new(at, what, remedy))
}

fn note(report: &mut LoadReport, file: &str, severity: Severity, text: impl Into<String>) {
    report.add(severity, Location::new(file, FilePosition::Whole), text);
}

impl DrawnPart {
    /// The parts as one, without a colour.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::mesh::DrawnPart;
    ///
    /// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
    /// let part = DrawnPart { vertices, triangles: vec![[0, 1, 2]], rgba: None };
    /// let both = DrawnPart::joined(vec![part.clone(), part]);
    /// assert_eq!(both.triangles, [[0, 1, 2], [3, 4, 5]]);
    /// ```
    #[must_use]
    pub fn joined(parts: Vec<Self>) -> Self {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for part in parts {
            let first = vertices.len() as u32;
            vertices.extend(part.vertices);
            let corners = part.triangles.iter();
            triangles.extend(corners.map(|t| t.map(|corner| corner + first)));
        }
        Self {
            vertices,
            triangles,
            rgba: None,
        }
    }

    fn check(&self, file: &str) -> Result<(), MeshError> {
        let n = self.vertices.len();
        let mut corners = self.triangles.iter().flatten();
        if let Some(corner) = corners.find(|corner| **corner as usize >= n) {
            let what = format!("a triangle refers to vertex {corner} of {n}");
            return Err(fault(file, what, "Write the mesh again"));
        }
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        if let Some(at) = self.vertices.iter().position(|v| !finite(v)) {
            let what = format!("vertex {at} is not finite");
            return Err(fault(file, what, "Write the mesh again"));
        }
        Ok(())
    }

    /// The part in a scene, at a pose that may scale and mirror.
    fn placed(&self, transform: &Matrix4<f64>) -> Self {
        let place = |v: &Vector3<f64>| transform.transform_point(&Point3::from(*v)).coords;
        let mut placed = Self {
            vertices: self.vertices.iter().map(place).collect(),
            ..self.clone()
        };
        if transform.fixed_view::<3, 3>(0, 0).determinant() < 0.0 {
            placed.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        placed
    }

    /// Scales the coordinates, keeps triangles counter-clockwise if the scale mirrors them, and joins equal vertices.
    fn finish(&mut self, scale: &Vector3<f64>) {
        self.vertices
            .iter_mut()
            .for_each(|v| v.component_mul_assign(scale));
        if scale.product() < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let mut index_of = HashMap::new();
        let mut vertices = Vec::new();
        let mut index = |v: &Vector3<f64>| {
            // Adding 0 makes equal zeros of either sign equal bits.
            let bits = [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
            *index_of.entry(bits).or_insert_with(|| {
                vertices.push(*v);
                vertices.len() as u32 - 1
            })
        };
        for corner in self.triangles.iter_mut().flatten() {
            *corner = index(&self.vertices[*corner as usize]);
        }
        self.vertices = vertices;
    }
}

#[cfg(test)]
mod tests;
