//! Settings of the free motion.

use crate::error::RodError;
use crate::section::parameter;

/// Settings of the free-motion solver.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_der::{Centreline, FreeMotionSettings, Material, RodBuilder, Section};
///
/// let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// let settings = FreeMotionSettings { relative_tolerance: 2.0, ..FreeMotionSettings::default() };
/// let rod = RodBuilder::new(line)
///     .section(Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?)
///     .free_motion(settings)
///     .build();
/// assert!(rod.unwrap_err().to_string().contains("must lie in (0, 1)"));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeMotionSettings {
    /// Residual, relative to inertia, elastic forces and loads, at which Newton's method stops; in (0, 1), default 1e-4. The
    /// linearised contact step that follows is one more Newton step, so the final error is of the order of its square.
    pub relative_tolerance: f64,
    /// Largest number of Newton iterations, at least 1, default 60; a step that reaches it carries a warning.
    pub iterations_max: u32,
    /// Where the momentum balance is linearised for the contact solve.
    pub linearised: Linearised,
}

/// Where the momentum balance is linearised for the contact solve.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{BodyStep, DeformableModel, StartLinearisation, StepInput};
/// # use pliant_der::{Centreline, End, EndCondition, Material, RodBuilder, Section};
/// use pliant_der::{FreeMotionSettings, Linearised, RodError, RodStep};
///
/// // Velocities about which the first step of a cantilever in gravity is linearised: z component at its tip, m/s.
/// let tip = |linearised| {
///     let settings = FreeMotionSettings { linearised, ..FreeMotionSettings::default() };
/// #     let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 20);
/// #     let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// #     let clamped = EndCondition::Clamped { tangent: None };
/// #     let rod = RodBuilder::new(line).section(section, rubber).end(End::Start, clamped).free_motion(settings).build()?;
///     let (mut step, mut v, control) = (RodStep::new(&rod), Vec::new(), rod.default_control());
///     step.begin(&rod.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
///     step.linearise_start(&mut v)?;
///     Ok::<_, RodError>(v[rod.node_dofs(20)?.end - 1])
/// };
/// assert_eq!(tip(Linearised::AtStart)?, 0.0); // at rest
/// assert!((tip(Linearised::AtFreeMotion)? + 0.0981).abs() < 1e-3); // the tip falls freely at first
/// # Ok::<(), RodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linearised {
    /// At the free motion, as in Li and Chou (2025): without contact, the step is solved to the tolerance.
    #[default]
    AtFreeMotion,
    /// At the velocity of the start, without iterations. For ropes under tension around posts or through loops: without
    /// contact they would move far within a step, to where their stiffness is very different.
    AtStart,
}

impl Default for FreeMotionSettings {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-4, // the linearised step that follows reduces it to 1e-7 or less
            iterations_max: 60,
            linearised: Linearised::AtFreeMotion,
        }
    }
}

impl FreeMotionSettings {
    pub(crate) fn validate(&self) -> Result<(), RodError> {
        if !(self.relative_tolerance > 0.0 && self.relative_tolerance < 1.0) {
            return Err(parameter(
                "relative tolerance of the free motion",
                self.relative_tolerance,
                "must lie in (0, 1)",
            ));
        }
        if self.iterations_max == 0 {
            return Err(parameter(
                "largest number of iterations of the free motion",
                0.0,
                "must be at least 1",
            ));
        }
        Ok(())
    }
}
