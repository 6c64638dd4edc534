//! Transfer of mass and momentum from particles to the grid, and of velocities and their gradients from the grid to particles.
//!
//! Affine particle-in-cell (APIC, Jiang et al. 2015): a particle adds the momentum w_i m (v + C(x_i − x)) to node i. Its new velocity
//! and affine velocity are
//!
//! ```text
//! v = Σ w_i v_i        C = (4/h²) Σ w_i v_i (x_i − x)ᵀ
//! ```
//!
//! The transfer conserves mass, linear and angular momentum to round-off and reproduces affine velocity fields. The impulse −δt V τ of
//! stress is distributed by the gradient of the [`GradientForm`].

mod kernel;
mod packing;
mod scheme;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

use crate::colours::{for_each_block, scatter, worth_threads};
use crate::lanes::{InstructionSet, LaneScalar};
use crate::particle::Particle;
use crate::sparse_grid::{BLOCK_NODES, SparseGrid};
use crate::spline::GradientForm;
use kernel::{Gather, Scatter, ScatterBefore};
use pliant_constitutive::Real;

pub(crate) use packing::packing_of;
pub use scheme::TransferScheme;

/// kg. Its inverse times the momentum of any particle of less than 10⁸ kg m/s is finite in f32.
const NODE_MASS_MIN: f64 = 1e-30;

/// Values on the nodes of a [`SparseGrid`]: momentum and mass, or velocity and mass, four numbers per node.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_mpm::{GradientForm, NodeField, Particle, SparseGrid, Transfer};
///
/// // A particle at 3 m/s: after the division by mass and 10 ms of gravity, all its nodes move at (3, 0, −0.0981) m/s.
/// # let particle = Particle { x: Vector3::repeat(0.013), v: Vector3::new(3.0, 0.0, 0.0), mass: 2e-3, ..Particle::<f64>::default() };
/// # let (mut grid, mut nodes) = (SparseGrid::default(), NodeField::default());
/// # grid.build(0.02, [particle.x].into_iter())?;
/// # let free = |_: &[Particle<f64>], impulses: &mut [Matrix3<f64>]| impulses.fill(Matrix3::zeros());
/// Transfer::new(0.02, GradientForm::True).particles_to_grid(&grid, &[particle], free, &mut nodes);
/// nodes.momentum_to_velocity(&Vector3::new(0.0, 0.0, -9.81), 0.01);
/// let moving: Vec<_> = nodes.nodes().filter(|node| node[3] > 0.0).collect();
/// assert_eq!(moving.len(), 27);
/// assert!(moving.iter().all(|node| (node[0] - 3.0).abs() < 1e-12 && (node[2] + 0.0981).abs() < 1e-12));
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NodeField<T> {
    pub(crate) values: Vec<T>,
}

impl<T: Real> NodeField<T> {
    /// The momentum or velocity (three components) and the mass of node `node` of block `block`.
    #[must_use]
    pub fn node(&self, block: usize, node: usize) -> [T; 4] {
        let at = 4 * (block * BLOCK_NODES + node);
        [0, 1, 2, 3].map(|k| self.values[at + k])
    }

    /// The same, mutable.
    pub fn node_mut(&mut self, block: usize, node: usize) -> &mut [T] {
        let at = 4 * (block * BLOCK_NODES + node);
        &mut self.values[at..at + 4]
    }

    /// The values of every node, in the order of storage.
    pub fn nodes(&self) -> impl Iterator<Item = &[T]> {
        self.values.chunks_exact(4)
    }

    /// Divides momentum by the mass of `field`; nodes without mass are at rest.
    pub(crate) fn divide_by_mass_of(&mut self, field: &Self) {
        let least = T::of(NODE_MASS_MIN);
        for (node, heavy) in self.values.chunks_exact_mut(4).zip(field.nodes()) {
            let inverse = match heavy[3] > least {
                true => T::one() / heavy[3],
                false => T::zero(),
            };
            node[..3].iter_mut().for_each(|p| *p *= inverse);
        }
    }

    /// Divides momentum by mass and adds `acceleration` × `time`; nodes without mass are at rest.
    ///
    /// A particle that is within round-off at 3/2 spacings from a node along several axes gives it a mass near the least number of `T`,
    /// whose inverse overflows. Its weight there is as small: such a node counts as one without mass.
    pub fn momentum_to_velocity(&mut self, acceleration: &Vector3<T>, time: T) {
        let kick = acceleration * time;
        let least = T::of(NODE_MASS_MIN);
        let each = |node: &mut [T]| {
            if node[3] > least {
                let inverse = T::one() / node[3];
                for k in 0..3 {
                    node[k] = node[k] * inverse + kick[k];
                }
            } else {
                node.fill(T::zero());
            }
        };
        if self.values.len() > 1 << 16 && rayon::current_num_threads() > 1 {
            self.values
                .par_chunks_exact_mut(4)
                .with_min_len(1 << 12)
                .for_each(each);
        } else {
            self.values.chunks_exact_mut(4).for_each(each);
        }
    }
}

/// What the nodes had before the forces of a step acted on them.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a, T> {
    /// Velocity, and volume at rest.
    pub field: &'a NodeField<T>,
    /// Part of what the grid does not represent of v and C that particles keep, 0 to 1.
    pub keep: T,
}

