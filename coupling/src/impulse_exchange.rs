//! An explicit baseline for the strong-implicit stepper: impulses exchanged between grids and rigid geometries in every substep.

mod nodes;
mod particles;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Cancellation, ConvexContactSolver, Integration, Load,
    MaterialPoint, PointMass, StepInput, TimeStep,
};

use crate::error::StepError;
use crate::report::{ContactForce, StepReport};
use crate::split_world::{ExplicitBody, Obstacle, SplitWorld};
use crate::state::State;
use crate::stepper::{Reactions, Stepper};
use crate::strong_implicit::StrongImplicit;
use crate::world::{BodyIdx, GeometryIdx, World};

/// Where impulses of rigid geometries act.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_coupling::{ExchangeAt, ImpulseExchange};
///
/// // A cube of dough, 4 mm above the floor, on a grid of 20 mm: nodes in the floor hold it up already.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # builder.add_geometry(Geometry::of_vertices("dough", body, ContactMaterial::default()));
/// # let floor = Mount::World(Isometry3::translation(0.0, 0.0, -0.024));
/// # builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), ContactMaterial::default()));
/// # let (world, mut next) = (builder.build()?, State::default());
/// for (at, touches) in [(ExchangeAt::Nodes, true), (ExchangeAt::Particles, false)] {
/// #     let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
///     let mut stepper = ImpulseExchange::new(implicit, 4, at);
///     let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
///     assert_eq!(!report.contacts.is_empty(), touches);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExchangeAt {
    /// A grid node inside a shape takes the shape's velocity along the normal, and Coulomb friction along the surface. Shapes act
    /// up to one cell away, the support of a node's mass.
    #[default]
    Nodes,
    /// A particle whose ball overlaps a shape gets a spring force with the pair's stiffness and dissipation, and Coulomb friction, both
    /// evaluated at the start of a substep. Springs too stiff for a substep are softened.
    Particles,
}

/// Steps the bodies of a [`World`] that offer [`PointMasses`](pliant_contact_sap::PointMasses) explicitly, in `substeps` substeps, and all
/// others by [`StrongImplicit`], in one step.
///
/// Contact acts explicitly in every substep, see [`ExchangeAt`]. Rigid velocities are frozen over the substeps; the sum of the impulses
/// acts as a force in the rigid step. ManiSkill2 (Gu et al. 2023) couples material points with robots in this way. It is a baseline for
/// comparison: friction has no stiction across substeps, and the impulses of a grasp reach the rigid bodies one step late.
///
/// Constraints on such bodies and their contact with other deforming bodies are refused.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &cube, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// use pliant_coupling::{ExchangeAt, ImpulseExchange, Stepper};
///
/// // A cube of dough falls for 1 ms, in four substeps of symplectic Euler: v = −g δt.
/// let mut stepper = ImpulseExchange::new(implicit, 4, ExchangeAt::Nodes);
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// assert!(report.is_trusted());
/// assert!(next.bodies[0].v.chunks(3).all(|v| (v[2] + 9.81e-3).abs() < 1e-9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ImpulseExchange<S> {
    rigid: StrongImplicit<S>,
    substeps: usize,
    at: ExchangeAt,
    split: Option<SplitWorld>,
    state: State,
    next: State,
    nodes: Vec<PointMass>,
    velocity: Vec<f64>,
    particles: particles::Workspace,
    cancellation: Cancellation,
}

/// The exchange of each pair of a deformable and a rigid geometry in a step.
type ExchangedImpulses = BTreeMap<(GeometryIdx, GeometryIdx), Exchange>;

/// A substep in progress.
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

/// The impulse of one geometry on another in a step, and its mean point of action.
#[derive(Default)]
struct Exchange {
    impulse: Vector3<f64>,
    /// Σ |impulse| p and Σ |impulse|.
    moment: Vector3<f64>,
    size: f64,
    normal: Vector3<f64>,
    torque: Vector3<f64>,
}

