//! Settings of the strong-implicit stepper.

use pliant_contact_sap::Integration;

use crate::error::{WorldError, WorldPart};

/// How [`StrongImplicit`](crate::StrongImplicit) steps.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_contact_sap::Integration;
/// use pliant_coupling::StrongImplicitSettings;
///
/// # let (world, mut next) = (builder.build()?, State::default());
/// let settings = StrongImplicitSettings { integration: Integration::Midpoint, ..StrongImplicitSettings::default() };
/// let mut stepper = stepper.with_settings(settings)?;
/// let report = stepper.step(&world, &world.default_state(), 0.01, &mut next)?;
/// assert!(report.is_trusted());
/// // A ball in free fall by the midpoint rule: exactly ½ g δt².
/// assert!((next.bodies[0].q[2] - (0.3 - 0.5 * 9.81 * 1e-4)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrongImplicitSettings {
    /// The θ-method of all bodies, backward Euler by default.
    pub integration: Integration,
    /// How often nonlinear momentum balances are linearised.
    pub linearisation: Linearisation,
    /// Most fixed-point iterations of lagged terms, such as the rotations of corotated laws. One or two are usual; colliding links of a
    /// chain take four to eight. A step that reaches the limit is untrusted:
    /// [`Untrusted::LaggedTerms`](crate::Untrusted::LaggedTerms).
    pub lagged_iterations_max: usize,
}

impl Default for StrongImplicitSettings {
    fn default() -> Self {
        Self {
            integration: Integration::default(),
            linearisation: Linearisation::default(),
            lagged_iterations_max: 10,
        }
    }
}

impl StrongImplicitSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        match self.linearisation {
            Linearisation::WhereNeeded {
                relative_tolerance, ..
            }
            | Linearisation::UntilConverged {
                relative_tolerance, ..
            } if !(relative_tolerance > 0.0 && relative_tolerance.is_finite()) => {
                Err(WorldError::Parameter {
                    part: WorldPart::Stepper,
                    parameter: "relative tolerance of the linearisation".into(),
                    value: relative_tolerance,
                    allowed: "must be positive and finite",
                })
            }
            _ => Ok(()),
        }
    }
}

/// How often a step linearises momentum balances that are nonlinear in the velocities, such as those of nonlinear finite elements.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_constitutive::Lame;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_fem::{FemBuilder, LawKind};
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
/// use pliant_coupling::{Linearisation, StrongImplicitSettings};
///
/// // A cube of a nonlinear law, stretched by a third, is let go.
/// # let law = LawKind::StableNeoHookean.of(Lame::from_young_poisson(3e4, 0.3)?)?;
/// # let (cube, _) = FemBuilder::new(tet_cuboid(Vector3::repeat(0.05), [1, 1, 1])?, law, 1000.0).build()?;
/// # let mut builder = WorldBuilder::default();
/// # builder.add_body("cube", Box::new(cube));
/// # let world = builder.build()?;
/// # let mut state = world.default_state();
/// # state.bodies[0].q.iter_mut().step_by(3).for_each(|x| *x *= 1.33);
/// let mut ends = [State::default(), State::default()];
/// for (linearisation, next) in [Linearisation::Once, Linearisation::until_converged()].into_iter().zip(&mut ends) {
///     let settings = StrongImplicitSettings { linearisation, ..StrongImplicitSettings::default() };
/// #     let stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
///     assert!(stepper.with_settings(settings)?.step(&world, &state, 0.01, next)?.is_trusted());
/// }
/// let [once, full] = ends.map(|end| end.bodies[0].q[0]);
/// assert!((once - full).abs() > 5e-5, "{once} {full}"); // m, at a corner
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Linearisation {
    /// Once, at the start of the step: one convex problem, with an error of second order in Δt.
    Once,
    /// Once; and again until the nonlinear equations are solved, in steps whose momentum residual shows that once is too coarse.
    WhereNeeded {
        /// Largest momentum residual of a step that is linearised once, relative to the terms of the balance in the solver's norm.
        residual_max: f64,
        /// As of [`Linearisation::UntilConverged`].
        relative_tolerance: f64,
        /// As of [`Linearisation::UntilConverged`].
        solves_max: usize,
    },
    /// At each solution again, until the nonlinear equations are solved.
    UntilConverged {
        /// Tolerance of the momentum residual, relative to the terms of the balance in the solver's norm.
        relative_tolerance: f64,
        /// Most convex problems in a step; a step that reaches it is untrusted.
        solves_max: usize,
    },
}

impl Default for Linearisation {
    fn default() -> Self {
        Self::where_needed()
    }
}

impl Linearisation {
    /// [`Linearisation::WhereNeeded`] with its usual numbers.
    #[must_use]
    pub const fn where_needed() -> Self {
        Self::WhereNeeded {
            residual_max: 1e-3,
            relative_tolerance: 1e-6,
            solves_max: 50,
        }
    }

    /// [`Linearisation::UntilConverged`] with its usual numbers.
    #[must_use]
    pub const fn until_converged() -> Self {
        Self::UntilConverged {
            relative_tolerance: 1e-6, // the solvers' own; below it round-off dominates
            solves_max: 50,           // three to six are usual, ten where elements are crushed
        }
    }
}
