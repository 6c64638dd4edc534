//! The momentum balance of one implicit step, on the nodes that have mass.
//!
//! With G = αδ∇v + β∇v0 at every particle (α = θ θ_vq δt, β = θ (1 − θ_vq) δt; backward Euler: α = δt, β = 0)
//!
//! ```text
//! m(v) = M (v − v0) − δt f + δt Σ_p V_p (∂ψ/∂G)(G_p(v)) ∇w          its zero is the free motion v*
//! A    = M + α δt Σ_p V_p ∇wᵀ (∂²ψ/∂G²) ∇w                          A v* = b
//! ```
//!
//! Cloth adds terms of its own to m and A, see [`cloth_term`].
//!
//! For α > 0, m is the gradient of E(v) = ½|v − v0|²_M − δt fᵀv + (δt/α) Σ_p V_p ψ(G_p(v)) (Zong, Jiang, Han 2024, eqs. 11-16;
//! the other members of the θ-family by the same derivation). Prescribed velocities keep their rows: A is the mass there, and b the mass
//! times the prescribed velocity.

mod assembly;
mod at_nodes;
mod bending_term;
mod cell_stiffness;
mod cloth_term;
mod motion;
mod operator;
#[cfg(test)]
mod tests;
mod vertex_stiffness;

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Hooke;
use pliant_contact_sap::TimeStep;

use crate::cloth::ClothObject;
use crate::material::{Definiteness, EnergyForm, Lagged, Law, Material, Tangent};
use crate::mirrors::Mirrors;
use crate::model::Parts;
use crate::nodes::{Nodes, add_divergence, gradient};
use crate::particle::Particle;
use crate::sparse_grid::SparseGrid;
use crate::spline::{GradientForm, Stencil, corner};
use crate::transfer::{NodeField, Transfer, packing_of, sort_particles};

pub(crate) use assembly::BlockMatrix;
pub(crate) use bending_term::Blocks;
pub(crate) use cloth_term::{ClothTangent, ClothTerm};
pub(crate) use motion::StepMotion;

use motion::ClothPoint;

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
    pub(crate) tangents: Tangents,
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
    /// Velocities before the step, and volumes, by storage; only where the model looks back.
    pub(crate) before: NodeField<f64>,
    mirrors: Mirrors,
    /// (S − I) m' of the image of a node, which gravity must add to its impulse.
    reflected_mass: Vec<(usize, [f64; 3])>,
    /// β∇v0, where β is not zero.
    start_gradients: Vec<Matrix3<f64>>,
    /// Each cloth, with the number of its object.
    pub(crate) cloths: Vec<(u32, ClothTerm)>,
    /// What each particle is to a cloth; empty without cloth.
    cloth_points: Vec<ClothPoint>,
    /// Whether some particle belongs to no cloth.
    has_solids: bool,
    /// Changes of positions and normals that do not depend on the end velocities: those of held vertices, and β times the rates of the start.
    start_changes: Vec<Vector3<f64>>,
}

/// Second derivatives of the energies of particles and cloths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tangents {
    /// ∂²ψ/∂G² of each particle.
    pub(crate) particles: Vec<Tangent<f64>>,
    pub(crate) cloths: Vec<ClothTangent>,
}

impl GridSystem {
    /// `cloths` are those of the objects, by number.
    pub(crate) fn new(
        spacing: f64,
        form: GradientForm,
        materials: Vec<Arc<dyn Material>>,
        cloths: impl Iterator<Item = (u32, Arc<ClothObject>)>,
    ) -> Self {
        Self {
            spacing,
            form,
            materials,
            cloths: cloths
                .map(|(k, cloth)| (k, ClothTerm::new(cloth)))
                .collect(),
            ..Self::default()
        }
    }

