//! A sparse unbounded grid: blocks of 4×4×4 nodes, allocated only near particles.
//!
//! A particle belongs to the cell of its lowest node ([`base_node`](crate::base_node)), and a cell to the block of its lowest node. The
//! nodes of a block's particles lie in the block and in its seven neighbours in positive directions. Blocks of one *colour* (the parity
//! of their coordinates) therefore have no nodes in common, and [`colours`](crate::colours) scatters in parallel without locks, with the
//! same sums for any number of threads.

use std::ops::Range;

use nalgebra::Vector3;

use crate::error::MpmError;
use crate::spline::base_node;
use pliant_constitutive::Real;

/// Nodes along the edge of a block.
pub(crate) const EDGE: i32 = 4;
/// Nodes of a block.
pub const BLOCK_NODES: usize = 64;
/// Marks a block or node that does not exist.
pub(crate) const NONE: u32 = u32::MAX;
/// Block coordinates lie in ±2²⁰.
const REACH: i32 = 1 << 20;

/// One block of nodes.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Coordinates in units of blocks.
    pub(crate) coordinates: [i32; 3],
    /// The blocks that differ by +1 along x (bit 0), y (bit 1), z (bit 2), itself first.
    pub(crate) plus: [u32; 8],
    /// Its occupied cells.
    pub(crate) cells: Range<u32>,
}

/// A cell that holds particles.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its lowest node.
    pub(crate) base: [i32; 3],
    /// Range in [`SparseGrid::order`].
    pub(crate) particles: Range<u32>,
}

impl Cell {
    /// Coordinates of the lowest node within its block.
    pub(crate) fn local(&self) -> [usize; 3] {
        self.base.map(|k| (k & (EDGE - 1)) as usize)
    }
}

/// Blocks, cells, and the order of particles, for one set of positions.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_mpm::{SparseGrid, base_node};
///
/// // Two particles in one cell, one far away.
/// let points = [Vector3::repeat(0.011), Vector3::repeat(0.012), Vector3::repeat(5.0)];
/// let mut grid = SparseGrid::default();
/// grid.build(0.02, points.into_iter())?;
/// assert_eq!(grid.n_cells(), 2);
/// // Blocks exist where nodes are.
/// assert!(grid.find_node(base_node(&points[2], 1.0 / 0.02)).is_some());
/// assert!(grid.find_node([100, 100, 100]).is_none());
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseGrid {
    pub(crate) blocks: Vec<Block>,
    pub(crate) cells: Vec<Cell>,
    /// Particles sorted by block, cell, and index in the state.
    pub(crate) order: Vec<u32>,
    /// Blocks with particles, by colour.
    pub(crate) colours: [Vec<u32>; 8],
    table: Table,
    /// Provisional block and cell of each particle.
    homes: Vec<u32>,
    counts: Vec<u32>,
    ranks: Vec<u32>,
}

impl SparseGrid {
    /// Finds the blocks and cells of particles at `positions` and sorts the particles, in linear time.
    ///
    /// # Errors
    /// [`MpmError::OffTheGrid`] for a position that is not finite or whose cell index exceeds the range of integers.
    pub fn build<T: Real>(
        &mut self,
        spacing: T,
        positions: impl Iterator<Item = Vector3<T>>,
    ) -> Result<(), MpmError> {
        let inverse = T::one() / spacing;
        let far = T::of(f64::from((REACH - 2) * EDGE)) * spacing;
        self.table.clear();
        self.homes.clear();
        let mut last = (0, NONE);
        for (particle, x) in positions.enumerate() {
            // Also rejects NaN.
            if !x.iter().all(|x| x.abs() < far) {
                return Err(MpmError::OffTheGrid {
                    particle,
                    position: x.map(T::wide).into(),
                    spacing: spacing.wide(),
                });
            }
            let base = base_node(&x, inverse);
            let key = block_key(base.map(|k| k >> 2));
            if key != last.0 || last.1 == NONE {
                last = (key, self.table.insert(key));
            }
            let [i, j, k] = base.map(|k| (k & (EDGE - 1)) as u32);
            self.homes.push(last.1 * 64 + i * 16 + j * 4 + k);
        }
        self.sort();
        self.find_blocks();
        Ok(())
    }

