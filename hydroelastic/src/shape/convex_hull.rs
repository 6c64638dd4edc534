//! The convex hull of points, with its faces, edges and neighbours.

use nalgebra::{Point3, Vector3};

use super::MassProperties;
use super::adjacency::Adjacency;
use super::hull_faces::flat_faces;
use super::quickhull::hull_triangles;
use crate::GeometryError;
use crate::aabb::Aabb;

/// A flat face of a [`ConvexHull`].
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::ConvexHull;
///
/// // A corner of a cube: three faces through the origin, one across at x + y + z = 1.
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
/// let hull = ConvexHull::new(&corners)?;
/// let across = hull.faces().iter().find(|face| face.normal.x > 0.1).expect("it has four faces");
/// assert!((across.offset - 1.0 / 3f64.sqrt()).abs() < 1e-12); // normal · x
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Outward unit normal.
    pub normal: Vector3<f64>,
    /// The face lies in the plane normal · x = offset, m.
    pub offset: f64,
    first: u32,
    count: u32,
}

/// An edge of a [`ConvexHull`].
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::ConvexHull;
///
/// // A corner of a cube: of the six edges, the three at the origin are right angles, the others are sharper.
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
/// let hull = ConvexHull::new(&corners)?;
/// let (mut right, mut sharp) = (0, 0);
/// for edge in hull.edges() {
///     let [one, other] = edge.faces.map(|face| hull.faces()[face as usize].normal);
///     let at_origin = edge.vertices.iter().any(|v| hull.vertices()[*v as usize] == Point3::origin());
///     if at_origin { right += usize::from(one.dot(&other).abs() < 1e-12) } else { sharp += usize::from(one.dot(&other) < -0.5) }
/// }
/// assert_eq!((right, sharp), (3, 3));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HullEdge {
    /// Its end points, smaller index first.
    pub vertices: [u32; 2],
    /// The faces on both sides.
    pub faces: [u32; 2],
}

/// A convex polyhedron; built by [`Shape::convex_hull`](super::Shape::convex_hull).
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::ConvexHull;
///
/// // The eight corners of a cube, and its centre, which is dropped; coplanar triangles become one face.
/// let mut points: Vec<_> = (0..8).map(|k| Point3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
/// points.push(Point3::new(0.5, 0.5, 0.5));
/// let cube = ConvexHull::new(&points)?;
/// assert_eq!((cube.vertices().len(), cube.faces().len(), cube.edges().len()), (8, 6, 12));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConvexHull {
    vertices: Vec<Point3<f64>>,
    faces: Vec<HullFace>,
    face_vertices: Vec<u32>,
    edges: Vec<HullEdge>,
    neighbours: Adjacency,
    bounds: Aabb,
    radius: f64,
}

impl ConvexHull {
    /// The convex hull of `points`, m. Points that are no corners are dropped, and triangles that are coplanar to 1e-7 of the size joined
    /// to polygons.
    ///
    /// # Errors
    /// [`GeometryError::Vertex`] for a point that is not finite, [`GeometryError::FlatHull`] when all points are coplanar, exactly or to
    /// the rounding of their coordinates.
    pub fn new(points: &[Point3<f64>]) -> Result<Self, GeometryError> {
        for (vertex, p) in points.iter().enumerate() {
            if !p.iter().all(|x| x.is_finite()) {
                return Err(GeometryError::Vertex {
                    shape: "convex hull",
                    vertex,
                    coordinates: [p.x, p.y, p.z],
                });
            }
        }
        let bounds = Aabb::from_points(points);
        let size = if points.is_empty() {
            0.0
        } else {
            2.0 * bounds.half_extents().max()
        };
        let thickness = smallest_extent(points);
        let flat = || GeometryError::FlatHull {
            points: points.len(),
            thickness,
            size,
        };
        let reach = points.iter().map(|p| p.coords.amax()).fold(0.0, f64::max);
        if points.len() < 4 || thickness <= 8.0 * f64::EPSILON * reach {
            return Err(flat());
        }
        let triangles = hull_triangles(points).ok_or_else(flat)?;
        let faces = flat_faces(points, &triangles, size, thickness);
        Ok(Self::from_faces(points, faces))
    }

