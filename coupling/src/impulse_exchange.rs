//! The explicit opponent of the strong-implicit stepper: impulses exchanged between grids and rigid things, substep by substep.

mod absent;
mod nodes;
mod particles;
mod twin;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, ConvexContactSolver, Integration, Load, MaterialPoint,
    PointMass, StepInput, TimeStep,
};

use crate::error::StepError;
use crate::report::{ContactForce, StepReport};
use crate::state::State;
use crate::strong_implicit::StrongImplicit;
use crate::world::{GeometryIdx, World};
use twin::{ExplicitBody, Obstacle, Twin};

/// What gets the impulses of rigid things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExchangeAt {
    /// A grid node inside a shape takes the shape's velocity along the normal, and Coulomb friction along the surface. Shapes are
    /// felt up to a cell away, as far as a node's mass reaches.
    #[default]
    Nodes,
    /// A particle whose ball is in a shape is pushed out by a spring of the pair's stiffness and dissipation, and rubbed by μ times
    /// that against its slip, both as they are at the start of a substep. Springs too stiff for a substep are softened.
    Particles,
}

/// Steps the bodies of a [`World`] that meet on a grid explicitly, in `substeps` substeps, and everything else as
/// [`StrongImplicit`] does, in one.
///
/// Contact acts explicitly in every substep, see [`ExchangeAt`]; rigid things keep their velocities meanwhile and feel the sum of
/// the impulses as a force in their own step. That is how ManiSkill2 (Gu et al. 2023) couples material points with robots, its
/// tasks at nodes or at particles or at both. It is there to be compared with: nothing constraints friction to stiction over
/// substeps, and what is grasped does not know of the grasp before the step is over.
///
/// Constraints to such bodies and contact of theirs with other deforming bodies are refused.
pub struct ImpulseExchange<S> {
    rigid: StrongImplicit<S>,
    substeps: usize,
    at: ExchangeAt,
    twin: Option<Twin>,
    state: State,
    next: State,
    nodes: Vec<PointMass>,
    velocity: Vec<f64>,
    particles: particles::Workspace,
}

/// What every pair of a soft and a rigid geometry exchanges in a step.
type Ledger = BTreeMap<(GeometryIdx, GeometryIdx), Exchange>;

/// A substep that has begun.
struct Substep<'a> {
    world: &'a World,
    /// The geometry of each part of the body.
    parts: &'a [Option<GeometryIdx>],
    step: &'a dyn BodyStep,
    nodes: &'a [PointMass],
    /// Since the start of the step, s.
    passed_s: f64,
    length_s: f64,
}

/// What one geometry did to another in a step, as an impulse at a point.
#[derive(Default)]
struct Exchange {
    impulse: Vector3<f64>,
    /// Σ |impulse| p and Σ |impulse|: where it acted on average.
    moment: Vector3<f64>,
    size: f64,
    normal: Vector3<f64>,
    torque: Vector3<f64>,
}

impl<S: ConvexContactSolver> ImpulseExchange<S> {
    /// With so many substeps, at least one, in each step.
    pub fn new(solver: S, substeps: usize, at: ExchangeAt) -> Self {
        Self {
            rigid: StrongImplicit::new(solver),
            substeps: substeps.max(1),
            at,
            twin: None,
            state: State::default(),
            next: State::default(),
            nodes: Vec::new(),
            velocity: Vec::new(),
            particles: particles::Workspace::default(),
        }
    }

