//! One step of a blob: particles to grid, the linear momentum balance there, grid to particles.

use nalgebra::{Matrix3, Point3, Vector3};

use super::stencil::{Cell, Stencil, corner};
use super::{HISTORY, ParticleBlob, history, vector};
use crate::body::{
    BalanceTangent, BasisIdx, BodyReport, BodyState, BodyStep, DeformableModel, ExplicitStep,
    MaterialPoint, MomentumBalance, Primitive, StepInput, Surface, SurfaceMotion,
};
use crate::conformance::vertex_dynamics::VertexDynamics;
use crate::dynamics::Dynamics;
use crate::error::BodyError;
use crate::rows::{Interpolation, Rows};
use crate::time_step::{Integration, TimeStep};

/// A step of a blob.
#[derive(Debug)]
pub(super) struct BlobStep {
    blob: ParticleBlob,
    time_step: TimeStep,
    state: BodyState,
    /// Least nodes of the occupied stencils, ascending: the bases.
    cells: Vec<Cell>,
    /// Which of them each particle is in.
    cell_of: Vec<u32>,
    /// Node of the solve for each of the 27 of each cell; `None` where no particle's weight reaches.
    nodes: Vec<[Option<usize>; 27]>,
    mass: Vec<f64>,
    start: Vec<f64>,
    /// δt times gravity and loads on each node, N·s.
    external: Vec<f64>,
    dynamics: VertexDynamics,
}

impl BlobStep {
    pub(super) fn new(blob: ParticleBlob) -> Self {
        Self {
            blob,
            time_step: TimeStep::default(),
            state: BodyState::default(),
            cells: Vec::new(),
            cell_of: Vec::new(),
            nodes: Vec::new(),
            mass: Vec::new(),
            start: Vec::new(),
            external: Vec::new(),
            dynamics: VertexDynamics::default(),
        }
    }

    fn stencil(&self, p: usize) -> Stencil {
        Stencil::about(&vector(&self.state.q, p), self.blob.settings.cell)
    }

    /// The particle that a material point is.
    fn particle(&self, p: &MaterialPoint) -> Result<usize, BodyError> {
        let n = self.blob.n_particles();
        match p.primitive {
            Primitive::Vertex(p) if (p as usize) < n => Ok(p as usize),
            point => Err(BodyError::NoSuchPoint {
                point,
                available: format!("{n} vertices"),
            }),
        }
    }

    /// Calls `each` with every node of the solve that particle `p` reaches: its number, and that among the 27.
    fn for_each_node(&self, p: usize, mut each: impl FnMut(usize, usize)) {
        for (k, node) in self.nodes[self.cell_of[p] as usize].iter().enumerate() {
            if let Some(node) = *node {
                each(node, k);
            }
        }
    }

    fn check(&self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let n = self.blob.n_particles();
        state.check(3 * n, 3 * n, HISTORY * n)?;
        let far = 0.5 * f64::from(i32::MAX) * self.blob.settings.cell;
        if let Some(i) = state.q.iter().position(|q| q.abs() > far) {
            return Err(BodyError::Model(format!(
                "particle {} is {:e} m away, off the grid",
                i / 3,
                state.q[i]
            )));
        }
        let control = input.control;
        let targets = [&control.position, &control.velocity, &control.effort];
        if targets.iter().any(|x| !x.is_empty()) || control.held.iter().any(Option::is_some) {
            return Err(BodyError::Unsupported {
                what: "actuators and held velocities",
            });
        }
        Ok(())
    }

    /// Finds the occupied cells and numbers the nodes that have mass.
    fn lay_out_grid(&mut self) {
        let n = self.blob.n_particles();
        let bases: Vec<Cell> = (0..n).map(|p| self.stencil(p).base).collect();
        self.cells.clone_from(&bases);
        self.cells.sort_unstable();
        self.cells.dedup();
        let find =
            |cells: &[Cell], c: &Cell| cells.binary_search(c).expect("every cell was listed");
        self.cell_of = bases
            .iter()
            .map(|base| find(&self.cells, base) as u32)
            .collect();

        let around = |base: &Cell, k: usize| {
            let c = corner(k).map(|c| c as i32);
            [base[0] + c[0], base[1] + c[1], base[2] + c[2]]
        };
        let all = self
            .cells
            .iter()
            .flat_map(|base| (0..27).map(|k| around(base, k)));
        let mut keys: Vec<Cell> = all.collect();
        keys.sort_unstable();
        keys.dedup();
        let mut mass = vec![0.0; keys.len()];
        for p in 0..n {
            let stencil = self.stencil(p);
            for k in 0..27 {
                mass[find(&keys, &around(&stencil.base, k))] +=
                    stencil.weight(k) * self.blob.particle_mass();
            }
        }
        // A weight of exactly zero leaves a node without mass, and out.
        let mut number = vec![None; keys.len()];
        self.mass.clear();
        for (number, mass) in number.iter_mut().zip(&mass) {
            if *mass > 0.0 {
                *number = Some(self.mass.len());
                self.mass.push(*mass);
            }
        }
        let nodes = self
            .cells
            .iter()
            .map(|base| std::array::from_fn(|k| number[find(&keys, &around(base, k))]));
        self.nodes = nodes.collect();
    }

