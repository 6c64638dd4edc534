//! The bodies of a step and their balances of momentum.

use pliant_contact_sap::{BalanceTangent, BodyStep, StepInput, Surface, TimeStep};

use super::BodyFault;
use crate::error::StepError;
use crate::state::State;
use crate::world::{BodyIdx, World};

/// Steps of all bodies, opened and linearised near the start.
#[derive(Default)]
pub(super) struct Bodies {
    pub(super) steps: Vec<Box<dyn BodyStep>>,
    /// First velocity of each body, and the end of the last.
    pub(super) offsets: Vec<usize>,
    /// v₀ of all bodies.
    pub(super) start: Vec<f64>,
    pub(super) time_step: TimeStep,
    surfaces: Vec<Surface>,
    linearised_at: Vec<f64>,
    /// Whether each body's velocities are being solved for; the others keep theirs.
    is_moving: Vec<bool>,
}

impl Bodies {
    pub(super) fn of(world: &World) -> Self {
        let models = (0..world.n_bodies()).map(|b| world.model(BodyIdx(b)));
        Self {
            steps: models.map(|model| model.new_step()).collect(),
            ..Self::default()
        }
    }

    pub(super) fn begin(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        self.time_step = TimeStep::from(time_step_s);
        self.offsets.clear();
        self.offsets.push(0);
        self.start.clear();
        self.is_moving.clear();
        self.surfaces
            .resize_with(self.steps.len(), Surface::default);
        for (b, step) in self.steps.iter_mut().enumerate() {
            let input = StepInput {
                time_step: self.time_step,
                gravity: *world.gravity(),
                control: &state.controls[b],
            };
            let begun = step.begin(&state.bodies[b], &input);
            let begun = begun.and_then(|()| step.linearise_near_start(&mut self.linearised_at));
            begun.map_err(|source| StepError::of_body(world, state, BodyIdx(b), source))?;
            self.start.extend_from_slice(step.start_velocity());
            self.offsets.push(self.start.len());
            self.is_moving.push(true);
            match step.as_surface() {
                Some(motion) => motion.start_surface(&mut self.surfaces[b]),
                None => world
                    .model(BodyIdx(b))
                    .surface(&state.bodies[b], &mut self.surfaces[b]),
            }
        }
        Ok(())
    }

    pub(super) fn range(&self, body: BodyIdx) -> std::ops::Range<usize> {
        self.offsets[body.0]..self.offsets[body.0 + 1]
    }

    /// The body of a velocity.
    pub(super) fn body_of(&self, dof: usize) -> BodyIdx {
        BodyIdx(self.offsets.partition_point(|first| *first <= dof) - 1)
    }

    pub(super) fn surface(&self, body: BodyIdx) -> &Surface {
        &self.surfaces[body.0]
    }

    pub(super) fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    pub(super) fn is_moving(&self, body: BodyIdx) -> bool {
        self.is_moving[body.0]
    }

    /// Moves all bodies from now on.
    pub(super) fn move_all(&mut self) {
        self.is_moving.fill(true);
    }

    /// Moves these bodies alone from now on.
    pub(super) fn move_alone(&mut self, bodies: impl Iterator<Item = BodyIdx>) {
        self.is_moving.fill(false);
        bodies.for_each(|b| self.is_moving[b.0] = true);
    }

    /// δt times gravity and loads: what balances of momentum tell, and for linear ones m at the start velocities.
    pub(super) fn external_impulses(&self, out: &mut [f64]) -> Result<(), BodyFault> {
        self.residual(&self.start, out)?;
        for (b, step) in self.steps.iter().enumerate() {
            if let Some(balance) = step.as_balance() {
                balance.external_impulse(&mut out[self.range(BodyIdx(b))]);
            }
        }
        Ok(())
    }

    /// What the rounding of positions leaves of each balance, N·s: ε r A 1/δt with r the farthest coordinate of the body, for elastic forces are of
    /// differences of positions.
    pub(super) fn position_noise(&self, out: &mut [f64]) {
        let dt = self.time_step.length_s;
        for (b, surface) in self.surfaces.iter().enumerate() {
            let points = surface.vertices.iter().map(|p| p.coords);
            let origins = surface.frames.iter().map(|X_WF| X_WF.translation.vector);
            let reach = points.chain(origins).map(|p| p.amax()).fold(0.0, f64::max);
            let size = f64::EPSILON * reach / dt;
            out[self.range(BodyIdx(b))].fill(size);
        }
    }

    /// m(v) of the bodies that move.
    pub(super) fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyFault> {
        for (b, step) in self.steps.iter().enumerate() {
            if !self.is_moving[b] {
                continue;
            }
            let range = self.range(BodyIdx(b));
            let (v, out) = (&v[range.clone()], &mut out[range]);
            match step.as_balance() {
                Some(balance) => balance.residual(v, out).map_err(|e| (BodyIdx(b), e))?,
                None => {
                    let dynamics = step.dynamics();
                    dynamics.apply(v, out);
                    let b = dynamics.right_hand_side();
                    out.iter_mut().zip(b).for_each(|(m, b)| *m -= b);
                }
            }
        }
        Ok(())
    }

    /// ∂m/∂v of each body that moves; zero for the others.
    pub(super) fn tangents(&self, v: &[f64]) -> Result<Vec<BalanceTangent<'_>>, BodyFault> {
        let mut tangents: Vec<BalanceTangent<'_>> = Vec::with_capacity(self.steps.len());
        for (b, step) in self.steps.iter().enumerate() {
            tangents.push(match step.as_balance() {
                _ if !self.is_moving[b] => Box::new(|_, y| y.fill(0.0)),
                Some(balance) => balance
                    .tangent(&v[self.range(BodyIdx(b))])
                    .map_err(|e| (BodyIdx(b), e))?,
                None => Box::new(|x, y| step.dynamics().apply(x, y)),
            });
        }
        Ok(tangents)
    }
}
