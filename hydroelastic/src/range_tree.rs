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

    /// Whether boxes and pressures have something in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.p_min <= other.p_max
            && other.p_min <= self.p_max
            && (0..3).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    fn merged(&self, other: &Self) -> Self {
        Self {
            min: self.min.inf(&other.min),
            max: self.max.sup(&other.max),
            p_min: self.p_min.min(other.p_min),
            p_max: self.p_max.max(other.p_max),
        }
    }

    pub(crate) fn center(&self) -> Vector3<f64> {
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
    /// The left child comes right after its parent; this is the right one, or [`LEAF`].
    right: u32,
    item: u32,
}

/// What the test of two boxes reads of a node, close together in memory.
#[derive(Clone, Copy, Debug)]
struct Probe {
    center: Vector3<f64>,
    half: Vector3<f64>,
    p_min: f64,
    p_max: f64,
    right: u32,
    item: u32,
}

impl Probe {
    fn balances(&self, other: &Self) -> bool {
        (self.p_min <= other.p_max) & (other.p_min <= self.p_max)
    }

    fn of(node: &Node) -> Self {
        Self {
            center: node.range.center(),
            half: node.range.half(),
            p_min: node.range.p_min,
            p_max: node.range.p_max,
            right: node.right,
            item: node.item,
        }
    }
}

/// A flat item of a moved tree as it lies: its box and its plane normal · x = offset. A zero normal and offset: not flat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) corners: [Vector3<f64>; 3],
    /// Twice the area long.
    pub(crate) normal: Vector3<f64>,
    pub(crate) offset: f64,
    center: Vector3<f64>,
    half: Vector3<f64>,
}

impl Facet {
    pub(crate) fn of(corners: [Vector3<f64>; 3]) -> Self {
        let [a, b, c] = &corners;
        let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
        let normal = (b - a).cross(&(c - a));
        Self {
            normal,
            offset: normal.dot(a),
            center: 0.5 * (low + high),
            half: 0.5 * (high - low),
            corners,
        }
    }

    /// Whether a box reaches the box and the plane.
    fn meets(&self, node: &Probe) -> bool {
        let (apart, room) = ((self.center - node.center).abs(), self.half + node.half);
        let near = (apart.x <= room.x) & (apart.y <= room.y) & (apart.z <= room.z);
        let height = self.normal.dot(&node.center) - self.offset;
        // A little more than round-off of the height.
        let reach = self.normal.abs().dot(&(node.half + room * FACET_TOLERANCE));
        near & (height.abs() <= reach)
    }
}

/// Boxes this part of their size away from a plane still meet it.
const FACET_TOLERANCE: f64 = 1e-9;

/// A ball around all of a tree.
struct Ball {
    center: Vector3<f64>,
    radius: f64,
}

impl Ball {
    fn meets_box(&self, center: &Vector3<f64>, half: &Vector3<f64>) -> bool {
        let outside = ((center - self.center).abs() - half).sup(&Vector3::zeros());
        outside.norm_squared() <= self.radius * self.radius
    }

    fn meets_plane(&self, facet: &Facet) -> bool {
        let height = facet.normal.dot(&self.center) - facet.offset;
        // Not the other way round: what has no area, or no end, meets.
        let apart = height * height > self.radius * self.radius * facet.normal.norm_squared();
        !apart
    }
}

/// What two trees can share lies where low ≤ normal · x ≤ high.
#[derive(Clone, Copy, Debug)]
struct Between {
    normal: Vector3<f64>,
    middle: f64,
    half_width: f64,
}

impl Between {
    /// The thinnest of seven, across the sides of both boxes and between the balls around both; `None` if one is empty.
    fn of(X: &Relative, a: &RangeTree, b: &RangeTree) -> Option<Self> {
        let (root_A, root_B) = (a.probes.first()?, b.probes.first()?);
        let center_A = X.point(&root_A.center);
        let apart = center_A - root_B.center;
        let mut thinnest = Self {
            normal: Vector3::zeros(),
            middle: 0.0,
            half_width: f64::INFINITY,
        };
        // Along a unit vector, seen from the centre of B: A reaches from `at` − `reach_A` to `at` + `reach_A`.
        let mut consider = |normal: Vector3<f64>, at: f64, reach_A: f64, reach_B: f64| {
            let (low, high) = ((at - reach_A).max(-reach_B), (at + reach_A).min(reach_B));
            let half_width = 0.5 * (high - low);
            if half_width < thinnest.half_width {
                thinnest = Self {
                    normal,
                    middle: normal.dot(&root_B.center) + 0.5 * (low + high),
                    half_width,
                };
            }
        };
        let reach = X.magnitude * root_A.half;
        for k in 0..3 {
            let e_k = Vector3::ith(k, 1.0);
            consider(e_k, apart[k], reach[k], root_B.half[k]);
            let n: Vector3<f64> = X.rotation.column(k).into();
            consider(n, n.dot(&apart), root_A.half[k], n.abs().dot(&root_B.half));
        }
        let distance = apart.norm();
        if distance > 0.0 {
            consider(apart / distance, distance, a.radius, b.radius);
        }
        let tolerance = FACET_TOLERANCE * (root_A.half + root_B.half).sum();
        thinnest.half_width += tolerance;
        (thinnest.half_width >= 0.0).then_some(thinnest)
    }

