//! The skin and the inside of a deforming body of tetrahedra, as contact needs them: built at rest, moved each step.

mod rest_field;

use nalgebra::{Point3, Vector3};

use crate::field::PressureField;
use crate::posed::SelfExclusion;
use crate::range_tree::{Range, RangeTree};
use crate::{Aabb, GeometryError};
use rest_field::Carrier;

/// No triangle at the other side of an edge.
const NONE: u32 = u32::MAX;

/// What a deforming body of tetrahedra brings to [`SoftContact`](crate::SoftContact): the triangles of its surface, and how deep
/// below the surface each place inside was at rest, a linear function on every tetrahedron that the tetrahedra carry along.
///
/// Tetrahedra whose corners all lie on the surface have no depth at their corners; they are divided at their centroids, and at
/// those faces and edges that run through the inside, so that a body of a single layer has depth, too.
///
/// [`update`](Self::update) moves it: boxes of its trees are fitted anew, nothing is allocated.
#[derive(Clone, Debug)]
pub struct SoftMesh {
    points: Vec<Vector3<f64>>,
    /// How far each point goes within the step, less the mean of all, m.
    sweeps: Vec<Vector3<f64>>,
    /// That mean, m.
    drift: Vector3<f64>,
    triangles: Vec<[u32; 3]>,
    /// Zero for a triangle that takes no part.
    normals: Vec<Vector3<f64>>,
    vertices: Vec<u32>,
    /// Of all points; zero inside.
    vertex_normals: Vec<Vector3<f64>>,
    edges: Vec<SkinEdge>,
    triangle_tree: RangeTree,
    edge_tree: RangeTree,
    /// m below the surface.
    depth: PressureField,
    carriers: Vec<Carrier>,
    moved: Vec<Vector3<f64>>,
    near: SelfExclusion,
    vertex_area: f64,
}

/// An edge of the surface as a side of a triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkinEdge {
    pub(crate) vertices: [u32; 2],
    pub(crate) triangle: u32,
    /// Which corners of that triangle its vertices are.
    pub(crate) corners: [usize; 2],
    other: u32,
}

impl SoftMesh {
    /// From a body at rest: all its vertices (m), the triangles of its surface, counter-clockwise seen from outside, and its
    /// tetrahedra of positive volume.
    ///
    /// # Errors
    /// [`GeometryError::Meshing`] without triangles or tetrahedra, for a vertex that is not there, a face of three tetrahedra, or
    /// a body without an inside.
    pub fn new(
        points: &[Point3<f64>],
        triangles: &[[u32; 3]],
        tetrahedra: &[[u32; 4]],
    ) -> Result<Self, GeometryError> {
        let refuse = |reason: String| Err(GeometryError::Meshing { reason });
        if triangles.is_empty() || tetrahedra.is_empty() {
            return refuse(format!(
                "the body has {} triangles and {} tetrahedra; contact by its surface needs both. Let it touch by its vertices",
                triangles.len(),
                tetrahedra.len()
            ));
        }
        let used = triangles
            .iter()
            .flatten()
            .chain(tetrahedra.iter().flatten());
        if let Some(&vertex) = used.max()
            && vertex as usize >= points.len()
        {
            return refuse(format!(
                "vertex {vertex} is used, but there are only {} (counted from 0)",
                points.len()
            ));
        }
        let (depth, carriers) = rest_field::build(points, triangles, tetrahedra)?;
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let joined: Vec<[u32; 2]> = tetrahedra
            .iter()
            .flat_map(|tet| pairs.map(|pair| pair.map(|k: usize| tet[k])))
            .collect();
        let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let points: Vec<Vector3<f64>> = points.iter().map(|p| p.coords).collect();
        let n = points.len();
        let doubled: f64 = triangles
            .iter()
            .map(|t| area_vector(&t.map(|v| points[v as usize])).norm())
            .sum();
        let mut mesh = Self {
            sweeps: vec![Vector3::zeros(); n],
            drift: Vector3::zeros(),
            triangles: triangles.to_vec(),
            normals: vec![Vector3::zeros(); triangles.len()],
            vertex_area: 0.5 * doubled / vertices.len() as f64,
            vertices,
            vertex_normals: vec![Vector3::zeros(); n],
            edges: edges(triangles),
            triangle_tree: RangeTree::default(),
            edge_tree: RangeTree::default(),
            moved: Vec::with_capacity(carriers.len()),
            depth,
            carriers,
            near: SelfExclusion::from_edges(n, &joined, 1),
            points,
        };
        mesh.find_normals();
        let boxes: Vec<Range> = (0..mesh.triangles.len() as u32)
            .map(|t| mesh.triangle_range(t))
            .collect();
        mesh.triangle_tree = RangeTree::new(&boxes);
        let boxes: Vec<Range> = (0..mesh.edges.len() as u32)
            .map(|e| mesh.edge_range(e))
            .collect();
        mesh.edge_tree = RangeTree::new(&boxes);
        Ok(mesh)
    }

