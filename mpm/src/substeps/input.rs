//! The input of the substeps of a time step, with the numbers of contact.

use nalgebra::Vector3;
use pliant_contact_sap::Control;

use super::laws::SubstepLaws;
use super::obstacle::Obstacle;
use super::solver_kind::SubstepSolver;

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
