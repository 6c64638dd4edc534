//! Element quantities of a step: rotation, lagged rotation, stiffness, nodal forces.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{corotated_stretch, polar_rotation};

use super::elastic::Elastic;
use super::motion::Motion;
use crate::material::{Lag, Linearity, Tangent};
use crate::matrix::{BlockTable, HookeBlocks, System};
use crate::parallel;
use crate::parts::Parts;
use crate::rest::RestElement;

/// Evaluation of the stress at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elasticity {
    /// By the law.
    Exact,
    /// By stress and tangent at the start: F at the end of a fast motion may be far outside the range of the law.
    Extrapolated,
}

/// Memory of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) velocity: Vec<Vector3<f64>>,
    pub(super) field: Vec<Vector3<f64>>,
    pub(super) residual: Vec<Vector3<f64>>,
    pub(super) nodal_forces: Vec<[Vector3<f64>; 3]>,
    pub(super) values: Vec<f64>,
}

/// Arrays over elements, reused from step to step.
#[derive(Debug, Default)]
pub(super) struct ElementState {
    /// R₀; empty unless the law is corotated.
    pub(super) rotations: Vec<Matrix3<f64>>,
    /// T; empty where no element rotates.
    pub(super) targets: Vec<Matrix3<f64>>,
    /// T of the last `find_targets`.
    pub(super) new_targets: Vec<Matrix3<f64>>,
    /// Largest rotation predicted for the step, rad.
    pub(super) predicted_rotation: f64,
    /// Whether the targets differ from those of `begin`.
    pub(super) corrected: bool,
    /// Of nonlinear laws where they were evaluated last.
    elastic: Mutex<Elastic>,
    /// P and ∂P/∂F at the start, of nonlinear laws, and the projection of that without negative eigenvalues.
    stresses: Vec<Matrix3<f64>>,
    tangents: Vec<Tangent>,
    convex: Vec<Tangent>,
    /// Projected ∂P/∂F at the velocities of [`ElementState::linearise_at`]; empty if A is that of the start.
    relinearised: Vec<Tangent>,
    /// Ḟ of the rotation that each element has at the start, over the step, 1/s; empty without viscosity. Of nonlinear laws.
    rotation_rates: Vec<Matrix3<f64>>,
    /// √(cV) R∇N, for assembly.
    gradients: Vec<[Vector3<f64>; 4]>,
    blocks: Vec<[Matrix3<f64>; 10]>,
}

impl ElementState {
    /// Computes R₀ and the tangents of K at the start of a step.
    pub(super) fn begin(&mut self, motion: &Motion) {
        let parts = &*motion.parts;
        let n = parts.elements.len();
        let deformation = |e: usize| parts.deformation(&parts.elements[e], &motion.q);
        match parts.linearity {
            Linearity::Corotated => {
                self.rotations.resize(n, Matrix3::identity());
                parallel::fill(&mut self.rotations, |e| polar_rotation(&deformation(e)));
            }
            Linearity::Linear => {}
            Linearity::Nonlinear => {
                let elastic = evaluated(&self.elastic, parts, &motion.q);
                self.stresses.clone_from(&elastic.stresses);
                self.tangents.clone_from(&elastic.tangents);
                drop(elastic);
                self.convex.clone_from(&self.tangents);
                let tangents = &self.tangents;
                parallel::fill(&mut self.convex, |e| tangents[e].clone().semidefinite());
                self.predict_rotation_rates(motion);
            }
        }
        self.predict_targets(motion);
    }

