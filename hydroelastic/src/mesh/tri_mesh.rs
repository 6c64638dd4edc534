//! `TriMesh`: a checked, immutable triangle surface with adjacency.

use super::components::components_by_vertex;
use super::index::{EdgeIdx, TriangleIdx, VertexIdx};
use super::moments::{Bounds, SolidMoments, solid_moments};
use super::options::SurfaceUse;
use super::topology::{Edge, Topology};
use nalgebra::Vector3;

/// A triangle surface: vertices in metres, triangles counter-clockwise seen from outside, adjacency.
///
/// Every edge has one or two triangles, every vertex at least one, every triangle a positive area, and neighbours are
/// consistently oriented (except on a one-sided cloth, which the load report mentions). A surface built as
/// [`SurfaceUse::Solid`] is closed and oriented outwards: shells nested in it bound cavities, bodies in these, and so on.
///
/// ```
/// use std::f64::consts::PI;
/// use pliant_hydroelastic::mesh::generate;
///
/// let ball = generate::sphere(1.0, 4)?;
/// assert!(ball.is_closed());
/// assert_eq!((ball.euler_number(), ball.component_count()), (2, 1));
/// // Facets lie inside the sphere.
/// assert!(ball.area() < 4.0 * PI && ball.area() > 0.99 * 4.0 * PI);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TriMesh {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[VertexIdx; 3]>,
    topology: Topology,
    boundary_loops: Vec<Vec<VertexIdx>>,
    component_of: Vec<u32>,
    component_count: u32,
    surface_use: SurfaceUse,
    bounds: Bounds,
}

impl TriMesh {
    /// From parts that have passed all checks.
    pub(crate) fn assemble(
        vertices: Vec<Vector3<f64>>,
        triangles: &[[u32; 3]],
        surface_use: SurfaceUse,
    ) -> Self {
        let topology = Topology::new(vertices.len(), triangles);
        let boundary_loops = topology.boundary_loops(triangles);
        let (component_of, component_count) = components_by_vertex(vertices.len(), triangles);
        let bounds = Bounds::of(&vertices).expect("a checked mesh has vertices");
        let triangles = triangles
            .iter()
            .map(|triangle| triangle.map(VertexIdx))
            .collect();
        Self {
            vertices,
            triangles,
            topology,
            boundary_loops,
            component_of,
            component_count,
            surface_use,
            bounds,
        }
    }

    /// Positions, m.
    #[must_use]
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Corners of each triangle, counter-clockwise seen from outside.
    #[must_use]
    pub fn triangles(&self) -> &[[VertexIdx; 3]] {
        &self.triangles
    }

    /// Corners of each triangle as plain integers.
    pub fn raw_triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.triangles
            .iter()
            .map(|triangle| triangle.map(u32::from))
    }

    /// Positions of the three corners, m.
    #[must_use]
    pub fn corners(&self, triangle: TriangleIdx) -> [Vector3<f64>; 3] {
        self.triangles[triangle.index()].map(|vertex| self.vertices[vertex.index()])
    }

    /// All edges, sorted by their vertices.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.topology.edges
    }

    /// The three edges of a triangle; edge k runs from corner k to corner k + 1.
    #[must_use]
    pub fn triangle_edges(&self, triangle: TriangleIdx) -> [EdgeIdx; 3] {
        self.topology.triangle_edges[triangle.index()]
    }

    /// The triangles across the three edges, in the order of [`TriMesh::triangle_edges`]; `None` on the boundary.
    #[must_use]
    pub fn neighbours(&self, triangle: TriangleIdx) -> [Option<TriangleIdx>; 3] {
        self.triangle_edges(triangle)
            .map(|edge| self.topology.edges[edge.index()].across(triangle))
    }

    /// The purpose that the surface was built for.
    #[must_use]
    pub fn surface_use(&self) -> SurfaceUse {
        self.surface_use
    }

    /// Whether every edge has two triangles.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.boundary_loops.is_empty()
    }

    /// The edges with one triangle.
    pub fn boundary_edges(&self) -> impl Iterator<Item = &Edge> {
        self.topology.edges.iter().filter(|edge| edge.is_boundary())
    }

    /// The closed chains of boundary edges, each as its vertices in order.
    #[must_use]
    pub fn boundary_loops(&self) -> &[Vec<VertexIdx>] {
        &self.boundary_loops
    }

    /// Vertices − edges + triangles: 2 for a sphere, 0 for a torus, summed over components.
    #[must_use]
    pub fn euler_number(&self) -> i64 {
        self.vertices.len() as i64 - self.topology.edges.len() as i64 + self.triangles.len() as i64
    }

    /// Number of connected components; triangles that share a vertex are connected.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.component_count as usize
    }

    /// The component of a triangle, counted from 0.
    #[must_use]
    pub fn component_of(&self, triangle: TriangleIdx) -> usize {
        self.component_of[triangle.index()] as usize
    }

    /// The smallest axis-aligned box around the vertices.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Area of one triangle, m².
    #[must_use]
    pub fn triangle_area(&self, triangle: TriangleIdx) -> f64 {
        let [a, b, c] = self.corners(triangle);
        0.5 * (b - a).cross(&(c - a)).norm()
    }

    /// Outward unit normal of one triangle.
    #[must_use]
    pub fn triangle_normal(&self, triangle: TriangleIdx) -> Vector3<f64> {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)).normalize()
    }

    /// Area of the surface, m².
    #[must_use]
    pub fn area(&self) -> f64 {
        self.triangle_indices().map(|t| self.triangle_area(t)).sum()
    }

    /// Volume, centroid and inertia of the enclosed solid at unit density; `None` when the surface is open.
    ///
    /// Overlapping parts count twice; cavities count negatively.
    #[must_use]
    pub fn solid_moments(&self) -> Option<SolidMoments> {
        let center = self.bounds.center();
        let fan = self.triangle_indices().map(|t| {
            let [a, b, c] = self.corners(t).map(|corner| corner - center);
            [Vector3::zeros(), a, b, c]
        });
        self.is_closed().then(|| solid_moments(center, fan))
    }

    /// Quality of one triangle, see [`triangle_quality`].
    #[must_use]
    pub fn quality(&self, triangle: TriangleIdx) -> f64 {
        triangle_quality(self.corners(triangle))
    }

    /// The worst triangle and its quality.
    #[must_use]
    pub fn min_quality(&self) -> (TriangleIdx, f64) {
        let qualities = self.triangle_indices().map(|t| (t, self.quality(t)));
        qualities
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("a checked mesh has triangles")
    }

    /// Vertices whose triangles form more than one fan (non-manifold vertices).
    pub(crate) fn bowties(&self) -> Vec<u32> {
        self.topology.bowties()
    }

    fn triangle_indices(&self) -> impl Iterator<Item = TriangleIdx> + use<> {
        (0..self.triangles.len() as u32).map(TriangleIdx)
    }
}

/// Quality of a triangle: 4√3 A / (l₁² + l₂² + l₃²) with area A and side lengths l.
///
/// Dimensionless; 1 for an equilateral triangle, towards 0 for a needle, 0 when the corners lie on a line.
#[must_use]
pub fn triangle_quality([a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let squares = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
    if squares == 0.0 {
        0.0
    } else {
        2.0 * 3.0_f64.sqrt() * (b - a).cross(&(c - a)).norm() / squares
    }
}