    /// Builds the grid of `particles` and transfers mass and momentum to it, without prescribed velocities and external impulses.
    pub(crate) fn open(
        &mut self,
        particles: &[Particle<f64>],
        time_step: TimeStep,
        parts: &Parts,
    ) -> Result<(), crate::MpmError> {
        self.time_step = time_step;
        self.grid
            .build(self.spacing, particles.iter().map(|p| p.x))?;
        sort_particles(&self.grid, particles, &mut self.particles);
        let transfer = Transfer::new(self.spacing, self.form);
        let rest =
            |_: &[Particle<f64>], impulses: &mut [Matrix3<f64>]| impulses.fill(Matrix3::zeros());
        transfer.particles_to_grid(&self.grid, &self.particles, rest, &mut self.field);
        self.mirrors.find(&parts.mirrors, &self.grid);
        if parts.looks_back() {
            transfer.particles_to_grid_before(&self.grid, &self.particles, &mut self.before);
            self.before.divide_by_mass_of(&self.field);
            self.mirrors.complete_volumes(&mut self.before);
        }
        let masses = self.mirrors.masses(&self.field);
        self.mirrors.fold(&mut self.field, &Vector3::zeros(), 0.0);
        self.mirrors.remove(&mut self.field);
        self.nodes
            .number(&self.grid, &self.field, &mut self.mass, &mut self.start);
        let roots = self.nodes.reflect(&self.grid, &self.mirrors);
        self.reflected_mass.clear();
        self.reflected_mass
            .extend(masses.iter().filter_map(|(image, mass)| {
                let (root, signs) = roots[*image as usize];
                let node = self.nodes.numbered(root)?;
                Some((node, signs.map(|sign| (sign - 1.0) * mass)))
            }));
        self.external.clear();
        self.external.resize(self.start.len(), 0.0);
        self.prescribed.clear();
        self.prescribed.resize(self.start.len(), f64::NAN);
        self.any_prescribed = false;
        self.find_stencils();
        self.open_cloths();
        let mut lagged = std::mem::take(&mut self.lagged);
        self.lag(&mut lagged, |_, _| None);
        self.lagged = lagged;
        Ok(())
    }

    /// Adds to the impulses of gravity on all nodes, m g per `time_s`, what images contribute.
    pub(crate) fn reflect_gravity(&mut self, gravity: &Vector3<f64>, time_s: f64) {
        for (node, mass) in &self.reflected_mass {
            for k in 0..3 {
                self.external[3 * node + k] += time_s * mass[k] * gravity[k];
            }
        }
    }

    /// Whether nodes are reflected; A is then not assembled.
    pub(crate) fn has_images(&self) -> bool {
        !self.mirrors.is_empty()
    }

    /// Applies prescribed velocities to the start of the step; called after the last one is set.
    pub(crate) fn settle(&mut self) {
        for (start, held) in self.start.iter_mut().zip(&self.prescribed) {
            if !held.is_nan() {
                *start = *held;
            }
        }
        self.find_start_gradients();
        let mut cloths = std::mem::take(&mut self.cloths);
        for (_, cloth) in &mut cloths {
            cloth.settle(self);
        }
        self.cloths = cloths;
    }

    fn open_cloths(&mut self) {
        self.cloth_points.clear();
        self.has_solids = true;
        if self.cloths.is_empty() {
            return;
        }
        let n = self.particles.len();
        self.cloth_points.resize(n, ClothPoint::Other);
        let time_s = self.time_step.forces_s();
        for (object, cloth) in &mut self.cloths {
            cloth.open((&self.particles, *object), time_s, &mut self.cloth_points);
        }
        let is_other = |point: &ClothPoint| matches!(point, ClothPoint::Other);
        self.has_solids = self.cloth_points.iter().any(is_other);
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
        self.find_start_changes(beta);
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

    /// Copies velocities and sets the prescribed ones.
    pub(crate) fn admissible(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let each = v.iter().zip(&self.prescribed);
        out.extend(each.map(|(v, p)| if p.is_nan() { *v } else { *p }));
    }

    /// m(v), N·s, at the motion of `v`; rows of prescribed velocities have the mass times the error of the velocity.
    pub(crate) fn residual(&self, v: &[f64], motion: &StepMotion, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.mass[i / 3] * (v[i] - self.start[i]) - self.external[i];
        }
        let dt = self.time_step.length_s;
        self.nodes.scatter::<3>(&self.grid, out, |_, cell, local| {
            for p in cell.particles.clone().map(|p| p as usize) {
                let particle = &self.particles[p];
                let law = self.material(p);
                let stress = law.stress(&particle.strain, &self.lagged[p], &motion.gradients[p]);
                let scaled = stress * (dt * particle.volume);
                add_divergence(&self.stencils[p], &scaled, local);
            }
        });
        self.add_cloth_impulses(motion, out);
        if self.any_prescribed {
            for (i, out) in out.iter_mut().enumerate() {
                let held = self.prescribed[i];
                if !held.is_nan() {
                    *out = self.mass[i / 3] * (v[i] - held);
                }
            }
        }
    }

    /// Adds δt ∂E/∂v of the cloths, E their energy, to `out`.
    pub(crate) fn add_cloth_impulses(&self, motion: &StepMotion, out: &mut [f64]) {
        if self.cloths.is_empty() {
            return;
        }
        let mut forces = vec![Vector3::zeros(); self.particles.len()];
        for (_, cloth) in &self.cloths {
            cloth.gradient(&motion.cloth, &mut forces);
        }
        self.scatter_cloth(&forces, self.time_step.length_s, out);
    }

