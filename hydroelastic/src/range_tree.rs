//! A binary tree of boxes that also know the range of a pressure inside: two fields can only balance where both boxes and
//! ranges overlap.

use nalgebra::{Isometry3, Matrix3, Vector3};

/// A box with the range of the pressure in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: Vector3<f64>,
    pub(crate) max: Vector3<f64>,
    /// Pa.
    pub(crate) p_min: f64,
    /// Pa.
    pub(crate) p_max: f64,
}

impl Range {
    const EMPTY: Self = Self {
        min: Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        p_min: f64::INFINITY,
        p_max: f64::NEG_INFINITY,
    };

    /// Around points with their pressures.
    pub(crate) fn of(points: impl IntoIterator<Item = (Vector3<f64>, f64)>) -> Self {
        points.into_iter().fold(Self::EMPTY, |r, (x, p)| Self {
            min: r.min.inf(&x),
            max: r.max.sup(&x),
            p_min: r.p_min.min(p),
            p_max: r.p_max.max(p),
        })
    }

    /// Around points whose pressure is not asked for.
    pub(crate) fn of_points(points: impl IntoIterator<Item = Vector3<f64>>) -> Self {
        let bounds = Self::of(points.into_iter().map(|x| (x, 0.0)));
        Self {
            p_min: f64::NEG_INFINITY,
            p_max: f64::INFINITY,
            ..bounds
        }
    }

    fn merged(&self, other: &Self) -> Self {
        Self {
            min: self.min.inf(&other.min),
            max: self.max.sup(&other.max),
            p_min: self.p_min.min(other.p_min),
            p_max: self.p_max.max(other.p_max),
        }
    }

    fn center(&self) -> Vector3<f64> {
        0.5 * (self.min + self.max)
    }

    pub(crate) fn half(&self) -> Vector3<f64> {
        0.5 * (self.max - self.min)
    }

    /// The range of `normal · x` over the box.
    pub(crate) fn heights(&self, normal: &Vector3<f64>) -> (f64, f64) {
        let middle = normal.dot(&self.center());
        let reach = normal.abs().dot(&self.half());
        (middle - reach, middle + reach)
    }
}

const LEAF: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    range: Range,
    /// Of the range's box: what the test of two boxes reads.
    center: Vector3<f64>,
    half: Vector3<f64>,
    /// The left child comes right after its parent; this is the right one, or [`LEAF`].
    right: u32,
    item: u32,
}

/// A rigid motion as its matrix, for boxes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relative {
    pub(crate) rotation: Matrix3<f64>,
    magnitude: Matrix3<f64>,
    pub(crate) translation: Vector3<f64>,
}

impl Relative {
    pub(crate) fn new(X: &Isometry3<f64>) -> Self {
        let rotation = *X.rotation.to_rotation_matrix().matrix();
        Self {
            rotation,
            magnitude: rotation.abs(),
            translation: X.translation.vector,
        }
    }

    #[inline]
    pub(crate) fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            rotation,
            magnitude: self.magnitude.transpose(),
            translation: -(rotation * self.translation),
        }
    }

    #[inline]
    pub(crate) fn point(&self, p: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * p + self.translation
    }

    /// A box around the moved box; ranges of pressure stay.
    #[cfg(test)]
    pub(crate) fn range(&self, r: &Range) -> Range {
        let (center, half) = (self.point(&r.center()), self.magnitude * r.half());
        Range {
            min: center - half,
            max: center + half,
            ..*r
        }
    }
}

/// The tree; built once, its boxes refitted when the items move.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeTree {
    nodes: Vec<Node>,
}

