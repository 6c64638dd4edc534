//! How the force balance of a step was met.

use std::time::Duration;

use pliant_contact_sap::{SolveReport, StopReason};

use crate::report::StepReport;

/// The solution of a step of [`PenaltyForce`](crate::PenaltyForce).
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, PenaltyForce, State, WorldBuilder};
/// use pliant_coupling::{PenaltyForceSettings, Stepper};
///
/// // A box meets the floor.
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// let settings = PenaltyForceSettings { tolerance: 1e-8, ..PenaltyForceSettings::default() };
/// # let mut stepper = PenaltyForce::new(settings)?;
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let balance = report.penalty_force.expect("of a penalty-force stepper");
/// assert!(balance.residual <= settings.tolerance && balance.iterations > 0);
/// assert!(balance.krylov_vectors >= balance.iterations); // each iteration solves a linear system
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PenaltyForceReport {
    /// Newton iterations of the island with the most.
    pub iterations: usize,
    /// Vectors of GMRES over all iterations and islands.
    pub krylov_vectors: usize,
    /// ‖g‖ of an island at the end, over the largest of ‖m(v₀)‖, ‖δt Sᵀf‖ and the impulses of gravity and loads; the largest of all islands.
    pub residual: f64,
    /// The steps that it was divided into: 1 unless it did not converge, or gained energy, as a whole.
    pub parts: usize,
    /// How far attachments on triangle meshes walked.
    pub walks: WalkCounts,
    /// Where the time went.
    pub times: PenaltyForceTimes,
}

/// Attachments on triangle meshes by the states that their relaxation went through: triangles that they slid on, edges that they slid along, vertices that
/// they left (Ding and Schroeder 2020, section 2.1.3). Attachments of separated particles are left out.
///
/// ```
/// use pliant_coupling::WalkCounts;
///
/// // 997 attachments stay within their triangles, two slide over an edge, one walks on to a fourth state.
/// let walks = WalkCounts { by_states: [997, 2, 0, 1, 0] };
/// assert_eq!((walks.total(), walks.share_ending_at_start()), (1000, 0.997));
/// assert_eq!((walks + walks).most_states(), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCounts {
    /// How many went through 1, 2, 3, 4, and 5 or more states.
    pub by_states: [usize; 5],
}

impl WalkCounts {
    /// Counts a walk through that many states, at least one.
    pub(super) fn count(&mut self, states: usize) {
        let last = self.by_states.len() - 1;
        self.by_states[states.saturating_sub(1).min(last)] += 1;
    }

    /// All walks.
    #[must_use]
    pub fn total(&self) -> usize {
        self.by_states.iter().sum()
    }

    /// The share of those that end in the state in which they start; NaN without walks.
    #[must_use]
    pub fn share_ending_at_start(&self) -> f64 {
        self.by_states[0] as f64 / self.total() as f64
    }

    /// States of the longest walk, where 5 stands for 5 or more; 0 without walks.
    #[must_use]
    pub fn most_states(&self) -> usize {
        let longest = self.by_states.iter().rposition(|n| *n > 0);
        longest.map_or(0, |states| states + 1)
    }
}

impl std::ops::Add for WalkCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            by_states: std::array::from_fn(|k| self.by_states[k] + other.by_states[k]),
        }
    }
}

/// Where the time of a step goes; the rest is the linear solver's and the bookkeeping.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, PenaltyForce, PenaltyForceSettings, State, WorldBuilder};
/// use pliant_coupling::{PenaltyForceTimes, Stepper};
/// use std::time::Instant;
///
/// // A box meets the floor: the times of two steps are added up.
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = PenaltyForce::new(PenaltyForceSettings::default())?;
/// let (mut sum, start) = (PenaltyForceTimes::default(), Instant::now());
/// for _ in 0..2 {
///     let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
///     sum = sum + report.penalty_force.expect("of a penalty-force stepper").times;
/// }
/// assert!(!sum.forces.is_zero() && sum.detection + sum.forces + sum.material <= start.elapsed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PenaltyForceTimes {
    /// Searching for contacts.
    pub detection: Duration,
    /// Relaxation, contact forces and products with their derivatives.
    pub forces: Duration,
    /// The bodies' balances of momentum and products with their derivatives.
    pub material: Duration,
}

impl std::ops::Add for PenaltyForceTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            detection: self.detection + other.detection,
            forces: self.forces + other.forces,
            material: self.material + other.material,
        }
    }
}

/// How Newton's method ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) stop: StopReason,
    pub(super) islands: usize,
    /// Of the island with the most, and of all.
    pub(super) iterations: usize,
    pub(super) iterations_total: usize,
    pub(super) krylov: usize,
    pub(super) evaluations: usize,
    pub(super) times: PenaltyForceTimes,
    pub(super) walks: WalkCounts,
    /// The largest ‖g‖ of an island, and the largest relative to what it is compared with.
    pub(super) residual: f64,
    pub(super) relative_residual: f64,
}

impl Outcome {
    pub(super) fn describe(&self, report: &mut StepReport) {
        report.convergence.solve = SolveReport {
            stop: self.stop,
            islands: self.islands,
            iterations: self.iterations,
            iterations_total: self.iterations_total,
            inner_iterations: self.krylov,
            line_search_evaluations: self.evaluations,
            residual: self.residual,
            ..SolveReport::default()
        };
        report.penalty_force = Some(PenaltyForceReport {
            iterations: self.iterations,
            krylov_vectors: self.krylov,
            times: self.times,
            residual: self.relative_residual,
            parts: 1,
            walks: self.walks,
        });
    }
}
