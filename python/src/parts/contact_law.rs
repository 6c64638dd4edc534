//! A contact law that Python computes.

use std::fmt;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{ContactLaw as Law, Lagged, Potential};
use pliant_coupling::{ContactInputs as Inputs, ContactModel};
use pyo3::prelude::*;

use super::{Faults, Settings};

/// One contact of a step, as its law depends on it.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct ContactInputs(Inputs);

#[pymethods]
impl ContactInputs {
    #[getter]
    fn time_step(&self) -> f64 {
        self.0.parameters.time_step.length_s
    }

    #[getter]
    fn signed_distance(&self) -> f64 {
        self.0.parameters.signed_distance
    }

    #[getter]
    fn start_velocity(&self) -> f64 {
        self.0.parameters.start_velocity
    }

    #[getter]
    fn stiffness(&self) -> f64 {
        self.0.parameters.stiffness
    }

    #[getter]
    fn friction(&self) -> f64 {
        self.0.parameters.friction
    }

    #[getter]
    fn stiction_speed(&self) -> f64 {
        self.0.parameters.stiction_speed
    }

    #[getter]
    fn inverse_inertia(&self) -> f64 {
        self.0.parameters.inverse_inertia
    }

    #[getter]
    fn normal(&self) -> [f64; 3] {
        self.0.normal_W.into()
    }

    #[getter]
    fn normal_impulse(&self) -> f64 {
        self.0.normal_impulse
    }

    /// The built-in lagged law with friction bound μ times `normal_impulse`.
    fn lagged(&self, normal_impulse: f64) -> ContactLaw {
        let Inputs {
            parameters,
            normal_W,
            ..
        } = &self.0;
        ContactLaw(Lagged::new(parameters, *normal_W, normal_impulse))
    }
}

/// A built-in law, for laws that add to it.
#[pyclass(frozen, module = "pliant._pliant")]
pub(crate) struct ContactLaw(Lagged);

#[pymethods]
impl ContactLaw {
    fn cost(&self, v: [f64; 3]) -> f64 {
        self.0.cost(&v.into())
    }

    fn impulse(&self, v: [f64; 3]) -> [f64; 3] {
        self.0.impulse(&v.into()).into()
    }

    fn hessian(&self, v: [f64; 3]) -> [[f64; 3]; 3] {
        self.0.hessian(&v.into()).transpose().into()
    }
}

/// Makes the law of each contact in Python.
pub(super) struct OwnModel {
    make: Arc<Py<PyAny>>,
    settings: Settings,
    faults: Faults,
}

impl OwnModel {
    pub(super) fn new(make: Arc<Py<PyAny>>, settings: Settings, faults: Faults) -> Self {
        Self {
            make,
            settings,
            faults,
        }
    }
}

impl fmt::Debug for OwnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnModel").field(&self.settings).finish()
    }
}

impl ContactModel for OwnModel {
    fn law(&self, contact: &Inputs) -> Law {
        let functions = Python::attach(|py| {
            let keywords = self.settings.keywords(py)?;
            let inputs = ContactInputs(*contact);
            let law = self.make.bind(py).call((inputs,), Some(&keywords))?;
            law.extract::<[Py<PyAny>; 3]>().map(Some)
        });
        match self.faults.or(functions, None) {
            Some(functions) => Law::Custom(Arc::new(OwnLaw {
                functions,
                faults: self.faults.clone(),
            })),
            // The step has failed already: its exception is raised at its end.
            None => Law::Lagged(Lagged::new(&contact.parameters, contact.normal_W, 0.0)),
        }
    }
}

/// Cost, impulse and Hessian.
struct OwnLaw {
    functions: [Py<PyAny>; 3],
    faults: Faults,
}

impl OwnLaw {
    fn call<T>(&self, function: usize, v_c: &Vector3<f64>, instead: T) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        let value = Python::attach(|py| {
            let value = self.functions[function]
                .bind(py)
                .call1((v_c.x, v_c.y, v_c.z))?;
            value.extract::<T>().map_err(Into::into)
        });
        self.faults.or(value, instead)
    }
}

impl Potential<3> for OwnLaw {
    fn cost(&self, v_c: &Vector3<f64>) -> f64 {
        self.call(0, v_c, 0.0)
    }

    fn impulse(&self, v_c: &Vector3<f64>) -> Vector3<f64> {
        self.call(1, v_c, [0.0; 3]).into()
    }

    fn hessian(&self, v_c: &Vector3<f64>) -> Matrix3<f64> {
        let rows = self.call(2, v_c, [[0.0; 3]; 3]);
        Matrix3::from(rows).transpose()
    }
}
