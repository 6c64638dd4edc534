//! The solid enclosed by a closed triangle mesh: adjacency, normals of every feature, and a tree for nearest points.

use nalgebra::{Point3, Vector3};
use parry3d_f64::bounding_volume::Aabb as ParryAabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode};

use super::MassProperties;
use super::adjacency::Adjacency;
use crate::GeometryError;
use crate::aabb::Aabb;
use crate::parry;

/// The feature of a mesh that the nearest point lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeshFeature {
    /// Index of the triangle.
    Face(u32),
    /// Index into [`MeshShape::edges`].
    Edge(u32),
    /// Index of the vertex.
    Vertex(u32),
}

/// An edge of the surface with the triangles on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshEdge {
    pub(crate) vertices: [u32; 2],
    pub(crate) triangles: [u32; 2],
    /// Whether the edge is strictly convex.
    pub(crate) convex: bool,
}

/// The outward pseudo-normals of a triangle of a [`MeshShape`] and of its edges and corners: see [`MeshShape::pseudo_normals`]. Edge i runs from
/// corner i to corner i + 1.
///
/// ```
/// # use nalgebra::Point3;
/// # use pliant_hydroelastic::MeshShape;
/// # let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
/// # let solid = MeshShape::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// // The edge along y of the triangle below is shared with the one that looks to −x.
/// let normals = solid.pseudo_normals(0);
/// assert_eq!(normals.edges[0], nalgebra::Vector3::new(-1.0, 0.0, -1.0));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudoNormals {
    /// Of the triangle: of unit length, or zero for a triangle without area.
    pub face: Vector3<f64>,
    /// Of its edges: sums of the normals on both sides.
    pub edges: [Vector3<f64>; 3],
    /// Of its corners: sums of the normals around, each times its angle.
    pub corners: [Vector3<f64>; 3],
}

/// A closed triangle mesh as a solid; built by [`Shape::mesh`](super::Shape::mesh).
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{GeometryError, MeshShape, Shape};
///
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
/// let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let solid = Shape::mesh(&corners, &triangles)?;
/// assert!((solid.mass_properties(6.0)?.mass - 1.0).abs() < 1e-15);
/// // Without one of its triangles it is no solid.
/// assert!(matches!(MeshShape::new(&corners, &triangles[..3]), Err(GeometryError::OpenMesh { .. })));
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone)]
pub struct MeshShape {
    vertices: Vec<Point3<f64>>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vector3<f64>>,
    edges: Vec<MeshEdge>,
    triangle_edges: Vec<[u32; 3]>,
    vertex_normals: Vec<Vector3<f64>>,
    corner: Vec<bool>,
    neighbours: Adjacency,
    tree: Bvh,
    bounds: Aabb,
    radius: f64,
}

impl std::fmt::Debug for MeshShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "MeshShape {{ vertices: {}, triangles: {} }}",
            self.vertices.len(),
            self.triangles.len()
        )
    }
}

