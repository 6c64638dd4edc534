//! One step of all material points: the only file that knows contact exists.

mod flow;
mod holding;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_contact_sap::{
    Assembled, BasisIdx, BlockDiagonal, BodyError, BodyReport, BodyState, BodyStep, Dynamics,
    Lever, MaterialPoint, PointMass, Primitive, Rows, StepInput, Surface,
};

use crate::free_motion::{FreeMotion, FreeMotionReport};
use crate::material::{Definiteness, Lagged, Law};
use crate::model::{MatrixForm, Parts, Records, RotationTarget};
use crate::nodes::{add_divergence, affine, gradient, interpolate};
use crate::sparse_grid::NONE;
use crate::spline::{Stencil, corner};
use crate::system::{BlockMatrix, GridSystem};

pub(crate) use flow::emit;

/// Targets that differ from the identity by less are not worth a search for the free motion: a turn of about 0.014 rad.
const TARGET_NOTICED: f64 = 1e-4;

/// Particles of the state that a step crushes: how many, and the first; the same whatever the order in which they are noted.
#[derive(Debug)]
struct Crushed {
    count: AtomicU32,
    first: AtomicU32,
}

impl Default for Crushed {
    fn default() -> Self {
        Self {
            count: AtomicU32::new(0),
            first: AtomicU32::new(u32::MAX),
        }
    }
}

impl Crushed {
    fn note(&self, particle: u32) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.first.fetch_min(particle, Ordering::Relaxed);
    }

    fn first_and_others(self) -> Option<(usize, u32)> {
        let others = self.count.into_inner().checked_sub(1)?;
        Some((self.first.into_inner() as usize, others))
    }
}

/// Weight of a node in the velocity at `offset` from a particle, as the particle's affine velocity goes on there:
///
/// ```text
/// v + C o = Σ w_i (1 + (4/h²) (x_i − x)·o) v_i
/// ```
///
/// What touches the ball about a particle touches it there: a body that turns, rolls on its surface and not on its outermost particles.
fn weight_beside(
    stencil: &Stencil<f64>,
    corner: [usize; 3],
    offset: &Vector3<f64>,
    spacing: f64,
) -> f64 {
    let arm = stencil.arm(corner, spacing);
    stencil.weight(corner) * (1.0 + 4.0 / (spacing * spacing) * arm.dot(offset))
}

/// Workspace of a step.
#[derive(Debug)]
pub(crate) struct MpmStep {
    parts: Arc<Parts>,
    records: Records,
    system: GridSystem,
    matrix: BlockMatrix,
    assembled: bool,
    free: FreeMotion,
    report: FreeMotionReport,
    right_hand_side: Vec<f64>,
    diagonal: Vec<f64>,
    /// Of each grid node, m; only where A is assembled.
    node_places: Vec<Vector3<f64>>,
    /// Place among the sorted ones of each particle of the state.
    sorted_place: Vec<u32>,
    velocity: Vec<f64>,
    warnings: Vec<String>,
}

impl MpmStep {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        let materials = parts.objects.iter().map(|o| Arc::clone(&o.material));
        let settings = &parts.settings;
        let system = GridSystem::new(settings.spacing, settings.gradient, materials.collect());
        Self {
            parts,
            records: Records::default(),
            system,
            matrix: BlockMatrix::default(),
            assembled: false,
            free: FreeMotion::default(),
            report: FreeMotionReport::default(),
            right_hand_side: Vec::new(),
            diagonal: Vec::new(),
            node_places: Vec::new(),
            sorted_place: Vec::new(),
            velocity: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Place among the sorted ones of the particle that `p` names.
    fn particle(&self, p: &MaterialPoint) -> Result<usize, BodyError> {
        let place = match p.primitive {
            Primitive::Vertex(vertex) => self.sorted_place.get(vertex as usize),
            _ => None,
        };
        match place {
            Some(place) => Ok(*place as usize),
            None => Err(BodyError::NoSuchPoint {
                point: p.primitive,
                places: format!("{} particles, each a vertex", self.sorted_place.len()),
            }),
        }
    }

    /// How far from its middle a particle is touched: a liquid's affine velocity is held by nothing, and rows that extrapolate it
    /// would let particles through walls while their surface stands still.
    fn touched_at(&self, sorted: usize, offset: Vector3<f64>) -> Vector3<f64> {
        match self.system.material(sorted).bears_shear() {
            true => offset,
            false => Vector3::zeros(),
        }
    }

    /// Gravity and loads, N·s on each node.
    fn add_external(&mut self, input: &StepInput<'_>) -> Result<(), BodyError> {
        let dt = input.time_step.length_s;
        for (i, f) in self.system.external.iter_mut().enumerate() {
            *f = dt * self.system.mass[i / 3] * input.gravity[i % 3];
        }
        for load in &input.control.loads {
            if load.torque_W != Vector3::zeros() {
                return Err(BodyError::Unsupported {
                    what: "torque on a particle",
                });
            }
            let p = self.particle(&load.point)?;
            let stencil = &self.system.stencils[p];
            let nodes = &self.system.nodes.of_cell[self.system.cell_of[p] as usize];
            for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                let share = load.force_W * (dt * stencil.weight(corner(n)));
                let at = 3 * node as usize;
                (0..3).for_each(|k| self.system.external[at + k] += share[k]);
            }
        }
        Ok(())
    }

