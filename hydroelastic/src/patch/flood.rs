//! Flood fill of a patch: from pairs on its rim to all pairs of elements that it passes through.
//!
//! A patch is a connected surface; where it leaves one element it enters the neighbour across that face. From any pair
//! on it the whole patch is therefore reached across the faces that its polygons touch.

use crate::pressure_bvh::PairTraversal;

/// Reused storage.
#[derive(Default)]
pub(crate) struct Flood {
    /// Stack for tree traversals.
    pub(crate) stack: Vec<(u32, u32)>,
    pub(crate) pairs: PairTraversal,
    pub(crate) seeds: Vec<(u32, u32)>,
    open: Vec<(u32, u32)>,
    visited: PairSet,
}

impl Flood {
    pub(crate) fn begin(&mut self) {
        self.seeds.clear();
        self.visited.clear();
    }

    /// Tests the seeds, and all pairs reached from those that the patch passes through. `test` returns the faces that
    /// the polygon of a pair touches, or `None` without a polygon; `across` gives the neighbour of a pair across a face
    /// of that mask.
    pub(crate) fn run(
        &mut self,
        mut test: impl FnMut(u32, u32) -> Option<u8>,
        across: impl Fn(u32, u32, u32) -> Option<(u32, u32)>,
    ) {
        let Self {
            seeds,
            open,
            visited,
            ..
        } = self;
        for &(i, j) in seeds.iter() {
            if visited.insert(i, j) {
                open.push((i, j));
            }
            while let Some((i, j)) = open.pop() {
                let mut faces = test(i, j).unwrap_or(0);
                while faces != 0 {
                    let face = faces.trailing_zeros();
                    faces &= faces - 1;
                    if let Some((i, j)) = across(i, j, face)
                        && visited.insert(i, j)
                    {
                        open.push((i, j));
                    }
                }
            }
        }
    }
}

/// A set of pairs that keeps its memory when cleared.
#[derive(Default)]
struct PairSet {
    /// 0 marks an empty slot; the length is a power of two.
    slots: Vec<u64>,
    used: Vec<u32>,
}

impl PairSet {
    fn clear(&mut self) {
        for &slot in &self.used {
            self.slots[slot as usize] = 0;
        }
        self.used.clear();
    }

    /// The slot that contains the pair, or the empty slot for it.
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.slots[slot] != 0 && self.slots[slot] != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Inserts a pair; returns whether it is new.
    fn insert(&mut self, i: u32, j: u32) -> bool {
        if 2 * self.used.len() >= self.slots.len() {
            self.grow();
        }
        let key = key(i, j);
        let slot = self.slot(key);
        let new = self.slots[slot] == 0;
        if new {
            self.slots[slot] = key;
            self.used.push(slot as u32);
        }
        new
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(256);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        self.used.clear();
        for key in old.into_iter().filter(|k| *k != 0) {
            let slot = self.slot(key);
            self.slots[slot] = key;
            self.used.push(slot as u32);
        }
    }
}

fn key(i: u32, j: u32) -> u64 {
    // Plus one, so that no key is zero.
    (u64::from(i) << 32 | u64::from(j)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_new_once_until_the_set_is_cleared() {
        let mut set = PairSet::default();
        for _ in 0..2 {
            for i in 0..60 {
                for j in 0..60 {
                    assert!(set.insert(i, j));
                    assert!(!set.insert(i, j));
                }
            }
            set.clear();
        }
    }

    #[test]
    fn a_walk_over_a_grid_visits_each_reachable_pair_once() {
        let mut flood = Flood::default();
        flood.begin();
        flood.seeds.extend([(3, 3), (3, 3), (100, 100)]);
        let mut visited = Vec::new();
        flood.run(
            |i, j| {
                visited.push((i, j));
                (i < 6 && j < 5).then_some(0b11)
            },
            |i, j, face| {
                if face == 0 {
                    Some((i + 1, j))
                } else {
                    i.checked_sub(1).map(|i| (i, j + 1))
                }
            },
        );
        let mut once = visited.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), visited.len());
        assert!(once.contains(&(6, 3)) && once.contains(&(100, 100)) && once.len() > 10);
    }
}
