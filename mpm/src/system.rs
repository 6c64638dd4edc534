//! The momentum balance of one implicit step, on the nodes that have mass.
//!
//! With G = αδ∇v + β∇v0 at every particle (α = θ θ_vq δt, β = θ (1 − θ_vq) δt; backward Euler: α = δt, β = 0)
//!
//! ```text
//! m(v) = M (v − v0) − δt f + δt Σ_p V_p (∂ψ/∂G)(G_p(v)) ∇w          its zero is the free motion v*
//! A    = M + α δt Σ_p V_p ∇wᵀ (∂²ψ/∂G²) ∇w                          A v* = b
//! ```
//!
//! For α > 0, m is the gradient of E(v) = ½|v − v0|²_M − δt fᵀv + (δt/α) Σ_p V_p ψ(G_p(v)) (Zong, Jiang, Han 2024, eqs. 11-16;
//! the other members of the θ-family by the same derivation). Prescribed velocities keep their rows: A is the mass there, and b the mass
//! times the prescribed velocity.

mod assembly;
mod cell_stiffness;
mod operator;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Hooke;
use pliant_contact_sap::TimeStep;

use crate::material::{Definiteness, EnergyForm, Lagged, Law, Material, Tangent};
use crate::nodes::{Nodes, add_divergence, gradient};
use crate::particle::Particle;
use crate::sparse_grid::SparseGrid;
use crate::spline::{GradientForm, Stencil};
use crate::transfer::{NodeField, Transfer, sort_particles};

pub(crate) use assembly::BlockMatrix;

/// The discrete balance of one step. Memory is reused from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct GridSystem {
    pub(crate) spacing: f64,
    pub(crate) form: GradientForm,
    pub(crate) time_step: TimeStep,
    pub(crate) materials: Vec<Arc<dyn Material>>,
    pub(crate) grid: SparseGrid,
    pub(crate) nodes: Nodes,
    /// In sorted order, as all arrays over particles.
    pub(crate) particles: Vec<Particle<f64>>,
    pub(crate) stencils: Vec<Stencil<f64>>,
    pub(crate) lagged: Vec<Lagged<f64>>,
    pub(crate) tangents: Vec<Tangent<f64>>,
    /// Cell of each particle.
    pub(crate) cell_of: Vec<u32>,
    /// Mass of each node, kg.
    pub(crate) mass: Vec<f64>,
    /// v0, m/s.
    pub(crate) start: Vec<f64>,
    /// δt f: gravity and loads on each node, N·s.
    pub(crate) external: Vec<f64>,
    /// Prescribed velocities; NaN where free.
    pub(crate) prescribed: Vec<f64>,
    pub(crate) any_prescribed: bool,
    field: NodeField<f64>,
    /// β∇v0, where β is not zero.
    start_gradients: Vec<Matrix3<f64>>,
}

impl GridSystem {
    pub(crate) fn new(spacing: f64, form: GradientForm, materials: Vec<Arc<dyn Material>>) -> Self {
        Self {
            spacing,
            form,
            materials,
            ..Self::default()
        }
    }

    /// Builds the grid of `particles` and transfers mass and momentum to it, without prescribed velocities and external impulses.
    pub(crate) fn open(
        &mut self,
        particles: &[Particle<f64>],
        time_step: TimeStep,
    ) -> Result<(), crate::MpmError> {
        self.time_step = time_step;
        self.grid
            .build(self.spacing, particles.iter().map(|p| p.x))?;
        sort_particles(&self.grid, particles, &mut self.particles);
        let transfer = Transfer::new(self.spacing, self.form);
        let rest = |_: &Particle<f64>| Matrix3::zeros();
        transfer.particles_to_grid(&self.grid, &self.particles, rest, &mut self.field);
        self.nodes
            .number(&self.grid, &self.field, &mut self.mass, &mut self.start);
        self.external.clear();
        self.external.resize(self.start.len(), 0.0);
        self.prescribed.clear();
        self.prescribed.resize(self.start.len(), f64::NAN);
        self.any_prescribed = false;
        self.find_stencils();
        let mut lagged = std::mem::take(&mut self.lagged);
        self.lag(&mut lagged, |_, _| None);
        self.lagged = lagged;
        Ok(())
    }

