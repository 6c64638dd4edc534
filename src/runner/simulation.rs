//! One step at a time: a scene under the control of the caller's loop. [`run`](super::run) is such a loop.

mod inputs;
mod recording;
mod state_mismatch;
mod step_parts;

use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pliant_contact_sap::{Cancellation, Control};
use pliant_coupling::{Adjoint, AdjointError, BodyIdx, State, StepReport, Stepper, World};
use pliant_multibody::Model;

use super::hooks::{NoHooks, Push};
use super::stepping::stepper;
use super::{ParticleDetail, Run, RunError};
use crate::recording::Stage;
use crate::registry::Snapshot;
use crate::scene::{Scene, SharedDevice};
pub use state_mismatch::StateMismatch;

/// A scene that is stepped by its caller. `S` holds the scene: `&Scene`, or `Arc<Scene>` for a simulation that outlives it.
///
/// ```
/// use pliant::runner::Simulation;
/// use pliant::scene::{Scene, SceneOptions};
///
/// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
/// let mut simulation = Simulation::new(&scene)?;
/// simulation.step(|_| {})?;
/// let saved = simulation.state().clone();
/// simulation.step(|_| {})?;
/// let ahead = simulation.state().clone();
///
/// simulation.set_state(saved)?;
/// simulation.step(|_| {})?;
/// assert_eq!(simulation.state(), &ahead);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation<S> {
    pub(super) run: Run<S>,
    stepper: Box<dyn Stepper>,
    /// What the stepper was made for.
    pub(super) device: SharedDevice,
    pub(super) state: State,
    next: State,
    pub(super) report: Option<StepReport>,
    /// For images, made with the first.
    pub(super) stage: Option<Stage>,
    recorded: Option<ParticleDetail>,
    /// Of the next step, or of the last.
    pushes: Vec<Push>,
    /// Steps from row to row and from frame to frame.
    row_every: u64,
    frame_every: u64,
    begin: Instant,
    cancellation: Cancellation,
}

impl<S: Deref<Target = Scene>> Simulation<S> {
    /// The scene at its start, without a recording.
    ///
    /// # Errors
    /// As [`check`](super::check), except for those of the first step.
    pub fn new(scene: S) -> Result<Self, RunError> {
        Self::of(Run::new(scene)?, None)
    }