    /// Damping must not resist rotation. An element that turns by T in a step has Ḟ = (T − I)F/δt along the chord; forces at the start of the step have the
    /// antisymmetric part. T is predicted from the velocities at the start.
    fn predict_rotation_rates(&mut self, motion: &Motion) {
        let parts = &*motion.parts;
        self.rotation_rates.clear();
        if parts.damping.stiffness == 0.0 {
            return;
        }
        let dt = motion.time_step.length_s;
        let along_chord = motion.time_step.forces_s() > 0.0;
        self.rotation_rates
            .resize(parts.elements.len(), Matrix3::zeros());
        parallel::fill(&mut self.rotation_rates, |e| {
            let element = &parts.elements[e];
            let F = parts.deformation(element, &motion.q);
            let moved = F + element.gradient(&motion.v) * dt;
            let turn = polar_rotation(&moved) * polar_rotation(&F).transpose();
            let change = match along_chord {
                true => turn - Matrix3::identity(),
                false => 0.5 * (turn - turn.transpose()),
            };
            change * F / dt
        });
    }

    /// Ḟ without rotation, for velocities `v` of all vertices, 1/s.
    fn strain_rate(&self, e: usize, element: &RestElement, v: &[Vector3<f64>]) -> Matrix3<f64> {
        element.gradient(v) - self.rotation_rates[e]
    }

    pub(super) fn rotation(&self, element: usize) -> Matrix3<f64> {
        match self.rotations.get(element) {
            Some(rotation) => *rotation,
            None => Matrix3::identity(),
        }
    }

    /// Evaluates the elastic tangents of A at F^θ of velocities `v` of all vertices; those of viscosity stay at the start.
    pub(super) fn linearise_at(&mut self, motion: &Motion, v: &[Vector3<f64>]) {
        let parts = &*motion.parts;
        let positions: Vec<Vector3<f64>> = (0..v.len())
            .map(|i| motion.force_position(i, &v[i]))
            .collect();
        self.relinearised.clone_from(&self.convex);
        let elastic = evaluated(&self.elastic, parts, &positions);
        let tangents = &elastic.tangents;
        parallel::fill(&mut self.relinearised, |e| {
            tangents[e].clone().semidefinite()
        });
    }

    /// Evaluates the tangents of A at the start.
    pub(super) fn forget_velocity(&mut self) {
        self.relinearised.clear();
    }

    /// Evaluation of the stress in the present A and b.
    pub(super) fn elasticity(&self) -> Elasticity {
        match self.relinearised.is_empty() {
            true => Elasticity::Extrapolated,
            false => Elasticity::Exact,
        }
    }

    /// Σ V Ψ(F) for positions `q`, J; infinite if an element of a barrier law is inverted.
    pub(super) fn elastic_energy(&self, motion: &Motion, q: &[Vector3<f64>]) -> f64 {
        self.sum(motion, |e, element| {
            let F = motion.parts.deformation(element, q);
            let part = motion.parts.materials.at(e);
            if part.has_barrier() && F.determinant() <= 0.0 {
                return f64::INFINITY;
            }
            part.material.energy_density(&F, &Lag::default()) * element.volume
        })
    }

    /// ½ẋᵀKẋ with K of the start and ẋ without rotation, for velocities `v` of all vertices, W.
    pub(super) fn viscous_power(&self, motion: &Motion, v: &[Vector3<f64>]) -> f64 {
        self.sum(motion, |e, element| {
            let rate = self.strain_rate(e, element, v);
            0.5 * rate.dot(&self.convex[e].apply(&rate)) * element.volume
        })
    }

    /// The sum over all elements, in their order.
    fn sum(&self, motion: &Motion, each: impl Fn(usize, &RestElement) -> f64 + Sync) -> f64 {
        let elements = &motion.parts.elements;
        let mut values = vec![0.0; elements.len()];
        parallel::fill(&mut values, |e| each(e, &elements[e]));
        values.iter().sum()
    }

