//! The response of rigid frames to impulses, about the solution of the last step.

use nalgebra::{DMatrix, DVector, Isometry3, Point3, Vector3};
use pliant_contact_sap::{
    BodyError, ConstraintSet, ContactProblem, ConvexContactSolver, Interpolation, MaterialPoint,
    Rows, Surface,
};

use super::StrongImplicit;
use super::problem::StepContext;
use crate::error::StepError;
use crate::state::State;
use crate::world::BodyIdx;

/// Frames of bodies in the last step of a [`StrongImplicit`].
///
/// H = A + B is the Hessian of the contact problem at its solution, A that of the bodies alone, J_r the 6 rows (ω, v at the origin, world
/// axes) of every frame.
pub(crate) struct FrameResponse {
    /// X_WF of each frame at the start of the step.
    pub(crate) poses: Vec<Isometry3<f64>>,
    /// All velocities at the start of the step.
    pub(crate) start: DVector<f64>,
    /// The solution: all velocities.
    pub(crate) solution: DVector<f64>,
    /// A.
    pub(crate) inertia: DMatrix<f64>,
    /// B.
    pub(crate) constraints: DMatrix<f64>,
    /// J_r.
    pub(crate) rows: DMatrix<f64>,
    /// The velocities of the frames by joints with prescribed motion, V = J_r v + this.
    pub(crate) prescribed: DVector<f64>,
    /// H⁻¹J_rᵀ: the change of all velocities by impulses on the frames.
    pub(crate) columns: DMatrix<f64>,
}

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// The response of `frames` in the last step, which began at `state`.
    pub(crate) fn frame_response(
        &mut self,
        state: &State,
        frames: &[(BodyIdx, u32)],
    ) -> Result<FrameResponse, StepError> {
        let world = self.world.clone().expect("a step was taken");
        let problem = &mut self.problem;
        let n = problem.solution.velocity.len();
        let mut rows_of_all = DMatrix::zeros(6 * frames.len(), n);
        let mut response = FrameResponse {
            poses: Vec::new(),
            start: DVector::from_column_slice(&problem.velocities.start),
            solution: DVector::from_column_slice(&problem.solution.velocity),
            inertia: DMatrix::zeros(0, 0),
            constraints: DMatrix::zeros(0, 0),
            rows: DMatrix::zeros(0, 0),
            prescribed: DVector::zeros(6 * frames.len()),
            columns: DMatrix::zeros(0, 0),
        };
        let (mut rows, mut interpolation) = (Rows::default(), Interpolation::Twist);
        let mut surface = Surface::default();
        let mut surface_of = None;
        for (k, &(body, frame)) in frames.iter().enumerate() {
            if surface_of != Some(body) {
                let model = &world.parts.bodies[body.0].model;
                model.surface(&state.bodies[body.0], &mut surface);
                surface_of = Some(body);
            }
            let X_WF = surface.frames[frame as usize];
            let step = &problem.steps[body.0];
            let point = MaterialPoint::on_frame(frame, Vector3::zeros());
            let basis = step
                .interpolation(&point, &mut interpolation)
                .map_err(|source| StepError::of_body(&world, state, body, source))?;
            step.basis(basis, &Point3::from(X_WF.translation.vector), &mut rows);
            let range = problem.velocities.range(body.0);
            let mut twist = [0.0; 6];
            rows.apply(&vec![0.0; range.len()], &mut twist);
            response
                .prescribed
                .rows_mut(6 * k, 6)
                .copy_from_slice(&twist);
            for r in 0..6 {
                let mut unit = [0.0; 6];
                unit[r] = 1.0;
                let mut row = vec![0.0; range.len()];
                rows.add_transposed(&unit, &mut row);
                for (j, x) in row.into_iter().enumerate() {
                    rows_of_all[(6 * k + r, range.start + j)] = x;
                }
            }
            response.poses.push(X_WF);
        }
        let velocity = problem.solution.velocity.clone();
        let (convex, _, _) = problem.convex();
        let hessian = convex.dense_hessian(&velocity);
        response.inertia = ContactProblem {
            constraints: &ConstraintSet::default(),
            ..convex
        }
        .dense_hessian(&velocity);
        response.constraints = &hessian - &response.inertia;
        let factor = hessian.cholesky().ok_or_else(|| {
            let body = frames.first().map_or(BodyIdx(0), |f| f.0);
            let source = BodyError::Model("the Hessian of the rigid step is not definite".into());
            StepError::of_body(&world, state, body, source)
        })?;
        response.columns = factor.solve(&rows_of_all.transpose());
        response.rows = rows_of_all;
        Ok(response)
    }

    /// Moves positions of the last step's `next` along the velocity `mean`, of all bodies, in place of that of the solution. Velocities
    /// stay those of the solution. Only bodies that `moves` accepts.
    pub(crate) fn move_along(
        &mut self,
        state: &State,
        time_step_s: f64,
        mean: &DVector<f64>,
        moves: impl Fn(BodyIdx) -> bool,
        next: &mut State,
    ) -> Result<(), StepError> {
        let world = self.world.clone().expect("a step was taken");
        let context = StepContext {
            world: &world,
            state,
            time_step: pliant_contact_sap::TimeStep {
                length_s: time_step_s,
                integration: self.settings.integration,
            },
            geometry: &*self.geometry,
            cancellation: &self.cancellation,
        };
        let theta = self.settings.integration.theta_vq();
        let mut moved = pliant_contact_sap::BodyState::default();
        for (b, step) in self.problem.steps.iter_mut().enumerate() {
            let range = self.problem.velocities.range(b);
            if range.is_empty() || !moves(BodyIdx(b)) {
                continue;
            }
            let start = &self.problem.velocities.start[range.clone()];
            let v: Vec<f64> = (mean.as_slice()[range].iter().zip(start))
                .map(|(mean, start)| (mean - (1.0 - theta) * start) / theta)
                .collect();
            let advanced = step.advance(&v, &mut moved);
            let _ = advanced.map_err(|source| context.of_body(b, source))?;
            next.bodies[b].q.clone_from(&moved.q);
        }
        Ok(())
    }

    /// The velocities at the end of the last step.
    pub(crate) fn solution(&self) -> &[f64] {
        &self.problem.solution.velocity
    }
}

impl FrameResponse {
    /// With the constraint forces of the solution, whatever the velocities: B = 0. `None` if the inertia is not positive definite.
    ///
    /// The frames yield more than they do: the convex problem is non-expansive in the norm of its inertia,
    /// ‖v(Γ₁) − v(Γ₂)‖_A ≤ ‖A⁻¹J_rᵀ(Γ₁ − Γ₂)‖_A.
    pub(crate) fn with_constant_constraint_forces(self) -> Option<Self> {
        let columns = self
            .inertia
            .clone()
            .cholesky()?
            .solve(&self.rows.transpose());
        Some(Self {
            constraints: DMatrix::zeros(columns.nrows(), columns.nrows()),
            columns,
            ..self
        })
    }
}
