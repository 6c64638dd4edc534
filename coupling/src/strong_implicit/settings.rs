//! Settings of the strong-implicit stepper.

use pliant_contact_sap::Integration;

use crate::error::{WorldError, WorldPart};

/// How [`StrongImplicit`](crate::StrongImplicit) steps.
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
            Linearisation::UntilConverged {
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Linearisation {
    /// Once, at the start of the step: one convex problem, with an error of second order in Δt.
    #[default]
    Once,
    /// At each solution again, until the nonlinear equations are solved.
    UntilConverged {
        /// Tolerance of the momentum residual, relative to the terms of the balance in the solver's norm.
        relative_tolerance: f64,
        /// Most convex problems in a step; a step that reaches it is untrusted.
        solves_max: usize,
    },
}

impl Linearisation {
    /// [`Linearisation::UntilConverged`] with its usual numbers.
    #[must_use]
    pub const fn until_converged() -> Self {
        Self::UntilConverged {
            relative_tolerance: 1e-6, // the solvers' own; below it round-off dominates
            solves_max: 50,           // three to six are usual, ten where elements are crushed
        }
    }
}
