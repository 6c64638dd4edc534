//! One step of all material points, and the capabilities of the step.

mod advance;
mod contact_points;
mod dynamics;
mod flow;
mod holding;
mod lagged_rotation;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BalanceTangent, BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Cancellation, Dynamics,
    ExplicitStep, Interpolation, LaggedTerms, MaterialPoint, MomentumBalance, PointMass,
    PointMasses, Rows, StartLinearisation, StepInput, Surface, SurfaceMotion,
};

use crate::free_motion::{FreeMotion, FreeMotionReport, FreeMotionSettings};
use crate::loads::sorted_index_of_load;
use crate::material::{Definiteness, Lagged};
use crate::model::{MatrixForm, Parts, Records};
use crate::nodes::{add_divergence, interpolate};
use crate::sparse_grid::NONE;
use crate::spline::corner;
use crate::substeps::{ANY_STRESS, present_limit};
use crate::system::{BlockMatrix, Blocks, GridSystem, StepMotion, Tangents};

pub(crate) use advance::{Crushed, finish};
pub(crate) use flow::emit;

/// Workspace of a step.
#[derive(Debug)]
pub(crate) struct MpmStep {
    parts: Arc<Parts>,
    records: Records,
    system: GridSystem,
    matrix: BlockMatrix,
    assembled: bool,
    /// The lagged terms at the velocities of the last evaluation of their residual.
    lagged_found: Vec<Lagged<f64>>,
    free: FreeMotion,
    cancellation: Cancellation,
    report: FreeMotionReport,
    right_hand_side: Vec<f64>,
    diagonal: Vec<f64>,
    /// Position of each grid node, m; only where A is assembled.
    node_positions: Vec<Vector3<f64>>,
    /// Index in sorted order of each particle of the state.
    sorted_index: Vec<u32>,
    velocity: Vec<f64>,
    warnings: Vec<String>,
}

