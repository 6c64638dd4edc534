//! The convex hull of points, with its faces, edges and neighbours.

use nalgebra::{Point3, Vector3};
use parry3d_f64::shape::ConvexPolyhedron;

use super::MassProperties;
use super::adjacency::Adjacency;
use crate::GeometryError;
use crate::aabb::Aabb;
use crate::parry;

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
    /// The convex hull of `points`, m. Interior points are dropped, coplanar neighbouring triangles merged into
    /// polygons.
    ///
    /// # Errors
    /// [`GeometryError::Vertex`] for a point that is not finite, [`GeometryError::FlatHull`] when all points are
    /// coplanar.
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
        let flat = |thickness| GeometryError::FlatHull {
            points: points.len(),
            thickness,
            size,
        };
        let thickness = smallest_extent(points);
        if points.len() < 4 || thickness <= 1e-9 * size {
            return Err(flat(thickness));
        }
        let input: Vec<_> = points.iter().map(parry::point).collect();
        let hull = ConvexPolyhedron::from_convex_hull(&input).ok_or_else(|| flat(thickness))?;
        let hull = Self::from_parry(&hull);
        // With needle-shaped triangles, faces may wrongly have been merged as coplanar: then only two are left, or a
        // hole.
        if hull.is_closed() && hull.mass_properties(1.0).volume > 1e-15 * size.powi(3) {
            Ok(hull)
        } else {
            Err(flat(thickness))
        }
    }

    fn from_parry(hull: &ConvexPolyhedron) -> Self {
        let vertices: Vec<Point3<f64>> = hull
            .points()
            .iter()
            .map(|p| parry::from_vector(*p).into())
            .collect();
        let adjacency = hull.vertices_adj_to_face();
        let mut faces = Vec::new();
        let mut face_vertices: Vec<u32> = Vec::new();
        let mut half_edges: Vec<([u32; 2], u32)> = Vec::new();
        let interior =
            vertices.iter().fold(Vector3::zeros(), |s, p| s + p.coords) / vertices.len() as f64;
        for face in hull.faces() {
            let ids = &adjacency[face.first_vertex_or_edge as usize..]
                [..face.num_vertices_or_edges as usize];
            let first = face_vertices.len() as u32;
            face_vertices.extend_from_slice(ids);
            let corner = |i: usize| &vertices[ids[i % ids.len()] as usize];
            // Newell's normal: stable for polygons with short edges.
            let twice_area = (0..ids.len()).fold(Vector3::zeros(), |n, i| {
                n + (corner(i) - corner(0)).cross(&(corner(i + 1) - corner(0)))
            });
            let mut normal = twice_area
                .try_normalize(0.0)
                .unwrap_or(parry::from_vector(face.normal));
            let own = &mut face_vertices[first as usize..];
            if normal.dot(&(vertices[own[0] as usize].coords - interior)) < 0.0 {
                normal = -normal;
                own.reverse();
            }
            let offset = own
                .iter()
                .map(|&v| normal.dot(&vertices[v as usize].coords))
                .fold(f64::NEG_INFINITY, f64::max);
            let index = faces.len() as u32;
            for i in 0..own.len() {
                half_edges.push(([own[i], own[(i + 1) % own.len()]], index));
            }
            faces.push(HullFace {
                normal,
                offset,
                first,
                count: ids.len() as u32,
            });
        }
        let mut edges = edges_of(&mut half_edges);
        edges.sort_by_key(|e| e.vertices);
        let neighbours = Adjacency::new(vertices.len(), edges.iter().map(|e| e.vertices));
        let bounds = Aabb::from_points(&vertices);
        let radius = vertices.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
        Self {
            vertices,
            faces,
            face_vertices,
            edges,
            neighbours,
            bounds,
            radius,
        }
    }

    /// Whether every side of a face is the side of exactly one other face.
    fn is_closed(&self) -> bool {
        self.edges.len() * 2 == self.face_vertices.len()
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
    if points.is_empty() {
        return 0.0;
    }
    let mean = points.iter().fold(Vector3::zeros(), |s, p| s + p.coords) / points.len() as f64;
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