    /// The scene at its start; every step is observed, and rows and frames are recorded at the scene's rates.
    ///
    /// ```
    /// use pliant::runner::{ParticleDetail, Simulation};
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let mut simulation = Simulation::recorded(&scene, ParticleDetail::Shown)?;
    /// for _ in 0..50 {
    ///     simulation.step(|_| {})?;
    /// }
    /// // Frames and rows of 0.1 s, those of the start and of the end included.
    /// let recording = simulation.finish()?.recording;
    /// assert!((recording.frames().times_s()[0], recording.row_times_s()?[0]) == (0.0, 0.0));
    /// assert!((recording.row_times_s()?.last().ok_or("no row")? - 0.1).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn recorded(scene: S, particles: ParticleDetail) -> Result<Self, RunError> {
        Self::of(Run::new(scene)?, Some(particles))
    }

    pub(super) fn of(mut run: Run<S>, recorded: Option<ParticleDetail>) -> Result<Self, RunError> {
        let device = SharedDevice::default();
        let stepper = stepper(&run.scene, &device)?;
        let dt = run.scene.simulation.time_step_s;
        let every = |rate: f64| ((1.0 / (rate * dt)).round() as u64).max(1);
        let row_every = every(run.scene.recording.rows_per_s);
        let frame_every = every(run.scene.recording.frames_per_s);
        let begin = Instant::now();
        let state = run.assembly.state.clone();
        if let Some(particles) = recorded {
            run.observe(&state, None);
            run.record_row(&state, &mut NoHooks)?;
            run.record_frame(&state, None, &[], particles, &mut NoHooks)?;
        }
        Ok(Self {
            next: state.clone(),
            run,
            stepper,
            device,
            state,
            report: None,
            stage: None,
            recorded,
            pushes: Vec::new(),
            row_every,
            frame_every,
            begin,
            cancellation: Cancellation::default(),
        })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.run.scene
    }

    /// Its world.
    pub fn world(&self) -> &World {
        &self.run.assembly.world
    }

    /// The present state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the last step did; `None` before the first, after an error, and after [`Simulation::set_state`].
    pub fn report(&self) -> Option<&StepReport> {
        self.report.as_ref()
    }

    /// Gradients of a function of the velocities at the end of the last step, with ∂L/∂v of some bodies; see [`Stepper::adjoint`].
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    /// use pliant_contact_sap::MaterialPoint;
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// simulation.step(|_| {})?;
    /// let (_, body) = simulation.bodies().next().ok_or("no body")?;
    /// let gradients = simulation.adjoint(&[(body, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])])?;
    /// let origin = MaterialPoint::on_frame(0, [0.0; 3].into());
    /// assert!(gradients.load(body, &origin)?.force_W.x > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AdjointError`]; [`AdjointError::NoStep`] also after [`Simulation::set_state`].
    pub fn adjoint(&mut self, slopes: &[(BodyIdx, &[f64])]) -> Result<Adjoint<'_>, AdjointError> {
        match self.report {
            Some(_) => self.stepper.adjoint(slopes),
            None => Err(AdjointError::NoStep),
        }
    }

    /// Steps end with [`StepError::Cancelled`](pliant_coupling::StepError::Cancelled) once `cancellation` is requested; the state is then the one
    /// before the step.
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    /// use pliant_contact_sap::Cancellation;
    ///
    /// let scene = Scene::load("box-stack", &SceneOptions::default())?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// let cancellation = Cancellation::default();
    /// simulation.cancel_with(&cancellation);
    /// cancellation.request(); // such as from another thread
    /// let before = simulation.state().clone();
    /// let error = simulation.step(|_| {}).unwrap_err();
    /// assert!(error.to_string().contains("was cancelled") && simulation.state().bodies == before.bodies);
    /// cancellation.withdraw();
    /// simulation.step(|_| {})?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
        self.stepper.cancel_with(cancellation);
    }

    /// Wall time since the start.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Names of bodies, robots and soft bodies, with their indices in the world. Material points and cloths on one grid are one body
    /// of the world: their names have the same index.
    pub fn bodies(&self) -> impl Iterator<Item = (&str, BodyIdx)> {
        self.run.assembly.directory.named_bodies()
    }

    /// The kinematic tree of a rigid body or robot; none of a soft body.
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("cart-pole", &SceneOptions::default())?;
    /// let simulation = Simulation::new(&scene)?;
    /// let (_, robot) = simulation.bodies().next().ok_or("no body")?;
    /// // A slide and a hinge.
    /// assert_eq!(simulation.tree(robot).ok_or("it is rigid")?.n_v(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tree(&self, body: BodyIdx) -> Option<&Arc<Model>> {
        self.run.assembly.trees().get(body.0)
    }

    /// Names of the scene's observables, in the order of the values of [`measure`](Self::measure). A scene without observables has
    /// default ones.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let columns = self.run.recording.observables().iter();
        columns.map(|column| &*column.name)
    }

    /// The observables at the present state, by their columns; NaN for what has no value, such as forces before the first step. Those
    /// that count over steps count the steps at which they are measured.
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("box-on-incline", &SceneOptions::default())?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// let speed = simulation.columns().position(|name| name == "box.speed").unwrap_or(0);
    /// assert_eq!(simulation.measure()[speed], 0.0);
    /// simulation.step(|_| {})?;
    /// assert!(simulation.measure()[speed] > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn measure(&mut self) -> Vec<f64> {
        let snapshot = Snapshot {
            world: &self.run.assembly.world,
            state: &self.state,
            step: (self.report.as_ref()).map(|report| (report, &self.next)),
        };
        let mut row = Vec::new();
        let directory = &self.run.assembly.directory;
        self.run.observer.measure(directory, &snapshot, &mut row);
        row
    }

    /// Takes one step of the scene's Δt. `control` gets the controls of every body, by [`BodyIdx`], after the scene's own drives have
    /// set theirs; what it sets holds until it or the scene changes it.
    ///
    /// ```
    /// use pliant::runner::Simulation;
    /// use pliant::scene::{Scene, SceneOptions};
    ///
    /// let scene = Scene::load("cart-pole", &SceneOptions::default())?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// let (_, robot) = simulation.bodies().find(|(name, _)| *name == "robot").ok_or("no robot")?;
    /// // A force of 5 N on the cart in every step.
    /// for _ in 0..10 {
    ///     simulation.step(|controls| controls[robot.0].effort[0] = 5.0)?;
    /// }
    /// let pushed = simulation.state().bodies[robot.0].v[0];
    /// let mut free = Simulation::new(&scene)?;
    /// for _ in 0..10 {
    ///     free.step(|_| {})?;
    /// }
    /// assert!(pushed > free.state().bodies[robot.0].v[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::Step`], without an outcome; the state is still that before the step. [`RunError::Recording`].
    pub fn step(&mut self, control: impl FnOnce(&mut [Control])) -> Result<(), RunError> {
        self.drive(control);
        self.finish_step()
    }

    /// Goes on from `state`, which keeps its time. What follows has the same bits as after the state was saved.
    ///
    /// # Errors
    /// A state that this world [cannot have](World::check_state); the present one is kept. A recorded simulation cannot go back in time: its next step is then an error.
    pub fn set_state(&mut self, state: State) -> Result<(), StateMismatch> {
        self.run.check_state(&state)?;
        self.state = state;
        self.report = None;
        Ok(())
    }
}
