//! Quantities of the domains of integration in a step: rotation, lagged rotation, stiffness, stress.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{corotated_stretch, polar_rotation};

use super::elastic::Elastic;
use super::motion::Motion;
use crate::domains::{Domain, Domains};
use crate::material::{Lag, Linearity, Tangent};
use crate::matrix::{BlockTable, HookeBlocks, System};
use crate::parallel;
use crate::parts::Parts;

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
    /// V P of each domain, J.
    pub(super) stresses: Vec<Matrix3<f64>>,
    pub(super) values: Vec<f64>,
}

/// Arrays over domains, reused from step to step.
#[derive(Debug, Default)]
pub(super) struct ElementState {
    /// R₀ at [`Motion::rotation_positions`]; empty unless the law is corotated.
    pub(super) rotations: Vec<Matrix3<f64>>,
    /// T; empty where no domain rotates.
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
    /// √(cV) R∇N of each entry, for assembly.
    gradients: Vec<Vector3<f64>>,
    blocks: BlockTable,
}

impl ElementState {
    /// Computes R₀ and the tangents of K at the start of a step.
    pub(super) fn begin(&mut self, motion: &Motion) {
        let parts = &*motion.parts;
        let n = parts.domains.len();
        match parts.linearity {
            Linearity::Corotated => {
                self.rotations.resize(n, Matrix3::identity());
                let positions = motion.rotation_positions();
                parallel::fill(&mut self.rotations, |d| {
                    polar_rotation(&parts.deformation(d, &positions))
                });
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
            .resize(parts.domains.len(), Matrix3::zeros());
        parallel::fill(&mut self.rotation_rates, |d| {
            let F = parts.deformation(d, &motion.q);
            let moved = F + parts.domains.at(d).gradient(&motion.v) * dt;
            let turn = polar_rotation(&moved) * polar_rotation(&F).transpose();
            let change = match along_chord {
                true => turn - Matrix3::identity(),
                false => 0.5 * (turn - turn.transpose()),
            };
            change * F / dt
        });
    }

    /// Ḟ without rotation, for velocities `v` of all vertices, 1/s.
    fn strain_rate(&self, motion: &Motion, d: usize, v: &[Vector3<f64>]) -> Matrix3<f64> {
        motion.parts.domains.at(d).gradient(v) - self.rotation_rates[d]
    }

    pub(super) fn rotation(&self, domain: usize) -> Matrix3<f64> {
        match self.rotations.get(domain) {
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

    /// Σ V Ψ(F) for positions `q`, J; infinite if a domain of a barrier law is inverted.
    pub(super) fn elastic_energy(&self, motion: &Motion, q: &[Vector3<f64>]) -> f64 {
        sum(motion, |d| {
            let F = motion.parts.deformation(d, q);
            motion.parts.laws.at(d).energy_density(&F, &Lag::default())
        })
    }

    /// ½ẋᵀKẋ with K of the start and ẋ without rotation, for velocities `v` of all vertices, W.
    pub(super) fn viscous_power(&self, motion: &Motion, v: &[Vector3<f64>]) -> f64 {
        sum(motion, |d| {
            let rate = self.strain_rate(motion, d, v);
            0.5 * rate.dot(&self.convex[d].apply(&rate))
        })
    }

    /// Assembles A of the step.
    pub(super) fn assemble(&mut self, motion: &Motion, system: &mut System) {
        let (parts, dofs) = (&*motion.parts, &motion.dofs);
        let factor = motion.stiffness_factor();
        let mass = motion.mass_part();
        let domains = &parts.domains;
        if parts.linearity == Linearity::Nonlinear {
            let (convex, relinearised) = (&self.convex, &self.relinearised);
            let [elastic, viscous] = motion.stiffness_factors();
            self.blocks.lay_out(domains);
            let mut blocks = self.blocks.blocks_mut();
            parallel::update(&mut blocks, |group, out| {
                out.fill(Matrix3::zeros());
                for d in domains.group(group) {
                    let Domain {
                        gradients: g,
                        volume,
                        ..
                    } = domains.at(d);
                    for b in 0..g.len() {
                        for a in 0..=b {
                            let start = convex[d].block(&g[a], &g[b]);
                            out[BlockTable::index(a, b)] += match relinearised.get(d) {
                                None => start * (factor * volume),
                                Some(tangent) => {
                                    tangent.block(&g[a], &g[b]) * (elastic * volume)
                                        + start * (viscous * volume)
                                }
                            };
                        }
                    }
                }
            });
            drop(blocks);
            system.assemble(domains, &parts.links, dofs, mass, &self.blocks);
            return;
        }
        let mut gradients = std::mem::take(&mut self.gradients);
        scale_gradients(domains, &mut gradients, |d| {
            self.rotation(d) * (factor * domains.at(d).volume).sqrt()
        });
        self.gradients = gradients;
        let blocks = HookeBlocks {
            domains,
            laws: &parts.laws,
            gradients: &self.gradients,
        };
        system.assemble(domains, &parts.links, dofs, mass, &blocks);
    }

    /// V(P(F^θ) + βK:Ḟ^θ) of every domain, for velocities `v` of all vertices, J.
    pub(super) fn write_stresses(
        &self,
        motion: &Motion,
        v: &[Vector3<f64>],
        elasticity: Elasticity,
        scratch: &mut Scratch,
    ) {
        let position = |i: usize| motion.force_position(i, &v[i]);
        let rate = |i: usize| motion.force_velocity(i, &v[i]);
        self.stresses_at(motion, position, rate, elasticity, scratch);
    }

    /// The same at the start of the step.
    pub(super) fn write_start_stresses(&self, motion: &Motion, scratch: &mut Scratch) {
        let (position, rate) = (|i: usize| motion.q[i], |i: usize| motion.v[i]);
        self.stresses_at(motion, position, rate, Elasticity::Exact, scratch);
    }

    fn stresses_at(
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
            field, stresses, ..
        } = scratch;
        stresses.resize(parts.domains.len(), Matrix3::zeros());
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
            parallel::fill(stresses, |d| {
                let mut stress = match exact {
                    Some(stresses) => stresses[d],
                    None => {
                        let start = parts.deformation(d, &motion.q);
                        let change = parts.deformation(d, field) - start;
                        self.stresses[d] + self.tangents[d].apply(&change)
                    }
                };
                if beta > 0.0 {
                    let rate = self.strain_rate(motion, d, &rates);
                    stress += self.convex[d].apply(&rate) * beta;
                }
                stress * parts.domains.at(d).volume
            });
            return;
        }
        // Elastic and viscous stress are linear in one field: y = x + βẋ.
        field.extend((0..n).map(|i| position(i) + rate(i) * beta));
        let field = &*field;
        let viscous_target = self.viscous_target(motion);
        parallel::fill(stresses, |d| {
            let rotation = self.rotation(d);
            let mut strain = corotated_stretch(&rotation, &parts.deformation(d, field));
            for k in 0..3 {
                strain[(k, k)] -= 1.0;
            }
            if let Some(target) = self.targets.get(d) {
                // T + (β/δt)(T − I) in place of I.
                let rotation_strain = target - Matrix3::identity();
                strain -= rotation_strain * (1.0 + viscous_target);
            }
            rotation * parts.laws.at(d).hooke.stress(&strain) * parts.domains.at(d).volume
        });
    }

    /// β/δt. Damping must not resist rotation, whose chord has the strain rate (T − I)/δt.
    fn viscous_target(&self, motion: &Motion) -> f64 {
        motion.parts.damping.stiffness / motion.time_step.length_s
    }

    /// ∂P/∂F of each domain where its forces are evaluated at the velocities `v` of all vertices.
    pub(super) fn tangents_at(&self, motion: &Motion, v: &[Vector3<f64>]) -> Vec<Tangent> {
        let parts = &*motion.parts;
        let ends = |i: usize| motion.force_position(i, &v[i]);
        let positions: Vec<Vector3<f64>> = (0..v.len()).map(ends).collect();
        if parts.linearity == Linearity::Nonlinear {
            return evaluated(&self.elastic, parts, &positions).tangents.clone();
        }
        (0..parts.domains.len())
            .map(|d| parts.laws.at(d).linear_tangent(self.rotation(d)))
            .collect()
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
        for (d, tangent) in tangents.iter().enumerate() {
            let domain = parts.domains.at(d);
            let dF = domain.gradient(x);
            let elastic = tangent.apply(&dF);
            let stress = if parts.linearity == Linearity::Nonlinear {
                let viscous = self.convex[d].apply(&dF);
                (elastic * positions_s + viscous * beta) * forces_s
            } else {
                elastic * motion.stiffness_factor()
            };
            let stress = stress * domain.volume;
            for (vertex, g) in domain.vertices.iter().zip(domain.gradients) {
                y[*vertex as usize] += stress * g;
            }
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

/// Σ V f over all domains, in their order.
fn sum(motion: &Motion, density: impl Fn(usize) -> f64 + Sync) -> f64 {
    let domains = &motion.parts.domains;
    let mut values = vec![0.0; domains.len()];
    parallel::fill(&mut values, |d| density(d) * domains.at(d).volume);
    values.iter().sum()
}

/// Writes S∇N of each entry, with `scaling` the S of a domain.
pub(super) fn scale_gradients(
    domains: &Domains,
    out: &mut Vec<Vector3<f64>>,
    scaling: impl Fn(usize) -> Matrix3<f64> + Sync,
) {
    out.resize(domains.n_entries(), Vector3::zeros());
    let mut rest = out.as_mut_slice();
    let mut of_domain = Vec::with_capacity(domains.len());
    for domain in 0..domains.len() {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(domains.entries(domain).len());
        rest = others;
        of_domain.push(own);
    }
    parallel::update(&mut of_domain, |d, out| {
        let scaling = scaling(d);
        for (out, g) in out.iter_mut().zip(domains.at(d).gradients) {
            *out = scaling * g;
        }
    });
}
