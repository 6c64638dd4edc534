//! Grid nodes with a prescribed velocity: behind walls, and in sets of particles that are held.

use nalgebra::Vector3;
use pliant_constitutive::Real;
use pliant_contact_sap::BodyError;

use super::device::HeldSet;
use crate::model::{Parts, Wall, WallKind};
use crate::nodes::locate;
use crate::particle::Particle;
use crate::sparse_grid::{BLOCK_NODES, Cell, NONE, SparseGrid};
use crate::spline::{GradientForm, Stencil, corner};
use crate::transfer::NodeField;

/// Prescribed velocities by node, ascending; NaN where a component is free.
#[derive(Clone, Debug, Default)]
pub(super) struct Prescribed {
    nodes: Vec<(u32, [f64; 3])>,
    share: Vec<(u32, f64)>,
}

impl Prescribed {
    /// Finds the nodes of `field`, which holds mass, that walls and held sets prescribe.
    pub(super) fn find<T: Real>(
        &mut self,
        parts: &Parts,
        grid: &SparseGrid,
        field: &NodeField<T>,
        particles: &[Particle<T>],
        held: &[HeldSet],
    ) {
        self.nodes.clear();
        for wall in &parts.walls {
            self.add_wall(parts.settings.spacing, grid, field, wall);
        }
        for mirror in &parts.mirrors {
            self.add_wall(
                parts.settings.spacing,
                grid,
                field,
                &mirror.wall(parts.settings.spacing),
            );
        }
        for held in held {
            let holds_nodes = |p: &Particle<T>| {
                held.members[p.index as usize] && parts.objects[p.object as usize].cloth.is_none()
            };
            self.add_held(
                grid,
                field,
                particles,
                (parts.settings.spacing, held),
                holds_nodes,
            );
        }
        // Later entries of a node override earlier ones by component.
        self.nodes.sort_by_key(|(node, _)| *node);
        self.nodes.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                for (kept, v) in kept.1.iter_mut().zip(later.1) {
                    *kept = if v.is_nan() { *kept } else { v };
                }
            }
            same
        });
    }

    /// The prescribed velocity of a node; NaN where a component is free.
    pub(super) fn of_node(&self, node: u32) -> [f64; 3] {
        match self.nodes.binary_search_by_key(&node, |(n, _)| *n) {
            Ok(found) => self.nodes[found].1,
            Err(_) => [f64::NAN; 3],
        }
    }

    /// Sets the prescribed velocities.
    pub(super) fn apply<T: Real>(&self, field: &mut NodeField<T>) {
        for (node, velocity) in &self.nodes {
            let values = &mut field.values[4 * *node as usize..][..3];
            for (value, v) in values.iter_mut().zip(velocity) {
                if !v.is_nan() {
                    *value = T::of(*v);
                }
            }
        }
    }

    fn add_wall<T: Real>(
        &mut self,
        spacing: f64,
        grid: &SparseGrid,
        field: &NodeField<T>,
        wall: &Wall,
    ) {
        // Nodes on the wall to round-off count as behind it.
        let slack = 1e-9 * spacing;
        let height = |node: [i32; 3]| {
            let p = Vector3::from(node.map(|k| f64::from(k) * spacing));
            (p - wall.p_WQ.coords).dot(&wall.normal_W)
        };
        let velocity = std::array::from_fn(|k| {
            let fixed = wall.kind == WallKind::Sticks || wall.normal_W[k].abs() > 0.5;
            if fixed { 0.0 } else { f64::NAN }
        });
        let across = 3.0 * spacing * wall.normal_W.iter().map(|n| n.abs()).sum::<f64>();
        for block in 0..grid.n_blocks() {
            let first = height(grid.node_coordinates(block, 0));
            if first - across > slack {
                continue;
            }
            for node in 0..BLOCK_NODES {
                let index = block * BLOCK_NODES + node;
                if field.values[4 * index + 3] > T::zero()
                    && height(grid.node_coordinates(block, node)) <= slack
                {
                    self.nodes.push((index as u32, velocity));
                }
            }
        }
    }

    /// Nodes that have more than half of their mass from the particles of the held set. Vertices of cloth are held themselves.
    fn add_held<T: Real>(
        &mut self,
        grid: &SparseGrid,
        field: &NodeField<T>,
        particles: &[Particle<T>],
        (spacing, held): (f64, &HeldSet),
        holds_nodes: impl Fn(&Particle<T>) -> bool,
    ) {
        self.share.clear();
        for (block, cell, range) in occupied(grid) {
            for p in &particles[range] {
                if !holds_nodes(p) {
                    continue;
                }
                let x = p.x.map(T::wide);
                let stencil = Stencil::about(&x, cell.base, 1.0 / spacing, GradientForm::True);
                for n in 0..27 {
                    if let Some(node) = node_index(grid, block, cell, n) {
                        let weight = stencil.weight(corner(n));
                        self.share.push((node, weight * p.mass.wide()));
                    }
                }
            }
        }
        self.share.sort_by_key(|(node, _)| *node);
        for shares in self.share.chunk_by(|a, b| a.0 == b.0) {
            let node = shares[0].0;
            let sum: f64 = shares.iter().map(|(_, mass)| mass).sum();
            if sum > 0.5 * field.values[4 * node as usize + 3].wide() {
                self.nodes.push((node, held.velocity));
            }
        }
    }
}

/// The sets that `held`, three entries each, prescribe a velocity of. `ids` are the identities of the particles of the state.
pub(super) fn held_sets(
    parts: &Parts,
    ids: &[u32],
    held: &[Option<f64>],
) -> Result<Vec<HeldSet>, BodyError> {
    parts.check_held(held)?;
    let sets = parts.grips.iter().zip(held.chunks_exact(3));
    let moving = sets.filter(|(_, velocity)| velocity.iter().any(Option::is_some));
    let each = moving.map(|((_, members), velocity)| {
        let member = |id: &u32| members.binary_search(id).is_ok();
        HeldSet {
            members: ids.iter().map(member).collect(),
            velocity: std::array::from_fn(|k| velocity[k].unwrap_or(f64::NAN)),
        }
    });
    Ok(each.collect())
}

/// The occupied cells: number of the block, cell, and its sorted particles.
pub(super) fn occupied(
    grid: &SparseGrid,
) -> impl Iterator<Item = (usize, &Cell, std::ops::Range<usize>)> {
    (0..grid.n_blocks()).flat_map(|block| {
        let cells = grid.cells_of(block).iter();
        cells.map(move |cell| {
            let particles = cell.particles.start as usize..cell.particles.end as usize;
            (block, cell, particles)
        })
    })
}

/// Storage index of node `n` of the 27 of a cell; none where no particle reaches.
pub(super) fn node_index(grid: &SparseGrid, block: usize, cell: &Cell, n: usize) -> Option<u32> {
    let (octant, node) = locate(cell.local(), n);
    let block = grid.blocks[block].plus[octant];
    (block != NONE).then_some(block * BLOCK_NODES as u32 + node as u32)
}
