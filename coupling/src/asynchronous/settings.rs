//! Settings of the asynchronous stepper.

use pliant_mpm::{SubstepLimit, SubstepSolver};

use crate::error::{WorldError, WorldPart};

/// Settings of [`Asynchronous`](super::Asynchronous).
///
/// ```
/// use pliant_coupling::{AsynchronousSettings, Substeps};
///
/// let settings = AsynchronousSettings { substeps: Substeps::Fixed(20), ..AsynchronousSettings::default() };
/// assert!(settings.validate().is_ok());
/// let none = AsynchronousSettings { substeps: Substeps::Fixed(0), ..settings };
/// assert!(none.validate().unwrap_err().to_string().contains("number of substeps"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsynchronousSettings {
    /// How many substeps a step has.
    pub substeps: Substeps,
    /// How rigid bodies take part in them.
    pub coupling: RigidCoupling,
    /// Precision of particles and grid.
    pub precision: Precision,
    /// What solves the contact problem of a substep.
    pub solver: SubstepSolver,
    /// ε_r of the contact problem of a substep: its gradient relative to the momentum or the impulse, in the norm of the inverse mass.
    pub tolerance: f64,
    /// Iterations of the contact solver in a substep.
    pub iterations_max: u32,
}

/// Number of substeps in a step.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Asynchronous, AsynchronousSettings, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_coupling::{StepError, Substeps};
///
/// // A cube of dough for 10 ms in one substep: too long for its elastic waves.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let stepper = |substeps| {
/// #     let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// #     Asynchronous::new(implicit, AsynchronousSettings { substeps, ..AsynchronousSettings::default() })
/// # };
/// let error = stepper(Substeps::Fixed(1))?.step(&world, &world.default_state(), 0.01, &mut next).unwrap_err();
/// let StepError::UnstableSubsteps { least, .. } = error else { panic!("{error}") };
/// let report = stepper(Substeps::Fixed(least))?.step(&world, &world.default_state(), 0.01, &mut next)?;
/// assert!(report.is_trusted() && least > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substeps {
    /// As few as the elastic waves of the materials and the speeds of the particles allow, see [`SubstepLimit`].
    #[default]
    Automatic,
    /// So many. A step in which they are too long to be stable is an error.
    Fixed(u32),
    /// So many, stable or not.
    Unchecked(u32),
}

/// How rigid bodies take part in the substeps.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # use pliant_coupling::{Asynchronous, Stepper};
/// use pliant_coupling::{AsynchronousSettings, RigidCoupling};
///
/// // A ball of 1 g runs into a cube of dough of 64 g, without gravity. With its velocity held over a step of 5 ms, it is thrown
/// // back faster than it came.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut tree = ModelBuilder::new("ball");
/// # tree.root(Root::Floating);
/// # tree.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(0.001, 0.02)));
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
/// for (coupling, gains_energy) in [(RigidCoupling::InSubstep, false), (RigidCoupling::Weak, true)] {
///     let settings = AsynchronousSettings { coupling, ..AsynchronousSettings::default() };
/// #     let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
///     let mut stepper = Asynchronous::new(implicit, settings)?;
///     assert!(stepper.step(&world, &world.default_state(), 5e-3, &mut next)?.is_trusted());
///     assert_eq!(next.bodies[ball.0].v[5] < -1.0, gains_energy);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RigidCoupling {
    /// Their velocities are unknowns of every substep, with the effective inertia of the rigid problem.
    #[default]
    InSubstep,
    /// Their velocities of the step's start hold for all substeps; the sum of the impulses acts in the rigid step, as Yu et al. (2025)
    /// publish. Unstable for rigid bodies that are light for the stiffness of the particles, whatever the number of substeps.
    Weak,
}

/// Precision of particles and grid.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Asynchronous, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_coupling::{AsynchronousSettings, Precision};
///
/// // A cube of dough falls for 1 ms; its velocities are those of a fall to the round-off of each precision.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("points", Box::new(model.build()?));
/// # let (world, mut next) = (builder.build()?, State::default());
/// for (precision, round_off) in [(Precision::Single, 1e-8), (Precision::Double, 1e-16)] {
///     let settings = AsynchronousSettings { precision, ..AsynchronousSettings::default() };
/// #     let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
///     assert!(Asynchronous::new(implicit, settings)?.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
///     let errors = next.bodies[0].v.chunks(3).map(|v| (v[2] + 9.81e-3).abs());
///     let largest = errors.fold(0.0, f64::max);
///     assert!(largest < 100.0 * round_off, "{largest}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// f32.
    #[default]
    Single,
    /// f64.
    Double,
}

/// The most substeps of a step. A step that needs more is an error: of a few thousand particles so many take minutes.
pub(super) const SUBSTEPS_MAX: u32 = 100_000;

/// Why there is no number of substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CountFault {
    /// The wanted number is below the least stable one.
    TooFew {
        /// The least stable number.
        least: u32,
    },
    /// More than [`SUBSTEPS_MAX`] are needed.
    TooMany {
        /// How many.
        needed: f64,
    },
}

impl Default for AsynchronousSettings {
    fn default() -> Self {
        Self {
            substeps: Substeps::default(),
            coupling: RigidCoupling::default(),
            precision: Precision::default(),
            solver: SubstepSolver::default(),
            tolerance: 1e-2,
            iterations_max: 1000,
        }
    }
}

impl AsynchronousSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        let fixed = match self.substeps {
            Substeps::Automatic => 1,
            Substeps::Fixed(n) | Substeps::Unchecked(n) => n,
        };
        if !(1..=SUBSTEPS_MAX).contains(&fixed) {
            return Err(WorldError::Parameter {
                part: WorldPart::Stepper,
                parameter: "number of substeps".into(),
                value: f64::from(fixed),
                allowed: "must be from 1 to 100000",
            });
        }
        for (what, value, allowed) in [
            (
                "iterations of a substep",
                f64::from(self.iterations_max),
                "must be at least 1",
            ),
            (
                "tolerance of a substep",
                self.tolerance,
                "must be positive and finite",
            ),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(WorldError::Parameter {
                    part: WorldPart::Stepper,
                    parameter: what.into(),
                    value,
                    allowed,
                });
            }
        }
        Ok(())
    }

    /// N of a step of `time_step_s`.
    pub(super) fn count(
        &self,
        time_step_s: f64,
        limit: Option<&SubstepLimit>,
    ) -> Result<u32, CountFault> {
        let of_length = |length_s: f64| {
            let needed = (time_step_s / length_s * (1.0 - 1e-9)).ceil().max(1.0);
            match needed <= f64::from(SUBSTEPS_MAX) {
                true => Ok(needed as u32),
                false => Err(CountFault::TooMany { needed }),
            }
        };
        match (self.substeps, limit) {
            (Substeps::Unchecked(n), _) | (Substeps::Fixed(n), None) => Ok(n),
            (Substeps::Fixed(n), Some(limit)) => {
                let least = of_length(limit.stable_s)?;
                match n < least {
                    true => Err(CountFault::TooFew { least }),
                    false => Ok(n),
                }
            }
            (Substeps::Automatic, None) => Ok(1),
            (Substeps::Automatic, Some(limit)) => of_length(limit.length_s),
        }
    }
}