impl MeshShape {
    /// Checks that the surface is closed and oriented outwards, and prepares it for queries. Triangles without area are
    /// kept for closedness but make no contact.
    ///
    /// # Errors
    /// [`GeometryError::Vertex`], [`GeometryError::VertexIndex`], [`GeometryError::OpenMesh`], [`GeometryError::Volume`].
    pub fn new(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        for (vertex, p) in vertices.iter().enumerate() {
            if !p.iter().all(|x| x.is_finite()) {
                return Err(GeometryError::Vertex {
                    shape: "mesh",
                    vertex,
                    coordinates: [p.x, p.y, p.z],
                });
            }
        }
        for (triangle, t) in triangles.iter().enumerate() {
            if let Some(&vertex) = t.iter().find(|&&v| v as usize >= vertices.len()) {
                return Err(GeometryError::VertexIndex {
                    triangle,
                    vertex,
                    vertices: vertices.len(),
                });
            }
        }
        let corners = |t: &[u32; 3]| t.map(|v| vertices[v as usize]);
        let volume = if triangles.is_empty() {
            0.0
        } else {
            MassProperties::of_triangles(triangles.iter().map(corners), 1.0).volume
        };
        let normals: Vec<Vector3<f64>> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = corners(t);
                let n = (b - a).cross(&(c - a));
                let longest = (b - a).norm_squared().max((c - a).norm_squared());
                if n.norm() > 1e-14 * longest {
                    n.normalize()
                } else {
                    Vector3::zeros()
                }
            })
            .collect();
        let (edges, triangle_edges) = pair_edges(vertices, triangles, &normals)?;
        if volume.is_nan() || volume <= 0.0 {
            return Err(GeometryError::Volume { volume });
        }
        let mut corner = vec![false; vertices.len()];
        for v in edges.iter().filter(|e| e.convex).flat_map(|e| e.vertices) {
            corner[v as usize] = true;
        }
        let boxes: Vec<ParryAabb> = triangles
            .iter()
            .map(|t| parry::aabb(&Aabb::from_points(&corners(t))))
            .collect();
        let bounds = Aabb::from_points(triangles.iter().flatten().map(|&v| &vertices[v as usize]));
        Ok(Self {
            vertex_normals: vertex_normals(vertices, triangles, &normals),
            vertices: vertices.to_vec(),
            triangles: triangles.to_vec(),
            normals,
            corner,
            neighbours: Adjacency::new(vertices.len(), edges.iter().map(|e| e.vertices)),
            edges,
            triangle_edges,
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            bounds,
            radius: vertices.iter().map(|p| p.coords.norm()).fold(0.0, f64::max),
        })
    }

    /// Vertices, m.
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// What gives the signed distance its sign: a point is outside where the pseudo-normal of the nearest feature points to it (Bærentzen and
    /// Aanæs 2005).
    ///
    /// ```
    /// # use nalgebra::Point3;
    /// # use pliant_hydroelastic::MeshShape;
    /// # let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
    /// # let solid = MeshShape::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
    /// // The first triangle of this corner of a cube looks down; beyond its edges the others look to the sides.
    /// let normals = solid.pseudo_normals(0);
    /// assert_eq!(normals.face, -nalgebra::Vector3::z());
    /// assert!(normals.corners[0].x < 0.0 && normals.corners[0].y < 0.0);
    /// # Ok::<(), pliant_hydroelastic::GeometryError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such triangle.
    #[must_use]
    pub fn pseudo_normals(&self, triangle: usize) -> PseudoNormals {
        let of = |feature| self.outward(self.feature(triangle as u32, feature));
        PseudoNormals {
            face: of(TriangleFeature::Face),
            edges: [0, 1, 2].map(|i| of(TriangleFeature::Edge(i))),
            corners: [0, 1, 2].map(|i| of(TriangleFeature::Vertex(i))),
        }
    }

    /// Whether the surface has a convex edge at the vertex, so that a flat body can touch it there.
    pub(crate) fn is_corner(&self, vertex: u32) -> bool {
        self.corner[vertex as usize]
    }

    pub(crate) fn edges(&self) -> &[MeshEdge] {
        &self.edges
    }

    /// The three edges of a triangle: from its corner i to corner i + 1.
    pub(crate) fn triangle_edges(&self, triangle: u32) -> [u32; 3] {
        self.triangle_edges[triangle as usize]
    }

    /// Unit normal of a triangle, zero if it has no area.
    pub(crate) fn normal(&self, triangle: u32) -> &Vector3<f64> {
        &self.normals[triangle as usize]
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Point3<f64>; 3] {
        self.triangles[triangle as usize].map(|v| self.vertices[v as usize])
    }

    /// The pseudo-normal of a feature: the angle-weighted mean of the adjacent normals. It gives the correct sign of
    /// the distance for every point whose nearest feature this is (Bærentzen and Aanæs 2005).
    pub(crate) fn outward(&self, feature: MeshFeature) -> Vector3<f64> {
        match feature {
            MeshFeature::Face(t) => self.normals[t as usize],
            MeshFeature::Edge(e) => {
                let [s, t] = self.edges[e as usize].triangles;
                self.normals[s as usize] + self.normals[t as usize]
            }
            MeshFeature::Vertex(v) => self.vertex_normals[v as usize],
        }
    }

    /// The nearest point of the surface, its feature and its distance (m, unsigned). Of equally near ones the first in
    /// the order of the tree, which is deterministic.
    pub(crate) fn nearest(&self, p: &Point3<f64>) -> (Point3<f64>, MeshFeature, f64) {
        let query = parry::point(p);
        let found = self.tree.find_best(
            f64::MAX,
            |node: &BvhNode, _| {
                let outside = (node.mins() - query)
                    .max(query - node.maxs())
                    .max(parry::vector(&Vector3::zeros()));
                outside.length()
            },
            |t, _| {
                if self.normals[t as usize] == Vector3::zeros() {
                    return None;
                }
                let (q, feature) = closest_on_triangle(p, &self.corners(t));
                Some(((q - p).norm(), (q, feature)))
            },
        );
        match found {
            Some((t, (distance, (q, feature)))) => (q, self.feature(t, feature), distance),
            // Only for a query that is not finite; its distance is then NaN as well.
            None => (self.vertices[0], MeshFeature::Vertex(0), f64::NAN),
        }
    }

    /// Maps the feature of a triangle to the feature of the mesh.
    pub(crate) fn feature(&self, triangle: u32, feature: TriangleFeature) -> MeshFeature {
        match feature {
            TriangleFeature::Face => MeshFeature::Face(triangle),
            TriangleFeature::Edge(i) => {
                MeshFeature::Edge(self.triangle_edges[triangle as usize][i])
            }
            TriangleFeature::Vertex(i) => MeshFeature::Vertex(self.triangles[triangle as usize][i]),
        }
    }

    /// Calls `visit` with every triangle whose box intersects `region` (in the mesh's frame).
    pub(crate) fn triangles_in(&self, region: &Aabb, mut visit: impl FnMut(u32)) {
        let region = parry::aabb(region);
        for t in self.tree.intersect_aabb(&region) {
            if self.normals[t as usize] != Vector3::zeros() {
                visit(t);
            }
        }
    }

    /// Whether `direction` lies in the normal cone of a feature: only then can a point above the surface have its
    /// nearest point there. At flat and concave edges the cone contains only the faces' normals.
    pub(crate) fn normal_cone_contains(
        &self,
        feature: MeshFeature,
        direction: &Vector3<f64>,
        tolerance: f64,
    ) -> bool {
        match feature {
            MeshFeature::Face(t) => self.normals[t as usize].dot(direction) > 1.0 - tolerance,
            MeshFeature::Edge(e) => {
                let edge = &self.edges[e as usize];
                let [p, q] = edge.vertices.map(|v| self.vertices[v as usize]);
                edge.triangles.iter().all(|&t| {
                    let corners = self.corners(t);
                    let inward = corners
                        .iter()
                        .map(|c| {
                            (c - p) - (q - p) * ((c - p).dot(&(q - p)) / (q - p).norm_squared())
                        })
                        .max_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()))
                        .unwrap_or_else(Vector3::zeros);
                    inward.dot(direction) <= tolerance * inward.norm()
                })
            }
            MeshFeature::Vertex(v) => self.neighbours.of(v as usize).iter().all(|&w| {
                let along = self.vertices[w as usize] - self.vertices[v as usize];
                along.dot(direction) <= tolerance * along.norm()
            }),
        }
    }

    pub(crate) fn local_aabb(&self) -> Aabb {
        self.bounds
    }

    pub(crate) fn radius_about_origin(&self) -> f64 {
        self.radius
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        MassProperties::of_triangles(
            (0..self.triangles.len() as u32).map(|t| self.corners(t)),
            density,
        )
    }
}

