//! Contribution of the particles of one cell to A: stiffness between the cell's 27 nodes.
//!
//! With gradients g_b of the 27 nodes, mapped ones q_b = W g_b, and one ratio λ : μ for a group of particles,
//!
//! ```text
//! K_ba = Σ_p V_p (tr T I + Tᵀ + (λ/μ) T),  T_ba = μ q_b q_aᵀ          isotropic tangents
//! K_ba[r, c] = Σ_p V_p Σ_kl g_b[k] H[3k + r, 3l + c] g_a[l]           general ones
//! ```
//!
//! Both are vectorised over the nodes b.

use pliant_constitutive::Hooke;

use crate::lanes::{InstructionSet, LaneScalar, LaneWork, Lanes};
use crate::material::Tangent;
use crate::sparse_grid::Cell;
use crate::spline::corner;

use super::GridSystem;

/// 27 nodes, padded to full registers.
const WIDTH: usize = 28;
/// Nodes in a register.
const PART: usize = 4;

/// A vector at each node, by component.
type Vectors = [[f64; WIDTH]; 3];

/// The three columns of one node: by column, row, node.
pub(super) type Column = [[[f64; WIDTH]; 3]; 3];

/// Isotropic particles of one ratio λ : μ.
#[derive(Clone, Debug)]
struct Group {
    /// The weights of tr T I + Tᵀ and of T.
    ratio: (f64, f64),
    particles: Vec<Mapped>,
}

/// A particle's mapped gradients and their weight.
#[derive(Clone, Debug)]
struct Mapped {
    vectors: Vectors,
    weight: f64,
}

/// A particle with a general tangent.
#[derive(Clone, Debug)]
struct General {
    gradients: Vectors,
    /// H, times volume and scale, column-major 9×9.
    tangent: [f64; 81],
}

/// Stiffness between the nodes of one cell, column by column. Memory is reused from cell to cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellStiffness {
    groups: Vec<Group>,
    n_groups: usize,
    general: Vec<General>,
    column: Column,
}

impl CellStiffness {
    /// Reads the particles of `cell`.
    pub(super) fn open(
        &mut self,
        system: &GridSystem,
        cell: &Cell,
        tangents: &[Tangent<f64>],
        scale: f64,
    ) {
        self.n_groups = 0;
        self.general.clear();
        for p in cell.particles.clone().map(|p| p as usize) {
            let weight = scale * system.particles[p].volume;
            let stencil = &system.stencils[p];
            let mut gradients = [[0.0; WIDTH]; 3];
            for node in 0..27 {
                let g = stencil.gradient(corner(node));
                let to = gradients.iter_mut().zip(g.iter());
                to.for_each(|(to, g)| to[node] = *g);
            }
            match &tangents[p] {
                Tangent::Isotropic { map, hooke } => {
                    let Hooke { mu, lambda } = *hooke;
                    // Particles of one ratio are weighted by the magnitude of the moduli.
                    let (size, ratio) = if mu > 0.0 {
                        (mu, (1.0, lambda / mu))
                    } else {
                        (lambda, (0.0, 1.0))
                    };
                    if size == 0.0 {
                        continue;
                    }
                    let mut vectors = [[0.0; WIDTH]; 3];
                    for (k, vector) in vectors.iter_mut().enumerate() {
                        let row = [map[(k, 0)], map[(k, 1)], map[(k, 2)]];
                        for (n, v) in vector.iter_mut().enumerate() {
                            let [x, y, z] = [0, 1, 2].map(|l| gradients[l][n]);
                            *v = row[0] * x + row[1] * y + row[2] * z;
                        }
                    }
                    let weight = weight * size;
                    self.group(ratio).push(Mapped { vectors, weight });
                }
                Tangent::General(h) => {
                    let mut tangent = [0.0; 81];
                    let each = tangent.iter_mut().zip(h.iter());
                    each.for_each(|(to, h)| *to = weight * h);
                    self.general.push(General { gradients, tangent });
                }
            }
        }
    }