    fn lay_out_matrix(&mut self) {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); self.mass.len()];
        for nodes in &self.nodes {
            for a in nodes.iter().flatten() {
                neighbours[*a].extend(nodes.iter().flatten());
            }
        }
        self.dynamics.lay_out(neighbours);
    }

    /// θδt·θ_vq δt V₀κ.
    fn stiffness_scale(&self) -> f64 {
        let step = &self.time_step;
        let seconds_squared = step.forces_s() * step.positions_s();
        seconds_squared * self.blob.volume() * self.blob.settings.bulk_modulus
    }

    /// θ_vq v + (1 − θ_vq) v0 of a node.
    fn mean_velocity(&self, v: &[f64], node: usize) -> Vector3<f64> {
        let step = &self.time_step;
        vector(&self.start, node).zip_map(&vector(v, node), |v0, v| step.mean_velocity(v0, v))
    }

    /// ∇·v at particle `p`, for velocities of the nodes.
    fn divergence(&self, p: usize, v: &[f64]) -> f64 {
        let stencil = self.stencil(p);
        let mut divergence = 0.0;
        self.for_each_node(p, |node, k| {
            divergence += stencil.gradient(k).dot(&vector(v, node));
        });
        divergence
    }

    /// δt Σ V₀κ(J − 1)J₀ ∇w, what the pressure takes from the momentum of each node over a step, N·s; J is the ratio that
    /// the nodes come to by their start velocity alone, J₀ except in a midpoint step.
    fn pressure_impulse(&self) -> Vec<f64> {
        let mut impulse = vec![0.0; self.start.len()];
        let step = &self.time_step;
        let scale = step.length_s * self.blob.volume() * self.blob.settings.bulk_modulus;
        for p in 0..self.blob.n_particles() {
            let (stencil, (_, start)) = (self.stencil(p), history(&self.state.history, p));
            let grown = match step.integration {
                Integration::Midpoint => {
                    let coasted = step.coasted(0.0, self.divergence(p, &self.start));
                    step.integration.theta() * coasted
                }
                Integration::BackwardEuler | Integration::Symplectic => 0.0,
            };
            let ratio = start * (1.0 + grown);
            self.for_each_node(p, |node, k| {
                add(
                    &mut impulse,
                    node,
                    &(stencil.gradient(k) * (scale * (ratio - 1.0) * start)),
                );
            });
        }
        impulse
    }
}

fn add(values: &mut [f64], node: usize, x: &Vector3<f64>) {
    for (value, x) in values[3 * node..].iter_mut().zip(x.iter()) {
        *value += x;
    }
}

