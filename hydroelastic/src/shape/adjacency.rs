//! Adjacency of vertices in compressed storage, for hulls and meshes.

/// For each vertex, the vertices connected to it by an edge, in the order of the edges.
#[derive(Clone, Debug)]
pub(crate) struct Adjacency {
    start: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    pub(crate) fn new(n_vertices: usize, edges: impl Iterator<Item = [u32; 2]> + Clone) -> Self {
        let mut start = vec![0_u32; n_vertices + 1];
        for v in edges.clone().flatten() {
            start[v as usize + 1] += 1;
        }
        for i in 0..n_vertices {
            start[i + 1] += start[i];
        }
        let mut fill = start.clone();
        let mut neighbours = vec![0_u32; start[n_vertices] as usize];
        for [p, q] in edges {
            for (from, to) in [(p, q), (q, p)] {
                neighbours[fill[from as usize] as usize] = to;
                fill[from as usize] += 1;
            }
        }
        Self { start, neighbours }
    }

    pub(crate) fn of(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.start[vertex] as usize..self.start[vertex + 1] as usize]
    }
}