    /// The particles of a ratio.
    fn group(&mut self, ratio: (f64, f64)) -> &mut Vec<Mapped> {
        let known = self.groups[..self.n_groups]
            .iter()
            .position(|g| g.ratio == ratio);
        let number = known.unwrap_or_else(|| {
            if self.n_groups == self.groups.len() {
                self.groups.push(Group {
                    ratio,
                    particles: Vec::new(),
                });
            }
            let fresh = &mut self.groups[self.n_groups];
            fresh.ratio = ratio;
            fresh.particles.clear();
            self.n_groups += 1;
            self.n_groups - 1
        });
        &mut self.groups[number].particles
    }

    /// The columns of node `a`, with the rows of nodes from `a` on.
    pub(super) fn column(&mut self, a: usize) -> &Column {
        let work = SumColumn {
            groups: &self.groups[..self.n_groups],
            general: &self.general,
            a,
            column: &mut self.column,
        };
        f64::dispatch(InstructionSet::widest(), work);
        &self.column
    }
}

struct SumColumn<'a> {
    groups: &'a [Group],
    general: &'a [General],
    a: usize,
    column: &'a mut Column,
}

impl LaneWork<f64> for SumColumn<'_> {
    #[inline(always)]
    fn run<L: Lanes<f64>>(self, lanes: L) {
        let Self { a, column, .. } = self;
        let first = a / PART;
        for column in column.iter_mut().flatten() {
            column[PART * first..].fill(0.0);
        }
        for group in self.groups {
            for part in first..WIDTH / PART {
                let at = PART * part;
                let t = dyads(lanes, &group.particles, a, at);
                let (plain, pressing) = group.ratio;
                for k in 0..PART {
                    let trace = plain * (t[0][0][k] + t[1][1][k] + t[2][2][k]);
                    for c in 0..3 {
                        for r in 0..3 {
                            let own = if r == c { trace } else { 0.0 };
                            let (here, there) = (t[c][r][k], t[r][c][k]);
                            column[c][r][at + k] += own + plain * there + pressing * here;
                        }
                    }
                }
            }
        }
        for particle in self.general {
            add_general(lanes, particle, a, first, column);
        }
    }
}

/// Σ w q_b q_aᵀ at four nodes b from `at`: by component of q_a, of q_b.
#[inline(always)]
fn dyads<L: Lanes<f64>>(
    lanes: L,
    particles: &[Mapped],
    a: usize,
    at: usize,
) -> [[[f64; PART]; 3]; 3] {
    let mut t = [[[0.0; PART]; 3]; 3];
    for p in particles {
        let q = [0, 1, 2].map(|r| four(&p.vectors[r], at));
        for (t, vector) in t.iter_mut().zip(&p.vectors) {
            let own = p.weight * vector[a];
            for (t, q) in t.iter_mut().zip(&q) {
                *t = add_scaled(lanes, own, q, t);
            }
        }
    }
    t
}

#[inline(always)]
fn add_general<L: Lanes<f64>>(
    lanes: L,
    particle: &General,
    a: usize,
    first: usize,
    column: &mut Column,
) {
    let (g, h) = (&particle.gradients, &particle.tangent);
    for (c, column) in column.iter_mut().enumerate() {
        // H contracted with the column's gradient: nine numbers.
        let half: [f64; 9] = std::array::from_fn(|i| {
            h[9 * c + i] * g[0][a] + h[9 * (3 + c) + i] * g[1][a] + h[9 * (6 + c) + i] * g[2][a]
        });
        for (r, row) in column.iter_mut().enumerate() {
            for part in first..WIDTH / PART {
                let at = PART * part;
                let mut sum = four(row, at);
                for (k, g) in g.iter().enumerate() {
                    sum = add_scaled(lanes, half[3 * k + r], &four(g, at), &sum);
                }
                row[at..at + PART].copy_from_slice(&sum);
            }
        }
    }
}

#[inline(always)]
fn four(values: &[f64; WIDTH], at: usize) -> [f64; PART] {
    [values[at], values[at + 1], values[at + 2], values[at + 3]]
}

/// s·x + y.
#[inline(always)]
fn add_scaled<L: Lanes<f64>>(lanes: L, s: f64, x: &[f64; PART], y: &[f64; PART]) -> [f64; PART] {
    std::array::from_fn(|k| lanes.one_mul_add(s, x[k], y[k]))
}
