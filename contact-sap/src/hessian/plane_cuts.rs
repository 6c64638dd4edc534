//! Nested dissection of nodes whose places are known: cuts along planes, as thick as neighbours reach.
//!
//! On a grid whose nodes couple two cells far, levels of the graph are shells about a corner, almost half as large again as
//! the plane across. Coordinates find the plane at once, without a look at the edges.
//!
//! Source: George (1973), "Nested dissection of a regular finite element mesh"; Miller, Teng, Thurston, Vavasis (1997) for
//! cuts by places.

use nalgebra::Vector3;

use crate::hessian::ordering::{Graph, minimum_degree};

/// Up to this many nodes, minimum degree does as well.
const LEAF: usize = 60;

/// Neither side of a cut may have less than this share of both.
const SHARE_MIN: f64 = 0.15;

/// The order: both halves, then the slab of nodes that parts them. Nodes without a place, which are few (rigid bodies), come last.
pub(crate) fn plane_dissection(graph: &Graph, places: &[Option<Vector3<f64>>]) -> Vec<u32> {
    let n = graph.n_nodes();
    let mut placed = Vec::with_capacity(n);
    let mut rest = Vec::new();
    let mut at = vec![Vector3::zeros(); n];
    for (i, place) in places.iter().enumerate() {
        match place {
            Some(place) => {
                at[i] = *place;
                placed.push(i as u32);
            }
            None => rest.push(i as u32),
        }
    }
    let mut reach = Vector3::zeros();
    for &i in &placed {
        for &j in graph.neighbours(i as usize) {
            if places[j as usize].is_some() {
                let apart: Vector3<f64> = at[i as usize] - at[j as usize];
                reach = apart.abs().sup(&reach);
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
    cuts.split(placed);
    cuts.order.extend(rest);
    cuts.order
}

struct PlaneCuts<'a> {
    graph: &'a Graph,
    at: Vec<Vector3<f64>>,
    /// The farthest that two neighbours are apart, along each axis.
    reach: Vector3<f64>,
    /// Place of each node in the leaf that is being ordered.
    local: Vec<u32>,
    order: Vec<u32>,
}

/// A slab between two halves.
#[derive(Clone, Copy)]
struct Slab {
    axis: usize,
    /// From where on nodes are in it, and from where on behind it.
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
        // Dense once both sides are gone, in whichever order.
        self.order.extend(between);
    }

    /// The slab with the fewest nodes, unless it parts the others too unevenly.
    fn thinnest_slab(&self, nodes: &[u32]) -> Option<Slab> {
        let mut best: Option<Slab> = None;
        let mut along = Vec::with_capacity(nodes.len());
        for axis in 0..3 {
            // Half a reach is a grid's spacing where neighbours are two apart; anything thinner is one plane.
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
                    // Work goes with the cube of a front; of halves as uneven as a : b it grows with a² + b².
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

    /// Nodes of a slab of a grid whose nodes couple two cells far, and a last one that touches some of them.
    fn slab([a, b, c]: [i32; 3]) -> (Graph, Vec<Option<Vector3<f64>>>) {
        let index = |i: i32, j: i32, k: i32| ((i * b + j) * c + k) as u32;
        let (mut edges, mut places) = (Vec::new(), Vec::new());
        let n = (a * b * c) as u32;
        for i in 0..a {
            for j in 0..b {
                for k in 0..c {
                    places.push(Some(Vector3::new(i.into(), j.into(), k.into()) * 0.02));
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
        places.push(None);
        (Graph::from_edges(n as usize + 1, &edges), places)
    }

    #[test]
    fn planes_leave_less_work_on_a_grid_than_degrees_and_levels() {
        let (graph, places) = slab([18, 16, 6]);
        let order = plane_dissection(&graph, &places);
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
