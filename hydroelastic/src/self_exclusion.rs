//! Pairs of vertices excluded from self-contact.

/// For each vertex of a surface, the vertices excluded from contact with it: neighbours in the mesh, adjacent points of
/// a rope.
///
/// ```
/// use pliant_hydroelastic::SelfExclusion;
///
/// // A rope of five vertices: no contact with neighbours up to two edges away.
/// let rope = SelfExclusion::from_edges(5, &[[0, 1], [1, 2], [2, 3], [3, 4]], 2);
/// assert_eq!(rope.of(0), [1, 2]);
/// assert!(rope.excludes(2, 4) && !rope.excludes(0, 3));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfExclusion {
    start: Vec<u32>,
    excluded: Vec<u32>,
}

impl SelfExclusion {
    /// Excludes the given pairs (in either order; duplicates allowed) among `n_points` vertices. Pairs with a vertex
    /// out of range are ignored.
    pub fn from_pairs(n_points: usize, pairs: &[[u32; 2]]) -> Self {
        let mut both: Vec<[u32; 2]> = pairs
            .iter()
            .flat_map(|&[p, q]| [[p, q], [q, p]])
            .filter(|p| p.iter().all(|&v| (v as usize) < n_points))
            .collect();
        both.sort_unstable();
        both.dedup();
        let mut start = vec![0_u32; n_points + 1];
        for [p, _] in &both {
            start[*p as usize + 1] += 1;
        }
        for i in 0..n_points {
            start[i + 1] += start[i];
        }
        Self {
            start,
            excluded: both.into_iter().map(|p| p[1]).collect(),
        }
    }

    /// Excludes all pairs of vertices connected by at most `edges_max` edges.
    pub fn from_edges(n_points: usize, edges: &[[u32; 2]], edges_max: u32) -> Self {
        let first = Self::from_pairs(n_points, edges);
        let mut pairs = Vec::new();
        let mut ring = Vec::new();
        let mut visited = vec![u32::MAX; n_points];
        for p in 0..n_points as u32 {
            visited[p as usize] = p;
            ring.clear();
            ring.push(p);
            for _ in 0..edges_max {
                let mut next = Vec::new();
                for &q in &ring {
                    for &r in first.of(q) {
                        if visited[r as usize] != p {
                            visited[r as usize] = p;
                            next.push(r);
                            pairs.push([p, r]);
                        }
                    }
                }
                ring = next;
            }
        }
        Self::from_pairs(n_points, &pairs)
    }

    /// Vertices excluded from contact with `p`, ascending.
    pub fn of(&self, p: u32) -> &[u32] {
        match (self.start.get(p as usize), self.start.get(p as usize + 1)) {
            (Some(&from), Some(&to)) => &self.excluded[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Whether contact of `p` with `q` is excluded.
    pub fn excludes(&self, p: u32, q: u32) -> bool {
        p == q || self.of(p).binary_search(&q).is_ok()
    }
}