/// Settings of a transfer.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_mpm::{GradientForm, NodeField, Particle, SparseGrid, Transfer};
///
/// // A particle of 2 g at 3 m/s: mass and momentum on the nodes are its own.
/// let particle = Particle { x: Vector3::repeat(0.013), v: Vector3::new(3.0, 0.0, 0.0), mass: 2e-3, ..Particle::<f64>::default() };
/// let (mut grid, mut nodes) = (SparseGrid::default(), NodeField::default());
/// grid.build(0.02, [particle.x].into_iter())?;
/// let free = |_: &[Particle<f64>], impulses: &mut [Matrix3<f64>]| impulses.fill(Matrix3::zeros());
/// Transfer::new(0.02, GradientForm::True).particles_to_grid(&grid, &[particle], free, &mut nodes);
/// let sum = |k: usize| nodes.nodes().map(|node| node[k]).sum::<f64>();
/// assert!((sum(3) - 2e-3).abs() < 1e-15 && (sum(0) - 6e-3).abs() < 1e-15);
/// # Ok::<(), pliant_mpm::MpmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer<T> {
    /// h, m.
    pub spacing: T,
    /// Velocity gradient by which stress is distributed and F is updated.
    pub form: GradientForm,
    /// Instruction set of the kernels.
    pub instructions: InstructionSet,
}

impl<T: LaneScalar> Transfer<T> {
    /// A transfer with the widest instruction set of the processor.
    #[must_use]
    pub fn new(spacing: T, form: GradientForm) -> Self {
        Self {
            spacing,
            form,
            instructions: InstructionSet::widest(),
        }
    }

    /// Adds mass and momentum of `particles`, sorted by `grid`, to the nodes; `out` is overwritten.
    ///
    /// `impulses` writes −δt V τ, N·s·m, of each of several particles.
    pub fn particles_to_grid(
        &self,
        grid: &SparseGrid,
        particles: &[Particle<T>],
        impulses: impl Fn(&[Particle<T>], &mut [Matrix3<T>]) + Sync,
        out: &mut NodeField<T>,
    ) {
        out.values.clear();
        out.values
            .resize(grid.n_blocks() * BLOCK_NODES * 4, T::zero());
        let end = |block: usize| (block + 1) * BLOCK_NODES * 4;
        scatter(grid, end, &mut out.values, |block, octants| {
            let work = Scatter {
                transfer: *self,
                cells: grid.cells_of(block),
                particles,
                impulses: &impulses,
                octants,
            };
            T::dispatch(self.instructions, work);
        });
    }

    /// Adds momentum and volume at rest of `particles`, sorted by `grid`, to the nodes; `out` is overwritten. With the momentum divided by
    /// the mass of the nodes, it is the field of a [`Before`].
    pub fn particles_to_grid_before(
        &self,
        grid: &SparseGrid,
        particles: &[Particle<T>],
        out: &mut NodeField<T>,
    ) {
        out.values.clear();
        out.values
            .resize(grid.n_blocks() * BLOCK_NODES * 4, T::zero());
        let end = |block: usize| (block + 1) * BLOCK_NODES * 4;
        scatter(grid, end, &mut out.values, |block, octants| {
            let work = ScatterBefore {
                transfer: *self,
                cells: grid.cells_of(block),
                particles,
                octants,
            };
            T::dispatch(self.instructions, work);
        });
    }

    /// Interpolates velocities of `field` to `particles`, sorted by `grid`, and moves them on by `time`, s: replaces v and C, calls `update`
    /// with several particles, their velocity gradients of the form, to update F, and the packing around them, and adds `time` × v to x.
    /// Then it adds the part of v and C that the particles had and the grid did not represent, as far as `before` keeps it. Without
    /// `before` there are no packings. Returns whether a particle has left its cell.
    pub fn grid_to_particles(
        &self,
        grid: &SparseGrid,
        (field, before): (&NodeField<T>, Option<Before<'_, T>>),
        time: T,
        particles: &mut [Particle<T>],
        update: impl Fn(&mut [Particle<T>], &[Matrix3<T>], &[T]) + Sync,
    ) -> bool {
        let has_left = AtomicBool::new(false);
        for_each_block(grid, particles, |block, particles| {
            let work = Gather {
                transfer: *self,
                grid,
                block,
                field: &field.values,
                before,
                time,
                particles,
                update: &update,
                has_left: &has_left,
            };
            T::dispatch(self.instructions, work);
        });
        has_left.into_inner()
    }
}

/// Linear momentum of particles, and angular momentum about the origin including the affine part.
///
/// ```text
/// p = Σ m v        L = Σ [x × m v + m (h²/4) (C_32 − C_23, C_13 − C_31, C_21 − C_12)]
/// ```
#[must_use]
pub fn momenta<T: Real>(particles: &[Particle<T>], spacing: T) -> (Vector3<T>, Vector3<T>) {
    let quarter = spacing * spacing * T::of(0.25);
    let mut sum = (Vector3::zeros(), Vector3::zeros());
    for p in particles {
        let c = &p.c;
        let axial = Vector3::new(
            c[(2, 1)] - c[(1, 2)],
            c[(0, 2)] - c[(2, 0)],
            c[(1, 0)] - c[(0, 1)],
        );
        sum.0 += p.v * p.mass;
        sum.1 += (p.x.cross(&p.v) + axial * quarter) * p.mass;
    }
    sum
}

/// Copies `particles` in the order of `grid`.
pub fn sort_particles<T: Real>(
    grid: &SparseGrid,
    particles: &[Particle<T>],
    sorted: &mut Vec<Particle<T>>,
) {
    sorted.clear();
    if worth_threads(grid) {
        sorted.par_extend(grid.order.par_iter().map(|&p| particles[p as usize]));
    } else {
        sorted.extend(grid.order.iter().map(|&p| particles[p as usize]));
    }
}
