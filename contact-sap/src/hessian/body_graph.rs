//! The node graph of a body's sparse A and its elimination order, computed once per pattern.

use crate::dynamics::{Assembled, Dynamics};
use crate::hessian::best_order::grid_order;
use crate::hessian::multifrontal::Multifrontal;
use crate::hessian::ordering::{Elimination, Graph, minimum_degree};

/// The pattern of a participant's A by nodes; empty for a dense A.
#[derive(Debug, Default)]
pub(crate) struct BodyGraph {
    node_ends: Vec<usize>,
    starts: Vec<u32>,
    rows: Vec<u32>,
    pub(crate) graph: Graph,
    /// Elimination order: minimum degree; on a grid, see [`grid_order`].
    pub(crate) order: Vec<u32>,
    /// Multiplications to factor A in that order.
    pub(crate) factor_work: f64,
}

impl BodyGraph {
    /// Updates the graph to `dynamics`, whose nodes end at `node_ends`, relative to its first velocity; returns whether it
    /// has changed.
    pub(crate) fn update(&mut self, dynamics: &dyn Dynamics, node_ends: &[usize]) -> bool {
        let Some(Assembled::Sparse(a)) = dynamics.assembled() else {
            return false;
        };
        let indptr = a.indptr();
        let same = self.node_ends == node_ends
            && self.starts == indptr.raw_storage()
            && self.rows == a.indices();
        if same {
            return false;
        }
        self.node_ends.clear();
        self.node_ends.extend_from_slice(node_ends);
        self.starts.clear();
        self.starts.extend_from_slice(indptr.raw_storage());
        self.rows.clear();
        self.rows.extend_from_slice(a.indices());
        self.graph = self.node_graph();
        let mut node_starts = vec![0];
        node_starts.extend_from_slice(node_ends);
        let grid = dynamics.grid_nodes();
        if let Some(nodes) = grid.filter(|nodes| nodes.len() == node_ends.len()) {
            let positions: Vec<_> = nodes.iter().copied().map(Some).collect();
            let (elimination, fronts) = grid_order(&self.graph, &positions, &node_starts);
            self.order = elimination.order;
            self.factor_work = fronts.work();
            return true;
        }
        self.order = minimum_degree(&self.graph);
        let elimination = Elimination::new(&self.graph, self.order.clone());
        self.factor_work = Multifrontal::new(&self.graph, &elimination, &node_starts).work();
        true
    }

    fn node_graph(&self) -> Graph {
        let n = self.node_ends.len();
        let mut node_of_dof = Vec::with_capacity(self.node_ends.last().copied().unwrap_or(0));
        for (node, end) in self.node_ends.iter().enumerate() {
            node_of_dof.resize(*end, node as u32);
        }
        let mut edges = Vec::new();
        for (j, range) in self.starts.windows(2).enumerate() {
            let j = node_of_dof[j];
            let mut last = u32::MAX;
            for row in &self.rows[range[0] as usize..range[1] as usize] {
                let i = node_of_dof[*row as usize];
                if i > j && i != last {
                    edges.push((i, j));
                    last = i;
                }
            }
        }
        Graph::from_edges(n, &edges)
    }
}
