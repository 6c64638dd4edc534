//! The surface of a rigid body in patch contact.

use nalgebra::Vector3;

use crate::field::{geodesic_frequency, unit_sphere};
use crate::pressure_bvh::{PressureBox, PressureBvh};
use crate::shape::MeshShape;
use crate::{GeometryError, Shape};

/// The surface of a rigid body in patch contact, in the frame G of its shape: closed triangles with adjacency and a tree of boxes.
///
/// ```
/// use nalgebra::{Vector2, Vector3};
/// use pliant_hydroelastic::{GeometryError, RigidSurface, Shape};
///
/// // The faces of a box are its triangles, whatever the edge length.
/// let cube = RigidSurface::of_shape(&Shape::cuboid(Vector3::repeat(0.1))?, 0.01)?;
/// assert_eq!(cube.triangles().len(), 12);
/// let oval = Shape::elliptic_cylinder(Vector2::new(0.2, 0.1), 0.5)?;
/// assert!(matches!(RigidSurface::of_shape(&oval, 0.01), Err(GeometryError::NoField { .. })));
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RigidSurface {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vector3<f64>>,
    neighbours: Vec<[u32; 3]>,
    /// Coplanar connected triangles have the same number.
    planes: Vec<u32>,
    /// One triangle of each connected component.
    parts: Vec<u32>,
    tree: PressureBvh,
}

impl RigidSurface {
    /// The surface of a bounded shape; curved sides become facets with edges of about `edge_length` (m) that enclose
    /// the exact volume.
    ///
    /// # Errors
    /// [`GeometryError::Material`] unless the edge length is finite and positive, [`GeometryError::NoField`] for a half
    /// space, an elliptic cylinder or a custom shape.
    pub fn of_shape(shape: &Shape, edge_length: f64) -> Result<Self, GeometryError> {
        if !edge_length.is_finite() || edge_length <= 0.0 {
            return Err(GeometryError::Material {
                parameter: "mesh_resolution_hint (m)",
                value: edge_length,
                allowed: "must be finite and positive",
            });
        }
        let ball = |semi_axes: Vector3<f64>| {
            let (vertices, triangles) =
                unit_sphere(geodesic_frequency(semi_axes.max(), edge_length));
            let vertices: Vec<_> = vertices
                .iter()
                .map(|v| v.component_mul(&semi_axes))
                .collect();
            (vertices, triangles)
        };
        let (vertices, triangles): (Vec<Vector3<f64>>, Vec<[u32; 3]>) = match shape {
            Shape::Sphere(s) => ball(Vector3::repeat(s.radius())),
            Shape::Ellipsoid(s) => ball(s.semi_axes()),
            Shape::Mesh(mesh) => return Ok(Self::of_mesh(mesh)),
            Shape::ConvexHull(hull) => (
                hull.vertices().iter().map(|p| p.coords).collect(),
                hull.triangles().collect(),
            ),
            Shape::HalfSpace | Shape::EllipticCylinder(_) | Shape::Custom(_) => {
                return Err(GeometryError::NoField {
                    shape: shape.name(),
                });
            }
            // The skin of the field: a shape has the same mesh whether it is rigid or compliant.
            Shape::Box(_) | Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_) => {
                let field = crate::PressureField::of_shape(
                    shape,
                    &crate::Compliance {
                        margin: 0.0,
                        mesh_resolution_hint: edge_length,
                        ..crate::Compliance::default()
                    },
                )?;
                (
                    field.vertices().to_vec(),
                    field.surface_triangles().collect(),
                )
            }
        };
        let points: Vec<_> = vertices.iter().map(|v| (*v).into()).collect();
        Ok(Self::of_mesh(&MeshShape::new(&points, &triangles)?))
    }

    /// The surface of a mesh, unchanged.
    pub(crate) fn of_mesh(mesh: &MeshShape) -> Self {
        let vertices: Vec<Vector3<f64>> = mesh.vertices().iter().map(|p| p.coords).collect();
        let triangles = mesh.triangles().to_vec();
        let normals: Vec<Vector3<f64>> = (0..triangles.len() as u32)
            .map(|t| *mesh.normal(t))
            .collect();
        let neighbours: Vec<[u32; 3]> = (0..triangles.len() as u32)
            .map(|t| {
                mesh.triangle_edges(t).map(|e| {
                    let [s, u] = mesh.edges()[e as usize].triangles;
                    if s == t { u } else { s }
                })
            })
            .collect();
        let ranges: Vec<PressureBox> = triangles
            .iter()
            .map(|t| PressureBox::of_points(t.map(|v| vertices[v as usize])))
            .collect();
        let size = mesh.local_aabb().half_extents().norm();
        let planes = planes(&vertices, &triangles, &normals, &neighbours, size);
        Self {
            tree: PressureBvh::new(&ranges).around(&vertices),
            parts: parts(&neighbours),
            vertices,
            triangles,
            normals,
            neighbours,
            planes,
        }
    }

    /// Vertices, m.
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Triangles as vertex indices, counter-clockwise seen from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// Zero for a triangle without area.
    pub(crate) fn normal(&self, triangle: u32) -> &Vector3<f64> {
        &self.normals[triangle as usize]
    }

    pub(crate) fn across(&self, triangle: u32) -> &[u32; 3] {
        &self.neighbours[triangle as usize]
    }

    pub(crate) fn plane(&self, triangle: u32) -> u32 {
        self.planes[triangle as usize]
    }

    /// One triangle of each connected component.
    pub(crate) fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// Half of its longest side, m.
    pub(crate) fn extent(&self) -> f64 {
        self.tree.root().half().max()
    }

    pub(crate) fn tree(&self) -> &PressureBvh {
        &self.tree
    }
}

/// The first triangle of each connected component.
fn parts(neighbours: &[[u32; 3]]) -> Vec<u32> {
    let mut visited = vec![false; neighbours.len()];
    let (mut parts, mut open) = (Vec::new(), Vec::new());
    for start in 0..neighbours.len() as u32 {
        if visited[start as usize] {
            continue;
        }
        parts.push(start);
        open.push(start);
        while let Some(t) = open.pop() {
            if !std::mem::replace(&mut visited[t as usize], true) {
                open.extend(neighbours[t as usize]);
            }
        }
    }
    parts
}

/// Groups coplanar neighbours.
fn planes(
    vertices: &[Vector3<f64>],
    triangles: &[[u32; 3]],
    normals: &[Vector3<f64>],
    neighbours: &[[u32; 3]],
    size: f64,
) -> Vec<u32> {
    let mut plane = vec![u32::MAX; triangles.len()];
    let mut open = Vec::new();
    for start in 0..triangles.len() as u32 {
        if plane[start as usize] != u32::MAX {
            continue;
        }
        plane[start as usize] = start;
        let normal = normals[start as usize];
        let on = vertices[triangles[start as usize][0] as usize];
        open.push(start);
        while let Some(t) = open.pop() {
            for &n in &neighbours[t as usize] {
                let flat = |v: &u32| normal.dot(&(vertices[*v as usize] - on)).abs() <= 1e-9 * size;
                if plane[n as usize] == u32::MAX
                    && normal.dot(&normals[n as usize]) > 0.999_999
                    && triangles[n as usize].iter().all(flat)
                {
                    plane[n as usize] = start;
                    open.push(n);
                }
            }
        }
    }
    plane
}