    /// Lets the linear corotated model's rest strain follow the rotation of the step, first as the last step turned, then, if
    /// anything turns noticeably, as the free motion does. The direction of forces stays R₀.
    fn aim(&mut self) {
        if self.parts.settings.rotation_target == RotationTarget::Start
            || self.system.alpha() == 0.0
        {
            return;
        }
        let dt = self.system.time_step.forces_s();
        // C was fitted to the last step's velocities at its start, so that I + δt C is what it turned by.
        self.system
            .lag(|system, p| Some(system.particles[p].c * dt));
        let off = |l: &Lagged<f64>| (l.target - Matrix3::identity()).amax();
        let noticed = self.system.lagged.iter().any(|l| off(l) > TARGET_NOTICED);
        if !noticed {
            return;
        }
        self.find_free_motion();
        let gradients = std::mem::take(&mut self.free.gradients);
        self.system.lag(|_, p| Some(gradients[p]));
        self.free.gradients = gradients;
    }

    fn find_free_motion(&mut self) {
        let matrix = self.assembled.then_some(&mut self.matrix);
        let settings = &self.parts.settings.free_motion;
        let mut v = std::mem::take(&mut self.velocity);
        self.report = self.free.solve(&mut self.system, matrix, settings, &mut v);
        self.velocity = v;
        if !self.report.is_converged() {
            self.warnings.push(format!(
                "the free motion of the material points was left at a residual of {:e} where {:e} was asked for, after {} \
                 Newton iterations; take a shorter step",
                self.report.residual, self.report.tolerance, self.report.newton_iterations
            ));
        }
    }
}

