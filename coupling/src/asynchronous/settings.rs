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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// f32.
    #[default]
    Single,
    /// f64.
    Double,
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
        for (what, value, allowed) in [
            ("number of substeps", f64::from(fixed), "must be at least 1"),
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

    /// N of a step of `time_step_s`; the least stable N as the error if the wanted one is too small.
    pub(super) fn count(&self, time_step_s: f64, limit: Option<&SubstepLimit>) -> Result<u32, u32> {
        let of_length = |length_s: f64| {
            let n = (time_step_s / length_s * (1.0 - 1e-9)).ceil();
            n.clamp(1.0, f64::from(u32::MAX)) as u32
        };
        match (self.substeps, limit) {
            (Substeps::Unchecked(n), _) | (Substeps::Fixed(n), None) => Ok(n),
            (Substeps::Fixed(n), Some(limit)) => {
                let least = of_length(limit.stable_s);
                if n < least { Err(least) } else { Ok(n) }
            }
            (Substeps::Automatic, None) => Ok(1),
            (Substeps::Automatic, Some(limit)) => Ok(of_length(limit.length_s)),
        }
    }
}
