//! Islands: groups of bodies that no contact and no row couples. Each is solved apart, so that one in trouble leaves the others alone.
//!
//! All islands take the same iteration at the same time: a product with H serves the vectors of all, since their velocities differ. An attachment that
//! exerts no force yet couples, too, for it may at the next iterate.

use std::ops::Range;

use super::bodies::Bodies;
use crate::world::BodyIdx;

/// The bodies of an island and their velocities.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Island {
    /// Ascending.
    pub(super) bodies: Vec<BodyIdx>,
    /// Velocities of neighbouring bodies in one range.
    ranges: Vec<Range<usize>>,
}

impl Island {
    /// Velocities of no body.
    #[cfg(test)]
    pub(super) fn over(range: Range<usize>) -> Self {
        Self {
            bodies: Vec::new(),
            ranges: vec![range],
        }
    }

    /// Number of velocities.
    pub(super) fn n_dofs(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// The part of a vector over all velocities that belongs to the island, range by range.
    fn of<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = &'a [f64]> {
        self.ranges.iter().map(|range| &x[range.clone()])
    }

    pub(super) fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        let parts = self.of(a).zip(self.of(b));
        parts.map(|(a, b)| super::gmres::dot(a, b)).sum()
    }

    pub(super) fn norm(&self, a: &[f64]) -> f64 {
        self.dot(a, a).sqrt()
    }

    /// y += factor x.
    pub(super) fn add(&self, y: &mut [f64], x: &[f64], factor: f64) {
        self.map(y, x, |y, x| y + factor * x);
    }

    /// y ← f(y, x).
    pub(super) fn map(&self, y: &mut [f64], x: &[f64], f: impl Fn(f64, f64) -> f64) {
        for range in &self.ranges {
            let pairs = y[range.clone()].iter_mut().zip(&x[range.clone()]);
            pairs.for_each(|(y, x)| *y = f(*y, *x));
        }
    }

    /// y ← f(y).
    pub(super) fn update(&self, y: &mut [f64], f: impl Fn(f64) -> f64) {
        for range in &self.ranges {
            y[range.clone()].iter_mut().for_each(|y| *y = f(*y));
        }
    }
}

/// The islands of bodies with velocities, in the order of their first bodies.
pub(super) fn islands_of(
    bodies: &Bodies,
    links: impl Iterator<Item = (BodyIdx, BodyIdx)>,
) -> Vec<Island> {
    let n = bodies.steps.len();
    let mut leader: Vec<usize> = (0..n).collect();
    // What is held as a whole couples nothing.
    let has_velocities = |b: BodyIdx| !bodies.range(b).is_empty();
    for (a, b) in links.filter(|(a, b)| has_velocities(*a) && has_velocities(*b)) {
        let (a, b) = (root(&mut leader, a.0), root(&mut leader, b.0));
        leader[a.max(b)] = a.min(b);
    }
    let mut island_of_leader = vec![usize::MAX; n];
    let mut islands: Vec<Island> = Vec::new();
    for b in 0..n {
        let range = bodies.range(BodyIdx(b));
        if range.is_empty() {
            continue;
        }
        let known = &mut island_of_leader[root(&mut leader, b)];
        if *known == usize::MAX {
            *known = islands.len();
            islands.push(Island::default());
        }
        let island = &mut islands[*known];
        island.bodies.push(BodyIdx(b));
        match island.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => island.ranges.push(range),
        }
    }
    islands
}

fn root(leader: &mut [usize], mut b: usize) -> usize {
    while leader[b] != b {
        leader[b] = leader[leader[b]];
        b = leader[b];
    }
    b
}
