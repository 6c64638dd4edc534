//! Groups of neighbouring vertices of one body: what its part of the coarse level is made of, and what a factor would cost.

use crate::dynamics::Dynamics;
use crate::hessian::{BodyGraph, Graph};

/// Vertices a group has at most. Measured: groups of 40 to 80 are best, of 20 make the coarse factor dominate.
const GROUP_MAX: usize = 80;

/// What follows from the pattern of one participant's A alone. Where A is dense every node is a group.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) body: BodyGraph,
    /// Group of each node.
    pub(super) of_node: Vec<u32>,
    pub(super) count: usize,
    /// Nodes of each group from its start.
    pub(super) nodes: Vec<u32>,
    node_starts: Vec<u32>,
    /// Groups that A couples to each group, itself included, none smaller: ascending from its start.
    pub(super) neighbours: Vec<u32>,
    neighbour_starts: Vec<u32>,
}

impl Groups {
    /// Brings the groups up to date with `dynamics`, whose nodes end at `node_ends`, counted from its first velocity.
    pub(super) fn update(&mut self, dynamics: &dyn Dynamics, node_ends: &[usize]) {
        if !self.body.update(dynamics, node_ends) {
            return;
        }
        if self.is_dense() {
            let n = node_ends.len();
            self.of_node = (0..n as u32).collect();
            self.lay_out(&Graph::from_edges(n, &[]));
            return;
        }
        let graph = std::mem::take(&mut self.body.graph);
        self.of_node = bisect(&graph);
        self.lay_out(&graph);
        self.body.graph = graph;
    }

    /// Whether A is dense.
    pub(super) fn is_dense(&self) -> bool {
        self.body.entries() == 0
    }

    fn lay_out(&mut self, graph: &Graph) {
        self.count = self.of_node.iter().max().map_or(0, |g| *g as usize + 1);
        let mut starts = vec![0_u32; self.count + 1];
        for group in &self.of_node {
            starts[*group as usize + 1] += 1;
        }
        for g in 0..self.count {
            starts[g + 1] += starts[g];
        }
        let mut next = starts.clone();
        self.nodes.clear();
        self.nodes.resize(self.of_node.len(), 0);
        for (node, group) in self.of_node.iter().enumerate() {
            let place = &mut next[*group as usize];
            self.nodes[*place as usize] = node as u32;
            *place += 1;
        }
        self.node_starts = starts;
        self.neighbours.clear();
        self.neighbour_starts.clear();
        self.neighbour_starts.push(0);
        let mut near: Vec<u32> = Vec::new();
        for group in 0..self.count {
            near.clear();
            near.push(group as u32);
            for &node in &self.nodes[self.range(group)] {
                let others = graph.neighbours(node as usize).iter();
                let others = others.map(|&other| self.of_node[other as usize]);
                near.extend(others.filter(|other| *other as usize > group));
            }
            near.sort_unstable();
            near.dedup();
            self.neighbours.extend_from_slice(&near);
            self.neighbour_starts.push(self.neighbours.len() as u32);
        }
    }

    /// Where the nodes of a group are in `nodes`.
    pub(super) fn range(&self, group: usize) -> std::ops::Range<usize> {
        self.node_starts[group] as usize..self.node_starts[group + 1] as usize
    }

    /// Where the neighbours of a group are in `neighbours`.
    pub(super) fn neighbour_range(&self, group: usize) -> std::ops::Range<usize> {
        self.neighbour_starts[group] as usize..self.neighbour_starts[group + 1] as usize
    }
}

/// Halves the graph across its longest way through, and the halves again, until parts are small enough: compact groups of
/// nearly equal size. Returns the group of each node.
fn bisect(graph: &Graph) -> Vec<u32> {
    let n = graph.n_nodes();
    let mut group = vec![0_u32; n];
    let mut seen = vec![u32::MAX; n];
    let mut search = 0;
    let mut next_group = 0;
    let mut parts: Vec<Vec<u32>> = vec![(0..n as u32).collect()];
    // A part is marked by a number of its own, so that searches stay inside.
    let mut mark = vec![0_u32; n];
    let mut next_mark = 1;
    while let Some(part) = parts.pop() {
        if part.len() <= GROUP_MAX {
            for node in part {
                group[node as usize] = next_group;
            }
            next_group += 1;
            continue;
        }
        let own = next_mark;
        next_mark += 1;
        for &node in &part {
            mark[node as usize] = own;
        }
        let mut walk = |start: u32| {
            let mut queue = vec![start];
            seen[start as usize] = search;
            let mut next = 0;
            while next < queue.len() {
                for &other in graph.neighbours(queue[next] as usize) {
                    let other_seen = &mut seen[other as usize];
                    if mark[other as usize] == own && *other_seen != search {
                        *other_seen = search;
                        queue.push(other);
                    }
                }
                next += 1;
            }
            search += 1;
            queue
        };
        let rim = walk(part[0]).pop().unwrap_or(part[0]);
        let mut first = walk(rim);
        let reached = first.len();
        let rest = if reached < part.len() {
            part.into_iter()
                .filter(|&node| seen[node as usize] != search - 1)
                .collect()
        } else {
            first.split_off(reached / 2)
        };
        parts.push(rest);
        parts.push(first);
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_covers_every_node_by_groups_of_the_size_asked_for() {
        // A long strip and a separate triangle.
        let mut edges: Vec<(u32, u32)> = (1..1000).map(|i| (i, i - 1)).collect();
        edges.extend((7..1000).map(|i| (i, i - 7)));
        edges.extend([(1001, 1000), (1002, 1000), (1002, 1001)]);
        let graph = Graph::from_edges(1003, &edges);
        let group = bisect(&graph);
        let count = *group.iter().max().unwrap() as usize + 1;
        let mut sizes = vec![0; count];
        group.iter().for_each(|g| sizes[*g as usize] += 1);
        assert!(sizes.iter().all(|size| (1..=GROUP_MAX).contains(size)));
        assert!(
            sizes
                .iter()
                .filter(|size| **size < GROUP_MAX / 2 - 1)
                .count()
                <= 1
        );
        // Consecutive nodes mostly share a group: groups are compact.
        let cuts = group[..1000].windows(2).filter(|g| g[0] != g[1]).count();
        assert!(cuts < 8 * count, "{cuts} cuts of {count} groups");
    }
}
