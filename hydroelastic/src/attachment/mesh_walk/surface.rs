//! The triangles of a mesh and how they are joined.

use nalgebra::{Point3, Vector3};

use super::{MeshPlace, ROUND_OFF, WalkEnd, heaviest_corner};
use crate::attachment::swept::vertex_apart;
use crate::geometry_error::GeometryError;
use crate::mesh::{Topology, TriangleIdx, edge_groups, sorted_half_edges};

/// Heights below this part of the longest side make a triangle degenerate.
const FLAT: f64 = 1e-8;

/// The triangles that attachments walk on, with their neighbours. Positions of the vertices are given to each walk.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::WalkSurface;
///
/// // The unit square, as two triangles.
/// let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Point3::new(x, y, 0.0));
/// let square = WalkSurface::new(&corners, &[[0, 1, 2], [0, 2, 3]])?;
/// assert!(!square.is_closed());
/// let (distance, place) = square.nearest_on(&corners, 0, &Point3::new(0.8, 0.3, 0.1));
/// assert!((distance - 0.1).abs() < 1e-15);
/// assert_eq!(square.normal(&corners, &place), Vector3::z());
/// // Neighbours must be oriented alike.
/// assert!(WalkSurface::new(&corners, &[[0, 1, 2], [0, 3, 2]]).is_err());
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct WalkSurface {
    triangles: Vec<[u32; 3]>,
    topology: Topology,
    n_vertices: usize,
    is_closed: bool,
}

impl WalkSurface {
    /// Triangles counter-clockwise seen from outside, over these vertices.
    ///
    /// # Errors
    /// [`GeometryError::VertexIndex`] for a vertex that is not there, [`GeometryError::SurfaceWalk`] for degenerate triangles, edges with more than two
    /// triangles, and neighbours that are not oriented alike.
    pub fn new(vertices: &[Point3<f64>], triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        let n_vertices = vertices.len();
        let refuse = |triangle: usize, what| Err(GeometryError::SurfaceWalk { triangle, what });
        for (t, triangle) in triangles.iter().enumerate() {
            if let Some(index) = triangle.iter().find(|v| **v as usize >= n_vertices) {
                return Err(GeometryError::VertexIndex {
                    triangle: t,
                    vertex: *index,
                    vertices: n_vertices,
                });
            }
            let [a, b, c] = triangle.map(|v| vertices[v as usize]);
            let sides = [b - a, c - b, a - c].map(|side| side.norm());
            let longest = sides.into_iter().fold(0.0, f64::max);
            let height = (b - a).cross(&(c - a)).norm() / longest;
            if height.is_nan() || height <= FLAT * longest {
                return refuse(t, "is degenerate");
            }
        }
        let halves = sorted_half_edges(triangles);
        let mut is_closed = true;
        for group in edge_groups(&halves) {
            let t = group[0].triangle() as usize;
            match group {
                [_] => is_closed = false,
                [one, two] if one.ascends(triangles) == two.ascends(triangles) => {
                    return refuse(t, "is oriented against its neighbour");
                }
                [_, _] => {}
                _ => return refuse(t, "shares an edge with more than one other"),
            }
        }
        Ok(Self {
            topology: Topology::new(n_vertices, triangles),
            triangles: triangles.to_vec(),
            n_vertices,
            is_closed,
        })
    }

    /// Whether every edge has two triangles.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Number of vertices, also of those without a triangle: the length of the positions that other functions take.
    #[must_use]
    pub fn n_vertices(&self) -> usize {
        self.n_vertices
    }

    /// The triangles as vertex indices, counter-clockwise seen from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Vertices of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle.
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Positions of the vertices of a triangle, m.
    #[must_use]
    pub fn corners(&self, vertices: &[Point3<f64>], triangle: u32) -> [Point3<f64>; 3] {
        self.triangle(triangle).map(|v| vertices[v as usize])
    }

    /// The point Σ w_i x_i at a place, m.
    #[must_use]
    pub fn point(&self, vertices: &[Point3<f64>], place: &MeshPlace) -> Point3<f64> {
        let corners = self.corners(vertices, place.triangle);
        let terms = corners.iter().zip(&place.weights);
        Point3::from(terms.map(|(p, w)| p.coords * *w).sum::<Vector3<f64>>())
    }

    /// The place on a triangle nearest to `p`, and its distance (m).
    #[must_use]
    pub fn nearest_on(
        &self,
        vertices: &[Point3<f64>],
        triangle: u32,
        p: &Point3<f64>,
    ) -> (f64, MeshPlace) {
        let (distance, _, weights) = vertex_apart(&(*p, self.corners(vertices, triangle)));
        (distance, MeshPlace { triangle, weights })
    }

    /// Unit normal at a place: of the triangle, of both at an edge, and the angle-weighted one at a vertex. A point whose nearest place this is
    /// lies in front where it is on the side of this normal (Bærentzen and Aanæs 2005).
    #[must_use]
    pub fn normal(&self, vertices: &[Point3<f64>], place: &MeshPlace) -> Vector3<f64> {
        let zeros = place.weights.iter().filter(|w| **w <= ROUND_OFF).count();
        let end = match zeros {
            0 => WalkEnd::Triangle,
            1 => WalkEnd::Edge,
            _ => WalkEnd::Vertex,
        };
        self.normal_at(vertices, place, end)
    }

    /// Unit normal of a triangle, and rows G_i, the gradients of its barycentric coordinates (1/m).
    #[must_use]
    pub fn plane(
        &self,
        vertices: &[Point3<f64>],
        triangle: u32,
    ) -> (Vector3<f64>, [Vector3<f64>; 3]) {
        let [a, b, c] = self.corners(vertices, triangle);
        let area = (b - a).cross(&(c - a));
        let twice_area = area.norm();
        let normal = area / twice_area;
        let gradient = |side: Vector3<f64>| normal.cross(&side) / twice_area;
        (normal, [gradient(c - b), gradient(a - c), gradient(b - a)])
    }

