//! The surface of a body in contact.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::Surface;
use pliant_hydroelastic::mesh::TetMesh;

use crate::error::FemError;

/// The boundary of a mesh, and its vertices' radii.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skin {
    /// Edges between vertices of the boundary, including interior edges; their vertices are excluded from self-contact.
    pub(crate) edges: Vec<[u32; 2]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The element behind each triangle.
    behind: Vec<u32>,
    tetrahedra: Vec<[u32; 4]>,
    /// Radius of each vertex, zero in the interior; empty without balls.
    radii: Vec<f64>,
}

impl Skin {
    pub(crate) fn of(mesh: &TetMesh) -> Self {
        let boundary = mesh.boundary();
        let triangles: Vec<_> = boundary.triangles.iter().map(|t| t.map(|v| v.0)).collect();
        let tetrahedra: Vec<_> = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        let mut on_boundary = vec![false; mesh.vertices().len()];
        for vertex in triangles.iter().flatten() {
            on_boundary[*vertex as usize] = true;
        }
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let sides = tetrahedra
            .iter()
            .flat_map(|t: &[u32; 4]| pairs.map(|pair| pair.map(|k| t[k])));
        let mut edges: Vec<[u32; 2]> = sides
            .filter(|side| side.iter().all(|v| on_boundary[*v as usize]))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Self {
            edges,
            triangles,
            behind: boundary.tets.iter().map(|t| t.0).collect(),
            tetrahedra,
            radii: Vec::new(),
        }
    }

    /// Sets the radius (m) of balls around the vertices of the boundary.
    ///
    /// # Errors
    /// [`FemError::Parameter`] or, if two vertices that share no edge would touch at rest, [`FemError::ContactRadius`].
    pub(crate) fn set_radius(
        &mut self,
        radius: f64,
        rest: &[Vector3<f64>],
    ) -> Result<(), FemError> {
        FemError::require_at_least_zero("contact_radius (m)", radius)?;
        if radius == 0.0 {
            return Ok(());
        }
        let mut vertices: Vec<u32> = self.triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let along_x = |a: &u32, b: &u32| rest[*a as usize].x.total_cmp(&rest[*b as usize].x);
        let mut ordered = vertices.clone();
        ordered.sort_by(along_x);
        let mut closest: Option<(f64, u32, u32)> = None;
        for (k, &a) in ordered.iter().enumerate() {
            for &b in &ordered[k + 1..] {
                let offset = rest[b as usize] - rest[a as usize];
                if offset.x > 2.0 * radius {
                    break;
                }
                let edge = [a.min(b), a.max(b)];
                let nearer = closest.is_none_or(|(distance, ..)| offset.norm() < distance);
                if nearer
                    && offset.norm() < 2.0 * radius
                    && self.edges.binary_search(&edge).is_err()
                {
                    closest = Some((offset.norm(), edge[0], edge[1]));
                }
            }
        }
        if let Some((distance, a, b)) = closest {
            return Err(FemError::ContactRadius {
                radius,
                a,
                b,
                distance,
                most: 0.5 * distance,
            });
        }
        self.radii = vec![0.0; rest.len()];
        for vertex in vertices {
            self.radii[vertex as usize] = radius;
        }
        Ok(())
    }
}

impl Skin {
    /// Writes the surface with vertices at `q`; `out` is overwritten.
    pub(crate) fn write(&self, q: impl Iterator<Item = Point3<f64>>, out: &mut Surface) {
        out.clear();
        out.vertices.extend(q);
        out.radii.extend_from_slice(&self.radii);
        out.edges.extend_from_slice(&self.edges);
        out.tetrahedra.extend_from_slice(&self.tetrahedra);
        let vertices = &out.vertices;
        let upright = |tet: u32| {
            let [o, a, b, c] = self.tetrahedra[tet as usize].map(|v| vertices[v as usize]);
            (a - o).dot(&(b - o).cross(&(c - o))) > 0.0
        };
        let triangles = self.triangles.iter().zip(&self.behind);
        out.triangles.extend(triangles.map(|(&triangle, &tet)| {
            if upright(tet) {
                triangle
            } else {
                [triangle[0]; 3]
            }
        }));
    }
}