    /// Steps `state` by `time_step_s` into `next`, whose memory is reused; `state` stays as it is.
    ///
    /// In the report a geometry of material points has one contact with each rigid one: the mean force over the step, where it
    /// acted on average.
    ///
    /// # Errors
    /// As [`StrongImplicit::step`]; [`BodyError::Unsupported`] for what this stepper does not do.
    pub fn step(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
    ) -> Result<StepReport, StepError> {
        if !(time_step_s > 0.0 && time_step_s.is_finite()) {
            return Err(StepError::TimeStep(time_step_s));
        }
        let known = |twin: &Twin| Arc::ptr_eq(&twin.of.parts, &world.parts);
        let mut twin = match self.twin.take().filter(known) {
            Some(twin) => twin,
            None => Twin::of(world, state)?,
        };
        twin.leave_out(state, &mut self.state);
        twin.place_obstacles(world, &self.state, time_step_s)?;
        let mut ledger = Ledger::new();
        let mut ends = Vec::with_capacity(twin.bodies.len());
        for number in 0..twin.bodies.len() {
            let end = self.substep(world, state, &mut twin, number, time_step_s, &mut ledger)?;
            ends.push(end);
        }
        for (&(_, geometry), exchange) in &ledger {
            let obstacle = twin.obstacles.iter().find(|o| o.geometry == geometry);
            if let Some((body, frame, p_FG)) = obstacle.and_then(|o| o.mount) {
                self.state.controls[body.0].loads.push(Load {
                    point: MaterialPoint::on_frame(frame, p_FG),
                    force_W: -exchange.impulse / time_step_s,
                    torque_W: -exchange.torque / time_step_s,
                });
            }
        }
        let mut report = self
            .rigid
            .step(&twin.world, &self.state, time_step_s, &mut self.next)?;
        std::mem::swap(next, &mut self.next);
        next.controls.clone_from(&state.controls);
        for (explicit, end) in twin.bodies.iter().zip(ends) {
            next.bodies[explicit.body.0] = end;
        }
        report.contacts.extend(
            ledger
                .iter()
                .map(|(&(soft, rigid), exchange)| exchange.contact(soft, rigid, time_step_s)),
        );
        report.contacts.sort_by_key(|c| (c.a, c.b));
        self.twin = Some(twin);
        Ok(report)
    }

    /// One explicit body through all substeps; what it gets from rigid geometries is added to `ledger`.
    fn substep(
        &mut self,
        world: &World,
        state: &State,
        twin: &mut Twin,
        number: usize,
        time_step_s: f64,
        ledger: &mut Ledger,
    ) -> Result<BodyState, StepError> {
        let ExplicitBody { body, step, parts } = &mut twin.bodies[number];
        let body = *body;
        let failed = |source| StepError::of_body(world, state, body, source);
        let length_s = time_step_s / self.substeps as f64;
        let input = StepInput {
            time_step: TimeStep {
                length_s,
                integration: Integration::Symplectic,
            },
            gravity: world.parts.gravity,
            control: &state.controls[body.0],
        };
        let mut now = state.bodies[body.0].clone();
        let mut after = BodyState::default();
        for k in 0..self.substeps {
            step.begin(&now, &input).map_err(failed)?;
            let body = step
                .as_point_masses()
                .ok_or(BodyError::Unsupported {
                    what: "point masses",
                })
                .map_err(failed)?;
            body.point_masses(&mut self.nodes);
            self.velocity.clear();
            self.velocity.resize(3 * self.nodes.len(), 0.0);
            body.explicit_velocity(&mut self.velocity).map_err(failed)?;
            let substep = Substep {
                world,
                parts,
                step: step.as_ref(),
                nodes: &self.nodes,
                passed_s: length_s * k as f64,
                length_s,
            };
            match self.at {
                ExchangeAt::Nodes => {
                    nodes::exchange(&substep, &twin.obstacles, &mut self.velocity, ledger);
                }
                ExchangeAt::Particles => self
                    .particles
                    .exchange(&substep, &twin.obstacles, &mut self.velocity, ledger)
                    .map_err(failed)?,
            }
            let _ = step.advance(&self.velocity, &mut after).map_err(failed)?;
            std::mem::swap(&mut now, &mut after);
        }
        Ok(now)
    }
}

impl Exchange {
    fn add(
        &mut self,
        impulse: Vector3<f64>,
        p_WQ: &Point3<f64>,
        normal: &Vector3<f64>,
        obstacle: &Obstacle,
    ) {
        let size = impulse.norm();
        self.impulse += impulse;
        self.moment += p_WQ.coords * size;
        self.size += size;
        self.normal += normal * size;
        self.torque += (p_WQ - Point3::from(obstacle.pose.translation.vector)).cross(&impulse);
    }

    fn contact(&self, soft: GeometryIdx, rigid: GeometryIdx, time_step_s: f64) -> ContactForce {
        let p_WC = Point3::from(self.moment / self.size);
        let normal = self.normal.try_normalize(0.0).unwrap_or_else(Vector3::z);
        let force = self.impulse / time_step_s;
        let (a, b, sign) = if soft < rigid {
            (soft, rigid, 1.0)
        } else {
            (rigid, soft, -1.0)
        };
        ContactForce {
            a,
            b,
            p_WCa: p_WC,
            p_WCb: p_WC,
            normal_W: normal * sign,
            force_W: force * sign,
            signed_distance: 0.0,
            patch: None,
        }
    }
}
