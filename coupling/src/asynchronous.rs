//! The asynchronous stepper: explicit substeps of material points within each step of the rigid bodies.
//!
//! ```text
//! 1  predict   v̂ = argmin of the rigid problem with the particles' impulse Γ of the last step;  A_eff = its Hessian at v̂
//! 2  substeps  N times: particles, and the links in contact with them with the inertia A_eff
//! 3  correct   v = argmin of the rigid problem with the impulse Γ of these substeps
//! ```
//!
//! The links' velocities are unknowns of every substep. In it a body has its own inertia A; B = A_eff − A, by which other bodies that push on
//! it, limits and implicit actuators resist it, acts as a damper in every substep ([`pliant_mpm::RigidMotion`]). Particles therefore feel
//! joints, actuators and other bodies as impulses on the rigid problem do, and a stiff actuator takes energy from elastic waves faster than
//! the step. Both sides take the same Γ, so momentum is exact.
//!
//! Limits and contacts among rigid bodies are linearised at v̂. Where the corrected velocities differ much from those that this linearisation
//! gives, the substeps are taken again from the same state with the constraint forces at v̂ as constants, B = 0. A light body that static
//! friction holds at v̂ would otherwise take in the substeps impulses that friction cannot bear.
//!
//! With [`RigidCoupling::Weak`] the links keep their velocities of the step's start through all substeps, as published. It is stable only up
//! to a mass ratio.
//!
//! Source: Yu, Du, Zong, Castro, Jiang, Han (2025), "A convex formulation of material points and rigid bodies with GPU-accelerated
//! async-coupling for interactive simulation", for the weak coupling. The other is derived in `docs/theory/yu-2025.md`.

mod laws;
mod links;
mod report;
mod settings;
mod split;

use nalgebra::DVector;
use pliant_contact_sap::{BodyError, Cancellation, ConvexContactSolver};
use pliant_mpm::{
    CpuSubsteps, MaterialPoints, Obstacle, SubstepBackend, SubstepContact, SubstepInput,
    SubstepReport,
};

pub use links::FrameForce;
pub use report::AsynchronousReport;
pub use settings::{AsynchronousSettings, Precision, RigidCoupling, Substeps};
pub use split::ParticleForce;

use crate::error::{StepError, WorldError};
use crate::report::StepReport;
use crate::state::State;
use crate::stepper::{Reactions, Stepper};
use crate::strong_implicit::StrongImplicit;
use crate::world::{BodyIdx, World};
use laws::ModelLaws;
use links::Frames;
use settings::{CountFault, SUBSTEPS_MAX};
use split::ParticleSplit;

/// Makes what takes the substeps of a model.
type MakeBackend = Box<dyn Fn(&MaterialPoints) -> Box<dyn SubstepBackend> + Send>;

/// Steps the material points of a [`World`] in explicit substeps and everything else by [`StrongImplicit`].
///
/// Rigid bodies and robots take part in every substep through the links that carry a geometry. Deformable bodies other than material points
/// take part in the rigid problem; contact of particles with them is refused.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// use pliant_coupling::{Asynchronous, AsynchronousSettings, Precision, Stepper};
///
/// // A ball runs into a cube of dough, without gravity: what one loses the other gets.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut tree = ModelBuilder::new("ball");
/// # tree.root(Root::Floating);
/// # tree.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(0.1, 0.02)));
/// # let q = [0.0, 0.0, -0.041, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(tree.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
/// # let mut builder = WorldBuilder::default();
/// # builder.gravity(Vector3::zeros());
/// # let points = builder.add_body("dough", Box::new(model.build()?));
/// # let ball = builder.add_body("ball", Box::new(tree));
/// # let material = ContactMaterial::default();
/// # let on_dough = builder.add_geometry(Geometry::of_vertices("dough", points, material));
/// # let mount = Mount::Frame { body: ball, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = builder.add_geometry(Geometry::new("ball", mount, Shape::sphere(0.02)?, material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let settings = AsynchronousSettings { precision: Precision::Double, ..AsynchronousSettings::default() };
/// let mut stepper = Asynchronous::new(implicit, settings)?;
/// let state = world.default_state();
/// assert!(stepper.step(&world, &state, 5e-3, &mut next)?.is_trusted());
/// assert!(next.bodies[ball.0].v[5] < 0.99); // of 1 m/s
/// let [before, after] = [&state, &next].map(|state| world.energy(state).linear_momentum_W);
/// assert!((after - before).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Asynchronous<S> {
    rigid: StrongImplicit<S>,
    settings: AsynchronousSettings,
    make_backend: MakeBackend,
    split: Option<ParticleSplit>,
    /// The rigid part of the state, and where the rigid steps lead.
    state: State,
    next: State,
    substeps: SubstepReport,
    cancellation: Cancellation,
    begun: Option<Begun>,
}

