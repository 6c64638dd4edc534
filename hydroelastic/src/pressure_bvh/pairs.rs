//! Traversal of two trees: pairs of items with overlapping boxes and pressures.

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::{LEAF, PressureBvh, Probe};

/// A flat item of a moved tree: its box and its plane normal · x = offset. Zero normal and offset: not flat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub(crate) corners: [Vector3<f64>; 3],
    /// Twice the area vector.
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

    /// Whether a box intersects the facet's box and plane.
    #[inline]
    pub(super) fn intersects(&self, node: &Probe) -> bool {
        let (apart, reach_sum) = ((self.center - node.center).abs(), self.half + node.half);
        let near = (apart.x <= reach_sum.x) & (apart.y <= reach_sum.y) & (apart.z <= reach_sum.z);
        let height = self.normal.dot(&node.center) - self.offset;
        // Slightly more than the round-off of the height.
        let reach = self
            .normal
            .abs()
            .dot(&(node.half + reach_sum * FACET_TOLERANCE));
        near & (height.abs() <= reach)
    }
}

/// Relative tolerance of the distance between a box and a plane.
const FACET_TOLERANCE: f64 = 1e-9;

/// A bounding sphere of a tree.
struct Ball {
    center: Vector3<f64>,
    radius: f64,
}

impl Ball {
    fn intersects_box(&self, center: &Vector3<f64>, half: &Vector3<f64>) -> bool {
        let outside = ((center - self.center).abs() - half).sup(&Vector3::zeros());
        outside.norm_squared() <= self.radius * self.radius
    }

    fn intersects_plane(&self, facet: &Facet) -> bool {
        let height = facet.normal.dot(&self.center) - facet.offset;
        // In this form, NaN and infinite values count as overlap.
        let apart = height * height > self.radius * self.radius * facet.normal.norm_squared();
        !apart
    }
}

/// The slab low ≤ normal · x ≤ high that contains the overlap of two trees.
#[derive(Clone, Copy, Debug)]
struct OverlapSlab {
    normal: Vector3<f64>,
    midpoint: f64,
    half_width: f64,
}

impl OverlapSlab {
    /// The thinnest of seven slabs: along the sides of both boxes and between the centres of both bounding spheres;
    /// `None` if one is empty.
    fn of(X: &Relative, a: &PressureBvh, b: &PressureBvh) -> Option<Self> {
        let (root_A, root_B) = (a.probes.first()?, b.probes.first()?);
        let center_A = X.point(&root_A.center);
        let apart = center_A - root_B.center;
        let mut thinnest = Self {
            normal: Vector3::zeros(),
            midpoint: 0.0,
            half_width: f64::INFINITY,
        };
        // Along a unit vector, relative to the centre of B: A extends from `at` − `reach_A` to `at` + `reach_A`.
        let mut consider = |normal: Vector3<f64>, at: f64, reach_A: f64, reach_B: f64| {
            let (low, high) = ((at - reach_A).max(-reach_B), (at + reach_A).min(reach_B));
            let half_width = 0.5 * (high - low);
            if half_width < thinnest.half_width {
                thinnest = Self {
                    normal,
                    midpoint: normal.dot(&root_B.center) + 0.5 * (low + high),
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
        let height = self.normal.dot(center) - self.midpoint;
        height.abs() <= self.half_width + self.normal.abs().dot(half)
    }
}

/// A node of one tree, with its box in the frame of the other, and a node of the other tree with an overlapping box.
#[derive(Clone, Copy, Debug)]
struct Overlap {
    center: Vector3<f64>,
    half: Vector3<f64>,
    a: u32,
    b: u32,
}

/// Reused storage of a pair traversal.
#[derive(Default)]
pub(crate) struct PairTraversal {
    overlaps: Vec<Overlap>,
    nodes: Vec<u32>,
}

/// A rigid motion as a matrix, for boxes.
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
}

impl PressureBvh {
    /// Visits the pairs of items of this tree, moved by `X`, and of `other` with overlapping boxes and pressures.
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
            let (apart, reach_sum) = ((center - b.center).abs(), half + b.half);
            if apart.x > reach_sum.x || apart.y > reach_sum.y || apart.z > reach_sum.z {
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

    /// [`Self::visit_pairs`] for a tree of triangles, whose corners in the frame of `other` are given by `corners`:
    /// only pairs in which the triangle's box and plane intersect the box of the other item.
    pub(crate) fn visit_triangle_pairs(
        &self,
        X: &Relative,
        other: &Self,
        walk: &mut PairTraversal,
        mut corners: impl FnMut(u32) -> [Vector3<f64>; 3],
        mut visit: impl FnMut(u32, &Facet, u32),
    ) {
        let Some(between) = OverlapSlab::of(X, self, other) else {
            return;
        };
        let (tree_A, tree_B) = (&self.probes[..], &other.probes[..]);
        let ball = Ball {
            center: other.root().center(),
            radius: other.radius * (1.0 + FACET_TOLERANCE),
        };
        let PairTraversal { overlaps, nodes } = walk;
        let overlap = |a: u32, b: u32, center: &Vector3<f64>, half: &Vector3<f64>| {
            let (node_A, node_B) = (&tree_A[a as usize], &tree_B[b as usize]);
            let (apart, reach_sum) = ((center - node_B.center).abs(), half + node_B.half);
            // Without short-circuiting: most tests fail, each at another comparison, so branches would be mispredicted.
            let near =
                (apart.x <= reach_sum.x) & (apart.y <= reach_sum.y) & (apart.z <= reach_sum.z);
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
                if ball.intersects_plane(&facet) {
                    nodes.push(b);
                }
                while let Some(b) = nodes.pop() {
                    let node_B = &tree_B[b as usize];
                    if !(facet.intersects(node_B) & node_A.balances(node_B)) {
                        continue;
                    }
                    if node_B.right == LEAF {
                        visit(node_A.item, &facet, node_B.item);
                    } else {
                        nodes.push(node_B.right);
                        nodes.push(b + 1);
                    }
                }
            // Descend this tree first: its leaves are single items, whose boxes are exact.
            } else if node_B.right == LEAF || 4.0 * half.norm_squared() > node_B.half.norm_squared()
            {
                for a in [node_A.right, a + 1] {
                    let (center, half) = moved(a);
                    if between.reaches(&center, &half)
                        && ball.intersects_box(&center, &half)
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
