//! Triangles of shapes.

use nalgebra::Vector3;
use pliant_hydroelastic::AnalyticShape;
use pliant_hydroelastic::mesh::{MeshError, TriMesh, generate};

use crate::recording::VisualShape;

/// Segments around an axis of symmetry.
const SEGMENTS: u32 = 32;
/// Subdivisions of the icosahedron of a sphere: 20 · 4³ triangles.
const SUBDIVISIONS: u32 = 3;

/// A surface in the frame of its visual.
#[derive(Default)]
pub(in crate::recording) struct Surface {
    pub(in crate::recording) vertices: Vec<Vector3<f64>>,
    pub(in crate::recording) triangles: Vec<[u32; 3]>,
}

impl From<&TriMesh> for Surface {
    fn from(mesh: &TriMesh) -> Self {
        Self {
            vertices: mesh.vertices().to_vec(),
            triangles: mesh.raw_triangles().collect(),
        }
    }
}

impl Surface {
    /// The surface of a rigid shape, only the triangles of a deforming mesh, and nothing of points and threads. A half space
    /// becomes a square of edge 2 `reach` (m).
    pub(in crate::recording) fn of(shape: &VisualShape, reach: f64) -> Result<Self, MeshError> {
        match shape {
            VisualShape::Analytic(shape) => analytic(shape, reach),
            VisualShape::Mesh {
                vertices,
                triangles,
            } => Ok(Self {
                vertices: vertices.iter().map(|vertex| vertex.coords).collect(),
                triangles: triangles.clone(),
            }),
            VisualShape::DeformingMesh { triangles, .. } => Ok(Self {
                vertices: vec![],
                triangles: triangles.clone(),
            }),
            VisualShape::Points { .. } | VisualShape::Thread { .. } => Ok(Self::default()),
        }
    }
}

fn analytic(shape: &AnalyticShape, reach: f64) -> Result<Surface, MeshError> {
    let mesh = match *shape {
        AnalyticShape::HalfSpace {} => generate::sheet([2.0 * reach; 2], [1, 1])?,
        AnalyticShape::Sphere { radius }
        | AnalyticShape::Capsule {
            radius,
            length: 0.0,
        } => generate::sphere(radius, SUBDIVISIONS)?,
        AnalyticShape::Box { size } => generate::cuboid(0.5 * size)?,
        AnalyticShape::Cylinder { radius, length } => {
            generate::cylinder(radius, 0.5 * length, SEGMENTS)?
        }
        AnalyticShape::Capsule { radius, length } => {
            generate::capsule(radius, 0.5 * length, SEGMENTS)?
        }
        AnalyticShape::Ellipsoid { semi_axes } => {
            let mut sphere = Surface::from(&generate::sphere(1.0, SUBDIVISIONS)?);
            for vertex in &mut sphere.vertices {
                vertex.component_mul_assign(&semi_axes);
            }
            return Ok(sphere);
        }
        AnalyticShape::Cone { radius, height } => return Ok(cone(radius, height)),
    };
    Ok(Surface::from(&mesh))
}

/// Two fans around the base's rim: the side about the apex, the base about its centre.
fn cone(radius: f64, height: f64) -> Surface {
    let rim = (0..SEGMENTS).map(|i| {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(SEGMENTS);
        Vector3::new(radius * angle.cos(), radius * angle.sin(), -0.5 * height)
    });
    let (apex, centre) = (Vector3::z() * 0.5 * height, Vector3::z() * -0.5 * height);
    let triangles = (0..SEGMENTS).flat_map(|i| {
        let next = (i + 1) % SEGMENTS;
        [[i, next, SEGMENTS], [next, i, SEGMENTS + 1]]
    });
    Surface {
        vertices: rim.chain([apex, centre]).collect(),
        triangles: triangles.collect(),
    }
}
