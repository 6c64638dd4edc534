//! Broad phase: candidate pairs from bounding boxes swept over the time step, by sweep and prune or by a bounding
//! volume tree.
//!
//! The result is the set of overlapping pairs sorted by index. It depends neither on the method nor on earlier steps,
//! so the faster method can be chosen freely.

use nalgebra::{Point3, Vector3};
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::collision_filter::{CollisionFilter, GeometryIdx};
use crate::posed::Posed;
use crate::{Aabb, Shape, parry};

/// Region that bounds a geometry during a time step.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{Posed, Proxy, RigidShape, Shape, Twist};
///
/// // A floor that rises at 2 m/s reaches 2 mm above its height within 1 ms; one that turns can reach any point.
/// let floor = Shape::half_space();
/// let moving = |V_WG| Posed::Rigid(RigidShape { V_WG, ..RigidShape::at_rest(&floor, Isometry3::translation(0.0, 0.0, 0.5)) });
/// let rising = moving(Twist { linear: Vector3::z() * 2.0, ..Twist::zero() });
/// let Proxy::HalfSpace { normal, offset } = Proxy::of(&rising, 1e-3, 0.0) else { panic!("it does not turn") };
/// assert_eq!(normal, Vector3::z());
/// assert!((offset - 0.502).abs() < 1e-15);
/// let turning = moving(Twist { angular: Vector3::x(), ..Twist::zero() });
/// assert_eq!(Proxy::of(&turning, 1e-3, 0.0), Proxy::Anywhere);
/// // Bounded shapes have boxes.
/// let ball = Shape::sphere(0.1)?;
/// let resting = Posed::Rigid(RigidShape::at_rest(&ball, Isometry3::identity()));
/// assert_eq!(Proxy::of(&resting, 1e-3, 0.0), Proxy::Box(resting.swept_aabb(1e-3, 0.0)));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Proxy {
    /// Within a bounded box.
    Box(Aabb),
    /// Below a plane: normal · x ≤ offset (world frame; m).
    HalfSpace {
        /// Outward unit normal.
        normal: Vector3<f64>,
        /// Distance of the plane from the origin along the normal, m.
        offset: f64,
    },
    /// Unbounded: a rotating half space.
    Anywhere,
}

impl Proxy {
    /// The proxy of a geometry for a step of length `time_step_s` (s), inflated by `margin` (m). Inflate every proxy by
    /// the largest margin of any pair, or each by half of it: proxies that do not overlap are then further apart than
    /// the margin.
    pub fn of(geometry: &Posed<'_>, time_step_s: f64, margin: f64) -> Self {
        if let Posed::Rigid(r) = geometry
            && let Shape::HalfSpace = r.shape
        {
            if r.V_WG.angular != Vector3::zeros() {
                return Self::Anywhere;
            }
            let normal = r.X_WG.rotation * Vector3::z();
            let rise = normal.dot(&r.V_WG.linear) * time_step_s;
            return Self::HalfSpace {
                normal,
                offset: normal.dot(&r.X_WG.translation.vector) + rise.max(0.0) + margin,
            };
        }
        Self::Box(geometry.swept_aabb(time_step_s, margin))
    }

    fn may_touch(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => a.intersects(b),
            (Self::Box(b), Self::HalfSpace { normal, offset })
            | (Self::HalfSpace { normal, offset }, Self::Box(b)) => {
                let lowest = Point3::from(normal.zip_zip_map(
                    &b.min.coords,
                    &b.max.coords,
                    |n, low, high| {
                        if n > 0.0 { low } else { high }
                    },
                ));
                !b.is_empty() && normal.dot(&lowest.coords) <= *offset
            }
            (Self::Anywhere, _) | (_, Self::Anywhere) => true,
            // Half spaces do not collide with each other.
            (Self::HalfSpace { .. }, Self::HalfSpace { .. }) => false,
        }
    }
}

/// Finds candidate pairs. Buffers and the tree are kept between steps for speed only.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{BroadPhase, CollisionFilterBuilder, GeometryIdx, Posed, Proxy, RigidShape, Shape, Twist};
///
/// // Two balls of 0.1 m, 0.5 m apart; the second moves at 400 m/s towards the first and reaches it within the step of 1 ms.
/// let ball = Shape::sphere(0.1)?;
/// let at = |x: f64| RigidShape::at_rest(&ball, Isometry3::translation(x, 0.0, 0.0));
/// let V_WG = Twist { linear: Vector3::new(-400.0, 0.0, 0.0), ..Twist::zero() };
/// let bodies = [at(0.0), RigidShape { V_WG, ..at(0.5) }, at(3.0)];
/// let proxies = bodies.map(|body| Proxy::of(&Posed::Rigid(body), 1e-3, 0.0));
/// # let mut filter = CollisionFilterBuilder::default();
/// # for _ in &proxies {
/// #     let owner = filter.owner();
/// #     filter.geometry(owner)?;
/// # }
/// # let filter = filter.build();
/// let mut candidates = Vec::new();
/// BroadPhase::default().candidates(&proxies, &filter, &mut candidates);
/// assert_eq!(candidates, [(GeometryIdx(0), GeometryIdx(1))]);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Default)]
pub struct BroadPhase {
    sorted: Vec<Interval>,
    unbounded: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    tree: Tree,
}

