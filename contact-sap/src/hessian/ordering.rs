//! Elimination orders of a graph.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// An undirected graph without loops: the neighbours of node i are `neighbours[starts[i]..starts[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) starts: Vec<u32>,
    pub(crate) neighbours: Vec<u32>,
}

impl Graph {
    /// From edges (i, j), i ≠ j, any number of times and in any direction.
    pub(crate) fn from_edges(n: usize, edges: &[(u32, u32)]) -> Self {
        let mut ends = vec![0; n + 1];
        for &(i, j) in edges {
            ends[i as usize + 1] += 1;
            ends[j as usize + 1] += 1;
        }
        for i in 0..n {
            ends[i + 1] += ends[i];
        }
        // Unsorted neighbours first; then, for ascending j, append j to the lists of its neighbours, which sorts them.
        let starts: Vec<u32> = ends[..n].to_vec();
        let mut next = starts.clone();
        let mut named = vec![0; 2 * edges.len()];
        let put = |list: &mut [u32], next: &mut [u32], i: u32, j: u32| {
            list[next[i as usize] as usize] = j;
            next[i as usize] += 1;
        };
        for &(i, j) in edges {
            put(&mut named, &mut next, i, j);
            put(&mut named, &mut next, j, i);
        }
        next.copy_from_slice(&starts);
        let mut ascending = vec![0; named.len()];
        for j in 0..n {
            for &i in &named[ends[j] as usize..ends[j + 1] as usize] {
                let own = starts[i as usize]..next[i as usize];
                let is_new = own.is_empty() || ascending[next[i as usize] as usize - 1] != j as u32;
                if is_new {
                    put(&mut ascending, &mut next, i, j as u32);
                }
            }
        }
        let mut graph = Self {
            starts: vec![0],
            neighbours: named,
        };
        graph.neighbours.clear();
        for i in 0..n {
            let own = starts[i] as usize..next[i] as usize;
            graph.neighbours.extend_from_slice(&ascending[own]);
            graph.starts.push(graph.neighbours.len() as u32);
        }
        graph
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbours[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// An elimination order: `order[k]` is eliminated at position k.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    pub(crate) order: Vec<u32>,
    pub(crate) position: Vec<u32>,
}

impl Elimination {
    /// A postorder equivalent to `order`: children in the elimination tree precede their parents.
    pub(crate) fn new(graph: &Graph, order: Vec<u32>) -> Self {
        let order = postorder(graph, &order);
        let position = inverse(&order);
        Self { order, position }
    }
}

/// Approximate minimum degree: the k-th node to eliminate.
pub(crate) fn minimum_degree(graph: &Graph) -> Vec<u32> {
    let n = graph.n_nodes();
    let mut order = vec![0u32; n];
    let mut position = vec![0u32; n];
    let a = SymbolicSparseColMatRef::new_checked(n, n, &graph.starts, None, &graph.neighbours);
    let scratch = amd::order_maybe_unsorted_scratch::<u32>(n, graph.neighbours.len());
    let mut memory = MemBuffer::new(scratch);
    amd::order_maybe_unsorted(
        &mut order,
        &mut position,
        a,
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .expect("a graph of u32 indices fits");
    order
}

/// Nested dissection: both halves of the graph, then their separator.
///
/// The separator is a level of a breadth-first search from a peripheral node, so no coordinates are required. It pays for
/// sheets, solids, and long or flat piles, not for chains and rings.
///
/// Source: George (1973); George and Liu (1978) for the level structure.
pub(crate) fn nested_dissection(graph: &Graph) -> Vec<u32> {
    let n = graph.n_nodes();
    let mut dissection = Dissection {
        graph,
        part: vec![0; n],
        n_parts: 1,
        level: vec![0; n],
        queue: Vec::with_capacity(n),
        order: Vec::with_capacity(n),
    };
    dissection.split((0..n as u32).collect(), 0);
    dissection.order
}

struct Dissection<'a> {
    graph: &'a Graph,
    /// Part of each node.
    part: Vec<u32>,
    n_parts: u32,
    level: Vec<u32>,
    queue: Vec<u32>,
    order: Vec<u32>,
}

impl Dissection<'_> {
    /// Orders `nodes`, which are the part `part`.
    fn split(&mut self, nodes: Vec<u32>, part: u32) {
        /// Smaller parts are ordered by minimum degree.
        const LEAF: usize = 40;
        if nodes.len() <= LEAF {
            self.order_leaf(&nodes);
            return;
        }
        // The last node of a search from any node is peripheral.
        self.search(nodes[0], part);
        let rim = self.queue[self.queue.len() - 1];
        let depth = self.search(rim, part);
        if self.queue.len() < nodes.len() {
            // Not connected: the component reached, then the rest.
            let reached = std::mem::take(&mut self.queue);
            let own = self.new_part(&reached);
            let rest: Vec<u32> = nodes
                .into_iter()
                .filter(|&i| self.part[i as usize] == part)
                .collect();
            self.split(reached, own);
            self.split(rest, part);
            return;
        }
        let Some(cut) = self.thinnest_level(depth) else {
            self.order_leaf(&nodes);
            return;
        };
        let (mut near, mut far, mut between) = (Vec::new(), Vec::new(), Vec::new());
        for &i in &nodes {
            match self.level[i as usize].cmp(&cut) {
                std::cmp::Ordering::Less => near.push(i),
                std::cmp::Ordering::Greater => far.push(i),
                std::cmp::Ordering::Equal => {
                    let neighbours = self.graph.neighbours(i as usize).iter();
                    let is_adjacent =
                        |&&j: &&u32| self.part[j as usize] == part && self.level[j as usize] > cut;
                    if neighbours.filter(is_adjacent).count() > 0 {
                        between.push(i);
                    } else {
                        near.push(i);
                    }
                }
            }
        }
        let near_part = self.new_part(&near);
        let far_part = self.new_part(&far);
        self.new_part(&between);
        self.split(near, near_part);
        self.split(far, far_part);
        self.order.extend(between);
    }

    fn new_part(&mut self, nodes: &[u32]) -> u32 {
        let part = self.n_parts;
        self.n_parts += 1;
        for &i in nodes {
            self.part[i as usize] = part;
        }
        part
    }

    /// Levels by distance from `start` within `part`; leaves the nodes reached in `queue`, returns the deepest level.
    fn search(&mut self, start: u32, part: u32) -> u32 {
        const UNSEEN: u32 = u32::MAX;
        self.queue.clear();
        self.queue.push(start);
        // Nodes are marked by leaving the part during the search.
        self.level[start as usize] = 0;
        self.part[start as usize] = UNSEEN;
        let mut next = 0;
        while next < self.queue.len() {
            let i = self.queue[next] as usize;
            next += 1;
            for &j in self.graph.neighbours(i) {
                if self.part[j as usize] == part {
                    self.part[j as usize] = UNSEEN;
                    self.level[j as usize] = self.level[i] + 1;
                    self.queue.push(j);
                }
            }
        }
        for &i in &self.queue {
            self.part[i as usize] = part;
        }
        self.level[self.queue[self.queue.len() - 1] as usize]
    }

    /// The level with the fewest nodes that leaves at least a third of them on either side.
    fn thinnest_level(&self, depth: u32) -> Option<u32> {
        let mut sizes = vec![0; depth as usize + 1];
        for &i in &self.queue {
            sizes[self.level[i as usize] as usize] += 1;
        }
        let n = self.queue.len();
        let mut before = 0;
        let mut best = None;
        for (level, &size) in sizes.iter().enumerate() {
            let after = n - before - size;
            let balanced = 3 * before >= n && 3 * after >= n;
            if balanced && best.is_none_or(|(thinnest, _)| size < thinnest) {
                best = Some((size, level as u32));
            }
            before += size;
        }
        best.map(|(_, level)| level)
    }

    fn order_leaf(&mut self, nodes: &[u32]) {
        let mut edges = Vec::new();
        for (a, &i) in nodes.iter().enumerate() {
            for &j in self.graph.neighbours(i as usize) {
                if j > i
                    && let Some(b) = nodes.iter().position(|&node| node == j)
                {
                    edges.push((a as u32, b as u32));
                }
            }
        }
        let leaf = Graph::from_edges(nodes.len(), &edges);
        let order = minimum_degree(&leaf);
        self.order.extend(order.iter().map(|&k| nodes[k as usize]));
    }
}

/// The elimination tree of `graph` in `order`: the parent of each position, `u32::MAX` for roots.
fn elimination_tree(graph: &Graph, order: &[u32]) -> Vec<u32> {
    let n = order.len();
    let position = inverse(order);
    let mut parent = vec![u32::MAX; n];
    let mut ancestor = vec![u32::MAX; n];
    for (k, &node) in order.iter().enumerate() {
        for &neighbour in graph.neighbours(node as usize) {
            let mut i = position[neighbour as usize] as usize;
            while i < k {
                let next = ancestor[i];
                ancestor[i] = k as u32;
                if next == u32::MAX {
                    parent[i] = k as u32;
                    break;
                }
                i = next as usize;
            }
        }
    }
    parent
}

/// A postorder of the elimination tree: the fill is unchanged, and the columns of a supernode become consecutive.
fn postorder(graph: &Graph, order: &[u32]) -> Vec<u32> {
    let parent = elimination_tree(graph, order);
    let n = order.len();
    // Children as linked lists, in ascending order.
    let mut first_child = vec![u32::MAX; n];
    let mut next_sibling = vec![u32::MAX; n];
    let mut roots = Vec::new();
    for k in (0..n).rev() {
        match parent[k] {
            u32::MAX => roots.push(k as u32),
            p => {
                next_sibling[k] = first_child[p as usize];
                first_child[p as usize] = k as u32;
            }
        }
    }
    let mut out = Vec::with_capacity(n);
    let mut stack = Vec::new();
    while let Some(root) = roots.pop() {
        stack.push(root);
        while let Some(&top) = stack.last() {
            let child = first_child[top as usize];
            if child == u32::MAX {
                stack.pop();
                out.push(order[top as usize]);
            } else {
                first_child[top as usize] = next_sibling[child as usize];
                stack.push(child);
            }
        }
    }
    out
}

/// position[order[k]] = k.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0; order.len()];
    for (k, &node) in order.iter().enumerate() {
        position[node as usize] = k as u32;
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: u32) -> Graph {
        let mut edges = Vec::new();
        for i in 0..n {
            for j in 0..n {
                if j + 1 < n {
                    edges.push((i * n + j, i * n + j + 1));
                }
                if i + 1 < n {
                    edges.push((i * n + j, i * n + n + j));
                }
            }
        }
        Graph::from_edges((n * n) as usize, &edges)
    }

