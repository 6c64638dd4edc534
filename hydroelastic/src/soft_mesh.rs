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
/// Tetrahedra whose corners all lie on the surface have no depth at their corners; they are divided at the middles of those edges
/// that run through the inside, and where that is not enough of faces and of their own, so that a body of a single layer has depth,
/// too.
///
/// [`update`](Self::update) moves it: boxes of its trees are fitted anew, nothing is allocated. A stepper that knows what may touch
/// what says [`move_to`](Self::move_to) first, which is cheap, and [`fit_skin`](Self::fit_skin) and [`carry_depth`](Self::carry_depth)
/// only where they matter.
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
    edge_normals: Vec<Vector3<f64>>,
    triangle_tree: RangeTree,
    edge_tree: RangeTree,
    /// Around the surface now and at the end of the step, drift left out.
    bounds: Range,
    /// Normals and trees, and the depth, are still those of the place before.
    skin_is_behind: bool,
    depth_is_behind: bool,
    /// m below the surface.
    depth: PressureField,
    carriers: Vec<Carrier>,
    moved: Vec<Vector3<f64>>,
    near: SelfExclusion,
    can_touch_itself: bool,
    vertex_area: f64,
}

/// Of bodies of more tetrahedra than this, two are always far enough from each other to touch.
const COMPACT_MAX: usize = 64;

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
            edge_normals: Vec::new(),
            edges: edges(triangles),
            triangle_tree: RangeTree::default(),
            edge_tree: RangeTree::default(),
            bounds: Range::of_points([]),
            skin_is_behind: false,
            depth_is_behind: false,
            moved: Vec::with_capacity(carriers.len()),
            depth,
            carriers,
            can_touch_itself: true,
            near: SelfExclusion::from_edges(n, &joined, 1),
            points,
        };
        if tetrahedra.len() <= COMPACT_MAX {
            let pairs = tetrahedra
                .iter()
                .flat_map(|s| tetrahedra.iter().map(move |t| (s, t)));
            let mut pairs = pairs.into_iter();
            mesh.can_touch_itself = pairs.any(|(s, t)| !mesh.are_near(s, t));
        }
        mesh.find_normals();
        mesh.bounds = Range::of_points(mesh.swept(&mesh.vertices));
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
    /// As [`move_to`](Self::move_to).
    pub fn update(
        &mut self,
        points: &[Point3<f64>],
        triangles: &[[u32; 3]],
        velocities: &[Vector3<f64>],
        time_step_s: f64,
    ) -> Result<(), GeometryError> {
        self.move_to(points, triangles, velocities, time_step_s)?;
        self.fit_skin();
        self.carry_depth()
    }

    /// The part of [`update`](Self::update) that the broad phase needs: [`swept_aabb`](Self::swept_aabb) is that of the new place.
    ///
    /// # Errors
    /// [`GeometryError::FieldLength`] unless there are as many of each as there were, [`GeometryError::Vertex`] for a point that is
    /// not finite; it is then unchanged.
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
        let mut own = self.points.iter().zip(points);
        let stays = own.all(|(own, new)| *own == new.coords);
        if !stays {
            for (own, new) in self.points.iter_mut().zip(points) {
                *own = new.coords;
            }
            self.depth_is_behind = true;
        }
        self.triangles.copy_from_slice(triangles);
        self.drift = velocities.iter().sum::<Vector3<f64>>() * (time_step_s / n as f64);
        for (sweep, v) in self.sweeps.iter_mut().zip(velocities) {
            *sweep = v * time_step_s - self.drift;
        }
        self.bounds = Range::of_points(self.swept(&self.vertices));
        self.skin_is_behind = true;
        Ok(())
    }

    /// Brings normals and trees of the surface to where it was moved: needed for contact of any kind.
    pub fn fit_skin(&mut self) {
        if !self.skin_is_behind {
            return;
        }
        self.skin_is_behind = false;
        self.find_normals();
        let mut tree = std::mem::take(&mut self.triangle_tree);
        tree.refit_boxes(|t| self.swept_box(&self.triangles[t as usize]));
        self.triangle_tree = tree;
        let mut tree = std::mem::take(&mut self.edge_tree);
        tree.refit_boxes(|e| self.swept_box(&self.edges[e as usize].vertices));
        self.edge_tree = tree;
    }

    /// Brings the depth to where the body was moved: needed for contact with other deforming surfaces and with itself.
    ///
    /// # Errors
    /// None that [`move_to`](Self::move_to) lets pass, but for carried places that overflow.
    pub fn carry_depth(&mut self) -> Result<(), GeometryError> {
        if !self.depth_is_behind {
            return Ok(());
        }
        let mut moved = std::mem::take(&mut self.moved);
        moved.clear();
        moved.extend(self.carriers.iter().map(|c| c.place(&self.points)));
        let outcome = self.depth.move_vertices(&moved);
        self.moved = moved;
        self.depth_is_behind = outcome.is_err();
        outcome
    }

    /// Whether contact of the surface, and where it is asked for the depth, are of the place it was moved to last.
    pub(crate) fn check(&self, needs_depth: bool) -> Result<(), GeometryError> {
        match (self.skin_is_behind, self.depth_is_behind && needs_depth) {
            (false, false) => Ok(()),
            (skin, _) => Err(GeometryError::Behind {
                what: if skin { "fit_skin" } else { "carry_depth" },
            }),
        }
    }

    /// The area that a vertex of the surface had at rest, on average, m²: a contact of this area has the stiffness of one point.
    #[must_use]
    pub fn vertex_area(&self) -> f64 {
        self.vertex_area
    }

    /// Depth below the surface at rest, m, as the tetrahedra have carried it along: as pressures of a field. It is where
    /// [`carry_depth`](Self::carry_depth) brought it last.
    #[must_use]
    pub fn depth(&self) -> &PressureField {
        &self.depth
    }

    /// A box around the body within the step, inflated by `margin` (m).
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

    fn triangle_range(&self, triangle: u32) -> Range {
        Range::of_points(self.swept(&self.triangles[triangle as usize]))
    }

    fn edge_range(&self, edge: u32) -> Range {
        Range::of_points(self.swept(&self.edges[edge as usize].vertices))
    }

    /// Low and high corner of the box around vertices now and at the end of the step.
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

    /// Unit, halfway between the normals of both triangles of an edge; zero for an edge that takes no part.
    pub(crate) fn edge_normal(&self, edge: u32) -> &Vector3<f64> {
        &self.edge_normals[edge as usize]
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

    /// Whether two tetrahedra share a vertex or are joined by an edge.
    pub(crate) fn are_near(&self, s: &[u32; 4], t: &[u32; 4]) -> bool {
        let joined = |v: &u32| t.iter().any(|w| self.near.excludes(*v, *w));
        s.iter().any(|v| t.contains(v)) || s.iter().any(joined)
    }

    /// Whether any two of its tetrahedra are apart in the mesh; those of a single brick are not.
    pub(crate) fn can_touch_itself(&self) -> bool {
        self.can_touch_itself
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
