//! A bounding volume hierarchy whose nodes also bound the pressure: two fields can have equal pressures only where both
//! boxes and pressure intervals overlap.

mod pairs;
#[cfg(test)]
mod tests;

use nalgebra::Vector3;

pub(crate) use pairs::{Facet, PairTraversal, Relative};

/// A box with an interval of pressure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PressureBox {
    pub(crate) min: Vector3<f64>,
    pub(crate) max: Vector3<f64>,
    /// Pa.
    pub(crate) p_min: f64,
    /// Pa.
    pub(crate) p_max: f64,
}

impl PressureBox {
    const EMPTY: Self = Self {
        min: Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        max: Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        p_min: f64::INFINITY,
        p_max: f64::NEG_INFINITY,
    };

    /// Bounds of points with their pressures.
    pub(crate) fn of(points: impl IntoIterator<Item = (Vector3<f64>, f64)>) -> Self {
        points.into_iter().fold(Self::EMPTY, |r, (x, p)| Self {
            min: r.min.inf(&x),
            max: r.max.sup(&x),
            p_min: r.p_min.min(p),
            p_max: r.p_max.max(p),
        })
    }

    /// Bounds of points without pressures.
    pub(crate) fn of_points(points: impl IntoIterator<Item = Vector3<f64>>) -> Self {
        let bounds = Self::of(points.into_iter().map(|x| (x, 0.0)));
        Self {
            p_min: f64::NEG_INFINITY,
            p_max: f64::INFINITY,
            ..bounds
        }
    }

    /// Whether boxes and pressure intervals overlap.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.p_min <= other.p_max
            && other.p_min <= self.p_max
            && (0..3).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    /// Whether the boxes overlap.
    #[inline]
    pub(crate) fn boxes_overlap(&self, other: &Self) -> bool {
        // Without short-circuiting: most tests fail, each at another comparison, so branches would be mispredicted.
        let along = |k: usize| (self.min[k] <= other.max[k]) & (other.min[k] <= self.max[k]);
        along(0) & along(1) & along(2)
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

    /// The interval of `normal · x` over the box.
    pub(crate) fn heights(&self, normal: &Vector3<f64>) -> (f64, f64) {
        let height = normal.dot(&self.center());
        let reach = normal.abs().dot(&self.half());
        (height - reach, height + reach)
    }
}

const LEAF: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: PressureBox,
    /// The left child follows its parent; this is the right child, or [`LEAF`].
    right: u32,
    item: u32,
}

/// The data of a node that the test of two boxes reads, stored compactly.
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
    #[inline]
    fn balances(&self, other: &Self) -> bool {
        (self.p_min <= other.p_max) & (other.p_min <= self.p_max)
    }

    fn of(node: &Node) -> Self {
        Self {
            center: node.bounds.center(),
            half: node.bounds.half(),
            p_min: node.bounds.p_min,
            p_max: node.bounds.p_max,
            right: node.right,
            item: node.item,
        }
    }
}

/// The tree: built once and refitted when the items move.
#[derive(Clone, Debug, Default)]
pub(crate) struct PressureBvh {
    nodes: Vec<Node>,
    probes: Vec<Probe>,
    /// Radius of a bounding sphere about the centre of the root box; infinite if not computed.
    radius: f64,
}