/// A box on the sweep axis with its extents along the two other axes, stored together for the inner loop.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    high: f64,
    across: [f64; 4],
    index: u32,
}

/// Above this number of proxies the tree is used. Sorting is faster below about 2,000, the tree from 10,000 on
/// (`examples/broad_phase_timing.rs`).
const SWEEP_MAX: usize = 2000;

impl BroadPhase {
    /// Writes to `out` all pairs (i < j) of overlapping proxies that the filter allows, in ascending order.
    pub fn candidates(
        &mut self,
        proxies: &[Proxy],
        filter: &CollisionFilter,
        out: &mut Vec<(GeometryIdx, GeometryIdx)>,
    ) {
        if proxies.len() <= SWEEP_MAX {
            self.candidates_by_sweep(proxies, filter, out);
        } else {
            self.candidates_by_tree(proxies, filter, out);
        }
    }

    /// [`candidates`](Self::candidates) by sweep and prune along the axis of largest spread.
    pub fn candidates_by_sweep(
        &mut self,
        proxies: &[Proxy],
        filter: &CollisionFilter,
        out: &mut Vec<(GeometryIdx, GeometryIdx)>,
    ) {
        self.pairs.clear();
        let axis = widest_axis(proxies);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        self.sorted.clear();
        self.unbounded.clear();
        for (index, proxy) in (0_u32..).zip(proxies) {
            match proxy {
                Proxy::Box(b) if b.is_bounded() => self.sorted.push(Interval {
                    low: b.min[axis],
                    high: b.max[axis],
                    across: [b.min[u], b.max[u], b.min[v], b.max[v]],
                    index,
                }),
                Proxy::Box(b) if b.is_empty() => {}
                _ => self.unbounded.push(index),
            }
        }
        self.sorted
            .sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(a.index.cmp(&b.index)));
        for (i, a) in self.sorted.iter().enumerate() {
            for b in &self.sorted[i + 1..] {
                if b.low > a.high {
                    break;
                }
                if a.across[0] <= b.across[1]
                    && b.across[0] <= a.across[1]
                    && a.across[2] <= b.across[3]
                    && b.across[2] <= a.across[3]
                {
                    self.pairs
                        .push((a.index.min(b.index), a.index.max(b.index)));
                }
            }
        }
        self.finish(proxies, filter, out);
    }

    /// [`candidates`](Self::candidates) by a bounding volume tree.
    pub fn candidates_by_tree(
        &mut self,
        proxies: &[Proxy],
        filter: &CollisionFilter,
        out: &mut Vec<(GeometryIdx, GeometryIdx)>,
    ) {
        self.pairs.clear();
        self.unbounded.clear();
        for (index, proxy) in (0_u32..).zip(proxies) {
            match proxy {
                Proxy::Box(b) if b.is_bounded() || b.is_empty() => {}
                _ => self.unbounded.push(index),
            }
        }
        self.tree.update(proxies);
        let pairs = &mut self.pairs;
        self.tree
            .bvh
            .traverse_bvtt_single_tree::<false>(&mut self.tree.workspace, &mut |i, j| {
                pairs.push((i.min(j), i.max(j)));
            });
        self.finish(proxies, filter, out);
    }

    /// Adds the unbounded proxies, applies the filter and sorts.
    fn finish(
        &mut self,
        proxies: &[Proxy],
        filter: &CollisionFilter,
        out: &mut Vec<(GeometryIdx, GeometryIdx)>,
    ) {
        for &i in &self.unbounded {
            for (j, other) in (0_u32..).zip(proxies) {
                // A pair of unbounded proxies is reported by the lower one.
                let twice = j < i && self.unbounded.binary_search(&j).is_ok();
                if i != j && !twice && proxies[i as usize].may_touch(other) {
                    self.pairs.push((i.min(j), i.max(j)));
                }
            }
        }
        out.clear();
        out.extend(
            self.pairs
                .iter()
                .map(|&(i, j)| (GeometryIdx(i), GeometryIdx(j)))
                .filter(|&(i, j)| filter.allows(i, j)),
        );
        out.sort_unstable();
    }
}

/// A tree over the bounded proxies; it is rebuilt when that set changes.
#[derive(Default)]
struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
    members: Vec<u32>,
    scratch: Vec<u32>,
}