/// A step whose substeps are announced to the backend.
struct Begun {
    step: u64,
    time_step_s: f64,
    substeps: u32,
    split: ParticleSplit,
    frames: Frames,
}

impl<S: ConvexContactSolver> Asynchronous<S> {
    /// `rigid` steps everything but the material points.
    ///
    /// # Errors
    /// [`WorldError::Parameter`] for settings out of range.
    pub fn new(
        rigid: StrongImplicit<S>,
        settings: AsynchronousSettings,
    ) -> Result<Self, WorldError> {
        settings.validate()?;
        let make_backend: MakeBackend = match settings.precision {
            Precision::Single => Box::new(|model| Box::new(CpuSubsteps::<f32>::new(model))),
            Precision::Double => Box::new(|model| Box::new(CpuSubsteps::<f64>::new(model))),
        };
        Ok(Self {
            rigid,
            settings,
            make_backend,
            split: None,
            state: State::default(),
            next: State::default(),
            substeps: SubstepReport::default(),
            cancellation: Cancellation::default(),
            begun: None,
        })
    }

    /// With substeps taken elsewhere, such as on a device.
    #[must_use]
    pub fn with_backend(
        self,
        make: impl Fn(&MaterialPoints) -> Box<dyn SubstepBackend> + Send + 'static,
    ) -> Self {
        Self {
            make_backend: Box::new(make),
            split: None,
            begun: None,
            ..self
        }
    }

    /// Gives the particles of `split` to its backend; returns N, zero without particles.
    fn begin(
        &self,
        world: &World,
        state: &State,
        split: &mut ParticleSplit,
        time_step_s: f64,
    ) -> Result<u32, StepError> {
        let Some(particles) = &mut split.particles else {
            return Ok(0);
        };
        let body = particles.body;
        particles.backend.cancel_with(&self.cancellation);
        (particles.backend.begin(&state.bodies[body.0]))
            .map_err(|source| StepError::of_body(world, state, body, source))?;
        particles.limit = particles.backend.limit();
        let limit = particles.limit.as_ref();
        let (step, time_s) = (state.step, state.time_s);
        let body = world.parts.bodies[body.0].name.clone();
        let counted = self.settings.count(time_step_s, limit);
        let limit = limit.map(ToString::to_string).unwrap_or_default();
        counted.map_err(|fault| match fault {
            CountFault::TooFew { least } => StepError::UnstableSubsteps {
                step,
                time_s,
                body,
                limit,
                least,
            },
            CountFault::TooMany { needed } => StepError::TooManySubsteps {
                step,
                time_s,
                body,
                limit,
                needed,
                most: SUBSTEPS_MAX,
            },
        })
    }

    /// Steps the rigid part with the forces of the particles.
    fn step_rigid(
        &mut self,
        split: &ParticleSplit,
        forces: &[FrameForce],
        time_step_s: f64,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        links::add_loads(forces, &mut self.state);
        let world = &split.rigid.world;
        (self.rigid).step_into(world, &self.state, time_step_s, &mut self.next, report)
    }