    fn reaches(&self, center: &Vector3<f64>, half: &Vector3<f64>) -> bool {
        let height = self.normal.dot(center) - self.middle;
        height.abs() <= self.half_width + self.normal.abs().dot(half)
    }
}

/// A node of one tree, its box moved into the frame of the other, and a node of the other: their boxes overlap.
#[derive(Clone, Copy, Debug)]
struct Overlap {
    center: Vector3<f64>,
    half: Vector3<f64>,
    a: u32,
    b: u32,
}

/// Reused storage of a walk over pairs.
#[derive(Default)]
pub(crate) struct PairWalk {
    overlaps: Vec<Overlap>,
    nodes: Vec<u32>,
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
    probes: Vec<Probe>,
    /// Of a ball around everything, about the middle of the box; infinite where nobody has told.
    radius: f64,
}

impl RangeTree {
    /// A tree over items given by their ranges. Equal input, equal tree.
    pub(crate) fn new(ranges: &[Range]) -> Self {
        let mut order: Vec<u32> = (0..ranges.len() as u32).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * ranges.len()),
            probes: Vec::new(),
            radius: f64::INFINITY,
        };
        if !order.is_empty() {
            tree.split(ranges, &mut order);
        }
        tree.probes = tree.nodes.iter().map(Probe::of).collect();
        tree
    }

    /// Gives the items other names: item i becomes `names[i]`.
    pub(crate) fn renamed(mut self, names: &[u32]) -> Self {
        for (node, probe) in self.nodes.iter_mut().zip(&mut self.probes) {
            node.item = names[node.item as usize];
            probe.item = node.item;
        }
        self
    }

    /// The same, given the points that the items lie between, as of now.
    pub(crate) fn around(mut self, points: &[Vector3<f64>]) -> Self {
        self.measure(points);
        self
    }

    /// Tells the ball around everything anew, given the points that the items lie between.
    pub(crate) fn measure(&mut self, points: &[Vector3<f64>]) {
        let center = self.root().center();
        let squared = points.iter().map(|x| (x - center).norm_squared());
        self.radius = squared.fold(0.0, f64::max).sqrt();
    }

    /// Splits at the median of the centres along their longest extent; the depth is the logarithm of the number of items.
    fn split(&mut self, ranges: &[Range], items: &mut [u32]) -> u32 {
        let this = self.nodes.len() as u32;
        let range = items
            .iter()
            .fold(Range::EMPTY, |r, &i| r.merged(&ranges[i as usize]));
        self.nodes.push(Node {
            range,
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
            self.nodes[i].range = if node.right == LEAF {
                range_of(node.item)
            } else {
                self.nodes[i + 1]
                    .range
                    .merged(&self.nodes[node.right as usize].range)
            };
            self.probes[i] = Probe::of(&self.nodes[i]);
        }
        self.radius = f64::INFINITY;
    }

    /// Fits only the boxes, given by low and high corner; what items know of pressures stays.
    pub(crate) fn refit_boxes(&mut self, mut box_of: impl FnMut(u32) -> [Vector3<f64>; 2]) {
        for i in (0..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            let [min, max] = if node.right == LEAF {
                box_of(node.item)
            } else {
                let (left, right) = (
                    &self.nodes[i + 1].range,
                    &self.nodes[node.right as usize].range,
                );
                [left.min.inf(&right.min), left.max.sup(&right.max)]
            };
            let range = &mut self.nodes[i].range;
            (range.min, range.max) = (min, max);
            let probe = &mut self.probes[i];
            (probe.center, probe.half) = (0.5 * (min + max), 0.5 * (max - min));
        }
        self.radius = f64::INFINITY;
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
        visit: impl FnMut(u32),
    ) {
        self.visit_inside(stack, wanted, |_| true, visit);
    }

    /// [`Self::visit`] with a test that is too dear for single items, asked of boxes around several of them.
    pub(crate) fn visit_inside(
        &self,
        stack: &mut Vec<(u32, u32)>,
        wanted: impl Fn(&Range) -> bool,
        wanted_of_several: impl Fn(&Range) -> bool,
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
            } else if wanted_of_several(&node.range) {
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
        if !self.probes.is_empty() && !other.probes.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, j)) = stack.pop() {
            let (a, b) = (&self.probes[i as usize], &other.probes[j as usize]);
            if !a.balances(b) {
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

    /// [`Self::visit_pairs`] for a tree of triangles, whose corners `corners` tells in the frame of `other`: only pairs of which the
    /// triangle's box and its plane meet the box of the other.
    pub(crate) fn visit_triangle_pairs(
        &self,
        X: &Relative,
        other: &Self,
        walk: &mut PairWalk,
        mut corners: impl FnMut(u32) -> [Vector3<f64>; 3],
        mut visit: impl FnMut(u32, &Facet, u32),
    ) {
        let Some(between) = Between::of(X, self, other) else {
            return;
        };
        let (tree_A, tree_B) = (&self.probes[..], &other.probes[..]);
        let ball = Ball {
            center: other.root().center(),
            radius: other.radius * (1.0 + FACET_TOLERANCE),
        };
        let PairWalk { overlaps, nodes } = walk;
        let overlap = |a: u32, b: u32, center: &Vector3<f64>, half: &Vector3<f64>| {
            let (node_A, node_B) = (&tree_A[a as usize], &tree_B[b as usize]);
            let (apart, room) = ((center - node_B.center).abs(), half + node_B.half);
            // Without short cuts: most pairs fail, each in its own way, and no branch is foreseen.
            let near = (apart.x <= room.x) & (apart.y <= room.y) & (apart.z <= room.z);
            near & node_A.balances(node_B)
        };
        let moved = |a: u32| {
            let node = &tree_A[a as usize];
            (X.point(&node.center), X.magnitude * node.half)
        };
        overlaps.clear();
        let (center, half) = moved(0);
        if overlap(0, 0, &center, &half) {
            let (a, b) = (0, 0);
            overlaps.push(Overlap { center, half, a, b });
        }
        while let Some(top) = overlaps.pop() {
            let Overlap { center, half, a, b } = top;
            let (node_A, node_B) = (&tree_A[a as usize], &tree_B[b as usize]);
            if node_A.right == LEAF {
                let facet = Facet::of(corners(node_A.item));
                nodes.clear();
                if ball.meets_plane(&facet) {
                    nodes.push(b);
                }
                while let Some(b) = nodes.pop() {
                    let node_B = &tree_B[b as usize];
                    if !(facet.meets(node_B) & node_A.balances(node_B)) {
                        continue;
                    }
                    if node_B.right == LEAF {
                        visit(node_A.item, &facet, node_B.item);
                    } else {
                        nodes.push(node_B.right);
                        nodes.push(b + 1);
                    }
                }
            // Rather down this tree: what is left of it is then an item, whose box is exact.
            } else if node_B.right == LEAF || 4.0 * half.norm_squared() > node_B.half.norm_squared()
            {
                for a in [node_A.right, a + 1] {
                    let (center, half) = moved(a);
                    if between.reaches(&center, &half)
                        && ball.meets_box(&center, &half)
                        && overlap(a, b, &center, &half)
                    {
                        overlaps.push(Overlap { center, half, a, b });
                    }
                }
            } else {
                for b in [node_B.right, b + 1] {
                    let node_B = &tree_B[b as usize];
                    if between.reaches(&node_B.center, &node_B.half)
                        && overlap(a, b, &center, &half)
                    {
                        overlaps.push(Overlap { b, ..top });
                    }
                }
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
            let mut boxes = tree_A.clone();
            boxes.refit(|i| Range {
                min: Vector3::zeros(),
                max: Vector3::zeros(),
                ..items[i as usize]
            });
            boxes.refit_boxes(|i| [items[i as usize].min, items[i as usize].max]);
            let ranges = |tree: &RangeTree| tree.nodes.iter().map(|n| n.range).collect::<Vec<_>>();
            assert_eq!(ranges(&boxes), ranges(&tree_A));
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

    #[test]
    fn triangles_meet_the_boxes_that_their_boxes_and_planes_cut() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let triangles: Vec<[Vector3<f64>; 3]> = (0..200)
            .map(|_| {
                let mut point = |size: f64| Vector3::from_fn(|_, _| rng.random_range(-size..size));
                let middle = point(1.0);
                [(); 3].map(|()| middle + point(0.2))
            })
            .collect();
        let boxes = random_ranges(&mut rng, 150);
        let ranges: Vec<_> = triangles.iter().map(|t| Range::of_points(*t)).collect();
        let ends: Vec<_> = boxes.iter().flat_map(|r| [r.min, r.max]).collect();
        let corners: Vec<_> = triangles.iter().flatten().copied().collect();
        let tree = RangeTree::new(&ranges).around(&corners);
        let other = RangeTree::new(&boxes).around(&ends);
        for shift in [0.3, 1.0, 1.9, 5.0] {
            let X = Relative::new(&random_pose(&mut rng, shift));
            let moved = |t: u32| triangles[t as usize].map(|x| X.point(&x));
            let (mut found, mut walk) = (Vec::new(), PairWalk::default());
            tree.visit_triangle_pairs(&X, &other, &mut walk, moved, |t, facet, b| {
                assert_eq!(facet.corners, moved(t));
                found.push((t, b));
            });
            found.sort_unstable();
            let mut wanted = Vec::new();
            for t in 0..triangles.len() as u32 {
                let facet = Facet::of(moved(t));
                for (b, range) in boxes.iter().enumerate() {
                    let (center, half) = (range.center(), range.half());
                    let probe = Probe {
                        center,
                        half,
                        p_min: range.p_min,
                        p_max: range.p_max,
                        right: LEAF,
                        item: b as u32,
                    };
                    if facet.meets(&probe) {
                        wanted.push((t, b as u32));
                    }
                }
            }
            assert_eq!(found, wanted);
        }
    }
}
