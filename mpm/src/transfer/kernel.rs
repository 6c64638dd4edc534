//! The inner loops of scatter and gather: a cell's particles and its nine rows of three nodes.
//!
//! The contribution of a particle to node (i, j, k) of its cell is, for four values at once,
//!
//! ```text
//! w_i w_j w_k (c0 + i cx + j cy + k cz) + d_i w_j w_k sx + w_i d_j w_k sy + w_i w_j d_k sz
//! c0 = (m v − h A f, m),  cx = (h A e_x, 0), ...     A = m C (+ (4/h²) S with moving least squares)
//! sx = (S e_x, 0), ...  with true gradients, d their slopes
//! ```
//!
//! so a row of nodes along z takes two multiply-adds of sixteen lanes, four with stress by true gradients. Rows of a cell are summed over
//! its particles before they are written.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::packing::packing_of;
use super::{Before, Transfer};
use crate::colours::Octants;
use crate::lanes::{LANES, LaneScalar, LaneWork, Lanes};
use crate::particle::Particle;
use crate::sparse_grid::{Cell, NONE, SparseGrid};
use crate::spline::{GradientForm, Stencil};
use pliant_constitutive::Real;

/// Nodes of the particles of a block along x and y.
const ARENA: usize = 6;
/// The same along z, with the padding of the last row.
const ARENA_Z: usize = 8;
const ARENA_VALUES: usize = ARENA * ARENA * ARENA_Z * 4;

/// Start of the row of nodes (x, y, z..) of an arena.
#[inline(always)]
fn row_start(x: usize, y: usize, z: usize) -> usize {
    ((x * ARENA + y) * ARENA_Z + z) * 4
}

/// Octant and start of the z row of an arena's column (x, y): the first four nodes, and the last two.
#[inline(always)]
fn pieces(x: usize, y: usize) -> (usize, usize) {
    let octant = x / 4 + (y / 4) * 2;
    (octant, ((x % 4) * 16 + (y % 4) * 4) * 4)
}

pub(super) struct Scatter<'a, T, I> {
    pub(super) transfer: Transfer<T>,
    pub(super) cells: &'a [Cell],
    pub(super) particles: &'a [Particle<T>],
    pub(super) impulses: &'a I,
    pub(super) octants: Octants<'a, T>,
}

/// Momentum and volume at rest of the particles of a block.
pub(super) struct ScatterBefore<'a, T> {
    pub(super) transfer: Transfer<T>,
    pub(super) cells: &'a [Cell],
    pub(super) particles: &'a [Particle<T>],
    pub(super) octants: Octants<'a, T>,
}

#[inline(always)]
fn tile<T: Real>(v: &Vector3<T>, last: T) -> [T; LANES] {
    [
        v.x, v.y, v.z, last, v.x, v.y, v.z, last, v.x, v.y, v.z, last, v.x, v.y, v.z, last,
    ]
}

/// Three values, each four times, and four zeros.
#[inline(always)]
fn spread<T: Real>([a, b, c]: [T; 3]) -> [T; LANES] {
    let o = T::zero();
    [a, a, a, a, b, b, b, b, c, c, c, c, o, o, o, o]
}

/// The particles of these cells among the sorted ones.
fn range_of(cells: &[Cell]) -> Range<usize> {
    let start = cells.first().map_or(0, |c| c.particles.start);
    let end = cells.last().map_or(0, |c| c.particles.end);
    start as usize..end as usize
}

