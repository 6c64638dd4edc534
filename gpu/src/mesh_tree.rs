//! A tree of boxes around the triangles of a mesh, for a device that has no recursion: halves by the median along the longest side, so that it has no
//! more levels than `polyhedra.wgsl` has room for.

use nalgebra::Vector3;
use pliant_hydroelastic::MeshShape;

use crate::shapes::{of_triangle, vector};

/// Triangles of a leaf.
const LEAF: usize = 4;

struct Node {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// The first triangle of a leaf, or the first of two nodes below.
    first: usize,
    /// Triangles of a leaf; none above.
    count: usize,
}

/// Nodes, and triangles with an area in the order of the leaves.
pub(crate) struct MeshTree {
    nodes: Vec<Node>,
    triangles: Vec<usize>,
}

impl MeshTree {
    pub(crate) fn new(mesh: &MeshShape) -> Self {
        let boxes: Vec<[Vector3<f64>; 2]> = (mesh.triangles().iter())
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.vertices()[v as usize].coords);
                [a.inf(&b).inf(&c), a.sup(&b).sup(&c)]
            })
            .collect();
        let has_area = |t: &usize| mesh.pseudo_normals(*t).face != Vector3::zeros();
        let mut triangles: Vec<usize> = (0..boxes.len()).filter(has_area).collect();
        let mut nodes = vec![node(&boxes, &triangles, 0)];
        // Nodes to be split, with the ranges of their triangles.
        let mut waiting = vec![(0, 0..triangles.len())];
        while let Some((place, range)) = waiting.pop() {
            if range.len() <= LEAF {
                continue;
            }
            let axis = (nodes[place].high - nodes[place].low).imax();
            let middle = range.start + range.len() / 2;
            let key = |t: &usize| boxes[*t][0][axis] + boxes[*t][1][axis];
            triangles[range.clone()].select_nth_unstable_by(range.len() / 2, |a, b| {
                key(a).total_cmp(&key(b)).then(a.cmp(b))
            });
            (nodes[place].first, nodes[place].count) = (nodes.len(), 0);
            for half in [range.start..middle, middle..range.end] {
                waiting.push((nodes.len(), half.clone()));
                nodes.push(node(&boxes, &triangles[half.clone()], half.start));
            }
        }
        Self { nodes, triangles }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The table of `polyhedra.wgsl`.
    pub(crate) fn vectors(&self, mesh: &MeshShape) -> Vec<[f32; 4]> {
        let nodes = self.nodes.iter().flat_map(|n| {
            [
                vector(&n.low, n.first as f64),
                vector(&n.high, n.count as f64),
            ]
        });
        let triangles = (self.triangles.iter()).flat_map(|t| of_triangle(mesh, *t));
        nodes.chain(triangles).collect()
    }
}

/// A leaf of `triangles`, the first of which has this place in the order.
fn node(boxes: &[[Vector3<f64>; 2]], triangles: &[usize], first: usize) -> Node {
    let none = Vector3::repeat(f64::INFINITY);
    let (low, high) = triangles.iter().fold((none, -none), |(low, high), t| {
        (low.inf(&boxes[*t][0]), high.sup(&boxes[*t][1]))
    });
    Node {
        low,
        high,
        first,
        count: triangles.len(),
    }
}