    /// Applies prescribed velocities to the start of the step; called after the last one is set.
    pub(crate) fn settle(&mut self) {
        for (start, held) in self.start.iter_mut().zip(&self.prescribed) {
            if !held.is_nan() {
                *start = *held;
            }
        }
        self.find_start_gradients();
    }

    fn find_stencils(&mut self) {
        let inverse = 1.0 / self.spacing;
        self.stencils.clear();
        self.cell_of.clear();
        for (number, cell) in self.grid.cells.iter().enumerate() {
            for p in cell.particles.clone() {
                let x = &self.particles[p as usize].x;
                self.stencils
                    .push(Stencil::about(x, cell.base, inverse, self.form));
                self.cell_of.push(number as u32);
            }
        }
    }

    fn find_start_gradients(&mut self) {
        self.start_gradients.clear();
        let beta = self.time_step.forces_s() - self.alpha();
        if beta == 0.0 {
            return;
        }
        let mut gradients = std::mem::take(&mut self.start_gradients);
        gradients.resize(self.particles.len(), Matrix3::zeros());
        self.nodes
            .gather(&self.grid, &self.start, &mut gradients, |p, local, out| {
                *out = gradient(&self.stencils[p], local) * beta;
            });
        self.start_gradients = gradients;
    }

    /// α = θ θ_vq δt, s.
    pub(crate) fn alpha(&self) -> f64 {
        self.time_step.integration.theta() * self.time_step.positions_s()
    }

    /// α δt, s²: the factor of tangents in A.
    fn tangent_scale(&self) -> f64 {
        self.alpha() * self.time_step.length_s
    }

    pub(crate) fn material(&self, p: usize) -> &dyn Material {
        self.materials[self.particles[p].object as usize].as_ref()
    }

    pub(crate) fn is_quadratic(&self) -> bool {
        let quadratic = |m: &Arc<dyn Material>| m.energy_form() == EnergyForm::Quadratic;
        self.materials.iter().all(quadratic)
    }

    /// Computes the lagged quantities of the step; `predicted` returns a prediction of G at its end for a particle's index in sorted
    /// order.
    pub(crate) fn lag(
        &self,
        lagged: &mut Vec<Lagged<f64>>,
        predicted: impl Fn(&Self, usize) -> Option<Matrix3<f64>> + Sync,
    ) {
        lagged.resize(self.particles.len(), Lagged::default());
        crate::colours::for_each_block(&self.grid, lagged, |block, out| {
            let first = self.grid.cells_of(block)[0].particles.start as usize;
            for (k, out) in out.iter_mut().enumerate() {
                let p = &self.particles[first + k];
                *out = Lagged {
                    time_s: self.time_step.forces_s(),
                    velocity_gradient: p.c,
                    ..Lagged::default()
                };
                let predicted = predicted(self, first + k);
                Law::<f64>::lag(self.material(first + k), &p.strain, predicted.as_ref(), out);
            }
        });
    }

    /// G of every particle for velocities `v`.
    pub(crate) fn step_gradients(&self, v: &[f64], out: &mut Vec<Matrix3<f64>>) {
        out.resize(self.particles.len(), Matrix3::zeros());
        let alpha = self.alpha();
        self.nodes.gather(&self.grid, v, out, |p, local, out| {
            *out = gradient(&self.stencils[p], local) * alpha;
            if let Some(start) = self.start_gradients.get(p) {
                *out += start;
            }
        });
    }

    /// Copies velocities and sets the prescribed ones.
    pub(crate) fn admissible(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let each = v.iter().zip(&self.prescribed);
        out.extend(each.map(|(v, p)| if p.is_nan() { *v } else { *p }));
    }

