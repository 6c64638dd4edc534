//! A material of finite elements that Python computes.

use std::fmt;

use nalgebra::{Matrix3, SMatrix};
use pliant_constitutive::{Domain, Lame};
use pliant_fem::{Lag, Material, Tangent};
use pyo3::prelude::*;

use super::{Faults, Settings};

/// Energy density, stress and tangent as functions of nine numbers, F row by row.
pub(super) struct OwnMaterial {
    lame: Lame,
    domain: Domain,
    energy: Py<PyAny>,
    stress: Py<PyAny>,
    tangent: Py<PyAny>,
    settings: Settings,
    faults: Faults,
}

impl OwnMaterial {
    pub(super) fn new(
        make: &Py<PyAny>,
        settings: &Settings,
        faults: Faults,
    ) -> Result<Self, String> {
        let made = Python::attach(|py| -> PyResult<_> {
            let keywords = settings.keywords(py)?;
            let made = make.bind(py).call((), Some(&keywords))?;
            made.extract::<(f64, f64, bool, Py<PyAny>, Py<PyAny>, Py<PyAny>)>()
        });
        let (lambda, mu, positive_volume, energy, stress, tangent) =
            made.map_err(|error| error.to_string())?;
        Ok(Self {
            lame: Lame::new(mu, lambda).map_err(|error| error.to_string())?,
            domain: match positive_volume {
                true => Domain::PositiveVolume,
                false => Domain::Everywhere,
            },
            energy,
            stress,
            tangent,
            settings: settings.clone(),
            faults,
        })
    }

    fn call<T>(&self, function: &Py<PyAny>, F: &Matrix3<f64>, instead: T) -> T
    where
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        let rows: [[f64; 3]; 3] = F.transpose().into();
        let value = Python::attach(|py| {
            let value = function.bind(py).call1((rows,))?;
            value.extract::<T>().map_err(Into::into)
        });
        self.faults.or(value, instead)
    }
}

impl fmt::Debug for OwnMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnMaterial").field(&self.settings).finish()
    }
}

impl Material for OwnMaterial {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.call(&self.energy, F, 0.0)
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        let rows: [[f64; 3]; 3] = self.call(&self.stress, F, [[0.0; 3]; 3]);
        Matrix3::from(rows).transpose()
    }

    fn tangent(&self, F: &Matrix3<f64>, _: &Lag) -> Tangent {
        let columns: Vec<[f64; 9]> = self.call(&self.tangent, F, vec![[0.0; 9]; 9]);
        let full = SMatrix::<f64, 9, 9>::from_fn(|i, j| {
            columns.get(j).map_or(f64::NAN, |column| column[i])
        });
        Tangent::Full(Box::new(full))
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn domain(&self) -> Domain {
        self.domain
    }
}
