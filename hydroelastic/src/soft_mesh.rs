//! Surface and depth field of a deforming tetrahedral body in contact: built at rest, moved each step.

mod rest_field;

use nalgebra::{Point3, Vector3};

use crate::field::PressureField;
use crate::pressure_bvh::{PressureBox, PressureBvh};
use crate::self_exclusion::SelfExclusion;
use crate::{Aabb, GeometryError};
use rest_field::Carrier;

/// No triangle on the other side of an edge.
const NONE: u32 = u32::MAX;

/// Contact geometry of a deforming tetrahedral body for [`SoftContact`](crate::SoftContact): the triangles of its
/// surface, and the depth below the surface at rest, a piecewise linear function that moves with the tetrahedra.
///
/// Tetrahedra whose corners all lie on the surface have zero depth at their corners. Their interior edges are divided
/// at the midpoints, and where necessary their faces and themselves at the centroids, so that a body of a single layer
/// has a depth, too.
///
/// [`update`](Self::update) moves the mesh: its trees are refitted without allocation. A caller that first determines
/// candidate pairs calls [`move_to`](Self::move_to), which is cheap, for all bodies, and [`update_skin`](Self::update_skin)
/// and [`update_depth`](Self::update_depth) only where needed.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{SoftMesh, mesh::generate};
///
/// // A cube of 10 cm: its centre is 5 cm below the surface.
/// let cube = generate::tet_cuboid(Vector3::repeat(0.05), [4, 4, 4])?;
/// let points: Vec<_> = cube.vertices().iter().map(|p| Point3::from(*p)).collect();
/// let triangles: Vec<_> = cube.boundary().triangles.iter().map(|t| t.map(u32::from)).collect();
/// let tets: Vec<_> = cube.tets().iter().map(|t| t.map(u32::from)).collect();
/// let soft = SoftMesh::new(&points, &triangles, &tets)?;
/// let depth = soft.depth().pressure_at(&Vector3::zeros()).expect("inside");
/// assert!((depth - 0.05).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SoftMesh {
    points: Vec<Vector3<f64>>,
    /// Displacement of each point within the step minus the mean of all, m.
    sweeps: Vec<Vector3<f64>>,
    /// That mean, m.
    drift: Vector3<f64>,
    triangles: Vec<[u32; 3]>,
    /// Zero for an ignored triangle.
    normals: Vec<Vector3<f64>>,
    vertices: Vec<u32>,
    /// Vertex normals; zero inside.
    vertex_normals: Vec<Vector3<f64>>,
    edges: Vec<SkinEdge>,
    edge_normals: Vec<Vector3<f64>>,
    triangle_tree: PressureBvh,
    edge_tree: PressureBvh,
    /// Bounds of the surface now and at the end of the step, without the drift.
    bounds: PressureBox,
    /// Whether normals and trees, and the depth, are outdated.
    skin_is_outdated: bool,
    depth_is_outdated: bool,
    /// Depth below the surface, m.
    depth: PressureField,
    carriers: Vec<Carrier>,
    moved: Vec<Vector3<f64>>,
    near: SelfExclusion,
    allows_self_contact: bool,
    vertex_area: f64,
    /// Of each triangle at rest, m².
    areas_at_rest: Vec<f64>,
}

/// In bodies of more tetrahedra than this, some pair is always far enough apart for self-contact.
const COMPACT_MAX: usize = 64;

/// An edge of the surface with an adjacent triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkinEdge {
    pub(crate) vertices: [u32; 2],
    pub(crate) triangle: u32,
    /// The indices of its vertices in that triangle.
    pub(crate) corners: [usize; 2],
    other: u32,
}