    /// Columns of L by plain elimination.
    fn fill(graph: &Graph, order: &[u32]) -> Vec<Vec<usize>> {
        let n = order.len();
        let position = inverse(order);
        let mut columns: Vec<Vec<usize>> = order
            .iter()
            .enumerate()
            .map(|(k, &node)| {
                let later = graph.neighbours(node as usize).iter();
                later
                    .map(|&j| position[j as usize] as usize)
                    .filter(|&j| j > k)
                    .collect()
            })
            .collect();
        for k in 0..n {
            columns[k].sort_unstable();
            columns[k].dedup();
            if let Some((&parent, rest)) = columns[k].clone().split_first() {
                columns[parent].extend(rest);
            }
        }
        columns
    }

    #[test]
    fn a_graph_has_every_edge_once_in_both_directions_in_order() {
        let edges = [(4, 0), (1, 4), (0, 4), (2, 4), (4, 0), (2, 1)];
        let graph = Graph::from_edges(5, &edges);
        let lists: Vec<&[u32]> = (0..5).map(|i| graph.neighbours(i)).collect();
        assert_eq!(lists, [&[4][..], &[2, 4], &[1, 4], &[], &[0, 1, 2]]);
        assert_eq!(Graph::from_edges(0, &[]).n_nodes(), 0);
    }