    /// Counting sort by block and cell.
    fn sort(&mut self) {
        let keys = &self.table.keys;
        self.ranks.clear();
        self.ranks.extend(0..keys.len() as u32);
        self.ranks.sort_unstable_by_key(|&b| keys[b as usize]);
        // Index of each provisional block among the sorted ones.
        self.counts.clear();
        self.counts.resize(keys.len() * 64 + 1, 0);
        let mut rank_of = vec![0; keys.len()];
        for (rank, &b) in self.ranks.iter().enumerate() {
            rank_of[b as usize] = rank as u32;
        }
        for home in &mut self.homes {
            *home = rank_of[(*home / 64) as usize] * 64 + *home % 64;
            self.counts[*home as usize + 1] += 1;
        }
        for i in 1..self.counts.len() {
            self.counts[i] += self.counts[i - 1];
        }
        self.order.clear();
        self.order.resize(self.homes.len(), 0);
        let mut next = self.counts.clone();
        for (particle, &home) in self.homes.iter().enumerate() {
            let slot = &mut next[home as usize];
            self.order[*slot as usize] = particle as u32;
            *slot += 1;
        }
    }

    /// Lists the occupied cells, the blocks of their nodes, and the neighbours of blocks.
    fn find_blocks(&mut self) {
        let keys = &self.table.keys;
        let mut reached: Vec<u64> = Vec::with_capacity(8 * keys.len());
        let mut occupied = Vec::with_capacity(keys.len());
        for (rank, &b) in self.ranks.iter().enumerate() {
            let key = keys[b as usize];
            let coordinates = key_coordinates(key);
            let mut octants = 1_u32;
            for cell in 0..64 {
                let at = rank * 64 + cell;
                if self.counts[at] < self.counts[at + 1] {
                    let mut bits = 0;
                    for (axis, k) in [cell / 16, cell / 4 % 4, cell % 4].into_iter().enumerate() {
                        bits |= usize::from(k >= 2) << axis;
                    }
                    for octant in (0..8).filter(|o| o & bits == *o) {
                        octants |= 1 << octant;
                    }
                }
            }
            let seen = (0..8).filter(|o| octants & (1 << o) != 0);
            reached.extend(seen.map(|o| block_key(shifted(coordinates, o))));
            occupied.push((key, rank));
        }
        reached.sort_unstable();
        reached.dedup();

        self.table.clear();
        reached.iter().for_each(|&key| {
            self.table.insert(key);
        });
        self.blocks.clear();
        self.cells.clear();
        self.colours.iter_mut().for_each(Vec::clear);
        let mut occupied = occupied.into_iter().peekable();
        for &key in &reached {
            let coordinates = key_coordinates(key);
            let first = self.cells.len() as u32;
            if let Some((_, rank)) = occupied.next_if(|(k, _)| *k == key) {
                let colour = coordinates.iter().rev().fold(0, |c, k| 2 * c + (k & 1)) as usize;
                self.colours[colour].push(self.blocks.len() as u32);
                for cell in 0..64 {
                    let at = rank * 64 + cell;
                    if self.counts[at] < self.counts[at + 1] {
                        let local = [cell / 16, cell / 4 % 4, cell % 4];
                        self.cells.push(Cell {
                            base: [0, 1, 2].map(|a| coordinates[a] * EDGE + local[a] as i32),
                            particles: self.counts[at]..self.counts[at + 1],
                        });
                    }
                }
            }
            let octants = [0, 1, 2, 3, 4, 5, 6, 7];
            self.blocks.push(Block {
                coordinates,
                plus: octants.map(|o| self.table.find(block_key(shifted(coordinates, o)))),
                cells: first..self.cells.len() as u32,
            });
        }
    }

