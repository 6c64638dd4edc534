//! Matrix-free products with A, and the 3×3 blocks on its diagonal.

use crate::nodes::{add_divergence, gradient};
use crate::spline::corner;

use super::{Blocks, GridSystem, Tangents};
use crate::lanes::{InstructionSet, LaneScalar, LaneWork, Lanes};
use crate::sparse_grid::Cell;

impl GridSystem {
    /// y = A x by a gather, a contraction at every particle and a scatter.
    pub(crate) fn apply(&self, tangents: &Tangents, x: &[f64], y: &mut [f64]) {
        let masked;
        let inner = if self.any_prescribed {
            let each = x.iter().zip(&self.prescribed);
            masked = each
                .map(|(x, p)| if p.is_nan() { *x } else { 0.0 })
                .collect::<Vec<_>>();
            &masked
        } else {
            x
        };
        y.fill(0.0);
        let scale = self.tangent_scale();
        if scale != 0.0 {
            if self.has_solids {
                self.apply_solids(tangents, inner, scale, y);
            }
            for ((_, cloth), tangent) in self.cloths.iter().zip(&tangents.cloths) {
                cloth.add_product(tangent, inner, scale, y);
            }
        }
        if self.any_prescribed {
            for (y, p) in y.iter_mut().zip(&self.prescribed) {
                if !p.is_nan() {
                    *y = 0.0;
                }
            }
        }
        for (i, y) in y.iter_mut().enumerate() {
            *y += self.mass[i / 3] * x[i];
        }
    }

    /// Adds `scale` times the product of the stiffness of all particles that belong to no cloth with x.
    fn apply_solids(&self, tangents: &Tangents, x: &[f64], scale: f64, y: &mut [f64]) {
        self.nodes.scatter::<3>(&self.grid, y, |number, cell, out| {
            let system = self;
            let work = CellProduct {
                system,
                tangents,
                number,
                cell,
                x,
                scale,
                out,
            };
            f64::dispatch(InstructionSet::widest(), work);
        });
    }

    /// The 3×3 blocks on the diagonal of A, column-major:
    ///
    /// ```text
    /// A_ii = m_i I + αδt Σ_p V_p (μ |q|² I + (μ + λ) q qᵀ),  q = W ∇w_i,   for isotropic tangents
    /// ```
    pub(crate) fn diagonal(&self, tangents: &Tangents, blocks: Blocks, out: &mut Vec<f64>) {
        out.clear();
        out.resize(9 * self.nodes.len(), 0.0);
        let scale = self.tangent_scale();
        if scale != 0.0 {
            self.nodes.scatter::<9>(&self.grid, out, |_, cell, local| {
                let solids = cell.particles.clone().map(|p| p as usize);
                for p in solids.filter(|p| !self.is_cloth(*p)) {
                    let scale = scale * self.particles[p].volume;
                    for (n, to) in local.iter_mut().enumerate() {
                        let g = self.stencils[p].gradient(corner(n));
                        let block = tangents.particles[p].block(&g, &g) * scale;
                        to.iter_mut().zip(block.iter()).for_each(|(to, b)| *to += b);
                    }
                }
            });
            for ((_, cloth), tangent) in self.cloths.iter().zip(&tangents.cloths) {
                cloth.add_diagonal(self, (tangent, blocks), scale, out);
            }
        }
        for (node, block) in out.chunks_exact_mut(9).enumerate() {
            for a in 0..3 {
                if !self.prescribed[3 * node + a].is_nan() {
                    (0..3).for_each(|b| {
                        block[3 * a + b] = 0.0;
                        block[3 * b + a] = 0.0;
                    });
                }
                block[4 * a] += self.mass[node];
            }
        }
    }
}

/// The particles of one cell in a product.
struct CellProduct<'a> {
    system: &'a GridSystem,
    tangents: &'a Tangents,
    number: usize,
    cell: &'a Cell,
    x: &'a [f64],
    scale: f64,
    out: &'a mut [[f64; 3]; 27],
}

impl LaneWork<f64> for CellProduct<'_> {
    #[inline(always)]
    fn run<L: Lanes<f64>>(self, _: L) {
        let system = self.system;
        let local = system.nodes.local(self.number, self.x);
        let solids = self.cell.particles.clone().map(|p| p as usize);
        for p in solids.filter(|p| !system.is_cloth(*p)) {
            let stencil = &system.stencils[p];
            let change = self.tangents.particles[p].apply(&gradient(stencil, &local));
            let scaled = change * (self.scale * system.particles[p].volume);
            add_divergence(stencil, &scaled, self.out);
        }
    }
}
