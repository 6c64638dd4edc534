use super::*;
use crate::random::Random;

fn scattered(n: usize, extent: f64) -> Vec<Vector3<f64>> {
    let mut random = Random::new(5);
    let mut position = || Vector3::from_fn(|_, _| extent * (random.unit() - 0.5));
    (0..n).map(|_| position()).collect()
}

fn grid_of(positions: &[Vector3<f64>], spacing: f64) -> SparseGrid {
    let mut grid = SparseGrid::default();
    grid.build(spacing, positions.iter().copied()).unwrap();
    grid
}

#[test]
fn keys_keep_coordinates() {
    for c in [[0, 0, 0], [-1, 5, 1000], [REACH - 1, -REACH, 77]] {
        assert_eq!(key_coordinates(block_key(c)), c);
    }
}

#[test]
fn every_particle_is_in_its_cell_once_and_in_order() {
    let positions = scattered(3000, 1.0);
    let grid = grid_of(&positions, 0.05);
    let mut seen = vec![0; positions.len()];
    for cell in &grid.cells {
        let members = &grid.order[cell.particles.start as usize..cell.particles.end as usize];
        assert!(members.is_sorted());
        for &p in members {
            seen[p as usize] += 1;
            assert_eq!(base_node(&positions[p as usize], 20.0), cell.base);
        }
    }
    assert!(seen.iter().all(|&n| n == 1));
}

#[test]
fn every_node_of_a_particle_has_a_block_and_colours_do_not_share_nodes() {
    let positions = scattered(500, 2.0);
    let grid = grid_of(&positions, 0.1);
    for cell in &grid.cells {
        for n in 0..27 {
            let node = [
                cell.base[0] + n / 9,
                cell.base[1] + n / 3 % 3,
                cell.base[2] + n % 3,
            ];
            let (block, slot) = grid.find_node(node).unwrap();
            assert_eq!(grid.node_coordinates(block, slot), node);
        }
    }
    for colour in &grid.colours {
        let mut reached: Vec<u32> = colour
            .iter()
            .flat_map(|&b| grid.blocks[b as usize].plus)
            .filter(|&b| b != NONE)
            .collect();
        let all = reached.len();
        reached.sort_unstable();
        reached.dedup();
        assert_eq!(
            reached.len(),
            all,
            "two blocks of a colour write to the same block"
        );
    }
}

#[test]
fn a_grid_depends_neither_on_its_position_nor_on_earlier_use() {
    let positions = scattered(400, 0.5);
    let moved: Vec<_> = positions
        .iter()
        .map(|x| x + Vector3::repeat(-0.4))
        .collect();
    let mut grid = grid_of(&scattered(50, 9.0), 0.02);
    grid.build(0.05, moved.iter().copied()).unwrap();
    // Shifted by a whole number of blocks: the same cells in the same order.
    assert_eq!(grid.order, grid_of(&moved, 0.05).order);
    assert_eq!(grid.n_cells(), grid_of(&moved, 0.05).n_cells());
    assert!(grid_of(&[], 0.1).blocks.is_empty());
}

#[test]
fn a_particle_beyond_the_range_of_integers_is_named() {
    for bad in [f64::NAN, f64::INFINITY, -1e9] {
        let positions = [Vector3::zeros(), Vector3::new(0.0, bad, 0.0)];
        let error = SparseGrid::default()
            .build(0.01, positions.into_iter())
            .unwrap_err();
        assert!(error.to_string().contains("particle 1"), "{error}");
    }
}
