//! Adjacency of a triangle mesh: edges, neighbours, fans around a vertex, boundary loops.

use super::index::{EdgeIdx, TriangleIdx, VertexIdx};

/// An edge of a triangle mesh and the one or two triangles that share it.
///
/// ```
/// use pliant_hydroelastic::mesh::{TriangleIdx, generate};
///
/// // A square of cloth as two triangles: four edges on its boundary, and the diagonal, whose triangles are each across the other.
/// let square = generate::sheet([1.0, 1.0], [1, 1])?;
/// assert_eq!((square.edges().len(), square.boundary_edges().count()), (5, 4));
/// let diagonal = square.edges().iter().find(|edge| !edge.is_boundary()).expect("one of five");
/// assert_eq!(diagonal.across(TriangleIdx(0)), Some(TriangleIdx(1)));
/// let [a, b] = diagonal.vertices.map(|v| square.vertices()[v.index()]);
/// assert!(((b - a).norm() - 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its ends, the smaller index first.
    pub vertices: [VertexIdx; 2],
    /// The triangle with the smaller index.
    pub first: TriangleIdx,
    /// The other one; `None` on the boundary.
    pub second: Option<TriangleIdx>,
}

impl Edge {
    /// Whether only one triangle has this edge.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.second.is_none()
    }

    /// The triangle on the other side of `from`, which must be one of the two; `None` on the boundary.
    #[must_use]
    pub fn across(&self, from: TriangleIdx) -> Option<TriangleIdx> {
        if self.first == from {
            self.second
        } else {
            Some(self.first)
        }
    }
}

/// A directed edge of triangle `half / 3`, from its corner `half % 3` to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HalfEdge {
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) half: u32,
}

impl HalfEdge {
    pub(crate) fn triangle(self) -> u32 {
        self.half / 3
    }

    /// Whether the triangle traverses the edge from `low` to `high`.
    pub(crate) fn ascends(self, triangles: &[[u32; 3]]) -> bool {
        triangles[self.triangle() as usize][(self.half % 3) as usize] == self.low
    }
}

/// All half-edges of all triangles, sorted so that those of one edge are adjacent.
pub(crate) fn sorted_half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut halves = Vec::with_capacity(3 * triangles.len());
    for (triangle, t) in triangles.iter().zip(0_u32..) {
        for k in 0..3 {
            let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
            halves.push(HalfEdge {
                low: from.min(to),
                high: from.max(to),
                half: 3 * t + k as u32,
            });
        }
    }
    halves.sort_unstable();
    halves
}

pub(crate) fn edge_groups(halves: &[HalfEdge]) -> impl Iterator<Item = &[HalfEdge]> {
    halves.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high))
}

/// Adjacency of a triangle mesh whose edges have at most two triangles.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    pub(crate) edges: Vec<Edge>,
    /// Edge k runs from corner k to corner k + 1.
    pub(crate) triangle_edges: Vec<[EdgeIdx; 3]>,
    vertex_start: Vec<u32>,
    vertex_triangles: Vec<TriangleIdx>,
}

impl Topology {
    pub(crate) fn new(n_vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let halves = sorted_half_edges(triangles);
        let mut edges = Vec::with_capacity(halves.len() / 2);
        let mut triangle_edges = vec![[EdgeIdx(0); 3]; triangles.len()];
        for (group, e) in edge_groups(&halves).zip(0_u32..) {
            assert!(
                group.len() <= 2,
                "edges with more than two triangles are refused before the adjacency is built"
            );
            edges.push(Edge {
                vertices: [VertexIdx(group[0].low), VertexIdx(group[0].high)],
                first: TriangleIdx(group[0].triangle()),
                second: group.get(1).map(|half| TriangleIdx(half.triangle())),
            });
            for half in group {
                triangle_edges[half.triangle() as usize][(half.half % 3) as usize] = EdgeIdx(e);
            }
        }
        let (vertex_start, vertex_triangles) = incidence(n_vertices, triangles);
        Self {
            edges,
            triangle_edges,
            vertex_start,
            vertex_triangles,
        }
    }

    pub(crate) fn around(&self, vertex: u32) -> &[TriangleIdx] {
        let range = self.vertex_start[vertex as usize] as usize
            ..self.vertex_start[vertex as usize + 1] as usize;
        &self.vertex_triangles[range]
    }