impl RangeTree {
    /// A tree over items given by their ranges. Equal input, equal tree.
    pub(crate) fn new(ranges: &[Range]) -> Self {
        let mut order: Vec<u32> = (0..ranges.len() as u32).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * ranges.len()),
        };
        if !order.is_empty() {
            tree.split(ranges, &mut order);
        }
        tree
    }

    /// Splits at the median of the centres along their longest extent; the depth is the logarithm of the number of items.
    fn split(&mut self, ranges: &[Range], items: &mut [u32]) -> u32 {
        let this = self.nodes.len() as u32;
        let range = items
            .iter()
            .fold(Range::EMPTY, |r, &i| r.merged(&ranges[i as usize]));
        self.nodes.push(Node {
            range,
            center: range.center(),
            half: range.half(),
            right: LEAF,
            item: items[0],
        });
        if items.len() > 1 {
            let centers = Range::of_points(items.iter().map(|&i| ranges[i as usize].center()));
            let axis = centers.half().imax();
            let middle = items.len() / 2;
            items.select_nth_unstable_by(middle, |&i, &j| {
                let at = |k: u32| ranges[k as usize].center()[axis];
                at(i).total_cmp(&at(j)).then(i.cmp(&j))
            });
            let (low, high) = items.split_at_mut(middle);
            self.split(ranges, low);
            let right = self.split(ranges, high);
            self.nodes[this as usize].right = right;
        }
        this
    }

    /// Fits the boxes to items that have moved, from the leaves up.
    pub(crate) fn refit(&mut self, mut range_of: impl FnMut(u32) -> Range) {
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let range = if node.right == LEAF {
                range_of(node.item)
            } else {
                self.nodes[i + 1]
                    .range
                    .merged(&self.nodes[node.right as usize].range)
            };
            self.nodes[i] = Node {
                range,
                center: range.center(),
                half: range.half(),
                ..node
            };
        }
    }

    /// The range around everything.
    pub(crate) fn root(&self) -> Range {
        self.nodes.first().map_or(Range::EMPTY, |n| n.range)
    }

    /// Visits the items whose boxes pass `wanted`, which must be true for a box if it is for a part of it.
    pub(crate) fn visit(
        &self,
        stack: &mut Vec<(u32, u32)>,
        wanted: impl Fn(&Range) -> bool,
        mut visit: impl FnMut(u32),
    ) {
        stack.clear();
        if !self.nodes.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, _)) = stack.pop() {
            let node = &self.nodes[i as usize];
            if !wanted(&node.range) {
                continue;
            }
            if node.right == LEAF {
                visit(node.item);
            } else {
                stack.push((node.right, 0));
                stack.push((i + 1, 0));
            }
        }
    }

    /// Visits the pairs of items of this tree, moved by `X`, and of `other` whose boxes and pressures overlap.
    pub(crate) fn visit_pairs(
        &self,
        X: &Relative,
        other: &Self,
        stack: &mut Vec<(u32, u32)>,
        mut visit: impl FnMut(u32, u32),
    ) {
        stack.clear();
        if !self.nodes.is_empty() && !other.nodes.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, j)) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            if a.range.p_min > b.range.p_max || b.range.p_min > a.range.p_max {
                continue;
            }
            let (center, half) = (X.point(&a.center), X.magnitude * a.half);
            let (apart, room) = ((center - b.center).abs(), half + b.half);
            if apart.x > room.x || apart.y > room.y || apart.z > room.z {
                continue;
            }
            let down_A = match (a.right == LEAF, b.right == LEAF) {
                (true, true) => {
                    visit(a.item, b.item);
                    continue;
                }
                (true, false) => false,
                (false, true) => true,
                (false, false) => half.norm_squared() > b.half.norm_squared(),
            };
            if down_A {
                stack.push((a.right, j));
                stack.push((i + 1, j));
            } else {
                stack.push((i, b.right));
                stack.push((i, j + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::random_pose;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random_ranges(rng: &mut ChaCha8Rng, n: usize) -> Vec<Range> {
        (0..n)
            .map(|_| {
                let mut corner = || {
                    let x = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
                    (x, rng.random_range(0.0..1.0))
                };
                let (low, p) = corner();
                let (extent, q) = corner();
                Range::of([(low, p), (low + 0.2 * extent, q)])
            })
            .collect()
    }

    fn overlap(a: &Range, b: &Range) -> bool {
        (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k])
            && a.p_min <= b.p_max
            && b.p_min <= a.p_max
    }

    #[test]
    fn tree_finds_the_pairs_that_brute_force_finds_also_after_a_refit() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (a, b) = (random_ranges(&mut rng, 200), random_ranges(&mut rng, 150));
        let mut tree_A = RangeTree::new(&a);
        let tree_B = RangeTree::new(&b);
        let moved = random_ranges(&mut rng, 200);
        for items in [&a, &moved] {
            tree_A.refit(|i| items[i as usize]);
            let X = Relative::new(&random_pose(&mut rng, 0.3));
            let (mut found, mut stack) = (Vec::new(), Vec::new());
            tree_A.visit_pairs(&X, &tree_B, &mut stack, |i, j| found.push((i, j)));
            found.sort_unstable();
            let mut wanted = Vec::new();
            for (i, x) in items.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    if overlap(&X.range(x), y) {
                        wanted.push((i as u32, j as u32));
                    }
                }
            }
            assert!(wanted.len() > 20, "{}", wanted.len());
            assert_eq!(found, wanted);
        }
    }
}
