//! Time steppers by name.

use std::sync::Arc;

use pliant_contact_sap::ConvexContactSolver;
use pliant_coupling::{Stepper, WorldError};

use super::Registry;
use crate::scene::{Key, SceneError, SharedDevice, TableReader};

/// Makes a stepper that solves its contact problems with this solver, and takes its substeps on this device if it uses one.
pub type MakeStepper = Arc<
    dyn Fn(Box<dyn ConvexContactSolver>, &SharedDevice) -> Result<Box<dyn Stepper>, WorldError>
        + Send
        + Sync,
>;

/// Reads the settings of a stepper.
pub type ReadStepper = dyn Fn(&TableReader<'_>) -> Result<MakeStepper, SceneError> + Send + Sync;

impl Registry {
    /// Registers a time stepper for `[simulation] stepper = "..."`.
    ///
    /// `keys` are its settings in `[simulation]`; `read` reads them and returns what makes a stepper for a run from the
    /// scene's solver, or refuses the settings. `examples/own_stepper.rs` has a stepper of its own.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::runner::{RunLength, RunOptions, run};
    /// use pliant::scene::{Scene, SceneOptions};
    /// use pliant_contact_sap::ConvexContactSolver;
    /// use pliant_coupling::StrongImplicit;
    ///
    /// // The default stepper under another name.
    /// let mut registry = Registry::default();
    /// registry.stepper("plain", &[], |_| Ok(|solver: Box<dyn ConvexContactSolver>| Ok(StrongImplicit::new(solver))));
    /// let end = |options: &SceneOptions| -> Result<_, Box<dyn std::error::Error>> {
    ///     let scene = Scene::load("box-on-incline", options)?;
    ///     let length = RunOptions { length: RunLength::Until(0.05), ..RunOptions::default() };
    ///     Ok(run(&scene, &length, &mut |_| {})?.state)
    /// };
    /// let plain = SceneOptions { parameters: vec!["simulation.stepper=plain".parse()?], registry, ..SceneOptions::default() };
    /// assert_eq!(end(&plain)?, end(&SceneOptions::default())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
            Ok(Arc::new(move |solver, _| Ok(Box::new(make(solver)?) as _)))
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