impl PressureBvh {
    /// A tree over items given by their bounds. Deterministic.
    pub(crate) fn new(bounds: &[PressureBox]) -> Self {
        let mut order: Vec<u32> = (0..bounds.len() as u32).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(2 * bounds.len()),
            probes: Vec::new(),
            radius: f64::INFINITY,
        };
        if !order.is_empty() {
            tree.split(bounds, &mut order);
        }
        tree.probes = tree.nodes.iter().map(Probe::of).collect();
        tree
    }

    /// Renames the items: item i becomes `names[i]`.
    pub(crate) fn renamed(mut self, names: &[u32]) -> Self {
        for (node, probe) in self.nodes.iter_mut().zip(&mut self.probes) {
            node.item = names[node.item as usize];
            probe.item = node.item;
        }
        self
    }

    /// Computes the bounding sphere from the points that span the items.
    pub(crate) fn around(mut self, points: &[Vector3<f64>]) -> Self {
        self.measure(points);
        self
    }

    /// Recomputes the bounding sphere from the points that span the items.
    pub(crate) fn measure(&mut self, points: &[Vector3<f64>]) {
        let center = self.root().center();
        let squared = points.iter().map(|x| (x - center).norm_squared());
        self.radius = squared.fold(0.0, f64::max).sqrt();
    }

    /// Splits at the median of the centres along their longest extent; the depth is logarithmic in the number of items.
    fn split(&mut self, item_bounds: &[PressureBox], items: &mut [u32]) -> u32 {
        let this = self.nodes.len() as u32;
        let bounds = items.iter().fold(PressureBox::EMPTY, |r, &i| {
            r.merged(&item_bounds[i as usize])
        });
        self.nodes.push(Node {
            bounds,
            right: LEAF,
            item: items[0],
        });
        if items.len() > 1 {
            let centers =
                PressureBox::of_points(items.iter().map(|&i| item_bounds[i as usize].center()));
            let axis = centers.half().imax();
            let half = items.len() / 2;
            items.select_nth_unstable_by(half, |&i, &j| {
                let at = |k: u32| item_bounds[k as usize].center()[axis];
                at(i).total_cmp(&at(j)).then(i.cmp(&j))
            });
            let (low, high) = items.split_at_mut(half);
            self.split(item_bounds, low);
            let right = self.split(item_bounds, high);
            self.nodes[this as usize].right = right;
        }
        this
    }

    /// Refits the bounds of moved items, from the leaves up.
    pub(crate) fn refit(&mut self, mut bounds_of: impl FnMut(u32) -> PressureBox) {
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            self.nodes[i].bounds = if node.right == LEAF {
                bounds_of(node.item)
            } else {
                self.nodes[i + 1]
                    .bounds
                    .merged(&self.nodes[node.right as usize].bounds)
            };
            self.probes[i] = Probe::of(&self.nodes[i]);
        }
        self.radius = f64::INFINITY;
    }

    /// Refits only the boxes, given by lower and upper corner; pressure intervals are unchanged.
    pub(crate) fn refit_boxes(&mut self, mut box_of: impl FnMut(u32) -> [Vector3<f64>; 2]) {
        for i in (0..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            let [min, max] = if node.right == LEAF {
                box_of(node.item)
            } else {
                let (left, right) = (
                    &self.nodes[i + 1].bounds,
                    &self.nodes[node.right as usize].bounds,
                );
                [left.min.inf(&right.min), left.max.sup(&right.max)]
            };
            let bounds = &mut self.nodes[i].bounds;
            (bounds.min, bounds.max) = (min, max);
            let probe = &mut self.probes[i];
            (probe.center, probe.half) = (0.5 * (min + max), 0.5 * (max - min));
        }
        self.radius = f64::INFINITY;
    }

    /// The bounds of the whole tree.
    pub(crate) fn root(&self) -> PressureBox {
        self.nodes.first().map_or(PressureBox::EMPTY, |n| n.bounds)
    }

    /// Visits the items whose bounds satisfy `overlaps`, which must hold for bounds if it holds for a part of them.
    pub(crate) fn visit(
        &self,
        stack: &mut Vec<(u32, u32)>,
        overlaps: impl Fn(&PressureBox) -> bool,
        visit: impl FnMut(u32),
    ) {
        self.visit_inside(stack, overlaps, |_| true, visit);
    }

    /// Visits the items whose boxes overlap that of `bounds`, in the order of [`Self::visit`].
    #[inline]
    pub(crate) fn visit_near(
        &self,
        stack: &mut Vec<(u32, u32)>,
        bounds: &PressureBox,
        mut visit: impl FnMut(u32),
    ) {
        stack.clear();
        if self
            .nodes
            .first()
            .is_some_and(|root| root.bounds.boxes_overlap(bounds))
        {
            stack.push((0, 0));
        }
        while let Some((i, _)) = stack.pop() {
            let node = &self.nodes[i as usize];
            if node.right == LEAF {
                visit(node.item);
                continue;
            }
            for child in [node.right, i + 1] {
                if self.nodes[child as usize].bounds.boxes_overlap(bounds) {
                    stack.push((child, 0));
                }
            }
        }
    }

    /// [`Self::visit`] with a further, more expensive test for inner nodes only.
    pub(crate) fn visit_inside(
        &self,
        stack: &mut Vec<(u32, u32)>,
        overlaps: impl Fn(&PressureBox) -> bool,
        inner_overlaps: impl Fn(&PressureBox) -> bool,
        mut visit: impl FnMut(u32),
    ) {
        stack.clear();
        if !self.nodes.is_empty() {
            stack.push((0, 0));
        }
        while let Some((i, _)) = stack.pop() {
            let node = &self.nodes[i as usize];
            if !overlaps(&node.bounds) {
                continue;
            }
            if node.right == LEAF {
                visit(node.item);
            } else if inner_overlaps(&node.bounds) {
                stack.push((node.right, 0));
                stack.push((i + 1, 0));
            }
        }
    }
}
