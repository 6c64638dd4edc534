//! Connected components: union-find over small indices.

/// Disjoint sets of `0..n`.
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            parent: (0..n as u32).collect(),
        }
    }

    pub(crate) fn find(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            // Path halving: every second node on the path is linked to its grandparent.
            let grandparent = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = grandparent;
            i = grandparent;
        }
        i
    }

    /// The smaller root wins, so that a set is represented by its first member.
    pub(crate) fn join(&mut self, i: u32, j: u32) {
        let (i, j) = (self.find(i), self.find(j));
        if i != j {
            self.parent[i.max(j) as usize] = i.min(j);
        }
    }
}

/// Labels elements by connected component, counted from 0 in the order of first appearance. Elements are connected when
/// they share a vertex.
pub(crate) fn components_by_vertex<const N: usize>(
    n_vertices: usize,
    elements: &[[u32; N]],
) -> (Vec<u32>, u32) {
    let mut sets = DisjointSets::new(n_vertices);
    for element in elements {
        for k in 1..N {
            sets.join(element[0], element[k]);
        }
    }
    let mut label_of_root = vec![u32::MAX; n_vertices];
    let mut count = 0;
    let labels = elements
        .iter()
        .map(|element| {
            let label = &mut label_of_root[sets.find(element[0]) as usize];
            if *label == u32::MAX {
                *label = count;
                count += 1;
            }
            *label
        })
        .collect();
    (labels, count)
}
