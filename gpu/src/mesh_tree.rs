//! A tree of boxes around the triangles of a mesh, for a device that has no recursion: halves by the median along the longest side. Its levels are filled but
//! for the last ones, so that nodes have the places of a heap: 2 n and 2 n + 1 are below n.

use nalgebra::Vector3;
use pliant_hydroelastic::MeshShape;

use crate::shapes::{of_triangle, vector};

/// Triangles of a leaf.
const LEAF: usize = 4;

#[derive(Clone)]
struct Node {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// The first triangle of a leaf.
    first: usize,
    /// Triangles of a leaf; none above.
    count: usize,
}

/// Nodes in the places of a heap, and triangles with an area in the order of the leaves.
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
        let mut nodes: Vec<Node> = Vec::new();
        // Numbers of nodes, with the ranges of their triangles.
        let mut waiting = vec![(1, 0..triangles.len())];
        while let Some((number, range)) = waiting.pop() {
            if nodes.len() < number {
                nodes.resize(number, node(&boxes, &[], 0));
            }
            let own = &mut nodes[number - 1];
            *own = node(&boxes, &triangles[range.clone()], range.start);
            if range.len() <= LEAF {
                continue;
            }
            own.count = 0;
            let axis = (own.high - own.low).imax();
            let middle = range.start + range.len() / 2;
            let key = |t: &usize| boxes[*t][0][axis] + boxes[*t][1][axis];
            triangles[range.clone()].select_nth_unstable_by(range.len() / 2, |a, b| {
                key(a).total_cmp(&key(b)).then(a.cmp(b))
            });
            waiting.push((2 * number, range.start..middle));
            waiting.push((2 * number + 1, middle..range.end));
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
