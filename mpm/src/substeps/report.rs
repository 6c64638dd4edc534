//! What the substeps of a time step report: counts, impulses of pairs, and times of the stages.

use nalgebra::Vector3;

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
/// assert_eq!(pair.friction_excess, 0.0);
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
    /// Σ ‖γ_t‖ over all contacts and substeps, N·s.
    pub friction: f64,
    /// Σ (‖γ_t‖ − μ γ_n)₊ beyond round-off, N·s: the friction that Coulomb's law does not allow.
    pub friction_excess: f64,
    /// Mean point of action, m.
    pub p_WC: Vector3<f64>,
    /// Mean normal, from the obstacle into the object, weighted by the normal impulse.
    pub normal_W: Vector3<f64>,
    /// The deepest signed distance, m, negative in penetration.
    pub signed_distance: f64,
}