    /// Cells of a block that hold particles.
    pub(crate) fn cells_of(&self, block: usize) -> &[Cell] {
        let cells = &self.blocks[block].cells;
        &self.cells[cells.start as usize..cells.end as usize]
    }

    /// Number of allocated blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Number of cells with particles.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.cells.len()
    }

    /// Particles sorted by block, cell, and index in the state.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Coordinates of the stored node `node` of block `block`, in units of the spacing.
    #[must_use]
    pub fn node_coordinates(&self, block: usize, node: usize) -> [i32; 3] {
        let local = [node / 16, node / 4 % 4, node % 4];
        [0, 1, 2].map(|a| self.blocks[block].coordinates[a] * EDGE + local[a] as i32)
    }

    /// Block and storage index of a node, if its block is allocated.
    #[must_use]
    pub fn find_node(&self, node: [i32; 3]) -> Option<(usize, usize)> {
        let block = self.table.find(block_key(node.map(|k| k >> 2)));
        let [i, j, k] = node.map(|k| (k & (EDGE - 1)) as usize);
        (block != NONE).then_some((block as usize, i * 16 + j * 4 + k))
    }
}

fn shifted(coordinates: [i32; 3], octant: usize) -> [i32; 3] {
    [0, 1, 2].map(|a| coordinates[a] + (octant >> a & 1) as i32)
}

/// Morton order: coordinates, biased to be positive, with their bits interleaved.
fn block_key(coordinates: [i32; 3]) -> u64 {
    let spread = |k: i32| {
        let mut x = (i64::from(k) + i64::from(REACH)) as u64 & 0x1f_ffff;
        x = (x | x << 32) & 0x1f_0000_0000_ffff;
        x = (x | x << 16) & 0x1f_0000_ff00_00ff;
        x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
        x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
        (x | x << 2) & 0x1249_2492_4924_9249
    };
    spread(coordinates[0]) << 2 | spread(coordinates[1]) << 1 | spread(coordinates[2])
}

fn key_coordinates(key: u64) -> [i32; 3] {
    let gather = |key: u64| {
        let mut x = key & 0x1249_2492_4924_9249;
        x = (x | x >> 2) & 0x10c3_0c30_c30c_30c3;
        x = (x | x >> 4) & 0x100f_00f0_0f00_f00f;
        x = (x | x >> 8) & 0x1f_0000_ff00_00ff;
        x = (x | x >> 16) & 0x1f_0000_0000_ffff;
        x = (x | x >> 32) & 0x1f_ffff;
        x as i32 - REACH
    };
    [gather(key >> 2), gather(key >> 1), gather(key)]
}

/// Block numbers by key: open addressing, never iterated in its own order.
#[derive(Clone, Debug, Default)]
struct Table {
    keys: Vec<u64>,
    slots: Vec<u32>,
}

impl Table {
    fn clear(&mut self) {
        self.keys.clear();
        self.slots.fill(NONE);
        if self.slots.is_empty() {
            self.slots.resize(64, NONE);
        }
    }

    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[slot] != NONE && self.keys[self.slots[slot] as usize] != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn find(&self, key: u64) -> u32 {
        self.slots[self.slot(key)]
    }

    /// The number of `key`; a new key gets the next number.
    fn insert(&mut self, key: u64) -> u32 {
        let slot = self.slot(key);
        if self.slots[slot] != NONE {
            return self.slots[slot];
        }
        let number = self.keys.len() as u32;
        self.keys.push(key);
        self.slots[slot] = number;
        if 2 * self.keys.len() > self.slots.len() {
            self.slots.clear();
            self.slots
                .resize(8 * self.keys.len().next_power_of_two(), NONE);
            for number in 0..self.keys.len() {
                let slot = self.slot(self.keys[number]);
                self.slots[slot] = number as u32;
            }
        }
        number
    }
}

#[cfg(test)]
mod tests;
