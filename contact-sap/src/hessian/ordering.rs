//! Orders in which to eliminate the nodes of a graph, and what they cost.

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
    /// From edges (i, j), i ≠ j, any number of times and in any direction; `edges` is sorted on return.
    pub(crate) fn from_edges(n: usize, edges: &mut Vec<(u32, u32)>) -> Self {
        let one_way = edges.len();
        for k in 0..one_way {
            let (i, j) = edges[k];
            edges.push((j, i));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0; n + 1];
        for &(i, _) in edges.iter() {
            starts[i as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            neighbours: edges.iter().map(|&(_, j)| j).collect(),
        }
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn neighbours(&self, i: usize) -> &[u32] {
        &self.neighbours[self.starts[i] as usize..self.starts[i + 1] as usize]
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

/// The elimination tree of `graph` in `order`: the parent of each position, `u32::MAX` for roots.
pub(crate) fn elimination_tree(graph: &Graph, order: &[u32]) -> Vec<u32> {
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

/// The same elimination, children right before their parents: what a supernodal factorisation needs.
///
/// Fill is unchanged, but columns of one supernode become neighbours.
pub(crate) fn postorder(graph: &Graph, order: &[u32]) -> Vec<u32> {
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
pub(crate) fn inverse(order: &[u32]) -> Vec<u32> {
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
        Graph::from_edges((n * n) as usize, &mut edges)
    }

    /// Columns of L by eliminating as a person would.
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