    /// How the links move in the substeps; if they respond, as in the last rigid step, which had the loads `forces`.
    fn frames(
        &mut self,
        world: &World,
        state: &State,
        split: &ParticleSplit,
        forces: &[FrameForce],
        (substeps, time_step_s): (u32, f64),
    ) -> Result<Frames, StepError> {
        match self.settings.coupling {
            RigidCoupling::Weak => {
                let integration = self.rigid.settings().integration;
                Frames::prescribed(split, &self.state, integration, time_step_s)
            }
            RigidCoupling::InSubstep => {
                let response = self.rigid.frame_response(&self.state, &split.frames)?;
                let last = links::impulses(forces, &split.frames, time_step_s);
                Frames::responding(response, last, substeps)
                    .ok_or_else(|| indefinite(world, state, split))
            }
        }
    }

    /// All of a step up to its substeps.
    fn begin_step(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        report: &mut StepReport,
    ) -> Result<Begun, StepError> {
        StepError::check_time_step(time_step_s)?;
        let mut split = match self.split.take().filter(|split| split.is_of(world)) {
            Some(split) => split,
            None => ParticleSplit::of(world, state, &self.make_backend)?,
        };
        let substeps = self.begin(world, state, &mut split, time_step_s)?;
        split.rigid.without_explicit(state, &mut self.state);
        // Memory of another world has frames that are not there.
        let known = |f: &&FrameForce| split.frames.contains(&(f.body, f.frame));
        let forces: Vec<FrameForce> =
            (state.memory.frame_forces.iter().filter(known).copied()).collect();
        if self.settings.coupling == RigidCoupling::InSubstep {
            self.step_rigid(&split, &forces, time_step_s, report)?;
        }
        let length = (substeps, time_step_s);
        let frames = self.frames(world, state, &split, &forces, length)?;
        Ok(Begun {
            step: state.step,
            time_step_s,
            substeps,
            split,
            frames,
        })
    }

    fn announce(&self, world: &World, state: &State, begun: &mut Begun) -> Result<(), StepError> {
        let Some(particles) = &mut begun.split.particles else {
            return Ok(());
        };
        let memory = particles.read_memory(&state.memory.particle_forces);
        let laws = ModelLaws(&*world.parts.contact.model);
        let length = (begun.substeps, begun.time_step_s);
        let (body, obstacles) = (particles.body, &particles.obstacles);
        let input = self.input((world, state), (body, obstacles), &laws, length);
        (particles
            .backend
            .prepare(&input, &begun.frames.links, &memory))
        .map_err(|source| StepError::of_body(world, state, body, source))
    }

    fn input<'a>(
        &self,
        (world, state): (&World, &'a State),
        (body, obstacles): (BodyIdx, &'a [Obstacle]),
        laws: &'a ModelLaws<'a>,
        (substeps, time_step_s): (u32, f64),
    ) -> SubstepInput<'a> {
        let contact = &world.parts.contact;
        SubstepInput {
            time_step_s,
            substeps,
            gravity: world.parts.gravity,
            control: &state.controls[body.0],
            obstacles,
            contact: SubstepContact {
                stiction_speed: contact.stiction_speed,
                near_rigid: contact.near_rigid_period(),
                solver: self.settings.solver,
                tolerance: self.settings.tolerance,
                iterations_max: self.settings.iterations_max,
            },
            laws,
        }
    }

    /// The `substeps` of a step of `split`, with the links moving as `frames` says; returns the warnings of the body.
    fn take_substeps(
        &mut self,
        world: &World,
        state: &State,
        split: &mut ParticleSplit,
        frames: &mut Frames,
        length: (u32, f64),
        next: &mut State,
    ) -> Result<Vec<String>, StepError> {
        let Some(particles) = &mut split.particles else {
            next.memory.particle_forces.clear();
            return Ok(Vec::new());
        };
        let body = particles.body;
        let failed = |source: BodyError| StepError::of_body(world, state, body, source);
        let mut memory = particles.read_memory(&state.memory.particle_forces);
        let laws = ModelLaws(&*world.parts.contact.model);
        let input = self.input((world, state), (body, &particles.obstacles), &laws, length);
        let backend = &mut particles.backend;
        let run = backend.run(&input, &mut frames.links, &mut memory, &mut self.substeps);
        run.map_err(failed)?;
        let ended = backend.end(&mut next.bodies[body.0]).map_err(failed)?;
        let name = &world.parts.bodies[body.0].name;
        particles.write_memory(&memory, &mut next.memory.particle_forces);
        let warnings = ended.warnings.into_iter();
        Ok(warnings.map(|w| format!("body \"{name}\": {w}")).collect())
    }
}