    fn edge(&self, edge: EdgeIdx) -> &Edge {
        &self.edges[edge.index()]
    }

    /// The side of `triangle` that ends in `vertex` and is not `side`.
    fn other_side_at(&self, triangle: TriangleIdx, side: EdgeIdx, vertex: VertexIdx) -> EdgeIdx {
        let sides = self.triangle_edges[triangle.index()];
        let other = sides
            .into_iter()
            .find(|&s| s != side && self.edge(s).vertices.contains(&vertex));
        other.expect("two sides of a triangle meet in each of its corners")
    }

    /// Walks around `vertex`, starting in `triangle` away from `side`, until the boundary or `triangle` is reached.
    /// Returns the boundary edge (if any) and the number of triangles passed, including the first.
    fn fan(
        &self,
        mut triangle: TriangleIdx,
        mut side: EdgeIdx,
        vertex: VertexIdx,
    ) -> (Option<EdgeIdx>, usize) {
        let start = triangle;
        let mut passed = 1;
        loop {
            side = self.other_side_at(triangle, side, vertex);
            match self.edge(side).across(triangle) {
                None => return (Some(side), passed),
                Some(next) if next == start => return (None, passed),
                Some(next) => triangle = next,
            }
            passed += 1;
        }
    }

    /// Vertices whose triangles form more than one fan (non-manifold vertices).
    pub(crate) fn bowties(&self) -> Vec<u32> {
        let n_vertices = self.vertex_start.len() as u32 - 1;
        (0..n_vertices)
            .filter(|&v| {
                let triangles = self.around(v);
                let Some(&start) = triangles.first() else {
                    return false;
                };
                let vertex = VertexIdx(v);
                let at_vertex = |s: &EdgeIdx| self.edge(*s).vertices.contains(&vertex);
                let side = self.triangle_edges[start.index()]
                    .into_iter()
                    .find(at_vertex);
                let side = side.expect("a triangle around a vertex has a side that ends there");
                let (boundary, mut passed) = self.fan(start, side, vertex);
                if boundary.is_some() {
                    let back = self.other_side_at(start, side, vertex);
                    passed += self.fan(start, back, vertex).1 - 1;
                }
                passed < triangles.len()
            })
            .collect()
    }

    /// The closed chains of boundary edges, each as its vertices in the direction of its first triangle.
    pub(crate) fn boundary_loops(&self, triangles: &[[u32; 3]]) -> Vec<Vec<VertexIdx>> {
        let mut visited = vec![false; self.edges.len()];
        let mut loops = Vec::new();
        for (edge, e) in self.edges.iter().zip(0_u32..) {
            if !edge.is_boundary() || visited[e as usize] {
                continue;
            }
            let corners = triangles[edge.first.index()];
            let k = self.triangle_edges[edge.first.index()]
                .iter()
                .position(|side| side.0 == e);
            let mut from = VertexIdx(corners[k.expect("an edge is a side of its triangle")]);
            let mut side = EdgeIdx(e);
            let mut chain = Vec::new();
            while !visited[side.index()] {
                visited[side.index()] = true;
                chain.push(from);
                let [low, high] = self.edge(side).vertices;
                from = if from == low { high } else { low };
                let (next, _) = self.fan(self.edge(side).first, side, from);
                side = next.expect("turning away from a boundary edge ends at a boundary edge");
            }
            loops.push(chain);
        }
        loops
    }
}

/// Triangles around each vertex, ascending, in compressed rows.
fn incidence(n_vertices: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<TriangleIdx>) {
    let mut start = vec![0_u32; n_vertices + 1];
    for corner in triangles.iter().flatten() {
        start[*corner as usize + 1] += 1;
    }
    for v in 0..n_vertices {
        start[v + 1] += start[v];
    }
    let mut next = start.clone();
    let mut around = vec![TriangleIdx(0); 3 * triangles.len()];
    for (triangle, t) in triangles.iter().zip(0_u32..) {
        for corner in triangle {
            around[next[*corner as usize] as usize] = TriangleIdx(t);
            next[*corner as usize] += 1;
        }
    }
    (start, around)
}