impl BodyStep for BlobStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.check(state, input)?;
        self.time_step = input.time_step;
        self.state.clone_from(state);
        self.lay_out_grid();
        let (dt, m) = (self.time_step.length_s, self.blob.particle_mass());
        let mut momentum = vec![0.0; 3 * self.mass.len()];
        for p in 0..self.blob.n_particles() {
            let stencil = self.stencil(p);
            let (v, (affine, _)) = (vector(&state.v, p), history(&state.history, p));
            self.for_each_node(p, |node, k| {
                let there = v + affine * stencil.arm(k);
                add(&mut momentum, node, &(there * (stencil.weight(k) * m)));
            });
        }
        self.external = vec![0.0; momentum.len()];
        self.start = momentum;
        for (node, m) in self.mass.iter().enumerate() {
            self.start[3 * node..3 * node + 3]
                .iter_mut()
                .for_each(|p| *p /= m);
            add(&mut self.external, node, &(input.gravity * (dt * m)));
        }
        let mut external = std::mem::take(&mut self.external);
        for load in &input.control.loads {
            let p = self.particle(&load.point)?;
            let stencil = self.stencil(p);
            self.for_each_node(p, |node, k| {
                add(
                    &mut external,
                    node,
                    &(load.force_W * (dt * stencil.weight(k))),
                );
            });
        }
        self.external = external;
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self, _: &[f64]) -> Result<(), BodyError> {
        self.lay_out_matrix();
        let pressure = self.pressure_impulse();
        self.dynamics.clear();
        let b = self.dynamics.right_hand_side_mut();
        for (i, b) in b.iter_mut().enumerate() {
            *b = self.mass[i / 3] * self.start[i] + self.external[i] - pressure[i];
        }
        for (node, mass) in self.mass.iter().enumerate() {
            self.dynamics
                .add_block(node, node, &(Matrix3::identity() * *mass));
        }
        let scale = self.stiffness_scale();
        for p in 0..self.blob.n_particles() {
            let stencil = self.stencil(p);
            let (_, ratio) = history(&self.state.history, p);
            let nodes = &self.nodes[self.cell_of[p] as usize];
            for (k, row) in nodes.iter().enumerate() {
                let Some(row) = *row else { continue };
                let push = stencil.gradient(k) * (scale * ratio * ratio);
                for (l, column) in nodes.iter().enumerate() {
                    if let Some(column) = *column {
                        let block = push * stencil.gradient(l).transpose();
                        self.dynamics.add_block(row, column, &block);
                    }
                }
            }
        }
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let particle = self.particle(p)?;
        let stencil = self.stencil(particle);
        out.set_weights((0..27).map(|k| stencil.weight(k)));
        Ok(BasisIdx(self.cell_of[particle]))
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(81);
        for (k, node) in self.nodes[basis.0 as usize].iter().enumerate() {
            if let Some(node) = *node {
                out.identity(3 * k, 3 * node, 3);
            }
        }
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let cell = self.blob.settings.cell;
        next.q.clear();
        next.v.clear();
        next.history.clear();
        for p in 0..self.blob.n_particles() {
            let stencil = self.stencil(p);
            let (mut velocity, mut affine) = (Vector3::zeros(), Matrix3::zeros());
            let mut divergence = 0.0;
            let mut mean = Vector3::zeros();
            self.for_each_node(p, |node, k| {
                let weighted = vector(v, node) * stencil.weight(k);
                velocity += weighted;
                affine += weighted * stencil.arm(k).transpose();
                let along = self.mean_velocity(v, node);
                mean += along * stencil.weight(k);
                divergence += along.dot(&stencil.gradient(k));
            });
            affine *= 4.0 / (cell * cell);
            let dt = self.time_step.length_s;
            let ratio = history(&self.state.history, p).1 * (1.0 + dt * divergence);
            if ratio.is_nan() || ratio <= 0.0 {
                return Err(BodyError::Model(format!(
                    "particle {p} of a blob lost its volume, J = {ratio:e}; take a shorter step"
                )));
            }
            let place = vector(&self.state.q, p) + mean * dt;
            next.q.extend_from_slice(place.as_slice());
            next.v.extend_from_slice(velocity.as_slice());
            next.history
                .extend_from_slice(affine.transpose().as_slice());
            next.history.push(ratio);
        }
        Ok(BodyReport::default())
    }

    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl SurfaceMotion for BlobStep {
    fn start_surface(&self, out: &mut Surface) {
        self.blob.surface(&self.state, out);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend((0..self.blob.n_particles()).map(|p| {
            let stencil = self.stencil(p);
            let mut velocity = Vector3::zeros();
            self.for_each_node(p, |node, k| {
                velocity += vector(v, node) * stencil.weight(k);
            });
            velocity
        }));
    }
}

impl ExplicitStep for BlobStep {
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let pressure = self.pressure_impulse();
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.start[i] + (self.external[i] - pressure[i]) / self.mass[i / 3];
        }
        Ok(())
    }
}

impl MomentumBalance for BlobStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        self.stiffness_product(v, out);
        let pressure = self.pressure_impulse();
        for (i, out) in out.iter_mut().enumerate() {
            *out += pressure[i] - self.mass[i / 3] * self.start[i] - self.external[i];
        }
        Ok(())
    }

    fn tangent(&self, _: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        Ok(Box::new(|x, y| self.stiffness_product(x, y)))
    }

    fn external_impulse(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.external);
    }
}

impl BlobStep {
    /// y = A x.
    fn stiffness_product(&self, x: &[f64], y: &mut [f64]) {
        for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
            *y = self.mass[i / 3] * x;
        }
        let scale = self.stiffness_scale();
        for p in 0..self.blob.n_particles() {
            let (stencil, (_, ratio)) = (self.stencil(p), history(&self.state.history, p));
            let push = scale * ratio * ratio * self.divergence(p, x);
            self.for_each_node(p, |node, k| add(y, node, &(stencil.gradient(k) * push)));
        }
    }
}