impl MpmStep {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        let materials = parts.objects.iter().map(|o| Arc::clone(&o.material));
        let settings = &parts.settings;
        let cloths = parts.objects.iter().zip(0..);
        let cloths = cloths.filter_map(|(o, k)| Some((k, Arc::clone(o.cloth.as_ref()?))));
        let system = GridSystem::new(
            settings.spacing,
            settings.gradient,
            materials.collect(),
            cloths,
        );
        Self {
            parts,
            records: Records::default(),
            system,
            matrix: BlockMatrix::default(),
            assembled: false,
            lagged_found: Vec::new(),
            free: FreeMotion::default(),
            cancellation: Cancellation::default(),
            report: FreeMotionReport::default(),
            right_hand_side: Vec::new(),
            diagonal: Vec::new(),
            node_positions: Vec::new(),
            sorted_index: Vec::new(),
            velocity: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether m(v) = A v − b.
    fn is_linear(&self) -> bool {
        self.system.alpha() == 0.0 || self.system.is_quadratic()
    }

    /// A and b of a balance that is linear within the step, with b = −m(0).
    fn linearise_at_zero(&mut self) -> Result<(), BodyError> {
        let mut motion = std::mem::take(&mut self.free.motion);
        self.velocity.clear();
        self.velocity.resize(self.system.start.len(), 0.0);
        let mut rest = Vec::new();
        self.system.admissible(&self.velocity, &mut rest);
        self.system.motion(&rest, &mut motion);
        self.system.find_tangents(&motion, Definiteness::Projected);
        self.free.motion = motion;
        self.write_dynamics()
    }

    /// A and b about the velocities and gradients of the free motion, with tangents for contact.
    fn linearise_with_contact(&mut self) -> Result<(), BodyError> {
        self.system
            .find_tangents(&self.free.motion, Definiteness::Touching);
        self.write_dynamics()
    }

    /// A and b of the present tangents.
    fn write_dynamics(&mut self) -> Result<(), BodyError> {
        if self.assembled {
            self.matrix
                .assemble(&self.system, &self.system.tangents.particles);
            let nodes = 0..self.system.nodes.len();
            self.node_positions.clear();
            self.node_positions
                .extend(nodes.map(|node| self.system.node_position(node)));
        }
        self.system
            .diagonal(&self.system.tangents, Blocks::Exact, &mut self.diagonal);
        self.write_right_hand_side();
        if let Some(i) = self.right_hand_side.iter().position(|b| !b.is_finite()) {
            let position = self.system.node_position(i / 3);
            return Err(BodyError::NotFinite {
                location: format!(
                    "impulse on the grid node at ({}, {}, {}) m",
                    position.x, position.y, position.z
                ),
                value: self.right_hand_side[i],
            });
        }
        Ok(())
    }

    fn find_free_motion(&mut self, settings: &FreeMotionSettings) -> Result<(), BodyError> {
        let matrix = self.assembled.then_some(&mut self.matrix);
        let mut v = std::mem::take(&mut self.velocity);
        let (system, cancellation) = (&mut self.system, &self.cancellation);
        self.report = (self.free).solve(system, matrix, settings, cancellation, &mut v);
        self.velocity = v;
        if self.cancellation.is_requested() {
            return Err(BodyError::Cancelled);
        }
        if !self.report.is_converged() {
            self.warnings.push(format!(
                "the free motion of the material points was left at a residual of {:e} with a tolerance of {:e}, after {} \
                 Newton iterations; take a shorter step",
                self.report.residual, self.report.tolerance, self.report.newton_iterations
            ));
        }
        Ok(())
    }

    /// b = A v − m(v) at the velocities of the linearisation, with the present lagged terms.
    fn write_right_hand_side(&mut self) {
        let n = self.system.start.len();
        let mut b = std::mem::take(&mut self.right_hand_side);
        let mut left = vec![0.0; n];
        b.resize(n, 0.0);
        self.apply(&self.velocity, &mut b);
        self.system
            .residual(&self.velocity, &self.free.motion, &mut left);
        b.iter_mut().zip(&left).for_each(|(b, m)| *b -= m);
        self.right_hand_side = b;
    }

    /// Refuses an explicit step that is longer than the particles allow.
    fn refuse_unstable(&self, length_s: f64) -> Result<(), BodyError> {
        let limit = present_limit(&self.parts, &self.records.particles, ANY_STRESS);
        match limit.filter(|limit| length_s > limit.stable_s) {
            None => Ok(()),
            Some(limit) => Err(BodyError::Unstable {
                length_s,
                stable_s: limit.stable_s,
                cause: limit.to_string(),
            }),
        }
    }

    /// Adds the impulses of gravity and loads on each node, N·s.
    fn add_external(&mut self, input: &StepInput<'_>) -> Result<(), BodyError> {
        let dt = input.time_step.length_s;
        for (i, f) in self.system.external.iter_mut().enumerate() {
            *f = dt * self.system.mass[i / 3] * input.gravity[i % 3];
        }
        self.system.reflect_gravity(&input.gravity, dt);
        for load in &input.control.loads {
            let p = sorted_index_of_load(load, &self.sorted_index)?;
            let stencil = &self.system.stencils[p];
            let nodes = &self.system.nodes.of_cell[self.system.cell_of[p] as usize];
            let cell = self.system.cell_of[p] as usize;
            for (n, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                let signs = Vector3::from(self.system.nodes.signs(cell, n));
                let share = load.force_W.component_mul(&signs) * (dt * stencil.weight(corner(n)));
                let at = 3 * node as usize;
                (0..3).for_each(|k| self.system.external[at + k] += share[k]);
            }
        }
        Ok(())
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
        self.records.check_cloths(&self.parts)?;
        self.parts.check_bounds(&self.records.particles)?;
        if input.time_step.forces_s() == 0.0 {
            self.refuse_unstable(input.time_step.length_s)?;
        }
        let particles = &self.records.particles;
        self.system.open(particles, input.time_step, &self.parts)?;
        self.sorted_index.resize(self.records.particles.len(), 0);
        for (sorted, p) in self.system.particles.iter().enumerate() {
            self.sorted_index[p.index as usize] = sorted as u32;
        }
        self.add_external(input)?;
        for wall in &self.parts.walls {
            wall.hold(&mut self.system);
        }
        for mirror in &self.parts.mirrors {
            mirror.wall(self.system.spacing).hold(&mut self.system);
        }
        self.hold_grips(&control.held)?;
        self.system.settle();
        let has_cloth = !self.system.cloths.is_empty();
        self.assembled = match self.parts.settings.matrix {
            _ if has_cloth || self.system.has_images() => false,
            MatrixForm::Assembled => true,
            MatrixForm::MatrixFree => false,
            MatrixForm::Automatic { nodes_max } => self.system.nodes.len() <= nodes_max,
        };
        self.predict_targets();
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    fn start_velocity(&self) -> &[f64] {
        &self.system.start
    }

    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        if self.is_linear() {
            return self.linearise_at_zero();
        }
        let mut motion = std::mem::take(&mut self.free.motion);
        self.system.admissible(v, &mut self.velocity);
        self.system.motion(&self.velocity, &mut motion);
        self.free.motion = motion;
        self.velocity.copy_from_slice(v);
        self.linearise_with_contact()
    }

    fn dynamics(&self) -> &dyn Dynamics {
        self
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        self.interpolation_of(p, out)
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        self.rows_of(basis, out);
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.move_particles(v, next)
    }

    fn as_start_linearisation(&mut self) -> Option<&mut dyn StartLinearisation> {
        match self.is_linear() {
            true => None,
            false => Some(self),
        }
    }

    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }

    fn as_lagged(&mut self) -> Option<&mut dyn LaggedTerms> {
        match self.has_lagged_rotations() {
            true => Some(self),
            false => None,
        }
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
    }

    fn as_point_masses(&self) -> Option<&dyn PointMasses> {
        Some(self)
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl StartLinearisation for MpmStep {
    /// Linearises about the free motion.
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        let settings = self.parts.settings.free_motion;
        self.find_free_motion(&settings)?;
        v.clone_from(&self.velocity);
        self.linearise_with_contact()
    }

    fn solves_free_motion(&self) -> bool {
        true
    }
}

impl MomentumBalance for MpmStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let (mut admissible, mut motion) = (Vec::new(), StepMotion::default());
        self.system.admissible(v, &mut admissible);
        self.system.motion(&admissible, &mut motion);
        self.system.residual(v, &motion, out);
        Ok(())
    }

    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        let (mut admissible, mut motion) = (Vec::new(), StepMotion::default());
        self.system.admissible(v, &mut admissible);
        self.system.motion(&admissible, &mut motion);
        let mut tangents = Tangents::default();
        self.system
            .tangents_into(&motion, Definiteness::Exact, &mut tangents);
        Ok(Box::new(move |x, y| self.system.apply(&tangents, x, y)))
    }

    fn external_impulse(&self, out: &mut [f64]) {
        let system = &self.system;
        let impulses = system.external.iter().zip(&system.prescribed);
        for (p, (impulse, held)) in out.iter_mut().zip(impulses) {
            *p = if held.is_nan() { *impulse } else { 0.0 };
        }
    }
}

impl LaggedTerms for MpmStep {
    fn residual(&mut self, v: &[f64]) -> f64 {
        self.target_error(v)
    }

    fn update(&mut self) {
        self.update_targets();
    }

    fn update_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> {
        self.update_targets_in_free_motion();
        Ok(None)
    }
}

impl ExplicitStep for MpmStep {
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
        let mut impulses = vec![0.0; out.len()];
        let rest = StepMotion::at_start(system.particles.len());
        system.add_cloth_impulses(&rest, &mut impulses);
        out.iter_mut().zip(impulses).for_each(|(out, i)| *out -= i);
        for (i, out) in out.iter_mut().enumerate() {
            *out = system.start[i] + *out / system.mass[i / 3];
            if !system.prescribed[i].is_nan() {
                *out = system.prescribed[i];
            }
        }
        Ok(())
    }
}

impl PointMasses for MpmStep {
    fn point_masses(&self, out: &mut Vec<PointMass>) {
        self.masses_of_nodes(out);
    }
}

impl SurfaceMotion for MpmStep {
    fn start_surface(&self, out: &mut Surface) {
        out.clear();
        for p in &self.records.particles {
            out.vertices.push(p.x.into());
            out.radii.push(self.parts.objects[p.object as usize].radius);
            out.parts.push(p.object);
        }
        out.triangles.extend_from_slice(&self.parts.triangles);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
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
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (number, cell) in system.grid.cells.iter().enumerate() {
                    let local = system.nodes.local(number, v);
                    for p in cell.particles.clone().map(|p| p as usize) {
                        let velocity = interpolate(&system.stencils[p], &local);
                        out[system.particles[p].index as usize] = velocity;
                    }
                }
            },
        );
    }
}

#[cfg(test)]
impl MpmStep {
    pub(crate) fn system(&self) -> &GridSystem {
        &self.system
    }
}
