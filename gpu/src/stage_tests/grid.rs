//! Blocks are those that particles reach, each once and with its neighbours; the sort has every particle in the range of its cell.

use std::collections::BTreeSet;

use super::Largest;
use super::on_device::{NONE, OnDevice};
use super::reach::{base, reach};
use super::scene::Scene;

pub(super) fn check_blocks(scene: &Scene, device: &OnDevice) -> Vec<Largest> {
    let origin = device.params.origin;
    let of_particle = scene
        .particles
        .iter()
        .flat_map(|p| reach(&p.x, scene.gradient));
    let reached: BTreeSet<[i32; 3]> = of_particle
        .map(|r| std::array::from_fn(|k| (r.node[k] - origin[k]).div_euclid(4)))
        .collect();
    // That no two of them are at one place was checked when they were read.
    let numbered = (0..device.n_blocks()).map(|block| device.block_place(block));
    let numbered: BTreeSet<[i32; 3]> = numbered.collect();
    let mut wrong = Largest::new("wrong blocks", 0.0);
    wrong.add(reached.symmetric_difference(&numbered).count() as f64);
    let mut strangers = Largest::new("wrong neighbours", 0.0);
    let mut empty = 0;
    for block in 0..device.n_blocks() {
        let place = device.block_place(block);
        for number in 0..27 {
            let shift = [number / 9, number / 3 % 3, number % 3];
            let beside = std::array::from_fn(|k| place[k] + shift[k] as i32 - 1);
            let expected = device.block_at(beside).unwrap_or(NONE);
            empty += u32::from(expected == NONE);
            if device.neighbour(block, number) != expected {
                strangers.add(strangers.found + 1.0);
            }
        }
    }
    assert_eq!(device.dispatch_sizes[0], [device.n_blocks(), 1, 1]);
    // The region of most particles has blocks with and without neighbours, and some are alone.
    let n = device.n_blocks();
    assert!(n > 15 && empty > n && empty < 26 * n, "{n} blocks, {empty}");
    vec![wrong, strangers]
}

pub(super) fn check_sort(scene: &Scene, device: &OnDevice) -> Vec<Largest> {
    let n = scene.particles.len() as u32;
    let order: Vec<u32> = (0..n).map(|place| device.order(place)).collect();
    let mut missing = Largest::new("particles left out", 0.0);
    let there: BTreeSet<u32> = order.iter().copied().collect();
    missing.add((0..n).filter(|p| !there.contains(p)).count() as f64);
    let mut counts = Largest::new("wrong cells", 0.0);
    let (mut wrong, mut shared) = (0, 0);
    let mut of_cells = vec![Vec::new(); device.n_nodes() as usize];
    for (p, particle) in (0..).zip(&scene.particles) {
        of_cells[device.node_at(base(&particle.x)) as usize].push(p);
    }
    for (cell, expected) in (0..).zip(&of_cells) {
        shared += u32::from(expected.len() > 2);
        let count = device.count(cell) as usize;
        let found = match count {
            0 => &[],
            _ => &order[device.start(cell) as usize..][..count],
        };
        // Ascending, as they were counted.
        wrong += u32::from(found != expected);
    }
    counts.add(f64::from(wrong));
    assert!(shared > 30, "{shared} cells of three particles or more");
    vec![missing, counts]
}
