//! A tree of boxes around primitives, so that a ray meets few of them.

use pliant_hydroelastic::Aabb;

use super::primitive::{Hit, Primitive, Ray};

/// Relative to distances: boxes are larger by the rounding of their sides, and by the seams of triangles.
const SLACK: f64 = 1e-9;

/// Primitives of a leaf, at most.
const LEAF: usize = 4;

/// Primitives in the order of the tree, and its nodes.
#[derive(Debug, Default)]
pub(super) struct Bvh {
    primitives: Vec<Primitive>,
    nodes: Vec<Node>,
}

/// A box with two children, the first of which follows it, or with primitives.
#[derive(Debug)]
struct Node {
    bounds: Aabb,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Leaf { first: u32, count: u32 },
    Inner { second: u32 },
}

impl Bvh {
    pub(super) fn new(primitives: Vec<Primitive>) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * primitives.len() / LEAF + 1),
            primitives,
        };
        if !tree.primitives.is_empty() {
            tree.split(0, tree.primitives.len());
        }
        tree
    }

    /// Halves the primitives at the median along the longest side of the box of their centres.
    fn split(&mut self, first: usize, end: usize) {
        let part = &mut self.primitives[first..end];
        let boxes = part.iter().map(Primitive::bounds);
        let Some(bounds) = boxes.reduce(|a, b| a.merged(&b)) else {
            return;
        };
        let node = self.nodes.len();
        if part.len() <= LEAF {
            let (first, count) = (first as u32, part.len() as u32);
            let content = Content::Leaf { first, count };
            self.nodes.push(Node { bounds, content });
            return;
        }
        let centres: Vec<_> = part.iter().map(|p| p.bounds().center()).collect();
        let axis = Aabb::from_points(&centres).half_extents().imax();
        let half = part.len() / 2;
        let centre = |p: &Primitive| p.bounds().center()[axis];
        part.select_nth_unstable_by(half, |p, q| centre(p).total_cmp(&centre(q)));
        let content = Content::Inner { second: 0 };
        self.nodes.push(Node { bounds, content });
        self.split(first, first + half);
        let second = self.nodes.len() as u32;
        self.nodes[node].content = Content::Inner { second };
        self.split(first + half, end);
    }

    /// The first hit nearer than `farthest`, in lengths of the direction.
    pub(super) fn hit(&self, ray: &Ray, farthest: f64) -> Option<Hit> {
        let inverse = ray.direction.map(|d| 1.0 / d);
        let mut nearest: Option<Hit> = None;
        let mut limit = farthest;
        // Depth is log2 of the number of primitives: medians halve.
        let mut stack = [0u32; 64];
        let mut depth = usize::from(!self.nodes.is_empty());
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index as usize];
            if !meets(&node.bounds, ray, &inverse, limit) {
                continue;
            }
            match node.content {
                Content::Inner { second } => {
                    stack[depth] = second;
                    stack[depth + 1] = index + 1;
                    depth += 2;
                }
                Content::Leaf { first, count } => {
                    for primitive in &self.primitives[first as usize..(first + count) as usize] {
                        if let Some(hit) = primitive.hit(ray).filter(|hit| hit.distance < limit) {
                            limit = hit.distance;
                            nearest = Some(hit);
                        }
                    }
                }
            }
        }
        nearest
    }
}

/// Whether the ray is in the box anywhere nearer than `limit`.
fn meets(bounds: &Aabb, ray: &Ray, inverse: &nalgebra::Vector3<f64>, limit: f64) -> bool {
    let (mut enter, mut leave) = (0.0_f64, limit);
    for k in 0..3 {
        let (below, above) = (bounds.min[k] - ray.origin[k], bounds.max[k] - ray.origin[k]);
        if inverse[k].is_infinite() {
            // Along the sides: 0 · ∞ is no number.
            if below > 0.0 || above < 0.0 {
                return false;
            }
            continue;
        }
        let (a, b) = (below * inverse[k], above * inverse[k]);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave + SLACK * leave.abs()
}

#[cfg(test)]
mod tests {
    use nalgebra::{Point3, Vector3};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_tree_finds_what_trying_all_finds() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut number = || random.random_range(-1.0..1.0);
        let mut vector = || Vector3::new(number(), number(), number());
        let primitives: Vec<Primitive> = (0..500)
            .map(|k| {
                let at = Point3::from(vector());
                match k % 3 {
                    0 => Primitive::Capsule([at; 2], 0.08),
                    1 => Primitive::Capsule([at, at + vector() * 0.3], 0.05),
                    _ => Primitive::Triangle([at, at + vector() * 0.3, at + vector() * 0.3]),
                }
            })
            .collect();
        let tree = Bvh::new(primitives.clone());
        let mut hits = 0;
        for k in 0..400 {
            let mut direction = vector();
            if k % 4 == 0 {
                // Along an axis.
                direction = Vector3::ith(k % 3, 1.0);
            }
            let mut origin = Point3::from(vector() * 1.5);
            if k % 8 == 0 {
                // Along the side of a box, too.
                origin = primitives[k].bounds().min - direction * 3.0;
            }
            let ray = Ray { origin, direction };
            let all = primitives.iter().filter_map(|p| p.hit(&ray));
            let expected = all.map(|hit| hit.distance).reduce(f64::min);
            let found = tree.hit(&ray, f64::INFINITY).map(|hit| hit.distance);
            assert_eq!(found, expected);
            hits += usize::from(found.is_some());
        }
        assert!((50..350).contains(&hits), "{hits}");
        assert!(
            Bvh::default()
                .hit(
                    &Ray {
                        origin: Point3::origin(),
                        direction: Vector3::x()
                    },
                    1.0
                )
                .is_none()
        );
    }
}