    /// Assembles A of the step.
    pub(super) fn assemble(&mut self, motion: &Motion, system: &mut System) {
        let (parts, dofs) = (&*motion.parts, &motion.dofs);
        let factor = motion.stiffness_factor();
        let mass = motion.mass_part();
        let n = parts.elements.len();
        if parts.linearity == Linearity::Nonlinear {
            self.blocks.resize(n, [Matrix3::zeros(); 10]);
            let (convex, relinearised) = (&self.convex, &self.relinearised);
            let [elastic, viscous] = motion.stiffness_factors();
            parallel::fill(&mut self.blocks, |e| {
                let element = &parts.elements[e];
                let g = element.all_gradients();
                let mut blocks = [Matrix3::zeros(); 10];
                for a in 0..4 {
                    for b in a..4 {
                        let start = convex[e].block(&g[a], &g[b]);
                        let block = match relinearised.get(e) {
                            None => start * (factor * element.volume),
                            Some(tangent) => {
                                let elastic = elastic * element.volume;
                                tangent.block(&g[a], &g[b]) * elastic
                                    + start * (viscous * element.volume)
                            }
                        };
                        blocks[BlockTable::index(a, b)] = block;
                    }
                }
                blocks
            });
            system.assemble(&parts.links, dofs, mass, &BlockTable(&self.blocks));
            return;
        }
        self.gradients.resize(n, [Vector3::zeros(); 4]);
        let mut gradients = std::mem::take(&mut self.gradients);
        parallel::fill(&mut gradients, |e| {
            let element = &parts.elements[e];
            let scaled = self.rotation(e) * (factor * element.volume).sqrt();
            element.all_gradients().map(|g| scaled * g)
        });
        self.gradients = gradients;
        let blocks = HookeBlocks {
            lames: &parts.lames,
            gradients: &self.gradients,
        };
        system.assemble(&parts.links, dofs, mass, &blocks);
    }

    /// V(P(F^θ) + βK:Ḟ^θ)∇N of vertices 1 to 3 of every element, for velocities `v` of all vertices, N.
    pub(super) fn nodal_forces(
        &self,
        motion: &Motion,
        v: &[Vector3<f64>],
        elasticity: Elasticity,
        scratch: &mut Scratch,
    ) {
        let position = |i: usize| motion.force_position(i, &v[i]);
        let rate = |i: usize| motion.force_velocity(i, &v[i]);
        self.write_nodal_forces(motion, position, rate, elasticity, scratch);
    }

    /// The same at the start of the step.
    pub(super) fn start_nodal_forces(&self, motion: &Motion, scratch: &mut Scratch) {
        let (position, rate) = (|i: usize| motion.q[i], |i: usize| motion.v[i]);
        self.write_nodal_forces(motion, position, rate, Elasticity::Exact, scratch);
    }

    fn write_nodal_forces(
        &self,
        motion: &Motion,
        position: impl Fn(usize) -> Vector3<f64>,
        rate: impl Fn(usize) -> Vector3<f64>,
        elasticity: Elasticity,
        scratch: &mut Scratch,
    ) {
        let parts = &*motion.parts;
        let n = motion.q.len();
        let beta = parts.damping.stiffness;
        let Scratch {
            field,
            nodal_forces,
            ..
        } = scratch;
        nodal_forces.resize(parts.elements.len(), [Vector3::zeros(); 3]);
        field.clear();
        if parts.linearity == Linearity::Nonlinear {
            field.extend((0..n).map(position));
            let rates: Vec<Vector3<f64>> = (0..n).map(rate).collect();
            let field = &*field;
            let exact = match elasticity {
                Elasticity::Exact => Some(evaluated(&self.elastic, parts, field)),
                Elasticity::Extrapolated => None,
            };
            let exact = exact.as_ref().map(|elastic| &elastic.stresses);
            parallel::fill(nodal_forces, |e| {
                let element = &parts.elements[e];
                let mut stress = match exact {
                    Some(stresses) => stresses[e],
                    None => {
                        let start = parts.deformation(element, &motion.q);
                        let change = parts.deformation(element, field) - start;
                        self.stresses[e] + self.tangents[e].apply(&change)
                    }
                };
                if beta > 0.0 {
                    let rate = self.strain_rate(e, element, &rates);
                    stress += self.convex[e].apply(&rate) * beta;
                }
                element.nodal_forces(&stress)
            });
            return;
        }
        // Elastic and viscous stress are linear in one field: y = x + βẋ.
        field.extend((0..n).map(|i| position(i) + rate(i) * beta));
        let field = &*field;
        let viscous_target = self.viscous_target(motion);
        parallel::fill(nodal_forces, |e| {
            let element = &parts.elements[e];
            let rotation = self.rotation(e);
            let mut strain = corotated_stretch(&rotation, &parts.deformation(element, field));
            for k in 0..3 {
                strain[(k, k)] -= 1.0;
            }
            if let Some(target) = self.targets.get(e) {
                // T + (β/δt)(T − I) in place of I.
                let rotation_strain = target - Matrix3::identity();
                strain -= rotation_strain * (1.0 + viscous_target);
            }
            element.nodal_forces(&(rotation * parts.lames.at(e).hooke().stress(&strain)))
        });
    }