impl BodyStep for MpmStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let control = input.control;
        let targets = [&control.position, &control.velocity, &control.effort];
        if targets.iter().any(|x| !x.is_empty()) {
            return Err(BodyError::Unsupported { what: "actuators" });
        }
        self.warnings.clear();
        self.report = FreeMotionReport::default();
        self.records.read_again(&self.parts, state)?;
        self.check_bounds(&self.records.particles)?;
        self.system.open(&self.records.particles, input.time_step)?;
        self.sorted_place.resize(self.records.particles.len(), 0);
        for (sorted, p) in self.system.particles.iter().enumerate() {
            self.sorted_place[p.index as usize] = sorted as u32;
        }
        self.add_external(input)?;
        for wall in &self.parts.walls {
            wall.hold(&mut self.system);
        }
        self.hold_grips(&control.held)?;
        self.system.settle();
        self.assembled = match self.parts.settings.matrix {
            MatrixForm::Assembled => true,
            MatrixForm::MatrixFree => false,
            MatrixForm::Automatic { nodes_max } => self.system.nodes.len() <= nodes_max,
        };
        self.aim();
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.system.start
    }

    fn linearise(&mut self) -> Result<(), BodyError> {
        let n = self.system.start.len();
        self.right_hand_side.resize(n, 0.0);
        let explicit = self.system.alpha() == 0.0;
        let linear = explicit || self.system.is_quadratic();
        if linear {
            // m is A v − b: b is what is left at v = 0.
            let mut gradients = std::mem::take(&mut self.free.gradients);
            let rest = vec![0.0; n];
            self.system.admissible(&rest, &mut self.velocity);
            self.system.step_gradients(&self.velocity, &mut gradients);
            self.system
                .residual(&rest, &gradients, &mut self.right_hand_side);
            self.right_hand_side.iter_mut().for_each(|m| *m = -*m);
            self.system
                .find_tangents(&gradients, Definiteness::Projected);
            self.free.gradients = gradients;
        } else {
            self.find_free_motion();
            // Contact comes on top of the free motion.
            self.system
                .find_tangents(&self.free.gradients, Definiteness::Touching);
        }
        if self.assembled {
            self.matrix.assemble(&self.system, &self.system.tangents);
            let nodes = 0..self.system.nodes.len();
            self.node_places.clear();
            self.node_places
                .extend(nodes.map(|node| self.system.node_place(node)));
        }
        self.system
            .diagonal(&self.system.tangents, &mut self.diagonal);
        if !linear {
            // m is linearised about the v* found: what is left of it there goes into b, so that nothing is lost.
            let mut b = std::mem::take(&mut self.right_hand_side);
            let mut left = vec![0.0; n];
            self.apply(&self.velocity, &mut b);
            self.system
                .residual(&self.velocity, &self.free.gradients, &mut left);
            b.iter_mut().zip(&left).for_each(|(b, m)| *b -= m);
            self.right_hand_side = b;
        }
        if let Some(i) = self.right_hand_side.iter().position(|b| !b.is_finite()) {
            let place = self.system.node_place(i / 3);
            return Err(BodyError::NotFinite {
                place: format!(
                    "impulse on the grid node at ({}, {}, {}) m",
                    place.x, place.y, place.z
                ),
                value: self.right_hand_side[i],
            });
        }
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        self
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> Result<BasisIdx, BodyError> {
        let sorted = self.particle(p)?;
        let stencil = &self.system.stencils[sorted];
        let h = self.system.spacing;
        let offset = self.touched_at(sorted, p.offset);
        out.set_weights((0..27).map(|n| weight_beside(stencil, corner(n), &offset, h)));
        Ok(BasisIdx(self.system.cell_of[sorted]))
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(81);
        for (n, &node) in self.system.nodes.of_cell[basis.0 as usize]
            .iter()
            .enumerate()
        {
            if node == NONE {
                continue;
            }
            let dof = 3 * node as usize;
            let held = &self.system.prescribed[dof..dof + 3];
            if held.iter().all(|v| v.is_nan()) {
                out.identity(3 * n, dof, 3);
                continue;
            }
            for (k, &v) in held.iter().enumerate() {
                if v.is_nan() {
                    out.identity(3 * n + k, dof + k, 1);
                } else {
                    out.bias_mut()[3 * n + k] = v;
                }
            }
        }
    }

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let system = &self.system;
        let dt = system.time_step.length_s;
        let (mut end, mut mean) = (Vec::new(), Vec::new());
        system.admissible(v, &mut end);
        system
            .time_step
            .mean_velocities(&system.start, &end, &mut mean);
        let mut moved = system.particles.clone();
        let differs = mean != end;
        let crushed = Crushed::default();
        system
            .nodes
            .gather(&system.grid, &mean, &mut moved, |p, local, particle| {
                let stencil = &system.stencils[p];
                let velocity = interpolate(stencil, local);
                particle.x += velocity * dt;
                let g = gradient(stencil, local) * dt;
                let material = system.material(p);
                if Law::<f64>::is_crushed(material, &particle.strain, &g) {
                    crushed.note(particle.index);
                }
                particle.strain =
                    Law::<f64>::advance(material, &particle.strain, &system.lagged[p], &g);
                if differs {
                    let local = system.nodes.local(system.cell_of[p] as usize, &end);
                    particle.v = interpolate(stencil, &local);
                    particle.c = affine(stencil, &local, system.spacing);
                } else {
                    particle.v = velocity;
                    particle.c = affine(stencil, local, system.spacing);
                }
            });
        let mut records = Records {
            particles: self.records.particles.clone(),
            ids: self.records.ids.clone(),
            header: self.records.header.clone(),
        };
        for p in &moved {
            records.particles[p.index as usize] = *p;
        }
        for (place, p) in records.particles.iter().enumerate() {
            crate::model::check_finite(&self.parts, place, p)?;
        }
        self.check_bounds(&records.particles)?;
        let mut report = BodyReport {
            warnings: self.warnings.clone(),
        };
        if let Some((place, others)) = crushed.first_and_others() {
            let object = records.particles[place].object;
            report.warnings.push(format!(
                "{} is crushed or turned inside out, and {others} more; take a shorter step, or a material that resists it",
                self.parts.name_of(place, object),
            ));
        }
        records.header[0] += dt;
        flow::drain(&self.parts, &mut records);
        emit(&self.parts, &mut records);
        records.write(next);
        Ok(report)
    }

    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let system = &self.system;
        out.copy_from_slice(&system.external);
        let dt = system.time_step.length_s;
        system
            .nodes
            .scatter::<3>(&system.grid, out, |_, cell, local| {
                for p in cell.particles.clone().map(|p| p as usize) {
                    let particle = &system.particles[p];
                    let lagged = Lagged {
                        velocity_gradient: particle.c,
                        ..Lagged::default()
                    };
                    let tau = system.material(p).kirchhoff(&particle.strain, &lagged);
                    add_divergence(&system.stencils[p], &(tau * (-dt * particle.volume)), local);
                }
            });
        for (i, out) in out.iter_mut().enumerate() {
            *out = system.start[i] + *out / system.mass[i / 3];
            if !system.prescribed[i].is_nan() {
                *out = system.prescribed[i];
            }
        }
        Ok(())
    }

    fn point_masses(&self, out: &mut Vec<PointMass>) -> Option<()> {
        let system = &self.system;
        out.clear();
        out.extend(
            system
                .mass
                .iter()
                .enumerate()
                .map(|(node, &mass)| PointMass {
                    p_WQ: system.node_place(node).into(),
                    mass,
                    part: 0,
                }),
        );
        if self.parts.objects.len() > 1 {
            let mut most = vec![0.0; system.mass.len()];
            for (p, particle) in system.particles.iter().enumerate() {
                let nodes = &system.nodes.of_cell[system.cell_of[p] as usize];
                for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let share = system.stencils[p].weight(corner(n)) * particle.mass;
                    if share > most[node as usize] {
                        most[node as usize] = share;
                        out[node as usize].part = particle.object;
                    }
                }
            }
        }
        Some(())
    }

    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let (mut admissible, mut gradients) = (Vec::new(), Vec::new());
        self.system.admissible(v, &mut admissible);
        self.system.step_gradients(&admissible, &mut gradients);
        self.system.residual(v, &gradients, out);
        Ok(())
    }

    fn tangent(&self, v: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        let (mut admissible, mut gradients) = (Vec::new(), Vec::new());
        self.system.admissible(v, &mut admissible);
        self.system.step_gradients(&admissible, &mut gradients);
        let mut tangents = Vec::new();
        self.system
            .tangents_into(&gradients, Definiteness::Exact, &mut tangents);
        self.system.apply(&tangents, x, y);
        Ok(())
    }

    fn start_surface(&self, out: &mut Surface) -> Option<()> {
        out.clear();
        for p in &self.records.particles {
            out.vertices.push(p.x.into());
            out.radii.push(self.parts.objects[p.object as usize].radius);
            out.parts.push(p.object);
        }
        Some(())
    }

    fn velocities_last(&self) -> bool {
        false
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) -> Option<()> {
        let system = &self.system;
        out.clear();
        out.resize(system.particles.len(), Vector3::zeros());
        let held;
        let v = if system.any_prescribed {
            let mut admissible = Vec::new();
            system.admissible(v, &mut admissible);
            held = admissible;
            &held
        } else {
            v
        };
        for (number, cell) in system.grid.cells.iter().enumerate() {
            let local = system.nodes.local(number, v);
            for p in cell.particles.clone().map(|p| p as usize) {
                let velocity = interpolate(&system.stencils[p], &local);
                out[system.particles[p].index as usize] = velocity;
            }
        }
        Some(())
    }

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Result<Point3<f64>, BodyError> {
        let sorted = self.particle(p)?;
        let system = &self.system;
        let mut velocity = Vector3::zeros();
        let offset = self.touched_at(sorted, p.offset);
        let nodes = &system.nodes.of_cell[system.cell_of[sorted] as usize];
        for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
            let at = 3 * node as usize;
            let mean = Vector3::from_fn(|k, _| {
                let held = system.prescribed[at + k];
                let end = if held.is_nan() { v[at + k] } else { held };
                system.time_step.mean_velocity(system.start[at + k], end)
            });
            let stencil = &system.stencils[sorted];
            velocity += mean * weight_beside(stencil, corner(n), &offset, system.spacing);
        }
        let place = system.particles[sorted].x + velocity * system.time_step.length_s;
        Ok((place + p.offset).into())
    }
}

impl Dynamics for MpmStep {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        if self.assembled {
            self.matrix.apply(x, y);
        } else {
            self.system.apply(&self.system.tangents, x, y);
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.diagonal)
    }

    fn grid_nodes(&self) -> Option<&[Vector3<f64>]> {
        self.assembled.then_some(&self.node_places[..])
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        self.assembled
            .then(|| Assembled::Sparse(self.matrix.matrix.view()))
    }
}

#[cfg(test)]
impl MpmStep {
    pub(crate) fn system(&self) -> &GridSystem {
        &self.system
    }
}
