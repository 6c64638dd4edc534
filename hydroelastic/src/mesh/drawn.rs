//! Surfaces as they are drawn: triangles and colours, without the checks that contact needs.

use std::collections::HashMap;
use std::path::Path;

use nalgebra::Vector3;

use super::cells::RequestedCells;
use super::error::{FilePosition, Flaw, Location, MeshError};
use super::read::{bytes_of, grid_from_bytes};
use super::report::LoadReport;

/// Extensions of the files that [`read_drawn`] reads.
const DRAWABLE: [&str; 5] = ["obj", "stl", "vtk", "vtu", "msh"];

/// Triangles of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnPart {
    /// Positions of the vertices, m.
    pub vertices: Vec<Vector3<f64>>,
    /// Vertex indices of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour: red, green, blue and opacity in [0, 1]; `None` if the file gives none.
    pub rgba: Option<[f64; 4]>,
}

/// Whether the name of a file has an extension that [`read_drawn`] reads.
pub fn is_drawable(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| DRAWABLE.contains(&&*e.to_ascii_lowercase()))
}

/// Reads a surface for drawing; `scale` is the factor on each coordinate. Surfaces may be open, and edges may have any number of
/// triangles.
///
/// # Errors
/// [`MeshError`] with the file, the line or byte, the element, the value and the remedy.
pub fn read_drawn(
    path: impl AsRef<Path>,
    scale: &Vector3<f64>,
) -> Result<(Vec<DrawnPart>, LoadReport), MeshError> {
    let (bytes, name) = bytes_of(path.as_ref())?;
    let (soup, report) = grid_from_bytes(&bytes, &name, RequestedCells::Surface)?.into_soup()?;
    let mut part = DrawnPart {
        vertices: soup.vertices,
        triangles: soup.triangles,
        rgba: None,
    };
    if let Some(at) = part
        .vertices
        .iter()
        .position(|v| !v.iter().all(|x| x.is_finite()))
    {
        return Err(MeshError::Coordinate(Flaw::new(
            Location::new(&name, FilePosition::Whole),
            format!("vertex {at} is not finite"),
            "Write the mesh again",
        )));
    }
    part.finish(scale);
    Ok((vec![part], report))
}

impl DrawnPart {
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