    /// E(v), J; infinite outside the range of a material. The order of summation is fixed.
    pub(crate) fn energy(&self, v: &[f64], motion: &StepMotion) -> f64 {
        let mut energies = vec![0.0; self.particles.len()];
        let ratio = self.time_step.length_s / self.alpha();
        crate::colours::for_each_block(&self.grid, &mut energies, |block, out| {
            let first = self.grid.cells_of(block)[0].particles.start as usize;
            for (k, out) in out.iter_mut().enumerate() {
                let p = first + k;
                let particle = &self.particles[p];
                let law = self.material(p);
                let density = law.energy(&particle.strain, &self.lagged[p], &motion.gradients[p]);
                *out = ratio * particle.volume * density;
            }
        });
        let of_cloths = self
            .cloths
            .iter()
            .map(|(_, cloth)| cloth.energy(&motion.cloth));
        let elastic: f64 = energies.iter().sum::<f64>() + ratio * of_cloths.sum::<f64>();
        let inertial: f64 = (0..v.len())
            .map(|i| {
                let off = v[i] - self.start[i];
                0.5 * self.mass[i / 3] * off * off - self.external[i] * v[i]
            })
            .sum();
        elastic + inertial
    }

    /// Computes the second derivatives of all energies.
    pub(crate) fn find_tangents(&mut self, motion: &StepMotion, definiteness: Definiteness) {
        let mut tangents = std::mem::take(&mut self.tangents);
        self.tangents_into(motion, definiteness, &mut tangents);
        self.tangents = tangents;
    }

    pub(crate) fn tangents_into(
        &self,
        motion: &StepMotion,
        definiteness: Definiteness,
        tangents: &mut Tangents,
    ) {
        let none = || Tangent::Isotropic {
            map: Matrix3::zeros(),
            hooke: Hooke {
                mu: 0.0,
                lambda: 0.0,
            },
        };
        let of_particles = &mut tangents.particles;
        of_particles.resize_with(self.particles.len(), none);
        crate::colours::for_each_block(&self.grid, of_particles, |block, out| {
            let first = self.grid.cells_of(block)[0].particles.start as usize;
            for (k, out) in out.iter_mut().enumerate() {
                let p = first + k;
                let strain = &self.particles[p].strain;
                let (law, lagged) = (self.material(p), &self.lagged[p]);
                *out = law.tangent(strain, lagged, &motion.gradients[p], definiteness);
            }
        });
        let of_cloths = &mut tangents.cloths;
        of_cloths.resize_with(self.cloths.len(), ClothTangent::default);
        for ((_, cloth), out) in self.cloths.iter().zip(of_cloths) {
            cloth.tangent(self, &motion.cloth, definiteness, out);
        }
    }

    /// ρc² of the fastest wave at rest in the material of particle `p`, Pa.
    pub(crate) fn wave_modulus(&self, p: usize) -> f64 {
        let object = self.particles[p].object;
        match self.cloths.iter().find(|(k, _)| *k == object) {
            Some((_, cloth)) => cloth.object().material.wave_modulus(),
            None => self.material(p).wave_modulus(),
        }
    }

    /// Whether particle `p` belongs to a cloth.
    pub(crate) fn is_cloth(&self, p: usize) -> bool {
        !matches!(self.cloth_points.get(p), None | Some(ClothPoint::Other))
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

/// What a particle finds on the grid before a step.
pub(crate) struct Around {
    pub(crate) velocity: Vector3<f64>,
    pub(crate) affine: Matrix3<f64>,
    /// Volume at rest of particles per volume that they fill.
    pub(crate) packing: f64,
}

impl GridSystem {
    /// The field before the step around particle `p`, in sorted order.
    pub(crate) fn before_at(&self, p: usize) -> Around {
        let cell = &self.grid.cells[self.cell_of[p] as usize];
        let stencil = &self.stencils[p];
        let (mut velocity, mut affine) = (Vector3::zeros(), Matrix3::zeros());
        let (mut volume, mut arm) = (0.0, Vector3::zeros());
        for n in (0..27).map(corner) {
            let node = [0, 1, 2].map(|k| cell.base[k] + n[k] as i32);
            let Some((block, slot)) = self.grid.find_node(node) else {
                continue;
            };
            let [x, y, z, v] = self.before.node(block, slot);
            let (w, r) = (stencil.weight(n), stencil.arm(n, self.spacing));
            let share = Vector3::new(x, y, z) * w;
            velocity += share;
            affine += share * r.transpose();
            volume += w * v;
            arm += r * (w * v);
        }
        let h = self.spacing;
        Around {
            velocity,
            affine: affine * (4.0 / (h * h)),
            packing: packing_of(volume / h.powi(3), arm.norm() / (h * volume)),
        }
    }
}