    #[test]
    fn nested_dissection_orders_every_node_once_and_beats_the_natural_order() {
        // A grid, two disjoint grids, and a star, which has no balanced separator.
        let star: Vec<(u32, u32)> = (1..80).map(|i| (0, i)).collect();
        let mut two_grids = Vec::new();
        for k in 0..2 {
            let grid = grid(12);
            for i in 0..144 {
                for &j in grid.neighbours(i) {
                    two_grids.push((i as u32 + k * 144, j + k * 144));
                }
            }
        }
        for graph in [
            grid(20),
            Graph::from_edges(288, &two_grids),
            Graph::from_edges(80, &star),
        ] {
            let order = nested_dissection(&graph);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            let natural: Vec<u32> = (0..graph.n_nodes() as u32).collect();
            assert_eq!(sorted, natural);
            let count = |order: &[u32]| fill(&graph, order).iter().map(Vec::len).sum::<usize>();
            assert!(count(&order) < count(&natural));
        }
    }

    #[test]
    fn the_elimination_tree_gives_the_first_entry_below_each_pivot() {
        let graph = grid(7);
        let order = minimum_degree(&graph);
        let parents: Vec<u32> = fill(&graph, &order)
            .iter()
            .map(|column| column.first().map_or(u32::MAX, |&i| i as u32))
            .collect();
        assert_eq!(elimination_tree(&graph, &order), parents);
    }

    #[test]
    fn a_postorder_keeps_the_fill_and_puts_children_before_their_parents() {
        let graph = grid(9);
        let order = minimum_degree(&graph);
        let post = postorder(&graph, &order);
        let count = |order: &[u32]| fill(&graph, order).iter().map(Vec::len).sum::<usize>();
        assert_eq!(count(&order), count(&post));
        // Every subtree is contiguous: its size is the distance to its smallest member.
        let parent = elimination_tree(&graph, &post);
        let mut size = vec![1; post.len()];
        let mut smallest: Vec<usize> = (0..post.len()).collect();
        for (k, &p) in parent.iter().enumerate() {
            assert_eq!(k + 1 - smallest[k], size[k]);
            if p != u32::MAX {
                size[p as usize] += size[k];
                smallest[p as usize] = smallest[p as usize].min(smallest[k]);
            }
        }
    }
}