    /// Moves it to where the body is, with the triangles that its surface shows now (three equal corners for one that takes no
    /// part, as of an inverted element) and the velocities (m/s) predicted for the step.
    ///
    /// # Errors
    /// [`GeometryError::FieldLength`] unless there are as many of each as there were, [`GeometryError::Vertex`] for a point that is
    /// not finite; it is then unchanged.
    pub fn update(
        &mut self,
        points: &[Point3<f64>],
        triangles: &[[u32; 3]],
        velocities: &[Vector3<f64>],
        time_step_s: f64,
    ) -> Result<(), GeometryError> {
        let n = self.points.len();
        for (what, found, expected) in [
            ("vertices", points.len(), n),
            ("velocities", velocities.len(), n),
            ("triangles", triangles.len(), self.triangles.len()),
        ] {
            if found != expected {
                return Err(GeometryError::FieldLength {
                    what,
                    expected,
                    found,
                });
            }
        }
        if let Some(vertex) = points.iter().position(|p| !p.coords.sum().is_finite()) {
            return Err(GeometryError::Vertex {
                shape: "soft body",
                vertex,
                coordinates: points[vertex].coords.into(),
            });
        }
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(self.carriers.iter().map(|c| c.place(points)));
        self.depth.move_vertices(&moved)?;
        self.moved = moved;
        for (own, new) in self.points.iter_mut().zip(points) {
            *own = new.coords;
        }
        self.triangles.copy_from_slice(triangles);
        self.drift = velocities.iter().sum::<Vector3<f64>>() * (time_step_s / n as f64);
        for (sweep, v) in self.sweeps.iter_mut().zip(velocities) {
            *sweep = v * time_step_s - self.drift;
        }
        self.find_normals();
        let mut tree = std::mem::take(&mut self.triangle_tree);
        tree.refit(|t| self.triangle_range(t));
        self.triangle_tree = tree;
        let mut tree = std::mem::take(&mut self.edge_tree);
        tree.refit(|e| self.edge_range(e));
        self.edge_tree = tree;
        Ok(())
    }

    /// The area that a vertex of the surface had at rest, on average, m²: a contact of this area has the stiffness of one point.
    #[must_use]
    pub fn vertex_area(&self) -> f64 {
        self.vertex_area
    }

    /// Depth below the surface at rest, m, as the tetrahedra have carried it along: as pressures of a field.
    #[must_use]
    pub fn depth(&self) -> &PressureField {
        &self.depth
    }

    /// A box around the body within the step, inflated by `margin` (m).
    #[must_use]
    pub fn swept_aabb(&self, margin: f64) -> Aabb {
        let root = self.triangle_tree.root();
        let bounds = Aabb {
            min: root.min.into(),
            max: root.max.into(),
        };
        bounds.swept(&self.drift).inflated(margin)
    }

    fn find_normals(&mut self) {
        self.vertex_normals.fill(Vector3::zeros());
        for (t, corners) in self.triangles.iter().enumerate() {
            let doubled = area_vector(&corners.map(|v| self.points[v as usize]));
            self.normals[t] = doubled.try_normalize(0.0).unwrap_or_default();
            for v in corners {
                self.vertex_normals[*v as usize] += doubled;
            }
        }
        for normal in &mut self.vertex_normals {
            *normal = normal.try_normalize(0.0).unwrap_or_default();
        }
    }

