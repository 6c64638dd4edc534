//! Names of scene files and what they stand for: solvers and other parts, built in or one's own.

mod body;
mod contact_model;
mod material;
mod parts;
mod quantity;
mod solver;
mod stepper;

pub(crate) use crate::runner::built_in_quantities;
pub use body::{MakeBody, ReadBody, SceneBody};
pub use contact_model::ReadContactModel;
pub use material::{ReadFemMaterial, ReadParticleMaterial};
pub(crate) use parts::Part;
pub use parts::Parts;
pub(crate) use quantity::{Measure, SensorKind, Value, of_vector};
pub use quantity::{Quantity, ReadQuantity, Snapshot};
pub use solver::{MakeSolver, ReadSolver};
pub use stepper::{MakeStepper, ReadStepper};

/// The parts that scene files choose by name.
///
/// [`Registry::default`] holds the built-in ones; a program adds its own and passes the registry on, in
/// [`SceneOptions`](crate::scene::SceneOptions) or to [`cli::main`](crate::cli::main). A part comes with the keys of its
/// settings, which stand in the table that names it, and with a function that reads them.
///
/// ```
/// use pliant::Registry;
/// use pliant::scene::SceneOptions;
/// use pliant_contact_sap::{Newton, NewtonSettings, StopCriteria};
///
/// // A solver that scene files call "strict": Newton's method to twelve digits.
/// let mut registry = Registry::default();
/// let stop = StopCriteria { relative_tolerance: 1e-12, ..StopCriteria::default() };
/// registry.solver("strict", &[], move |_| Ok(move |_: StopCriteria| Newton::new(NewtonSettings { stop, ..NewtonSettings::default() })));
/// assert_eq!(registry.solvers().names().last(), Some(&"strict"));
/// let options = SceneOptions { registry, ..SceneOptions::default() };
/// assert!(options.registry.solvers().names().contains(&"newton"));
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    pub(crate) solvers: Parts<ReadSolver>,
    pub(crate) steppers: Parts<ReadStepper>,
    pub(crate) contact_models: Parts<ReadContactModel>,
    pub(crate) bodies: Parts<ReadBody>,
    pub(crate) quantities: Parts<ReadQuantity>,
    pub(crate) fem_materials: Parts<ReadFemMaterial>,
    pub(crate) particle_materials: Parts<ReadParticleMaterial>,
}

impl Registry {
    fn empty() -> Self {
        Self {
            solvers: Parts::new("solver"),
            steppers: Parts::new("stepper"),
            contact_models: Parts::new("contact model"),
            bodies: Parts::new("kind of body"),
            quantities: Parts::new("quantity"),
            fem_materials: Parts::new("material of finite elements"),
            particle_materials: Parts::new("material of material points"),
        }
    }

    /// The solvers of the contact problem.
    pub fn solvers(&self) -> &Parts<ReadSolver> {
        &self.solvers
    }

    /// The first name that is registered twice for the same kind of part.
    pub(crate) fn duplicate(&self) -> Option<String> {
        (self.solvers.duplicate())
            .or_else(|| self.steppers.duplicate())
            .or_else(|| self.contact_models.duplicate())
            .or_else(|| self.bodies.duplicate())
            .or_else(|| self.quantities.duplicate())
            .or_else(|| self.fem_materials.duplicate())
            .or_else(|| self.particle_materials.duplicate())
    }
}

impl Default for Registry {
    /// The built-in parts.
    fn default() -> Self {
        let mut registry = Self::empty();
        crate::scene::register_solvers(&mut registry);
        crate::scene::register_steppers(&mut registry);
        crate::scene::register_contact_models(&mut registry);
        crate::scene::register_materials(&mut registry);
        for quantity in built_in_quantities() {
            registry.built_in_quantity(quantity);
        }
        registry
    }
}
