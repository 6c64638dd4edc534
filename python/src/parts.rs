//! Parts of scenes that are written in Python, for study: each call takes the interpreter, which costs about a microsecond and the
//! time of the function itself.

mod contact_law;
mod fault;
mod material;
mod particles;
mod quantity;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use pliant::Registry;
use pliant::scene::{Key, REQUIRED, SceneError, TableReader, ValueKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) use contact_law::{ContactInputs, ContactLaw};
pub(crate) use fault::Faults;
pub(crate) use quantity::Snapshot;

/// Named parts for scene files, besides the built-in ones.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct Parts {
    registry: Mutex<Registry>,
    faults: Faults,
}

impl Parts {
    pub(crate) fn registry(&self) -> Registry {
        let registry = self.registry.lock();
        registry.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    fn add(&self, register: impl FnOnce(&mut Registry)) {
        let registry = self.registry.lock();
        register(&mut registry.unwrap_or_else(PoisonError::into_inner));
    }
}

#[pymethods]
impl Parts {
    #[new]
    fn new() -> Self {
        Self {
            registry: Mutex::new(built_in()),
            faults: Faults::default(),
        }
    }

    /// `measure(snapshot, **keys)` returns a number.
    fn quantity(&self, name: &str, unit: &str, keys: Keys, measure: Py<PyAny>) {
        let declared = declare(&keys);
        let (faults, unit) = (self.faults.clone(), lasting(unit));
        let measure = std::sync::Arc::new(measure);
        self.add(|registry| {
            registry.quantity(name, unit, declared, move |table| {
                let settings = Settings::read(table, declared)?;
                Ok(quantity::measured(
                    measure.clone(),
                    settings,
                    faults.clone(),
                ))
            });
        });
    }

    /// `law(inputs, **keys)` returns the functions cost, impulse and Hessian of the velocity.
    fn contact_law(&self, name: &str, keys: Keys, law: Py<PyAny>) {
        let declared = declare(&keys);
        let faults = self.faults.clone();
        let law = std::sync::Arc::new(law);
        self.add(|registry| {
            registry.contact_model(name, declared, move |table| {
                let settings = Settings::read(table, declared)?;
                Ok(contact_law::OwnModel::new(
                    law.clone(),
                    settings,
                    faults.clone(),
                ))
            });
        });
    }

    /// A material of finite elements and of material points. `make(**keys)` returns λ, μ, whether the law needs a positive volume, and the
    /// functions energy density, first Piola stress, its derivative by F, and plastic flow or none.
    fn material(&self, name: &str, keys: Keys, make: Py<PyAny>) {
        let (name, declared) = (lasting(name), declare(&keys));
        let (faults, make) = (self.faults.clone(), std::sync::Arc::new(make));
        let read = move |table: &TableReader<'_>| {
            let settings = Settings::read(table, declared)?;
            material::OwnMaterial::new(name, &make, &settings, faults.clone())
                .map_err(|reason| table.conflict(reason))
        };
        self.add(|registry| {
            registry.fem_material(name, declared, read.clone());
            registry.particle_material(name, declared, read);
        });
    }
}

/// The built-in parts: one registry for all scenes, which share a GPU through it.
pub(crate) fn built_in() -> Registry {
    static BUILT_IN: LazyLock<Registry> = LazyLock::new(Registry::default);
    BUILT_IN.clone()
}

/// Names of numbers with their defaults; without one the number is required.
type Keys = Vec<(String, Option<f64>)>;

/// The registry keeps names for as long as the program runs.
fn lasting(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn declare(keys: &Keys) -> &'static [Key] {
    let declared = keys.iter().map(|(name, default)| Key {
        name: lasting(name),
        value: ValueKind::Number,
        unit: "",
        default: default.map_or(REQUIRED, |value| lasting(&value.to_string())),
        about: "of a part written in Python",
    });
    Box::leak(declared.collect())
}

/// The numbers that a table gives to a part.
#[derive(Clone, Debug)]
pub(crate) struct Settings(BTreeMap<&'static str, f64>);

impl Settings {
    fn read(table: &TableReader<'_>, keys: &[Key]) -> Result<Self, SceneError> {
        let values = keys
            .iter()
            .map(|key| Ok((key.name, table.number(key.name)?)));
        Ok(Self(values.collect::<Result<_, SceneError>>()?))
    }

    fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keywords = PyDict::new(py);
        for (name, value) in &self.0 {
            keywords.set_item(name, value)?;
        }
        Ok(keywords)
    }
}