    fn triangle_range(&self, triangle: u32) -> Range {
        Range::of_points(self.swept(&self.triangles[triangle as usize]))
    }

    fn edge_range(&self, edge: u32) -> Range {
        Range::of_points(self.swept(&self.edges[edge as usize].vertices))
    }

    fn swept<'a>(&'a self, vertices: &'a [u32]) -> impl Iterator<Item = Vector3<f64>> + 'a {
        vertices.iter().flat_map(|v| {
            let x = self.points[*v as usize];
            [x, x + self.sweeps[*v as usize]]
        })
    }

    pub(crate) fn n_points(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn point(&self, vertex: u32) -> Vector3<f64> {
        self.points[vertex as usize]
    }

    /// How far a vertex goes within the step, m.
    pub(crate) fn path(&self, vertex: u32) -> Vector3<f64> {
        self.sweeps[vertex as usize] + self.drift
    }

    pub(crate) fn drift(&self) -> &Vector3<f64> {
        &self.drift
    }

    pub(crate) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    pub(crate) fn vertex_normal(&self, vertex: u32) -> &Vector3<f64> {
        &self.vertex_normals[vertex as usize]
    }

    pub(crate) fn n_triangles(&self) -> usize {
        self.triangles.len()
    }

    pub(crate) fn triangle(&self, triangle: u32) -> &[u32; 3] {
        &self.triangles[triangle as usize]
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Vector3<f64>; 3] {
        self.triangles[triangle as usize].map(|v| self.point(v))
    }

    /// Zero for one that takes no part.
    pub(crate) fn normal(&self, triangle: u32) -> &Vector3<f64> {
        &self.normals[triangle as usize]
    }

    pub(crate) fn edge(&self, edge: u32) -> &SkinEdge {
        &self.edges[edge as usize]
    }

    pub(crate) fn n_edges(&self) -> usize {
        self.edges.len()
    }

    /// The sum of the normals of both triangles of an edge.
    pub(crate) fn edge_normal(&self, edge: &SkinEdge) -> Vector3<f64> {
        let other = self.normals.get(edge.other as usize);
        self.normal(edge.triangle) + other.copied().unwrap_or_default()
    }

    /// Over swept boxes, drift left out.
    pub(crate) fn triangle_tree(&self) -> &RangeTree {
        &self.triangle_tree
    }

    /// Over swept boxes, drift left out.
    pub(crate) fn edge_tree(&self) -> &RangeTree {
        &self.edge_tree
    }

    /// Which vertices are so near in the mesh that what they belong to never touches.
    pub(crate) fn near(&self) -> &SelfExclusion {
        &self.near
    }

    /// The depth field's part of the mesh whose contact with itself is looked for: the body's tetrahedron behind one of the field's.
    pub(crate) fn carrier_of(&self, tet: u32) -> &[u32; 4] {
        match self.depth.attachment(tet) {
            Some(attachment) => &attachment.vertices,
            None => &[NONE; 4],
        }
    }
}

/// Twice the area times the normal.
fn area_vector(corners: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (corners[1] - corners[0]).cross(&(corners[2] - corners[0]))
}

/// Each edge once, with its triangles.
fn edges(triangles: &[[u32; 3]]) -> Vec<SkinEdge> {
    let mut sides: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in (0_u32..).zip(triangles) {
        for i in 0..3 {
            let (from, to) = (corners[i], corners[(i + 1) % 3]);
            sides.push((from.min(to), from.max(to), t, i));
        }
    }
    sides.sort_unstable();
    sides
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .map(|group| {
            let (.., triangle, i) = group[0];
            let corners = [i, (i + 1) % 3];
            SkinEdge {
                vertices: corners.map(|k| triangles[triangle as usize][k]),
                triangle,
                corners,
                other: group.get(1).map_or(NONE, |side| side.2),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
