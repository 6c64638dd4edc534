//! Nodes on the edges of ten-node tetrahedra, as read.

use super::error::MeshError;
use super::index::VertexIdx;
use super::soup::TetSoup;
use nalgebra::Vector3;

/// Farthest place of a node from the middle of its edge, over the edge's length. A node on an arc of 134° is this far. In the wrong order, half an
/// edge is usual.
const OFFSET_MAX: f64 = 1.0 / 3.0;
/// Distance of the nodes that two elements have on one edge, over its length: round-off of a file with seven digits.
const SAME_PLACE: f64 = 1e-6;
const ORDER: &str = "Ten nodes are four corners, then the nodes of edges 1-2, 2-3, 3-1, 1-4, 2-4, 3-4 (in Gmsh the last two are exchanged)";

/// Edges by their vertices, and the places of their nodes, m.
pub(crate) type NodesOnEdges<V> = Vec<([V; 2], Vector3<f64>)>;

/// A node on an edge of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeNode {
    /// Vertices.
    pub(crate) edge: [u32; 2],
    /// Vertex.
    pub(crate) node: u32,
    /// Index of the element among the tetrahedra.
    pub(crate) tet: u32,
}

/// The edges that have nodes, lower vertex first, ascending, and the places of the nodes.
pub(crate) fn checked_edge_nodes(soup: &TetSoup) -> Result<NodesOnEdges<u32>, MeshError> {
    let mut nodes = soup.edge_nodes.clone();
    for node in &mut nodes {
        node.edge.sort_unstable();
    }
    nodes.sort_by_key(|node| (node.edge, node.tet));
    let mut places = Vec::with_capacity(nodes.len() / 2);
    for around in nodes.chunk_by(|a, b| a.edge == b.edge) {
        let first = around[0];
        check_place(soup, first)?;
        for other in &around[1..] {
            check_same(soup, first, *other)?;
        }
        places.push((first.edge, soup.vertices[first.node as usize]));
    }
    Ok(places)
}

fn length(soup: &TetSoup, [a, b]: [u32; 2]) -> f64 {
    (soup.vertices[a as usize] - soup.vertices[b as usize]).norm()
}

fn check_place(soup: &TetSoup, EdgeNode { edge, node, tet }: EdgeNode) -> Result<(), MeshError> {
    let [a, b] = edge.map(|v| soup.vertices[v as usize]);
    let offset = (soup.vertices[node as usize] - (a + b) * 0.5).norm() / length(soup, edge);
    if offset <= OFFSET_MAX {
        return Ok(());
    }
    let what = format!(
        "{} has {} on its edge of {} {}, {offset:.2} of the edge's length from its middle",
        soup.describe(tet),
        soup.names.vertices.name(node),
        soup.names.vertices.plural,
        soup.names.vertex_list(&edge),
    );
    let remedy = format!("A third is the most that is allowed. {ORDER}");
    Err(soup.element_error(tet, what, &remedy))
}

fn check_same(soup: &TetSoup, first: EdgeNode, other: EdgeNode) -> Result<(), MeshError> {
    let [one, two] = [first, other].map(|node| soup.vertices[node.node as usize]);
    if (one - two).norm() <= SAME_PLACE * length(soup, first.edge) {
        return Ok(());
    }
    let name = |node: EdgeNode| soup.names.vertices.name(node.node);
    let what = format!(
        "{} has {} on its edge of {} {}, where {} has {}",
        soup.describe(other.tet),
        name(other),
        soup.names.vertices.plural,
        soup.names.vertex_list(&first.edge),
        soup.names
            .elements
            .name(soup.element_of[first.tet as usize]),
        name(first),
    );
    let remedy = format!("Elements around an edge share its node. {ORDER}");
    Err(soup.element_error(other.tet, what, &remedy))
}

/// Edges of old vertices as edges of new ones; `old_index`, ascending, has the old index of each new vertex.
pub(crate) fn renumbered(places: NodesOnEdges<u32>, old_index: &[u32]) -> NodesOnEdges<VertexIdx> {
    let new = |old: u32| VertexIdx(old_index.partition_point(|v| *v < old) as u32);
    let places = places.into_iter();
    places.map(|(edge, at)| (edge.map(new), at)).collect()
}