    /// m(v), N·s, at given G; rows of prescribed velocities have the mass times the error of the velocity.
    pub(crate) fn residual(&self, v: &[f64], gradients: &[Matrix3<f64>], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.mass[i / 3] * (v[i] - self.start[i]) - self.external[i];
        }
        let dt = self.time_step.length_s;
        self.nodes.scatter::<3>(&self.grid, out, |_, cell, local| {
            for p in cell.particles.clone().map(|p| p as usize) {
                let particle = &self.particles[p];
                let law = self.material(p);
                let stress = law.stress(&particle.strain, &self.lagged[p], &gradients[p]);
                let scaled = stress * (dt * particle.volume);
                add_divergence(&self.stencils[p], &scaled, local);
            }
        });
        if self.any_prescribed {
            for (i, out) in out.iter_mut().enumerate() {
                let held = self.prescribed[i];
                if !held.is_nan() {
                    *out = self.mass[i / 3] * (v[i] - held);
                }
            }
        }
    }

    /// E(v), J; infinite outside the range of a material. The order of summation is fixed.
    pub(crate) fn energy(&self, v: &[f64], gradients: &[Matrix3<f64>]) -> f64 {
        let mut energies = vec![0.0; self.particles.len()];
        let ratio = self.time_step.length_s / self.alpha();
        crate::colours::for_each_block(&self.grid, &mut energies, |block, out| {
            let first = self.grid.cells_of(block)[0].particles.start as usize;
            for (k, out) in out.iter_mut().enumerate() {
                let p = first + k;
                let particle = &self.particles[p];
                let law = self.material(p);
                let density = law.energy(&particle.strain, &self.lagged[p], &gradients[p]);
                *out = ratio * particle.volume * density;
            }
        });
        let elastic: f64 = energies.iter().sum();
        let inertial: f64 = (0..v.len())
            .map(|i| {
                let off = v[i] - self.start[i];
                0.5 * self.mass[i / 3] * off * off - self.external[i] * v[i]
            })
            .sum();
        elastic + inertial
    }

    /// Computes ∂²ψ/∂G² of every particle.
    pub(crate) fn find_tangents(&mut self, gradients: &[Matrix3<f64>], definiteness: Definiteness) {
        let mut tangents = std::mem::take(&mut self.tangents);
        self.tangents_into(gradients, definiteness, &mut tangents);
        self.tangents = tangents;
    }

    pub(crate) fn tangents_into(
        &self,
        gradients: &[Matrix3<f64>],
        definiteness: Definiteness,
        tangents: &mut Vec<Tangent<f64>>,
    ) {
        let none = || Tangent::Isotropic {
            map: Matrix3::zeros(),
            hooke: Hooke {
                mu: 0.0,
                lambda: 0.0,
            },
        };
        tangents.resize_with(self.particles.len(), none);
        crate::colours::for_each_block(&self.grid, tangents, |block, out| {
            let first = self.grid.cells_of(block)[0].particles.start as usize;
            for (k, out) in out.iter_mut().enumerate() {
                let p = first + k;
                let strain = &self.particles[p].strain;
                let (law, lagged) = (self.material(p), &self.lagged[p]);
                *out = law.tangent(strain, lagged, &gradients[p], definiteness);
            }
        });
    }

    /// Position of a node, m.
    pub(crate) fn node_position(&self, node: usize) -> Vector3<f64> {
        Vector3::from(self.nodes.coordinates[node].map(f64::from)) * self.spacing
    }

    /// The norm of impulses √Σ x²/m over the free rows.
    pub(crate) fn impulse_norm(&self, x: &[f64]) -> f64 {
        let each = x.iter().enumerate();
        let sum: f64 = each.map(|(i, x)| x * x / self.mass[i / 3]).sum();
        sum.sqrt()
    }
}
