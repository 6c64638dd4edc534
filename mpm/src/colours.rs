//! Scattering from blocks to nodes: in parallel, without locks, and with the same sums for any number of threads.
//!
//! Blocks of one colour reach disjoint sets of nodes, so they may write at once; colours follow one another. Each node
//! therefore receives its contributions in an order that does not depend on who computed them.

use rayon::prelude::*;

use crate::sparse_grid::{NONE, SparseGrid};

/// Below so many particles, threads cost more than they save.
const PARALLEL_PARTICLES_MIN: usize = 512;

/// The values of the eight blocks that a block reaches, by octant; empty where there is no block.
pub(crate) type Octants<'a, V> = [&'a mut [V]; 8];

/// Whether work on these particles is worth spreading over threads.
pub(crate) fn worth_threads(grid: &SparseGrid) -> bool {
    grid.order.len() >= PARALLEL_PARTICLES_MIN && rayon::current_num_threads() > 1
}

/// Calls `work` for every block with particles, with the values it may write to. `ends[b]` is where the values of block b
/// end, in one array of all blocks.
pub(crate) fn scatter<V: Send>(
    grid: &SparseGrid,
    ends: impl Fn(usize) -> usize,
    values: &mut [V],
    work: impl Fn(usize, Octants<'_, V>) + Sync,
) {
    let mut free: Vec<Option<&mut [V]>> = Vec::with_capacity(grid.blocks.len());
    let (mut rest, mut start) = (values, 0);
    for block in 0..grid.blocks.len() {
        let (own, others) = rest.split_at_mut(ends(block) - start);
        free.push(Some(own));
        (rest, start) = (others, ends(block));
    }
    let threads = worth_threads(grid);
    let mut tasks = Vec::new();
    for colour in &grid.colours {
        tasks.clear();
        for &block in colour {
            let reached = grid.blocks[block as usize].plus;
            let values = reached.map(|b| {
                if b == NONE {
                    None
                } else {
                    free[b as usize].take()
                }
            });
            tasks.push((block as usize, values));
        }
        let run = |(block, values): &mut (usize, [Option<&mut [V]>; 8])| {
            let octants = values.each_mut().map(|v| match v {
                Some(v) => &mut **v,
                None => &mut [],
            });
            work(*block, octants);
        };
        if threads && tasks.len() > 1 {
            tasks.par_iter_mut().for_each(run);
        } else {
            tasks.iter_mut().for_each(run);
        }
        for (block, values) in tasks.drain(..) {
            for (octant, values) in values.into_iter().enumerate() {
                if let Some(values) = values {
                    free[grid.blocks[block].plus[octant] as usize] = Some(values);
                }
            }
        }
    }
}

/// Calls `work` for every block with particles and the piece of `values` that belongs to its particles, one value for each
/// particle in sorted order.
pub(crate) fn for_each_block<V: Send>(
    grid: &SparseGrid,
    values: &mut [V],
    work: impl Fn(usize, &mut [V]) + Sync,
) {
    let mut tasks = Vec::new();
    let (mut rest, mut start) = (values, 0);
    for (number, block) in grid.blocks.iter().enumerate() {
        if block.cells.is_empty() {
            continue;
        }
        let end = grid.cells[block.cells.end as usize - 1].particles.end as usize;
        let (own, others) = rest.split_at_mut(end - start);
        tasks.push((number, own));
        (rest, start) = (others, end);
    }
    let run = |(block, values): &mut (usize, &mut [V])| work(*block, values);
    if worth_threads(grid) {
        tasks.par_iter_mut().for_each(run);
    } else {
        tasks.iter_mut().for_each(run);
    }
}
