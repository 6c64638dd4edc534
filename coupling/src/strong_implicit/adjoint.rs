//! The adjoint system of a step, H λ = ∂L/∂v, and its products with the derivatives by controls and loads.

use nalgebra::{Matrix3xX, Point3, Vector3};
use pliant_contact_sap::{
    ConvexContactSolver, Interpolation, MaterialPoint, Primitive, RowIdx, RowKind, RowLaw, Rows,
    VelocityLayout,
};

use super::StrongImplicit;
use super::problem::StepProblem;
use crate::adjoint::{Adjoint, AdjointError, ControlGradient, LoadGradient};
use crate::report::RowOwner;
use crate::world::{BodyIdx, World};

/// λ of a solved step.
pub(crate) struct SolvedAdjoint<'a> {
    world: &'a World,
    problem: &'a StepProblem,
    time_step_s: f64,
    lambda: Vec<f64>,
}

impl<S: ConvexContactSolver> StrongImplicit<S> {
    /// Solves the adjoint system of the last step for ∂L/∂v of some bodies; that of the others is zero.
    pub(super) fn solve_adjoint(
        &mut self,
        slopes: &[(BodyIdx, &[f64])],
    ) -> Result<Adjoint<'_>, AdjointError> {
        let Self {
            world,
            problem,
            solver,
            ..
        } = self;
        let (Some(world), Some(time_step_s)) = (world, self.last_step_s) else {
            return Err(AdjointError::NoStep);
        };
        let mut lambda = vec![0.0; problem.solution.velocity.len()];
        for &(body, slope) in slopes {
            problem.add_slope(world, body, slope, &mut lambda)?;
        }
        let (convex, _, solution) = problem.convex();
        solver.hessian_solve(&convex, solution, &mut lambda)?;
        Ok(Adjoint::new(SolvedAdjoint {
            world,
            problem,
            time_step_s,
            lambda,
        }))
    }
}

impl StepProblem {
    /// Adds ∂L/∂v of `body`, one entry for each velocity of its state, to that of all solved velocities.
    fn add_slope(
        &self,
        world: &World,
        body: BodyIdx,
        slope: &[f64],
        total: &mut [f64],
    ) -> Result<(), AdjointError> {
        let name = || world.body_name(body).to_owned();
        if world.model(body).velocity_layout() == VelocityLayout::RebuiltEachStep {
            return Err(AdjointError::RebuiltVelocities { body: name() });
        }
        let total = &mut total[self.velocities.range(body.0)];
        let adjoint = self.steps[body.0].as_control_adjoint();
        let expected = adjoint.map_or(total.len(), |adjoint| adjoint.n_velocities());
        if slope.len() != expected {
            return Err(AdjointError::Length {
                body: name(),
                found: slope.len(),
                expected,
            });
        }
        let mut solved = Vec::new();
        let entries = match adjoint {
            Some(adjoint) => {
                adjoint.solved_entries(slope, &mut solved);
                &solved
            }
            None => slope,
        };
        total.iter_mut().zip(entries).for_each(|(x, s)| *x += s);
        Ok(())
    }
}

impl SolvedAdjoint<'_> {
    /// The gradient with respect to the control of every body: efforts are part of b, commands of actuators of their rows.
    pub(crate) fn controls(&self) -> Vec<ControlGradient> {
        let problem = self.problem;
        let mut gradients: Vec<_> = (problem.steps.iter().enumerate())
            .map(|(b, step)| {
                let mut gradient = ControlGradient::default();
                if let Some(adjoint) = step.as_control_adjoint() {
                    let lambda = &self.lambda[problem.velocities.range(b)];
                    adjoint.effort_gradient(lambda, &mut gradient.effort);
                }
                gradient
            })
            .collect();
        let velocity = &problem.solution.velocity;
        let mut row = 0;
        problem.set.for_each_row(|terms, bias, law| {
            let (owner, label) = (problem.owners[row], problem.set.row_label(RowIdx(row)));
            row += 1;
            let (RowOwner::Body(body), RowKind::Actuator, RowLaw::PdActuator(law)) =
                (owner, label.kind, law)
            else {
                return;
            };
            let first = |b: usize| problem.velocities.range(b).start;
            let product = |x: &[f64]| -> f64 {
                let terms = terms.iter();
                terms.map(|(p, dof, c)| c * x[first(p.0) + dof]).sum()
            };
            let sensitivity = law.sensitivity(product(velocity) + bias);
            let along = product(&self.lambda);
            let gradient = &mut gradients[body.0];
            let k = label.index as usize;
            let n = gradient.effort.len().max(k + 1);
            gradient.effort.resize(n, 0.0);
            gradient.position.resize(n, 0.0);
            gradient.velocity.resize(n, 0.0);
            gradient.position[k] += sensitivity.position * along;
            gradient.velocity[k] += sensitivity.velocity * along;
            gradient.effort[k] += sensitivity.feed_forward * along;
        });
        gradients
    }

    /// δt times the twist of a frame, or the velocity of a point without axes, where the velocities are λ.
    pub(crate) fn load(
        &self,
        body: BodyIdx,
        point: &MaterialPoint,
    ) -> Result<LoadGradient, AdjointError> {
        let step = &self.problem.steps[body.0];
        let mut interpolation = Interpolation::Twist;
        let basis = step.interpolation(point, &mut interpolation);
        let basis = basis.map_err(|source| AdjointError::Point {
            body: self.world.body_name(body).into(),
            source,
        })?;
        let p_WQ = self.problem.place_of_frame_point(body, point);
        let mut rows = Rows::default();
        step.basis(basis, &p_WQ, &mut rows);
        let mut u = vec![0.0; rows.n_rows()];
        let lambda = &self.lambda[self.problem.velocities.range(body.0)];
        rows.apply_without_bias(lambda, &mut u);
        let mut gradient = LoadGradient::default();
        match &interpolation {
            Interpolation::Twist => {
                gradient.torque_W = Vector3::from_column_slice(&u[..3]);
                gradient.force_W = Vector3::from_column_slice(&u[3..]);
            }
            Interpolation::Weights(weights) => {
                for (w, u) in weights.iter().zip(u.chunks_exact(3)) {
                    gradient.force_W += Vector3::from_column_slice(u) * *w;
                }
            }
            Interpolation::Dense(phi) => {
                gradient.force_W =
                    Matrix3xX::from_column_slice(phi) * nalgebra::DVector::from_column_slice(&u);
            }
        }
        gradient.force_W *= self.time_step_s;
        gradient.torque_W *= self.time_step_s;
        Ok(gradient)
    }
}

impl StepProblem {
    /// Where a point of a frame is at the start of the step; the origin for points without a frame, whose bases do not depend on it.
    fn place_of_frame_point(&self, body: BodyIdx, point: &MaterialPoint) -> Point3<f64> {
        let frames = &self.collision.surfaces[body.0].frames;
        match point.primitive {
            Primitive::Frame(frame) => frames
                .get(frame as usize)
                .map_or_else(Point3::origin, |X_WF| X_WF * Point3::from(point.offset)),
            _ => Point3::origin(),
        }
    }
}
