//! Explicit substeps of material points in contact with rigid bodies, inside one time step.
//!
//! The interface between the asynchronous stepper and whatever computes the substeps is [`SubstepBackend`]: a backend holds the
//! particles, takes all N substeps of a time step, and returns the impulses of the rigid bodies. [`CpuSubsteps`] is the one of this crate.
//!
//! A substep of length h = Δt/N:
//!
//! ```text
//! p, m ← particles, with the impulses −h V τ of their stress       scatter
//! v*   = p/m + h g                                                explicit, prescribed nodes apart
//! v, V = argmin ½|v − v*|²_M + ½|V − V*|²_Λ⁻¹ + Σ ℓ(J v − J_r V)    contact, with the velocities V of the rigid links
//! x, F ← x + h v, (I + h ∇v) F, return mapping                     gather
//! ```
//!
//! Links have velocities of their own in every substep. Λ = J_r (A + B/N)⁻¹J_rᵀ is the response of their velocities to impulses on them,
//! with A and B of the rigid problem of the step ([`RigidMotion`]). With Λ = 0 their motion is prescribed: the coupling that Yu et al. (2025)
//! publish.
//!
//! Source: Yu, Du, Zong, Castro, Jiang, Han (2025), "A convex formulation of material points and rigid bodies with GPU-accelerated
//! async-coupling for interactive simulation", sections III to V.

mod arrow;
mod clock;
mod cloth;
mod contact_problem;
mod cpu;
mod detection;
mod device;
mod gauss_seidel;
mod laws;
mod links;
mod majoriser;
mod newton_cg;
mod node_numbers;
mod pair_sums;
mod prescribed;
mod primal;
mod quasi_newton;
mod solver;
mod solver_kind;
#[cfg(test)]
mod tests;
mod time_step;
mod warm_start;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{BodyError, BodyReport, BodyState, Control, Dissipation};
use pliant_hydroelastic::Shape;

pub use cpu::{CpuSubsteps, Precision};
pub use device::{DeviceCloth, DeviceObject, DeviceParticles, HeldSet};
pub use laws::{LaggedLaws, SubstepLaws};
pub use links::{LinkIdx, LinkImpulse, LinkMotion, RigidLinks, RigidMotion};
pub use solver_kind::SubstepSolver;
pub use time_step::{LimitReason, SubstepLimit};

/// Takes the substeps of one model of material points, on the processor or on a device.
///
/// [`begin`](Self::begin), [`limit`](Self::limit), [`run`](Self::run) and [`end`](Self::end) follow one another in every time step. What they write is a
/// function of their arguments alone.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling, SubstepContact, SubstepSolver, fill};
/// use pliant_mpm::{CpuSubsteps, SubstepBackend, SubstepInput, SubstepReport};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver: SubstepSolver::GaussSeidel, tolerance: 1e-2, iterations_max: 100 };
/// // A cube of foam falls for 1 ms in four substeps of symplectic Euler: v = −g Δt.
/// let input = SubstepInput {
///     time_step_s: 1e-3,
///     substeps: 4,
///     gravity: Vector3::new(0.0, 0.0, -9.81),
///     obstacles: &[],
/// #   control: &control, contact, laws: &LaggedLaws,
///     // and the model of contact
/// };
/// let mut backend = CpuSubsteps::<f64>::new(&model);
/// backend.begin(&model.default_state())?;
/// let mut report = SubstepReport::default();
/// backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
/// let _ = backend.end(&mut next)?;
/// assert_eq!(report.substeps, 4);
/// assert!(model.particles(&next).all(|p| (p.v_WP.z + 9.81e-3).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SubstepBackend: Send {
    /// Reads the particles of a state.
    ///
    /// # Errors
    /// A state that does not belong to the model, or is not finite.
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError>;

    /// The longest stable substep from the state that was read, and what sets it; `None` without particles.
    fn limit(&self) -> Option<SubstepLimit>;

    /// Announces the time step that [`SubstepBackend::run`] will take with the same arguments, between it and [`SubstepBackend::begin`]. A device that
    /// takes the substeps of many worlds together has to know all of them before the first `run`; others need no announcement.
    ///
    /// # Errors
    /// An input that the backend refuses.
    fn prepare(
        &mut self,
        _input: &SubstepInput<'_>,
        _links: &RigidLinks,
        _memory: &[ParticleImpulse],
    ) -> Result<(), BodyError> {
        Ok(())
    }

    /// Begins the time steps that were announced to the device of this backend, those of other worlds included, without waiting for them. Returns whether a
    /// device takes that of this one while the thread goes on. Without it [`SubstepBackend::run`] begins them.
    fn start(&mut self) -> bool {
        false
    }

    /// Takes all substeps of a time step. `links` moves on; `memory` holds the contact impulses of the last substep, in and out.
    ///
    /// # Errors
    /// A particle that leaves the grid or is not finite, named.
    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError>;

    /// Writes the particles to the state after the time step.
    ///
    /// # Errors
    /// A particle that left the model's bounds or is not finite, named.
    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError>;
}

