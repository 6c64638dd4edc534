//! Nested dissection by coordinates: separators are slabs along planes, as thick as the distance of neighbours.
//!
//! On a grid with couplings over two cells, levels of a breadth-first search are almost 1.5 times as large as planes.
//!
//! Source: George (1973), "Nested dissection of a regular finite element mesh"; Miller, Teng, Thurston, Vavasis (1997) for
//! geometric separators.

use nalgebra::Vector3;

use crate::hessian::ordering::{Graph, minimum_degree};

/// Up to this many nodes, minimum degree does as well.
const LEAF: usize = 60;

/// Least share of the nodes on either side of a separator.
const SHARE_MIN: f64 = 0.15;

/// The elimination order: both halves, then their separator. Nodes without a position (rigid bodies, which are few) come last.
pub(crate) fn plane_dissection(graph: &Graph, positions: &[Option<Vector3<f64>>]) -> Vec<u32> {
    let n = graph.n_nodes();
    let mut positioned = Vec::with_capacity(n);
    let mut rest = Vec::new();
    let mut at = vec![Vector3::zeros(); n];
    for (i, position) in positions.iter().enumerate() {
        match position {
            Some(position) => {
                at[i] = *position;
                positioned.push(i as u32);
            }
            None => rest.push(i as u32),
        }
    }
    let mut reach = Vector3::zeros();
    for &i in &positioned {
        for &j in graph.neighbours(i as usize) {
            if positions[j as usize].is_some() {
                let offset: Vector3<f64> = at[i as usize] - at[j as usize];
                reach = offset.abs().sup(&reach);
            }
        }
    }
    let mut cuts = PlaneCuts {
        graph,
        at,
        reach,
        local: vec![u32::MAX; n],
        order: Vec::with_capacity(n),
    };
    cuts.split(positioned);
    cuts.order.extend(rest);
    cuts.order
}

struct PlaneCuts<'a> {
    graph: &'a Graph,
    at: Vec<Vector3<f64>>,
    /// Largest distance of two neighbours along each axis.
    reach: Vector3<f64>,
    /// BlockLocation of each node in the leaf that is being ordered.
    local: Vec<u32>,
    order: Vec<u32>,
}

/// A separator between two halves.
#[derive(Clone, Copy)]
struct Slab {
    axis: usize,
    /// Coordinates at which it begins and ends.
    from: f64,
    to: f64,
    score: f64,
}

impl PlaneCuts<'_> {
    fn split(&mut self, nodes: Vec<u32>) {
        if nodes.len() <= LEAF {
            return self.order_leaf(&nodes);
        }
        let Some(slab) = self.thinnest_slab(&nodes) else {
            return self.order_leaf(&nodes);
        };
        let (mut near, mut far, mut between) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &nodes {
            let x = self.at[i as usize][slab.axis];
            if x < slab.from {
                near.push(i);
            } else if x >= slab.to {
                far.push(i);
            } else {
                between.push(i);
            }
        }
        self.split(near);
        self.split(far);
        // The separator is dense after elimination of both sides, so its order does not matter.
        self.order.extend(between);
    }

    /// The slab with the fewest nodes among the balanced ones.
    fn thinnest_slab(&self, nodes: &[u32]) -> Option<Slab> {
        let mut best: Option<Slab> = None;
        let mut along = Vec::with_capacity(nodes.len());
        for axis in 0..3 {
            // Half the distance is the grid spacing if neighbours are two cells apart; a thinner slab is one plane.
            let thickness = self.reach[axis] * (1.0 - 1e-6);
            along.clear();
            along.extend(nodes.iter().map(|&i| self.at[i as usize][axis]));
            along.sort_unstable_by(f64::total_cmp);
            let n = along.len();
            let mut end = 0;
            let mut before = 0;
            while before < n {
                let from = along[before];
                while end < n && along[end] < from + thickness {
                    end += 1;
                }
                let (near, far) = (before as f64, (n - end) as f64);
                let less = near.min(far) / (near + far).max(1.0);
                if less >= SHARE_MIN {
                    let size = (end - before) as f64;
                    // Work grows with the cube of the front; with halves a : b, with a² + b².
                    let uneven = (near * near + far * far) / (near + far).powi(2);
                    let score = size * uneven.sqrt();
                    if best.is_none_or(|best| score < best.score) {
                        let to = along[end.min(n - 1)];
                        best = Some(Slab {
                            axis,
                            from,
                            to,
                            score,
                        });
                    }
                }
                let next = along[before..].partition_point(|x| *x <= from);
                before += next.max(1);
            }
        }
        best
    }

    fn order_leaf(&mut self, nodes: &[u32]) {
        for (k, &i) in nodes.iter().enumerate() {
            self.local[i as usize] = k as u32;
        }
        let mut edges = Vec::new();
        for (k, &i) in nodes.iter().enumerate() {
            for &j in self.graph.neighbours(i as usize) {
                let other = self.local[j as usize];
                if other != u32::MAX && other > k as u32 {
                    edges.push((k as u32, other));
                }
            }
        }
        let leaf = Graph::from_edges(nodes.len(), &edges);
        let order = minimum_degree(&leaf);
        self.order.extend(order.iter().map(|&k| nodes[k as usize]));
        for &i in nodes {
            self.local[i as usize] = u32::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hessian::multifrontal::Multifrontal;
    use crate::hessian::ordering::{Elimination, nested_dissection};

    /// A slab of grid nodes with couplings over two cells, and a last node that is coupled to some of them.
    fn slab([a, b, c]: [i32; 3]) -> (Graph, Vec<Option<Vector3<f64>>>) {
        let index = |i: i32, j: i32, k: i32| ((i * b + j) * c + k) as u32;
        let (mut edges, mut positions) = (Vec::new(), Vec::new());
        let n = (a * b * c) as u32;
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    positions.push(Some(Vector3::new(i.into(), j.into(), k.into()) * 0.02));
                    for (di, dj, dk) in (0..125).map(|m| (m / 25 - 2, m / 5 % 5 - 2, m % 5 - 2)) {
                        let (x, y, z) = (i + di, j + dj, k + dk);
                        let inside = (0..a).contains(&x) && (0..b).contains(&y);
                        if inside && (0..c).contains(&z) && (di, dj, dk) != (0, 0, 0) {
                            edges.push((index(i, j, k), index(x, y, z)));
                        }
                    }
                    if k == c - 1 && i < 5 {
                        edges.push((n, index(i, j, k)));
                    }
                }
            }
        }
        positions.push(None);
        (Graph::from_edges(n as usize + 1, &edges), positions)
    }

    #[test]
    fn planes_leave_less_work_on_a_grid_than_degrees_and_levels() {
        let (graph, positions) = slab([18, 16, 6]);
        let order = plane_dissection(&graph, &positions);
        assert_eq!(
            *order.last().expect("not empty"),
            graph.n_nodes() as u32 - 1
        );
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(k, &i)| i == k as u32));

        let starts: Vec<usize> = (0..=graph.n_nodes()).map(|i| 3 * i).collect();
        let work = |order: Vec<u32>| {
            let elimination = Elimination::new(&graph, order);
            Multifrontal::new(&graph, &elimination, &starts).work()
        };
        let planes = work(order);
        let (degrees, levels) = (
            work(minimum_degree(&graph)),
            work(nested_dissection(&graph)),
        );
        eprintln!("multiplications: {planes:.3e}, {degrees:.3e} by degree, {levels:.3e} by levels");
        assert!(planes < degrees && planes < 0.8 * levels);
    }
}