impl Tree {
    fn update(&mut self, proxies: &[Proxy]) {
        self.scratch.clear();
        let bounded = |p: &Proxy| matches!(p, Proxy::Box(b) if b.is_bounded());
        self.scratch.extend(
            (0_u32..)
                .zip(proxies)
                .filter(|(_, p)| bounded(p))
                .map(|(i, _)| i),
        );
        let boxes = (0..).zip(proxies).filter_map(|(i, p)| match p {
            Proxy::Box(b) if b.is_bounded() => Some((i, parry::aabb(b))),
            _ => None,
        });
        if self.scratch == self.members {
            for (i, b) in boxes {
                self.bvh.insert_or_update_partially(b, i as u32, 0.0);
            }
            // Rebuilt in place, without allocation. Refitting the old structure gave no measurable gain: most of the
            // time goes into the pairs.
            self.bvh
                .rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
        } else {
            std::mem::swap(&mut self.members, &mut self.scratch);
            self.bvh = Bvh::from_iter(BvhBuildStrategy::Binned, boxes);
        }
    }
}

/// The axis along which the box centres vary most.
fn widest_axis(proxies: &[Proxy]) -> usize {
    let (mut n, mut sum, mut squares) = (0.0, Vector3::zeros(), Vector3::zeros());
    for p in proxies {
        if let Proxy::Box(b) = p
            && b.is_bounded()
        {
            let c = b.center().coords;
            n += 1.0;
            sum += c;
            squares += c.component_mul(&c);
        }
    }
    if n == 0.0 {
        return 0;
    }
    (squares - sum.component_mul(&sum) / n).imax()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision_filter::CollisionFilterBuilder;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn everything(n: usize) -> CollisionFilter {
        let mut f = CollisionFilterBuilder::default();
        for _ in 0..n {
            let o = f.owner();
            f.geometry(o).unwrap();
        }
        f.build()
    }

    fn random_proxies(rng: &mut ChaCha8Rng, n: usize) -> Vec<Proxy> {
        let side = (n as f64).cbrt();
        (0..n)
            .map(|i| match i % 50 {
                7 => {
                    let normal = crate::test_support::random_unit(rng);
                    Proxy::HalfSpace {
                        normal,
                        offset: rng.random_range(-1.0..1.0),
                    }
                }
                9 if i < 100 => Proxy::Anywhere,
                11 => Proxy::Box(Aabb::EMPTY),
                _ => {
                    let c =
                        Point3::from(Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0) * side));
                    let h = Vector3::from_fn(|_, _| rng.random_range(0.1..1.0));
                    Proxy::Box(Aabb::from_half_extents(c, h))
                }
            })
            .collect()
    }

    #[test]
    fn sweep_and_tree_find_what_brute_force_finds_regardless_of_earlier_calls() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut broad = BroadPhase::default();
        for n in [0, 1, 2, 3, 10, 60, 300, 300, 300, 1000, 5] {
            let filter = everything(n);
            let proxies = random_proxies(&mut rng, n);
            let mut expected = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if proxies[i].may_touch(&proxies[j])
                        && !both_empty_or_lost(&proxies[i], &proxies[j])
                    {
                        expected.push((GeometryIdx(i as u32), GeometryIdx(j as u32)));
                    }
                }
            }
            let (mut by_sweep, mut by_tree) = (Vec::new(), Vec::new());
            broad.candidates_by_sweep(&proxies, &filter, &mut by_sweep);
            broad.candidates_by_tree(&proxies, &filter, &mut by_tree);
            assert_eq!(by_sweep, expected, "{n}");
            assert_eq!(by_tree, expected, "{n}");
        }
    }

    fn both_empty_or_lost(a: &Proxy, b: &Proxy) -> bool {
        [a, b]
            .iter()
            .all(|p| matches!(p, Proxy::Box(x) if x.is_empty()))
    }

    #[test]
    fn filtered_pairs_are_left_out() {
        let mut f = CollisionFilterBuilder::default();
        let o = f.owner();
        for _ in 0..3 {
            f.geometry(o).unwrap();
        }
        let proxies = [Proxy::Anywhere; 3];
        let mut out = vec![(GeometryIdx(5), GeometryIdx(6))];
        BroadPhase::default().candidates(&proxies, &f.build(), &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_box_that_flies_over_the_floor_is_not_a_candidate() {
        let (ball, floor) = (Shape::sphere(0.1).unwrap(), Shape::half_space());
        let at = |shape, z: f64, vz: f64| {
            Posed::Rigid(crate::RigidShape {
                shape,
                X_WG: nalgebra::Isometry3::translation(0.0, 0.0, z),
                V_WG: crate::Twist {
                    angular: Vector3::zeros(),
                    linear: Vector3::new(0.0, 0.0, vz),
                },
                patch: None,
            })
        };
        let filter = everything(2);
        for (z, vz, n) in [
            (0.2, 0.0, 0),
            (0.2, -20.0, 1),
            (0.1, 0.0, 1),
            (0.2, 20.0, 0),
        ] {
            let proxies =
                [at(&ball, z, vz), at(&floor, 0.0, 0.0)].map(|g| Proxy::of(&g, 0.01, 1e-3));
            let mut out = Vec::new();
            BroadPhase::default().candidates(&proxies, &filter, &mut out);
            assert_eq!(out.len(), n, "{z} {vz}");
        }
    }
}