impl SoftMesh {
    /// From a body at rest: all its vertices (m), the triangles of its surface, counter-clockwise seen from outside,
    /// and its tetrahedra of positive volume.
    ///
    /// # Errors
    /// [`GeometryError::Meshing`] without triangles or tetrahedra, for a vertex that does not exist, a face of three
    /// tetrahedra, or a body without interior.
    pub fn new(
        points: &[Point3<f64>],
        triangles: &[[u32; 3]],
        tetrahedra: &[[u32; 4]],
    ) -> Result<Self, GeometryError> {
        let refuse = |reason: String| Err(GeometryError::Meshing { reason });
        if triangles.is_empty() || tetrahedra.is_empty() {
            return refuse(format!(
                "the body has {} triangles and {} tetrahedra; surface contact needs both; use contact by vertices",
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
        let areas_at_rest: Vec<f64> = triangles
            .iter()
            .map(|t| 0.5 * area_vector(&t.map(|v| points[v as usize])).norm())
            .collect();
        let mut mesh = Self {
            sweeps: vec![Vector3::zeros(); n],
            drift: Vector3::zeros(),
            triangles: triangles.to_vec(),
            normals: vec![Vector3::zeros(); triangles.len()],
            vertex_area: areas_at_rest.iter().sum::<f64>() / vertices.len() as f64,
            areas_at_rest,
            vertices,
            vertex_normals: vec![Vector3::zeros(); n],
            edge_normals: Vec::new(),
            edges: edges(triangles),
            triangle_tree: PressureBvh::default(),
            edge_tree: PressureBvh::default(),
            bounds: PressureBox::of_points([]),
            skin_is_outdated: false,
            depth_is_outdated: false,
            moved: Vec::with_capacity(carriers.len()),
            depth,
            carriers,
            allows_self_contact: true,
            near: SelfExclusion::from_edges(n, &joined, 1),
            points,
        };
        if tetrahedra.len() <= COMPACT_MAX {
            let pairs = tetrahedra
                .iter()
                .flat_map(|s| tetrahedra.iter().map(move |t| (s, t)));
            let mut pairs = pairs.into_iter();
            mesh.allows_self_contact = pairs.any(|(s, t)| !mesh.are_adjacent(s, t));
        }
        mesh.find_normals();
        mesh.bounds = PressureBox::of_points(mesh.swept(&mesh.vertices));
        let boxes: Vec<PressureBox> = (0..mesh.triangles.len() as u32)
            .map(|t| mesh.triangle_bounds(t))
            .collect();
        mesh.triangle_tree = PressureBvh::new(&boxes);
        let boxes: Vec<PressureBox> = (0..mesh.edges.len() as u32)
            .map(|e| mesh.edge_bounds(e))
            .collect();
        mesh.edge_tree = PressureBvh::new(&boxes);
        Ok(mesh)
    }

    /// Moves the mesh to the given positions (m), with the current triangles of its surface (three equal corners for an
    /// ignored one, such as of an inverted element) and the predicted velocities (m/s) over the step.
    ///
    /// # Errors
    /// As [`move_to`](Self::move_to).
    pub fn update(
        &mut self,
        points: &[Point3<f64>],
        triangles: &[[u32; 3]],
        velocities: &[Vector3<f64>],
        time_step_s: f64,
    ) -> Result<(), GeometryError> {
        self.move_to(points, triangles, velocities, time_step_s)?;
        self.update_skin();
        self.update_depth()
    }

    /// The part of [`update`](Self::update) that the broad phase needs: [`swept_aabb`](Self::swept_aabb) is then up to
    /// date.
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless the array lengths are unchanged, [`GeometryError::Vertex`] for a point
    /// that is not finite; the mesh is then unchanged.
    pub fn move_to(
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
                return Err(GeometryError::ArrayLength {
                    geometry: "soft body",
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
        let mut own = self.points.iter().zip(points);
        let stays = own.all(|(own, new)| *own == new.coords);
        if !stays {
            for (own, new) in self.points.iter_mut().zip(points) {
                *own = new.coords;
            }
            self.depth_is_outdated = true;
        }
        self.triangles.copy_from_slice(triangles);
        self.drift = velocities.iter().sum::<Vector3<f64>>() * (time_step_s / n as f64);
        for (sweep, v) in self.sweeps.iter_mut().zip(velocities) {
            *sweep = v * time_step_s - self.drift;
        }
        self.bounds = PressureBox::of_points(self.swept(&self.vertices));
        self.skin_is_outdated = true;
        Ok(())
    }

    /// Updates normals and trees of the surface: needed for contact of any kind.
    pub fn update_skin(&mut self) {
        if !self.skin_is_outdated {
            return;
        }
        self.skin_is_outdated = false;
        self.find_normals();
        let mut tree = std::mem::take(&mut self.triangle_tree);
        tree.refit_boxes(|t| self.swept_box(&self.triangles[t as usize]));
        self.triangle_tree = tree;
        let mut tree = std::mem::take(&mut self.edge_tree);
        tree.refit_boxes(|e| self.swept_box(&self.edges[e as usize].vertices));
        self.edge_tree = tree;
    }

    /// Updates the depth: needed for contact with other deforming surfaces and for self-contact.
    ///
    /// # Errors
    /// Only if positions overflow, since [`move_to`](Self::move_to) checks its arguments.
    pub fn update_depth(&mut self) -> Result<(), GeometryError> {
        if !self.depth_is_outdated {
            return Ok(());
        }
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(self.carriers.iter().map(|c| c.position(&self.points)));
        let outcome = self.depth.move_vertices(&moved);
        self.moved = moved;
        self.depth_is_outdated = outcome.is_err();
        outcome
    }

    /// Checks that the surface and, if needed, the depth are up to date with the last positions.
    pub(crate) fn check(&self, needs_depth: bool) -> Result<(), GeometryError> {
        match (self.skin_is_outdated, self.depth_is_outdated && needs_depth) {
            (false, false) => Ok(()),
            (skin, _) => Err(GeometryError::Outdated {
                what: if skin { "update_skin" } else { "update_depth" },
            }),
        }
    }

    /// Mean area per vertex of the surface at rest, m²: a contact of this area has the stiffness of one point.
    #[must_use]
    pub fn vertex_area(&self) -> f64 {
        self.vertex_area
    }

    /// Depth below the surface at rest, m, moved with the tetrahedra and stored as the pressures of a field. Its
    /// positions are those of the last [`update_depth`](Self::update_depth).
    #[must_use]
    pub fn depth(&self) -> &PressureField {
        &self.depth
    }

    /// A bounding box of the body within the step, inflated by `margin` (m).
    #[must_use]
    pub fn swept_aabb(&self, margin: f64) -> Aabb {
        let bounds = Aabb {
            min: self.bounds.min.into(),
            max: self.bounds.max.into(),
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
        self.edge_normals.clear();
        self.edge_normals.extend(self.edges.iter().map(|edge| {
            let other = self.normals.get(edge.other as usize);
            let sum = self.normals[edge.triangle as usize] + other.copied().unwrap_or_default();
            sum.try_normalize(0.0).unwrap_or_default()
        }));
    }

    fn triangle_bounds(&self, triangle: u32) -> PressureBox {
        PressureBox::of_points(self.swept(&self.triangles[triangle as usize]))
    }

    fn edge_bounds(&self, edge: u32) -> PressureBox {
        PressureBox::of_points(self.swept(&self.edges[edge as usize].vertices))
    }

    /// Lower and upper corner of the box around vertices now and at the end of the step.
    fn swept_box(&self, vertices: &[u32]) -> [Vector3<f64>; 2] {
        let first = self.points[vertices[0] as usize];
        let mut bounds = [first, first];
        for v in vertices {
            let x = self.points[*v as usize];
            let y = x + self.sweeps[*v as usize];
            bounds = [bounds[0].inf(&x).inf(&y), bounds[1].sup(&x).sup(&y)];
        }
        bounds
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

    /// Displacement of a vertex within the step, m.
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

    /// m².
    pub(crate) fn area_at_rest(&self, triangle: u32) -> f64 {
        self.areas_at_rest[triangle as usize]
    }

    /// m².
    pub(crate) fn area(&self, triangle: u32) -> f64 {
        0.5 * area_vector(&self.corners(triangle)).norm()
    }

    /// Zero for an ignored triangle.
    pub(crate) fn normal(&self, triangle: u32) -> &Vector3<f64> {
        &self.normals[triangle as usize]
    }

    pub(crate) fn edge(&self, edge: u32) -> &SkinEdge {
        &self.edges[edge as usize]
    }

    pub(crate) fn n_edges(&self) -> usize {
        self.edges.len()
    }

    /// Unit vector, bisecting the normals of both triangles of an edge; zero for an ignored edge.
    pub(crate) fn edge_normal(&self, edge: u32) -> &Vector3<f64> {
        &self.edge_normals[edge as usize]
    }

    /// Over swept boxes, without the drift.
    pub(crate) fn triangle_tree(&self) -> &PressureBvh {
        &self.triangle_tree
    }

    /// Over swept boxes, without the drift.
    pub(crate) fn edge_tree(&self) -> &PressureBvh {
        &self.edge_tree
    }

    /// Pairs of vertices so close in the mesh that their elements are excluded from self-contact.
    pub(crate) fn near(&self) -> &SelfExclusion {
        &self.near
    }

    /// Whether two tetrahedra share a vertex or are connected by an edge.
    pub(crate) fn are_adjacent(&self, s: &[u32; 4], t: &[u32; 4]) -> bool {
        let joined = |v: &u32| t.iter().any(|w| self.near.excludes(*v, *w));
        s.iter().any(|v| t.contains(v)) || s.iter().any(joined)
    }

    /// Whether any two of its tetrahedra are far enough apart in the mesh for self-contact; not so in a single brick.
    pub(crate) fn allows_self_contact(&self) -> bool {
        self.allows_self_contact
    }

    /// The body's tetrahedron that carries a tetrahedron of the depth field.
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

/// All edges with their triangles.
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