impl<T: LaneScalar, I: Fn(&[Particle<T>], &mut [Matrix3<T>])> LaneWork<T> for Scatter<'_, T, I> {
    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let h = self.transfer.spacing;
        let inverse = T::one() / h;
        let mut arena = [T::zero(); ARENA_VALUES];
        let own = range_of(self.cells);
        let particles = &self.particles[own.clone()];
        let mut stresses = vec![Matrix3::zeros(); particles.len()];
        (self.impulses)(particles, &mut stresses);
        let mut each = particles.iter().zip(&stresses);
        for cell in self.cells {
            let mut rows = [lanes.splat(T::zero()); 9];
            for (p, stress) in each.by_ref().take(cell.particles.len()) {
                let stencil = Stencil::about(&p.x, cell.base, inverse, GradientForm::True);
                let affine = p.c * p.mass;
                match self.transfer.form {
                    GradientForm::Mls => {
                        let a = affine + stress * (T::of(4.0) * inverse * inverse);
                        affine_share(lanes, (p, p.mass), &stencil, &a, h, &mut rows);
                    }
                    GradientForm::True => {
                        affine_share(lanes, (p, p.mass), &stencil, &affine, h, &mut rows);
                        stress_share(lanes, &stencil, stress, &mut rows);
                    }
                }
            }
            add_rows(lanes, cell, rows, &mut arena);
        }
        flush(&arena, self.octants);
    }
}

impl<T: LaneScalar> LaneWork<T> for ScatterBefore<'_, T> {
    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let h = self.transfer.spacing;
        let inverse = T::one() / h;
        let mut arena = [T::zero(); ARENA_VALUES];
        let mut each = self.particles[range_of(self.cells)].iter();
        for cell in self.cells {
            let mut rows = [lanes.splat(T::zero()); 9];
            for p in each.by_ref().take(cell.particles.len()) {
                let stencil = Stencil::about(&p.x, cell.base, inverse, GradientForm::True);
                let affine = p.c * p.mass;
                affine_share(lanes, (p, p.volume), &stencil, &affine, h, &mut rows);
            }
            add_rows(lanes, cell, rows, &mut arena);
        }
        flush(&arena, self.octants);
    }
}

/// Adds the rows of a cell to an arena.
#[inline(always)]
fn add_rows<T: LaneScalar, L: Lanes<T>>(
    lanes: L,
    cell: &Cell,
    rows: [L::Row; 9],
    arena: &mut [T; ARENA_VALUES],
) {
    let [x, y, z] = cell.local();
    for (n, row) in rows.into_iter().enumerate() {
        let start = row_start(x + n / 3, y + n % 3, z);
        let to: &mut [T; LANES] = (&mut arena[start..start + LANES])
            .try_into()
            .expect("a row is sixteen values");
        let sum = lanes.add(lanes.load(to), row);
        lanes.store(sum, to);
    }
}

/// Adds an arena to its blocks.
#[inline(always)]
fn flush<T: Real>(arena: &[T; ARENA_VALUES], octants: Octants<'_, T>) {
    for x in 0..ARENA {
        for y in 0..ARENA {
            let (octant, start) = pieces(x, y);
            let from = row_start(x, y, 0);
            for (octant, from, count) in [(octant, from, 16), (octant | 4, from + 16, 8)] {
                // Blocks that are not allocated have no particles nearby.
                if let Some(to) = octants[octant].get_mut(start..start + count) {
                    for (to, value) in to.iter_mut().zip(&arena[from..from + count]) {
                        *to += *value;
                    }
                }
            }
        }
    }
}