impl<S: ConvexContactSolver> Stepper for Asynchronous<S> {
    /// In the report each object of material points has one contact with each rigid geometry that it touched: the mean force over the step
    /// at its mean point of action.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let is_this = |begun: &Begun| {
            let is_of_world = begun.split.is_of(world);
            is_of_world && begun.step == state.step && begun.time_step_s == time_step_s
        };
        let begun = self.begun.take().filter(is_this);
        let Begun {
            substeps,
            mut split,
            mut frames,
            ..
        } = match begun {
            Some(begun) => begun,
            None => self.begin_step(world, state, time_step_s, report)?,
        };
        next.bodies
            .resize_with(state.bodies.len(), Default::default);
        let length = (substeps, time_step_s);
        let mut passes = 0;
        let (warnings, forces, error) = loop {
            passes += 1;
            split.rigid.without_explicit(state, &mut self.state);
            let warnings =
                self.take_substeps(world, state, &mut split, &mut frames, length, next)?;
            let forces = frames.forces(&split.frames, time_step_s);
            self.step_rigid(&split, &forces, time_step_s, report)?;
            let error = frames.linearisation_error(self.rigid.solution());
            if error <= LINEARISATION_ERROR_MAX || passes == 2 {
                break (warnings, forces, error);
            }
            self.begin(world, state, &mut split, time_step_s)?;
            frames = frames
                .with_constant_constraint_forces(substeps)
                .ok_or_else(|| indefinite(world, state, &split))?;
        };
        if let Some(mean) = frames.mean_velocity(self.rigid.solution()) {
            let in_contact = |body: BodyIdx| forces.iter().any(|f| f.body == body);
            self.rigid
                .move_along(&self.state, time_step_s, &mean, in_contact, &mut self.next)?;
        }
        split.adopt_rigid(state, &mut self.next, next);
        next.memory.frame_forces = forces;
        split.describe(&self.substeps, (passes, error), time_step_s, report);
        report.warnings.extend(warnings);
        self.split = Some(split);
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.rigid.cancel_with(cancellation);
    }

    fn prepare(&mut self, world: &World, state: &State, time_step_s: f64) -> Result<(), StepError> {
        // The end of the step describes it.
        let mut report = StepReport::default();
        let mut begun = self.begin_step(world, state, time_step_s, &mut report)?;
        self.announce(world, state, &mut begun)?;
        self.begun = Some(begun);
        Ok(())
    }

    fn start(&mut self) -> bool {
        let particles = (self.begun.as_mut()).and_then(|begun| begun.split.particles.as_mut());
        particles.is_some_and(|particles| particles.backend.start())
    }

    /// Of bodies other than material points.
    fn reactions(&self, body: BodyIdx) -> Reactions {
        self.rigid.reactions(body)
    }
}

/// Error of the linearisation of the rigid problem above which the substeps of a step are taken again, relative to the effect of the
/// impulses: [`Frames::linearisation_error`].
const LINEARISATION_ERROR_MAX: f64 = 0.1;

fn indefinite(world: &World, state: &State, split: &ParticleSplit) -> StepError {
    let body = split.frames.first().map_or(BodyIdx(0), |f| f.0);
    let source = "the inertia of the rigid bodies is not positive definite";
    StepError::of_body(world, state, body, BodyError::Model(source.into()))
}

/// A vector of all rigid velocities.
type RigidVelocity = DVector<f64>;