    /// Area vector of a vertex, m²: a third of the area of each triangle around it, times its unit normal.
    #[must_use]
    pub fn vertex_area(&self, vertices: &[Point3<f64>], vertex: u32) -> Vector3<f64> {
        let twice = self.around(vertex).map(|t| self.area_normal(vertices, t));
        twice.sum::<Vector3<f64>>() / 6.0
    }

    /// Unit normals of the triangles around a vertex.
    pub fn normals_around<'a>(
        &'a self,
        vertices: &'a [Point3<f64>],
        vertex: u32,
    ) -> impl Iterator<Item = Vector3<f64>> + 'a {
        self.around(vertex).map(|t| self.unit_normal(vertices, t))
    }

    /// Number of edges; an edge of two triangles counts once.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.topology.edges.len()
    }

    /// Vertices of an edge, in ascending order.
    #[must_use]
    pub fn edge(&self, edge: u32) -> [u32; 2] {
        self.topology.edges[edge as usize].vertices.map(|v| v.0)
    }

    /// The edges of a triangle that no triangle before it has: over all triangles, each edge comes once.
    pub fn first_edges_of(&self, triangle: u32) -> impl Iterator<Item = u32> + '_ {
        let edges = self.topology.triangle_edges[triangle as usize];
        edges
            .into_iter()
            .filter(move |e| self.topology.edges[e.index()].first == TriangleIdx(triangle))
            .map(|e| e.index() as u32)
    }

    /// The edges that end in a vertex, each once for every triangle that it has.
    pub fn edges_around(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        self.around(vertex)
            .flat_map(|t| self.topology.triangle_edges[t as usize])
            .map(|e| e.index() as u32)
            .filter(move |e| self.edge(*e).contains(&vertex))
    }

    /// Sum of the unit normals of the one or two triangles of an edge; not normalised.
    #[must_use]
    pub fn normal_of_edge(&self, vertices: &[Point3<f64>], edge: u32) -> Vector3<f64> {
        let edge = &self.topology.edges[edge as usize];
        let triangles = [Some(edge.first), edge.second];
        let normals = triangles.into_iter().flatten();
        normals
            .map(|t| self.unit_normal(vertices, u32::from(t)))
            .sum()
    }

    pub(super) fn across(&self, triangle: u32, edge: usize) -> Option<u32> {
        let side = self.topology.triangle_edges[triangle as usize][edge];
        let edge = &self.topology.edges[side.index()];
        edge.across(TriangleIdx(triangle)).map(u32::from)
    }

    pub(super) fn around(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        self.topology.around(vertex).iter().map(|t| u32::from(*t))
    }

    /// Twice the area times the unit normal of a triangle.
    pub(super) fn area_normal(&self, vertices: &[Point3<f64>], triangle: u32) -> Vector3<f64> {
        let [a, b, c] = self.corners(vertices, triangle);
        (b - a).cross(&(c - a))
    }

    fn unit_normal(&self, vertices: &[Point3<f64>], triangle: u32) -> Vector3<f64> {
        let normal = self.area_normal(vertices, triangle);
        normal.try_normalize(0.0).unwrap_or(normal)
    }

    /// The edge of a triangle opposite the corner with the smallest weight.
    fn edge_of(place: &MeshPlace) -> usize {
        let lightest = (0..3).fold(0, |a, b| {
            if place.weights[b] < place.weights[a] {
                b
            } else {
                a
            }
        });
        (lightest + 1) % 3
    }

    /// Unit normal that decides whether the attachment is pulled away from the surface.
    pub(super) fn normal_at(
        &self,
        vertices: &[Point3<f64>],
        place: &MeshPlace,
        end: WalkEnd,
    ) -> Vector3<f64> {
        let own = self.unit_normal(vertices, place.triangle);
        let sum = match end {
            WalkEnd::Triangle | WalkEnd::Overhang => own,
            WalkEnd::Edge => {
                let across = self.across(place.triangle, Self::edge_of(place));
                across.map_or(own, |other| own + self.unit_normal(vertices, other))
            }
            WalkEnd::Vertex => {
                let vertex = self.triangle(place.triangle)[heaviest_corner(&place.weights)];
                let weighted = self.around(vertex).map(|t| {
                    let k = self.triangle(t).iter().position(|v| *v == vertex);
                    let corners = self.corners(vertices, t);
                    let k = k.unwrap_or(0);
                    let [e, f] = [1, 2].map(|step| corners[(k + step) % 3] - corners[k]);
                    self.unit_normal(vertices, t) * e.angle(&f)
                });
                weighted.sum()
            }
        };
        sum.try_normalize(0.0).unwrap_or(own)
    }

    pub(super) fn is_on_boundary(&self, place: &MeshPlace, end: WalkEnd) -> bool {
        match end {
            WalkEnd::Triangle | WalkEnd::Overhang => false,
            WalkEnd::Edge => self.across(place.triangle, Self::edge_of(place)).is_none(),
            WalkEnd::Vertex => {
                let vertex = self.triangle(place.triangle)[heaviest_corner(&place.weights)];
                self.around(vertex).any(|t| {
                    let corners = self.triangle(t);
                    (0..3).any(|k| {
                        let ends = [corners[k], corners[(k + 1) % 3]];
                        ends.contains(&vertex) && self.across(t, k).is_none()
                    })
                })
            }
        }
    }
}