/// Adds the momentum of a particle with the affine part `a`, and its weights times `fourth`.
#[inline(always)]
fn affine_share<T: Real, L: Lanes<T>>(
    lanes: L,
    (p, fourth): (&Particle<T>, T),
    stencil: &Stencil<T>,
    a: &Matrix3<T>,
    h: T,
    rows: &mut [L::Row; 9],
) {
    let [wx, wy, wz] = &stencil.weights;
    let scaled = a * h;
    let c0 = p.v * p.mass - scaled * Vector3::from(stencil.fraction);
    let (cx, cy, cz) = (scaled.column(0), scaled.column(1), scaled.column(2));
    let weights = lanes.load(&spread(*wz));
    let heights = lanes.load(&spread([T::zero(), wz[1], wz[2] + wz[2]]));
    let base = lanes.mul(lanes.load(&tile(&c0, fourth)), weights);
    let base = lanes.mul_add(lanes.load(&tile(&cz.into(), T::zero())), heights, base);
    let along_x = lanes.mul(lanes.load(&tile(&cx.into(), T::zero())), weights);
    let along_y = lanes.mul(lanes.load(&tile(&cy.into(), T::zero())), weights);
    let mut at_x = base;
    for i in 0..3 {
        let mut at = at_x;
        for j in 0..3 {
            let w = lanes.splat(wx[i] * wy[j]);
            rows[3 * i + j] = lanes.mul_add(w, at, rows[3 * i + j]);
            at = lanes.add(at, along_y);
        }
        at_x = lanes.add(at_x, along_x);
    }
}

#[inline(always)]
fn stress_share<T: Real, L: Lanes<T>>(
    lanes: L,
    stencil: &Stencil<T>,
    stress: &Matrix3<T>,
    rows: &mut [L::Row; 9],
) {
    let ([wx, wy, wz], [dx, dy, dz]) = (&stencil.weights, &stencil.slopes);
    let column = |k: usize| lanes.load(&tile(&stress.column(k).into(), T::zero()));
    let weights = lanes.load(&spread(*wz));
    let sx = lanes.mul(column(0), weights);
    let sy = lanes.mul(column(1), weights);
    let sz = lanes.mul(column(2), lanes.load(&spread(*dz)));
    for i in 0..3 {
        for j in 0..3 {
            let row = &mut rows[3 * i + j];
            *row = lanes.mul_add(lanes.splat(dx[i] * wy[j]), sx, *row);
            *row = lanes.mul_add(lanes.splat(wx[i] * dy[j]), sy, *row);
            *row = lanes.mul_add(lanes.splat(wx[i] * wy[j]), sz, *row);
        }
    }
}

pub(super) struct Gather<'a, T, U> {
    pub(super) transfer: Transfer<T>,
    pub(super) grid: &'a SparseGrid,
    pub(super) block: usize,
    pub(super) field: &'a [T],
    pub(super) before: Option<Before<'a, T>>,
    pub(super) time: T,
    pub(super) particles: &'a mut [Particle<T>],
    pub(super) update: &'a U,
    pub(super) has_left: &'a AtomicBool,
}

impl<T: LaneScalar, U: Fn(&mut [Particle<T>], &[Matrix3<T>], &[T])> LaneWork<T>
    for Gather<'_, T, U>
{
    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let h = self.transfer.spacing;
        let inverse = T::one() / h;
        let mut arena = [T::zero(); ARENA_VALUES];
        self.fill(self.field, &mut arena);
        let cells = self.grid.cells_of(self.block);
        let mut gradients = vec![Matrix3::zeros(); self.particles.len()];
        let mut packings = Vec::new();
        let kept = self.before.map(|before| {
            packings.resize(self.particles.len(), T::zero());
            self.kept(lanes, &before, &mut packings)
        });
        let mut each = self.particles.iter_mut().zip(&mut gradients);
        for cell in cells {
            let [x, y, z] = cell.local();
            let rows = rows_at(lanes, [x, y, z], &arena);
            for (p, gradient) in each.by_ref().take(cell.particles.len()) {
                let stencil = Stencil::about(&p.x, cell.base, inverse, GradientForm::True);
                let moments: Moments<T, 3> = moments(lanes, &stencil, &rows);
                p.v = moments.velocity;
                let interpolation = T::of(4.0) * inverse;
                let fraction = Vector3::from(stencil.fraction);
                p.c = (moments.first - moments.velocity * fraction.transpose()) * interpolation;
                *gradient = match self.transfer.form {
                    GradientForm::Mls => p.c,
                    GradientForm::True => slopes(lanes, &stencil, &rows),
                };
            }
        }
        (self.update)(self.particles, &gradients, &packings);
        let mut each = self.particles.iter_mut();
        let mut has_left = false;
        for cell in cells {
            let base = cell.base.map(|k| T::of(f64::from(k)));
            for p in each.by_ref().take(cell.particles.len()) {
                p.advance(p.v * self.time);
                has_left |= has_left_cell(&p.x, &base, inverse);
            }
        }
        // Positions follow the grid alone.
        for (p, (v, c)) in self.particles.iter_mut().zip(kept.iter().flatten()) {
            p.v += v;
            p.c += c;
        }
        if has_left {
            self.has_left.store(true, Ordering::Relaxed);
        }
    }
}