/// The input of all substeps of a time step.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepReport, SubstepSolver, fill};
/// use pliant_mpm::SubstepInput;
///
/// // A cube of foam falls from rest for 2 ms in N substeps of symplectic Euler: by g Δt² (N + 1)/2N.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, 0.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let start = model.default_state();
/// for (substeps, factor) in [(1, 1.0), (4, 0.625)] {
///     let input = SubstepInput {
///         time_step_s: 2e-3,
///         substeps,
///         gravity: Vector3::new(0.0, 0.0, -9.81),
///         control: &control,
///         obstacles: &[],
///         contact,
///         laws: &LaggedLaws,
///     };
/// #     let mut backend = CpuSubsteps::<f64>::new(&model);
/// #     backend.begin(&start)?;
/// #     backend.run(&input, &mut links, &mut Vec::new(), &mut SubstepReport::default())?;
/// #     let _ = backend.end(&mut next)?;
///     let fallen = start.q[2] - next.q[2]; // of the first particle
///     assert!((fallen - factor * 9.81 * 2e-3 * 2e-3).abs() < 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SubstepInput<'a> {
    /// Δt, s.
    pub time_step_s: f64,
    /// N, at least 1.
    pub substeps: u32,
    /// m/s², world axes.
    pub gravity: Vector3<f64>,
    /// Loads on particles, prescribed velocities of held sets.
    pub control: &'a Control,
    /// The rigid surfaces.
    pub obstacles: &'a [Obstacle],
    /// Regularisation of contact, and its solver.
    pub contact: SubstepContact,
    /// The model of contact.
    pub laws: &'a dyn SubstepLaws,
}

/// Numbers of contact within a substep.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepInput, SubstepReport, SubstepSolver, fill};
/// use pliant_mpm::SubstepContact;
///
/// // A cube of foam hits the floor: one iteration is too few for an error of 10⁻¹⁰.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// let contact = SubstepContact {
///     stiction_speed: 1e-4,
///     near_rigid: 0.1,
///     solver: SubstepSolver::Majoriser,
///     tolerance: 1e-10,
///     iterations_max: 1,
/// };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// # let (mut report, mut memory) = (SubstepReport::default(), Vec::new());
/// # backend.run(&input, &mut links, &mut memory, &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// assert!(report.unsolved > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubstepContact {
    /// v_s, m/s: slip below this counts as stiction.
    pub stiction_speed: f64,
    /// β: stiffness is capped where a contact oscillates with the period β h.
    pub near_rigid: f64,
    /// Which solver.
    pub solver: SubstepSolver,
    /// ε_r: a substep is solved when the error of its impulses is below this part of them.
    pub tolerance: f64,
    /// Iterations of the solver in a substep.
    pub iterations_max: u32,
}

/// A rigid surface that particles may touch.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling, SubstepBackend};
/// # use pliant_mpm::{SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// use pliant_mpm::{Obstacle, ObstaclePair};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::translation(0.0, 0.0, 0.02), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver: SubstepSolver::GaussSeidel, tolerance: 1e-2, iterations_max: 100 };
/// // A cube of foam of 25.6 g hits the floor at 1 m/s.
/// let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// let floor = Obstacle {
///     shape: Shape::half_space(),
///     link: None,
///     X_LG: Isometry3::identity(),
///     surface_velocity: Vector3::zeros(),
///     pairs: vec![Some(pair)], // one entry for each object
/// };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// # let mut report = SubstepReport::default();
/// # backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// // The impulse of the floor is the change of momentum.
/// let momentum = |state: &BodyState| model.energy(state, &Vector3::zeros()).linear_momentum_W;
/// let impulse = report.pairs[0].impulse_W;
/// assert!(impulse.z > 0.0);
/// assert!((momentum(&next) - momentum(&model.default_state()) - impulse).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Its shape.
    pub shape: Shape,
    /// The link that it is mounted on; `None` in the world.
    pub link: Option<LinkIdx>,
    /// Pose in the frame of the link, in the world without one.
    pub X_LG: Isometry3<f64>,
    /// Velocity of the surface over its link, m/s, in the frame of the shape: a conveyor belt.
    pub surface_velocity: Vector3<f64>,
    /// Contact parameters with each object of the model; `None` for objects that it has no contact with.
    pub pairs: Vec<Option<ObstaclePair>>,
}

/// Contact parameters of an obstacle and an object.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// use pliant_mpm::ObstaclePair;
///
/// // A cube of foam hits ice at 45 degrees: the impulse is along the normal.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(1.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.0 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// # let (mut report, mut memory) = (SubstepReport::default(), Vec::new());
/// # backend.run(&input, &mut links, &mut memory, &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// let impulse = report.pairs[0].impulse_W;
/// assert!(impulse.z > 0.01 && impulse.xy().norm() == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstaclePair {
    /// k of each particle, N/m.
    pub stiffness: f64,
    /// Dissipation.
    pub dissipation: Dissipation,
    /// μ.
    pub friction: f64,
}

