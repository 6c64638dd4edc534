//! A bounding volume tree over the segments of a filament. Segments that are adjacent in the list are adjacent in
//! space, so a node represents a range of indices and its children the two halves; no construction is needed.

use crate::Aabb;

/// Nodes in preorder: the left child follows its parent, the right child comes after the 2n − 1 nodes of the left half.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentBoxes {
    nodes: Vec<Aabb>,
    n: usize,
}

/// A node and its range of segments.
#[derive(Clone, Copy)]
struct NodeRange {
    node: usize,
    from: usize,
    to: usize,
}

impl NodeRange {
    fn is_leaf(&self) -> bool {
        self.to - self.from == 1
    }

    fn halves(&self) -> [Self; 2] {
        let midpoint = self.from + (self.to - self.from) / 2;
        let left = Self {
            node: self.node + 1,
            from: self.from,
            to: midpoint,
        };
        let right = Self {
            node: self.node + 2 * (midpoint - self.from),
            from: midpoint,
            to: self.to,
        };
        [left, right]
    }
}

impl SegmentBoxes {
    pub(crate) fn refit(&mut self, n: usize, box_of: impl Fn(usize) -> Aabb) {
        self.n = n;
        self.nodes.clear();
        self.nodes.resize((2 * n).saturating_sub(1), Aabb::EMPTY);
        if n > 0 {
            self.fit(self.whole(), &box_of);
        }
    }

    fn fit(&mut self, part: NodeRange, box_of: &impl Fn(usize) -> Aabb) -> Aabb {
        let bounds = if part.is_leaf() {
            box_of(part.from)
        } else {
            let [left, right] = part.halves();
            self.fit(left, box_of).merged(&self.fit(right, box_of))
        };
        self.nodes[part.node] = bounds;
        bounds
    }

    fn whole(&self) -> NodeRange {
        NodeRange {
            node: 0,
            from: 0,
            to: self.n,
        }
    }

    /// A box around everything.
    pub(crate) fn root(&self) -> Aabb {
        self.nodes.first().copied().unwrap_or(Aabb::EMPTY)
    }

    /// Visits the segments whose boxes satisfy `overlaps`, in ascending order; the predicate must hold for a box if it
    /// holds for a part of it.
    pub(crate) fn visit(&self, overlaps: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(usize)) {
        if self.n > 0 {
            self.visit_part(self.whole(), &overlaps, &mut visit);
        }
    }

    fn visit_part(
        &self,
        part: NodeRange,
        overlaps: &impl Fn(&Aabb) -> bool,
        visit: &mut impl FnMut(usize),
    ) {
        if !overlaps(&self.nodes[part.node]) {
            return;
        }
        if part.is_leaf() {
            visit(part.from);
        } else {
            for half in part.halves() {
                self.visit_part(half, overlaps, visit);
            }
        }
    }

    /// Visits the pairs of a segment here and one of `other` whose boxes are at most `margin` apart along every axis.
    pub(crate) fn visit_pairs(
        &self,
        other: &Self,
        margin: f64,
        mut visit: impl FnMut(usize, usize),
    ) {
        if self.n > 0 && other.n > 0 {
            self.pairs(self.whole(), other, other.whole(), margin, &mut visit);
        }
    }

    fn pairs(
        &self,
        a: NodeRange,
        other: &Self,
        b: NodeRange,
        margin: f64,
        visit: &mut impl FnMut(usize, usize),
    ) {
        let (box_A, box_B) = (&self.nodes[a.node], &other.nodes[b.node]);
        if !box_A.inflated(margin).intersects(box_B) {
            return;
        }
        match (a.is_leaf(), b.is_leaf()) {
            (true, true) => visit(a.from, b.from),
            (false, true) => {
                for half in a.halves() {
                    self.pairs(half, other, b, margin, visit);
                }
            }
            (true, false) => {
                for half in b.halves() {
                    self.pairs(a, other, half, margin, visit);
                }
            }
            (false, false) => {
                for half_A in a.halves() {
                    for half_B in b.halves() {
                        self.pairs(half_A, other, half_B, margin, visit);
                    }
                }
            }
        }
    }

    /// Visits the pairs (i < j) of segments here whose boxes are at most `margin` apart along every axis.
    pub(crate) fn visit_own_pairs(&self, margin: f64, mut visit: impl FnMut(usize, usize)) {
        if self.n > 0 {
            self.own_pairs(self.whole(), margin, &mut visit);
        }
    }

    fn own_pairs(&self, part: NodeRange, margin: f64, visit: &mut impl FnMut(usize, usize)) {
        if part.is_leaf() {
            return;
        }
        let [left, right] = part.halves();
        self.own_pairs(left, margin, visit);
        self.own_pairs(right, margin, visit);
        self.pairs(left, self, right, margin, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Point3, Vector3};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_tree_finds_what_brute_force_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut tree = SegmentBoxes::default();
        let mut other = SegmentBoxes::default();
        for n in [0, 1, 2, 3, 7, 64, 200] {
            let mut random = |n: usize| -> Vec<Aabb> {
                (0..n)
                    .map(|_| {
                        let c = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                        let half = Vector3::repeat(rng.random_range(0.01..0.2));
                        Aabb::from_half_extents(Point3::from(c), half)
                    })
                    .collect()
            };
            let (a, b) = (random(n), random(50));
            tree.refit(n, |i| a[i]);
            other.refit(50, |i| b[i]);
            let margin = 0.02;
            let near = |a: &Aabb, b: &Aabb| a.inflated(margin).intersects(b);
            let mut own = Vec::new();
            tree.visit_own_pairs(margin, |i, j| own.push((i, j)));
            own.sort_unstable();
            let mut pairs = Vec::new();
            tree.visit_pairs(&other, margin, |i, j| pairs.push((i, j)));
            pairs.sort_unstable();
            let mut single = Vec::new();
            tree.visit(|x| near(x, &b[0]), |i| single.push(i));
            let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let overlaps: Vec<_> = all.filter(|(i, j)| near(&a[*i], &a[*j])).collect();
            assert_eq!(own, overlaps, "{n}");
            let all = (0..n).flat_map(|i| (0..50).map(move |j| (i, j)));
            let overlaps: Vec<_> = all.filter(|(i, j)| near(&a[*i], &b[*j])).collect();
            assert_eq!(pairs, overlaps, "{n}");
            let overlaps: Vec<_> = (0..n).filter(|i| near(&a[*i], &b[0])).collect();
            assert_eq!(single, overlaps, "{n}");
        }
    }
}