impl<S: ConvexContactSolver> ImpulseExchange<S> {
    /// `rigid` steps everything but the explicit bodies, which take `substeps` substeps, at least one, in each step.
    pub fn new(rigid: StrongImplicit<S>, substeps: usize, at: ExchangeAt) -> Self {
        Self {
            rigid,
            substeps: substeps.max(1),
            at,
            split: None,
            state: State::default(),
            next: State::default(),
            nodes: Vec::new(),
            velocity: Vec::new(),
            particles: particles::Workspace::default(),
            cancellation: Cancellation::default(),
        }
    }

    /// Steps one explicit body through all substeps; impulses from rigid geometries are added to `exchanged`.
    fn substep(
        &mut self,
        world: &World,
        state: &State,
        split: &mut SplitWorld,
        number: usize,
        time_step_s: f64,
        exchanged: &mut ExchangedImpulses,
    ) -> Result<BodyState, StepError> {
        let ExplicitBody { body, step, parts } = &mut split.bodies[number];
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
            if self.cancellation.is_requested() {
                return Err(StepError::cancelled(state));
            }
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
                    nodes::exchange(&substep, &split.obstacles, &mut self.velocity, exchanged);
                }
                ExchangeAt::Particles => self
                    .particles
                    .exchange(&substep, &split.obstacles, &mut self.velocity, exchanged)
                    .map_err(failed)?,
            }
            let _ = step.advance(&self.velocity, &mut after).map_err(failed)?;
            std::mem::swap(&mut now, &mut after);
        }
        Ok(now)
    }
}

impl<S: ConvexContactSolver> Stepper for ImpulseExchange<S> {
    /// In the report each explicit geometry has one contact with each rigid one: the mean force over the step at its mean point of
    /// action.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        StepError::check_time_step(time_step_s)?;
        let known = |split: &SplitWorld| Arc::ptr_eq(&split.of.parts, &world.parts);
        let mut split = match self.split.take().filter(known) {
            Some(split) => split,
            None => SplitWorld::of(world, state, |model| {
                model.new_step().as_point_masses().is_some()
            })?,
        };
        split.without_explicit(state, &mut self.state);
        split.place_obstacles(
            world,
            &self.state,
            self.rigid.settings().integration,
            time_step_s,
        )?;
        let mut exchanged = ExchangedImpulses::new();
        let mut ends = Vec::with_capacity(split.bodies.len());
        for number in 0..split.bodies.len() {
            let end = self.substep(
                world,
                state,
                &mut split,
                number,
                time_step_s,
                &mut exchanged,
            )?;
            ends.push(end);
        }
        for (&(_, geometry), exchange) in &exchanged {
            let obstacle = split.obstacles.iter().find(|o| o.geometry == geometry);
            if let Some((body, frame, p_FG)) = obstacle.and_then(|o| o.mount) {
                self.state.controls[body.0].loads.push(Load {
                    point: MaterialPoint::on_frame(frame, p_FG),
                    force_W: -exchange.impulse / time_step_s,
                    torque_W: -exchange.torque / time_step_s,
                });
            }
        }
        self.rigid.step_into(
            &split.world,
            &self.state,
            time_step_s,
            &mut self.next,
            report,
        )?;
        std::mem::swap(next, &mut self.next);
        next.controls.clone_from(&state.controls);
        for (explicit, end) in split.bodies.iter().zip(ends) {
            next.bodies[explicit.body.0] = end;
        }
        report.contacts.extend(
            exchanged
                .iter()
                .map(|(&(soft, rigid), exchange)| exchange.contact(soft, rigid, time_step_s)),
        );
        report.contacts.sort_by_key(|c| (c.a, c.b));
        self.split = Some(split);
        Ok(())
    }

    /// Of bodies that are not explicit.
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.rigid.cancel_with(cancellation);
    }

    fn reactions(&self, body: BodyIdx) -> Reactions {
        self.rigid.reactions(body)
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
            torque_W: Vector3::zeros(),
            signed_distance: 0.0,
            patch: None,
        }
    }
}
