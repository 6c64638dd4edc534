//! Time steppers by name.

use std::sync::Arc;

use pliant_contact_sap::ConvexContactSolver;
use pliant_coupling::{Stepper, WorldError};

use super::Registry;
use crate::scene::{Key, SceneError, TableReader};

/// Makes a stepper that solves its contact problems with this solver.
pub type MakeStepper =
    Arc<dyn Fn(Box<dyn ConvexContactSolver>) -> Result<Box<dyn Stepper>, WorldError> + Send + Sync>;

/// Reads the settings of a stepper.
pub type ReadStepper = dyn Fn(&TableReader<'_>) -> Result<MakeStepper, SceneError> + Send + Sync;

impl Registry {
    /// Registers a time stepper for `[simulation] stepper = "..."`.
    ///
    /// `keys` are its settings in `[simulation]`; `read` reads them and returns what makes a stepper for a run from the
    /// scene's solver, or refuses the settings.
    pub fn stepper<S, M>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self
    where
        S: Stepper + 'static,
        M: Fn(Box<dyn ConvexContactSolver>) -> Result<S, WorldError> + Send + Sync + 'static,
    {
        self.dyn_stepper(name, keys, move |table| {
            let make = read(table)?;
            Ok(Arc::new(move |solver| Ok(Box::new(make(solver)?) as _)))
        })
    }

    /// [`Registry::stepper`] of a type that depends on the settings.
    pub(crate) fn dyn_stepper(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<MakeStepper, SceneError> + Send + Sync + 'static,
    ) -> &mut Self {
        self.steppers.add(name.into(), keys, Box::new(read));
        self
    }
}
