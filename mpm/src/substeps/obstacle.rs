//! Rigid surfaces that particles touch, and the parameters of contact with each object.

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::Dissipation;
use pliant_hydroelastic::Shape;

use super::links::LinkIdx;

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