    /// β/δt. Damping must not resist rotation, whose chord has the strain rate (T − I)/δt.
    fn viscous_target(&self, motion: &Motion) -> f64 {
        motion.parts.damping.stiffness / motion.time_step.length_s
    }

    /// ∂P/∂F of each element where its forces are evaluated at the velocities `v` of all vertices.
    pub(super) fn tangents_at(&self, motion: &Motion, v: &[Vector3<f64>]) -> Vec<Tangent> {
        let parts = &*motion.parts;
        let ends = |i: usize| motion.force_position(i, &v[i]);
        let positions: Vec<Vector3<f64>> = (0..v.len()).map(ends).collect();
        if parts.linearity == Linearity::Nonlinear {
            return evaluated(&self.elastic, parts, &positions).tangents.clone();
        }
        let tangents = (0..parts.elements.len()).map(|e| Tangent::Hooke {
            rotation: self.rotation(e),
            lame: *parts.lames.at(e),
        });
        tangents.collect()
    }

    /// y += θδt(θ_vq δt ∂P/∂F + βK) x, all vertices, with the tangents of [`ElementState::tangents_at`].
    pub(super) fn add_tangent_product(
        &self,
        motion: &Motion,
        tangents: &[Tangent],
        x: &[Vector3<f64>],
        y: &mut [Vector3<f64>],
    ) {
        let parts = &*motion.parts;
        let beta = parts.damping.stiffness;
        let (forces_s, positions_s) = (motion.time_step.forces_s(), motion.time_step.positions_s());
        for (e, (element, tangent)) in parts.elements.iter().zip(tangents).enumerate() {
            let dF = element.gradient(x);
            let elastic = tangent.apply(&dF);
            let stress = if parts.linearity == Linearity::Nonlinear {
                let viscous = self.convex[e].apply(&dF);
                (elastic * positions_s + viscous * beta) * forces_s
            } else {
                elastic * motion.stiffness_factor()
            };
            add_nodal_forces(element, &stress, y);
        }
    }
}

/// The laws evaluated at positions of all vertices.
fn evaluated<'a>(
    elastic: &'a Mutex<Elastic>,
    parts: &Parts,
    positions: &[Vector3<f64>],
) -> MutexGuard<'a, Elastic> {
    // What a thread that panicked has left belongs to no positions.
    let mut elastic = elastic.lock().unwrap_or_else(PoisonError::into_inner);
    elastic.evaluate(parts, positions);
    elastic
}

/// Adds V P ∇N to the four vertices of an element.
fn add_nodal_forces(element: &RestElement, stress: &Matrix3<f64>, y: &mut [Vector3<f64>]) {
    let [a, b, c] = element.nodal_forces(stress);
    for (vertex, force) in element.vertices.iter().zip([-(a + b + c), a, b, c]) {
        y[*vertex as usize] += force;
    }
}