impl<T: LaneScalar, U> Gather<'_, T, U> {
    /// The parts of the velocity and the affine velocity of each particle that the grid does not represent, as far as they are kept, and the
    /// packing around it.
    #[inline(always)]
    fn kept<L: Lanes<T>>(
        &self,
        lanes: L,
        before: &Before<'_, T>,
        packings: &mut [T],
    ) -> Vec<(Vector3<T>, Matrix3<T>)> {
        let h = self.transfer.spacing;
        let inverse = T::one() / h;
        let mut arena = [T::zero(); ARENA_VALUES];
        self.fill(&before.field.values, &mut arena);
        let mut kept = Vec::with_capacity(self.particles.len());
        let mut each = self.particles.iter().zip(packings);
        for cell in self.grid.cells_of(self.block) {
            let rows = rows_at(lanes, cell.local(), &arena);
            for (p, packing) in each.by_ref().take(cell.particles.len()) {
                let stencil = Stencil::about(&p.x, cell.base, inverse, GradientForm::True);
                let moments: Moments<T, 4> = moments(lanes, &stencil, &rows);
                let fraction = Vector3::from(stencil.fraction);
                let centred = moments.first - moments.velocity * fraction.transpose();
                let v = moments.velocity.fixed_rows::<3>(0).into_owned();
                let c = centred.fixed_rows::<3>(0) * (T::of(4.0) * inverse);
                kept.push(((p.v - v) * before.keep, (p.c - c) * before.keep));
                let fill = moments.velocity[3] * (inverse * inverse * inverse);
                let arm = centred.row(3).norm() / moments.velocity[3];
                *packing = packing_of(fill, arm);
            }
        }
        kept
    }

    #[inline(always)]
    fn fill(&self, field: &[T], arena: &mut [T; ARENA_VALUES]) {
        let plus = self.grid.blocks[self.block].plus;
        for x in 0..ARENA {
            for y in 0..ARENA {
                let (octant, start) = pieces(x, y);
                let to = row_start(x, y, 0);
                for (octant, to, count) in [(octant, to, 16), (octant | 4, to + 16, 8)] {
                    let block = plus[octant];
                    if block != NONE {
                        let from = block as usize * 256 + start;
                        arena[to..to + count].copy_from_slice(&field[from..from + count]);
                    }
                }
            }
        }
    }
}

/// Whether the [`base_node`](crate::spline::base_node) of `x` is not `base`.
#[inline(always)]
fn has_left_cell<T: Real>(x: &Vector3<T>, base: &[T; 3], inverse: T) -> bool {
    let mut has_left = false;
    for k in 0..3 {
        let above = x[k] * inverse - T::of(0.5) - base[k];
        // Also true for NaN.
        has_left |= !(above >= T::zero() && above < T::one());
    }
    has_left
}

/// Σ w v and Σ w v (i, j, k), of the first D of the four values of a node.
struct Moments<T, const D: usize> {
    velocity: SVector<T, D>,
    first: SMatrix<T, D, 3>,
}