/// The feature of one triangle that a point lies on; edge i runs from corner i to corner i + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriangleFeature {
    Face,
    Edge(usize),
    Vertex(usize),
}

/// The point of a triangle nearest to `p`, by the Voronoi region of `p`.
///
/// # Source
/// Ericson (2005), Real-Time Collision Detection, 5.1.5.
pub(crate) fn closest_on_triangle(
    p: &Point3<f64>,
    [a, b, c]: &[Point3<f64>; 3],
) -> (Point3<f64>, TriangleFeature) {
    use TriangleFeature::{Edge, Face, Vertex};
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Vertex(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * w, Edge(1));
    }
    let scale = 1.0 / (va + vb + vc);
    (a + ab * (vb * scale) + ac * (vc * scale), Face)
}

type EdgeLists = (Vec<MeshEdge>, Vec<[u32; 3]>);

/// Pairs half-edges; a closed, consistently oriented surface has each edge once in either direction.
fn pair_edges(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    normals: &[Vector3<f64>],
) -> Result<EdgeLists, GeometryError> {
    // (low vertex, high vertex, backward?, triangle, side)
    let mut halves: Vec<(u32, u32, u8, u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (t, corners) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (from, to) = (corners[i], corners[(i + 1) % 3]);
            halves.push((
                from.min(to),
                from.max(to),
                u8::from(from > to),
                t as u32,
                i as u8,
            ));
        }
    }
    halves.sort_unstable();
    let mut edges = Vec::with_capacity(halves.len() / 2);
    let mut triangle_edges = vec![[0_u32; 3]; triangles.len()];
    for group in halves.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let (low, high, ..) = group[0];
        let forward = group.iter().filter(|h| h.2 == 0).count();
        let backward = group.len() - forward;
        if forward != 1 || backward != 1 || low == high {
            return Err(GeometryError::OpenMesh {
                from: low,
                to: high,
                triangle: group[0].3 as usize,
                forward,
                backward,
            });
        }
        let [s, t] = [group[0].3, group[1].3];
        for h in group {
            triangle_edges[h.3 as usize][h.4 as usize] = edges.len() as u32;
        }
        // Convex if the other triangle's opposite corner lies below this triangle's plane.
        let far = triangles[t as usize]
            .iter()
            .find(|&&v| v != low && v != high)
            .copied()
            .unwrap_or(low);
        let arm = vertices[far as usize] - vertices[low as usize];
        let below = normals[s as usize].dot(&arm);
        edges.push(MeshEdge {
            vertices: [low, high],
            triangles: [s, t],
            convex: below < -1e-6 * arm.norm(),
        });
    }
    Ok((edges, triangle_edges))
}

fn vertex_normals(
    vertices: &[Point3<f64>],
    triangles: &[[u32; 3]],
    normals: &[Vector3<f64>],
) -> Vec<Vector3<f64>> {
    let mut sums = vec![Vector3::zeros(); vertices.len()];
    for (t, corners) in triangles.iter().enumerate() {
        for i in 0..3 {
            let p = vertices[corners[i] as usize];
            let u = vertices[corners[(i + 1) % 3] as usize] - p;
            let v = vertices[corners[(i + 2) % 3] as usize] - p;
            sums[corners[i] as usize] += normals[t] * u.angle(&v);
        }
    }
    sums
}