    /// From faces with the indices of their corners among `points`.
    fn from_faces(points: &[Point3<f64>], faces: Vec<Vec<u32>>) -> Self {
        let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let vertices: Vec<Point3<f64>> = used.iter().map(|v| points[*v as usize]).collect();
        let interior = vertices
            .iter()
            .fold(Vector3::zeros(), |sum, p| sum + (p - vertices[0]))
            / vertices.len() as f64
            + vertices[0].coords;
        let (mut hull_faces, mut face_vertices) = (Vec::with_capacity(faces.len()), Vec::new());
        let mut half_edges: Vec<([u32; 2], u32)> = Vec::new();
        for (mut own, index) in faces.into_iter().zip(0_u32..) {
            for v in &mut own {
                *v = used.partition_point(|used| *used < *v) as u32;
            }
            let corner = |i: usize| &vertices[own[i % own.len()] as usize];
            // Newell's normal: stable for polygons with short edges.
            let twice_area = (0..own.len()).fold(Vector3::zeros(), |n, i| {
                n + (corner(i) - corner(0)).cross(&(corner(i + 1) - corner(0)))
            });
            let outward = corner(0).coords - interior;
            let normal = (twice_area.try_normalize(0.0)).unwrap_or_else(|| outward.normalize());
            half_edges.extend((0..own.len()).map(|i| ([own[i], own[(i + 1) % own.len()]], index)));
            hull_faces.push(HullFace {
                normal,
                offset: own
                    .iter()
                    .map(|v| normal.dot(&vertices[*v as usize].coords))
                    .fold(f64::NEG_INFINITY, f64::max),
                first: face_vertices.len() as u32,
                count: own.len() as u32,
            });
            face_vertices.extend(own);
        }
        let mut edges = edges_of(&mut half_edges);
        edges.sort_by_key(|e| e.vertices);
        let mut hull = Self {
            neighbours: Adjacency::new(vertices.len(), edges.iter().map(|e| e.vertices)),
            bounds: Aabb::from_points(&vertices),
            radius: vertices.iter().map(|p| p.coords.norm()).fold(0.0, f64::max),
            vertices,
            faces: hull_faces,
            face_vertices,
            edges,
        };
        // A joined face has all corners below its plane.
        for f in 0..hull.faces.len() {
            let HullFace { normal, offset, .. } = hull.faces[f];
            let top = hull.vertices[hull.support_index(&normal)];
            hull.faces[f].offset = offset.max(normal.dot(&top.coords));
        }
        hull
    }

    /// Corners, m.
    pub fn vertices(&self) -> &[Point3<f64>] {
        &self.vertices
    }

    /// Flat faces.
    pub fn faces(&self) -> &[HullFace] {
        &self.faces
    }

    /// Edges, sorted by their end points.
    pub fn edges(&self) -> &[HullEdge] {
        &self.edges
    }

    /// Corners of a face, counter-clockwise seen from outside.
    pub fn face_vertices(&self, face: usize) -> &[u32] {
        let f = &self.faces[face];
        &self.face_vertices[f.first as usize..(f.first + f.count) as usize]
    }

    /// Triangles of the surface, counter-clockwise seen from outside.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + Clone + '_ {
        (0..self.faces.len()).flat_map(move |f| {
            let ids = self.face_vertices(f);
            (1..ids.len() - 1).map(move |i| [ids[0], ids[i], ids[i + 1]])
        })
    }

    /// The support vertex in direction `d`; of equal ones the first visited. Uses hill climbing for many vertices.
    pub(crate) fn support_index(&self, d: &Vector3<f64>) -> usize {
        let height = |i: usize| d.dot(&self.vertices[i].coords);
        if self.vertices.len() <= 24 {
            let mut best = (0, height(0));
            for i in 1..self.vertices.len() {
                let h = height(i);
                if h > best.1 {
                    best = (i, h);
                }
            }
            return best.0;
        }
        let mut at = 0;
        let mut top = height(0);
        // Hill climbing on a convex body ends at the maximum; each round strictly ascends, so a vertex is visited at
        // most once.
        loop {
            let mut next = at;
            for &n in self.vertex_neighbours(at) {
                let h = height(n as usize);
                if h > top {
                    top = h;
                    next = n as usize;
                }
            }
            if next == at {
                return at;
            }
            at = next;
        }
    }

    pub(crate) fn vertex_neighbours(&self, vertex: usize) -> &[u32] {
        self.neighbours.of(vertex)
    }

    pub(crate) fn local_aabb(&self) -> Aabb {
        self.bounds
    }

    pub(crate) fn radius_about_origin(&self) -> f64 {
        self.radius
    }

    pub(crate) fn mass_properties(&self, density: f64) -> MassProperties {
        let corners = self
            .triangles()
            .map(|t| t.map(|v| self.vertices[v as usize]));
        MassProperties::of_triangles(corners, density)
    }
}

/// Pairs the two half-edges of every edge. Sorted rather than hashed, for a deterministic order.
fn edges_of(half_edges: &mut [([u32; 2], u32)]) -> Vec<HullEdge> {
    let key = |h: &([u32; 2], u32)| (h.0[0].min(h.0[1]), h.0[0].max(h.0[1]), h.1);
    half_edges.sort_by_key(key);
    half_edges
        .chunk_by(|a, b| (key(a).0, key(a).1) == (key(b).0, key(b).1))
        .filter(|c| c.len() == 2)
        .map(|c| HullEdge {
            vertices: [key(&c[0]).0, key(&c[0]).1],
            faces: [c[0].1, c[1].1],
        })
        .collect()
}

/// Extent along the direction in which the points vary least, m.
fn smallest_extent(points: &[Point3<f64>]) -> f64 {
    let Some(first) = points.first() else {
        return 0.0;
    };
    let mean = points.iter().fold(Vector3::zeros(), |s, p| s + (p - first)) / points.len() as f64;
    let mean = mean + first.coords;
    let covariance = points.iter().fold(nalgebra::Matrix3::zeros(), |s, p| {
        let d = p.coords - mean;
        s + d * d.transpose()
    });
    let eigen = covariance.symmetric_eigen();
    let thinnest = eigen.eigenvectors.column(eigen.eigenvalues.imin());
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| {
            let x = thinnest.dot(&(p.coords - mean));
            (l.min(x), h.max(x))
        });
    high - low
}