/// The contact impulse of a particle in the last substep: a warm start.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// // A cube of foam hits the floor, in one substep: the impulses of its particles are that of the cube.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 1, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// let (mut report, mut memory) = (SubstepReport::default(), Vec::new());
/// backend.run(&input, &mut links, &mut memory, &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// assert_eq!(memory.len(), 16); // the lowest of four layers
/// let sum: Vector3<f64> = memory.iter().map(|particle| particle.force_W * input.time_step_s).sum();
/// assert!((sum - report.pairs[0].impulse_W).norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleImpulse {
    /// Identity of the particle.
    pub particle: u32,
    /// The obstacle.
    pub obstacle: u32,
    /// Impulse on the particle over the length of the substep, N, world axes.
    pub force_W: Vector3<f64>,
}

/// What the substeps of a time step did.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// // A cube of foam hits the floor, with the lowest 16 of its 64 particles.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// let mut report = SubstepReport::default();
/// backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// assert_eq!((report.substeps, report.contacts_max, report.unsolved), (4, 16, 0));
/// assert!(report.contacts <= 4 * 16 && report.iterations >= 4 && report.pairs.len() == 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct SubstepReport {
    /// N.
    pub substeps: u32,
    /// Contacts, summed over the substeps.
    pub contacts: u64,
    /// The most contacts of a substep.
    pub contacts_max: u32,
    /// Iterations of the contact solver, summed over the substeps.
    pub iterations: u64,
    /// Substeps whose contact problem missed its tolerance.
    pub unsolved: u32,
    /// Impulses between each pair of object and obstacle, ascending.
    pub pairs: Vec<PairImpulse>,
    /// Time of each stage, s.
    pub times: StageTimes,
}

/// Where the time of the substeps goes, s of wall time.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// use pliant_mpm::StageTimes;
/// use std::time::Instant;
///
/// // A cube of foam hits the floor, twice.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// let (mut sum, start) = (StageTimes::default(), Instant::now());
/// for _ in 0..2 {
///     let mut report = SubstepReport::default();
///     backend.begin(&model.default_state())?;
///     backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
/// #     let _ = backend.end(&mut next)?;
///     sum += report.times;
/// }
/// let total = sum.sort_s + sum.scatter_s + sum.detect_s + sum.solve_s + sum.gather_s;
/// assert!(sum.scatter_s > 0.0 && total <= start.elapsed().as_secs_f64());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Laying the grid and sorting particles.
    pub sort_s: f64,
    /// Stress and scatter.
    pub scatter_s: f64,
    /// Finding contacts.
    pub detect_s: f64,
    /// Solving contacts.
    pub solve_s: f64,
    /// Gather, deformation, return mapping.
    pub gather_s: f64,
}

impl std::ops::AddAssign for StageTimes {
    fn add_assign(&mut self, other: Self) {
        self.sort_s += other.sort_s;
        self.scatter_s += other.scatter_s;
        self.detect_s += other.detect_s;
        self.solve_s += other.solve_s;
        self.gather_s += other.gather_s;
    }
}

/// The impulse of an obstacle on an object in a time step.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel, Dissipation};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Obstacle, ObstaclePair, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver, fill};
/// // A cube of foam of 25.6 g hits the floor at 1 m/s.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let pair = ObstaclePair { stiffness: 1e4, dissipation: Dissipation::HuntCrossley(0.0), friction: 0.5 };
/// # let floor = Obstacle {
/// #     shape: Shape::half_space(),
/// #     link: None,
/// #     X_LG: Isometry3::identity(),
/// #     surface_velocity: Vector3::zeros(),
/// #     pairs: vec![Some(pair)],
/// # };
/// # let solver = SubstepSolver::GaussSeidel;
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver, tolerance: 1e-2, iterations_max: 100 };
/// # let input = SubstepInput {
/// #     time_step_s: 2e-3, substeps: 4, gravity: Vector3::zeros(), control: &control, obstacles: &[floor], contact, laws: &LaggedLaws,
/// # };
/// # let mut backend = CpuSubsteps::<f64>::new(&model);
/// # backend.begin(&model.default_state())?;
/// # let (mut report, mut memory) = (SubstepReport::default(), Vec::new());
/// # backend.run(&input, &mut links, &mut memory, &mut report)?;
/// # let _ = backend.end(&mut next)?;
/// let pair = &report.pairs[0];
/// assert_eq!((pair.object, pair.obstacle), (0, 0));
/// assert!((pair.normal_W - Vector3::z()).norm() < 1e-12 && pair.signed_distance < 0.0);
/// // It acts at the middle of the base. A rebound would take no more than twice the momentum.
/// assert!(pair.p_WC.norm() < 2e-3 && pair.impulse_W.z > 0.0 && pair.impulse_W.z < 2.0 * 0.0256);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairImpulse {
    /// Index of the object in the model.
    pub object: u32,
    /// Index of the obstacle.
    pub obstacle: u32,
    /// On the object, N·s, world axes.
    pub impulse_W: Vector3<f64>,
    /// Mean point of action, m.
    pub p_WC: Vector3<f64>,
    /// Mean normal, from the obstacle into the object, weighted by the normal impulse.
    pub normal_W: Vector3<f64>,
    /// The deepest signed distance, m, negative in penetration.
    pub signed_distance: f64,
}
