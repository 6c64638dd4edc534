//! Solvers of the contact problem by name.

use std::sync::Arc;

use pliant_contact_sap::{ConvexContactSolver, StopCriteria};

use super::Registry;
use crate::scene::{Key, SceneError, TableReader};

/// Makes a solver that stops by these criteria.
pub type MakeSolver = Arc<dyn Fn(StopCriteria) -> Box<dyn ConvexContactSolver> + Send + Sync>;

/// Reads the settings of a solver.
pub type ReadSolver = dyn Fn(&TableReader<'_>) -> Result<MakeSolver, SceneError> + Send + Sync;

impl Registry {
    /// Registers a solver for `[solver] name = "..."`.
    ///
    /// `keys` are its settings in `[solver]`; `read` reads them and returns what makes a solver for a run. The criteria by
    /// which it stops come from the keys that all solvers share.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::scene::{Key, ValueKind};
    /// use pliant_contact_sap::{GaussSeidel, GaussSeidelSettings};
    ///
    /// const KEYS: &[Key] = &[Key {
    ///     name: "patience",
    ///     value: ValueKind::Integer(1, 100),
    ///     unit: "",
    ///     default: "3",
    ///     about: "factor on `iterations_max`",
    /// }];
    /// let mut registry = Registry::default();
    /// registry.solver("patient", KEYS, |table| {
    ///     let patience = table.integer("patience")? as usize;
    ///     Ok(move |mut stop: pliant_contact_sap::StopCriteria| {
    ///         stop.iterations_max *= patience;
    ///         GaussSeidel::new(GaussSeidelSettings { stop })
    ///     })
    /// });
    /// assert!(registry.solvers().names().contains(&"patient"));
    /// ```
    pub fn solver<S, M>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self
    where
        S: ConvexContactSolver + 'static,
        M: Fn(StopCriteria) -> S + Send + Sync + 'static,
    {
        let read: Box<ReadSolver> = Box::new(move |table| {
            let make = read(table)?;
            Ok(Arc::new(move |stop| Box::new(make(stop)) as _))
        });
        self.solvers.add(name.into(), keys, read);
        self
    }
}