/// The rows of nodes of a cell.
#[inline(always)]
fn rows_at<T: LaneScalar, L: Lanes<T>>(
    lanes: L,
    [x, y, z]: [usize; 3],
    arena: &[T; ARENA_VALUES],
) -> [L::Row; 9] {
    let mut rows = [lanes.splat(T::zero()); 9];
    for (n, row) in rows.iter_mut().enumerate() {
        let start = row_start(x + n / 3, y + n % 3, z);
        let from: &[T; LANES] = (&arena[start..start + LANES])
            .try_into()
            .expect("a row is sixteen values");
        *row = lanes.load(from);
    }
    rows
}

/// The first D of four values at each of three nodes.
#[inline(always)]
fn nodes<T: Real, L: Lanes<T>, const D: usize>(lanes: L, row: L::Row) -> [SVector<T, D>; 3] {
    let mut values = [T::zero(); LANES];
    lanes.store(row, &mut values);
    let at = |k: usize| SVector::from_fn(|d, _| values[k + d]);
    [at(0), at(4), at(8)]
}

#[inline(always)]
fn moments<T: Real, L: Lanes<T>, const D: usize>(
    lanes: L,
    stencil: &Stencil<T>,
    rows: &[L::Row; 9],
) -> Moments<T, D> {
    let [wx, wy, wz] = &stencil.weights;
    let zero = lanes.splat(T::zero());
    let (mut plain, mut by_x, mut by_y) = (zero, zero, zero);
    for i in 0..3 {
        let one = lanes.mul(rows[3 * i + 1], lanes.splat(wy[1]));
        let two = lanes.mul(rows[3 * i + 2], lanes.splat(wy[2]));
        let sum = lanes.mul_add(rows[3 * i], lanes.splat(wy[0]), lanes.add(one, two));
        let raised = lanes.add(one, lanes.add(two, two));
        let w = lanes.splat(wx[i]);
        plain = lanes.mul_add(w, sum, plain);
        by_y = lanes.mul_add(w, raised, by_y);
        if i > 0 {
            by_x = lanes.mul_add(lanes.splat(T::of(i as f64) * wx[i]), sum, by_x);
        }
    }
    let along_z = |v: [SVector<T, D>; 3]| v[0] * wz[0] + v[1] * wz[1] + v[2] * wz[2];
    let plain = nodes(lanes, plain);
    let by_z = plain[1] * wz[1] + plain[2] * (wz[2] + wz[2]);
    Moments {
        velocity: along_z(plain),
        first: SMatrix::from_columns(&[
            along_z(nodes(lanes, by_x)),
            along_z(nodes(lanes, by_y)),
            by_z,
        ]),
    }
}

/// Σ v ∇wᵀ.
#[inline(always)]
fn slopes<T: Real, L: Lanes<T>>(lanes: L, stencil: &Stencil<T>, rows: &[L::Row; 9]) -> Matrix3<T> {
    let ([wx, wy, wz], [dx, dy, dz]) = (&stencil.weights, &stencil.slopes);
    let zero = lanes.splat(T::zero());
    let (mut plain, mut by_x, mut by_y) = (zero, zero, zero);
    for i in 0..3 {
        let (mut sum, mut sloped) = (zero, zero);
        for j in 0..3 {
            sum = lanes.mul_add(rows[3 * i + j], lanes.splat(wy[j]), sum);
            sloped = lanes.mul_add(rows[3 * i + j], lanes.splat(dy[j]), sloped);
        }
        plain = lanes.mul_add(lanes.splat(wx[i]), sum, plain);
        by_y = lanes.mul_add(lanes.splat(wx[i]), sloped, by_y);
        by_x = lanes.mul_add(lanes.splat(dx[i]), sum, by_x);
    }
    let along = |v: [Vector3<T>; 3], w: &[T; 3]| v[0] * w[0] + v[1] * w[1] + v[2] * w[2];
    Matrix3::from_columns(&[
        along(nodes(lanes, by_x), wz),
        along(nodes(lanes, by_y), wz),
        along(nodes(lanes, plain), dz),
    ])
}
