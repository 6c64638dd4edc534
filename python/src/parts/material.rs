//! A material that Python computes, of finite elements here; `particles` makes it one of material points.

use std::fmt;

use nalgebra::{Matrix3, SMatrix};
use pliant_constitutive::{Domain, Lame};
use pliant_fem::{Lag, Material, Tangent};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::{Faults, Settings};

/// Energy density, stress and tangent as functions of nine numbers, F row by row.
pub(super) struct OwnMaterial {
    pub(super) name: &'static str,
    pub(super) lame: Lame,
    pub(super) domain: Domain,
    energy: Py<PyAny>,
    stress: Py<PyAny>,
    tangent: Py<PyAny>,
    /// From F and the accumulated plastic strain to both after plastic flow.
    pub(super) flow: Option<Py<PyAny>>,
    settings: Settings,
    faults: Faults,
}

/// λ, μ, whether the law needs a positive volume, then energy, stress, tangent and plastic flow.
type Made = (
    f64,
    f64,
    bool,
    Py<PyAny>,
    Py<PyAny>,
    Py<PyAny>,
    Option<Py<PyAny>>,
);

impl OwnMaterial {
    pub(super) fn new(
        name: &'static str,
        make: &Py<PyAny>,
        settings: &Settings,
        faults: Faults,
    ) -> Result<Self, String> {
        let made = Python::attach(|py| -> PyResult<_> {
            let keywords = settings.keywords(py)?;
            let made = make.bind(py).call((), Some(&keywords))?;
            made.extract::<Made>()
        });
        let (lambda, mu, positive_volume, energy, stress, tangent, flow) =
            made.map_err(|error| error.to_string())?;
        Ok(Self {
            name,
            lame: Lame::new(mu, lambda).map_err(|error| error.to_string())?,
            domain: match positive_volume {
                true => Domain::PositiveVolume,
                false => Domain::Everywhere,
            },
            energy,
            stress,
            tangent,
            flow,
            settings: settings.clone(),
            faults,
        })
    }

    /// Ψ, J per m³.
    pub(super) fn energy_of(&self, F: &Matrix3<f64>) -> f64 {
        self.call(&self.energy, (rows_of(F),), 0.0)
    }

    /// P, Pa.
    pub(super) fn stress_of(&self, F: &Matrix3<f64>) -> Matrix3<f64> {
        let rows: [[f64; 3]; 3] = self.call(&self.stress, (rows_of(F),), [[0.0; 3]; 3]);
        Matrix3::from(rows).transpose()
    }

    /// ∂P/∂F, Pa, both column by column.
    pub(super) fn tangent_of(&self, F: &Matrix3<f64>) -> SMatrix<f64, 9, 9> {
        let columns: Vec<[f64; 9]> = self.call(&self.tangent, (rows_of(F),), vec![[0.0; 9]; 9]);
        SMatrix::from_fn(|i, j| columns.get(j).map_or(f64::NAN, |column| column[i]))
    }

    /// F and the accumulated plastic strain after plastic flow.
    pub(super) fn flowed(&self, F: &Matrix3<f64>, strain: f64) -> (Matrix3<f64>, f64) {
        let Some(flow) = &self.flow else {
            return (*F, strain);
        };
        let rows = rows_of(F);
        let (rows, strain): ([[f64; 3]; 3], f64) = self.call(flow, (rows, strain), (rows, strain));
        (Matrix3::from(rows).transpose(), strain)
    }

    fn call<A, T>(&self, function: &Py<PyAny>, arguments: A, instead: T) -> T
    where
        A: for<'py> PyCallArgs<'py>,
        T: for<'a, 'py> FromPyObject<'a, 'py>,
    {
        let value = Python::attach(|py| {
            let value = function.bind(py).call1(arguments)?;
            value.extract::<T>().map_err(Into::into)
        });
        self.faults.or(value, instead)
    }
}

fn rows_of(F: &Matrix3<f64>) -> [[f64; 3]; 3] {
    F.transpose().into()
}

impl fmt::Debug for OwnMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnMaterial").field(&self.settings).finish()
    }
}

impl Material for OwnMaterial {
    fn energy_density(&self, F: &Matrix3<f64>, _: &Lag) -> f64 {
        self.energy_of(F)
    }

    fn first_piola(&self, F: &Matrix3<f64>, _: &Lag) -> Matrix3<f64> {
        self.stress_of(F)
    }

    fn tangent(&self, F: &Matrix3<f64>, _: &Lag) -> Tangent {
        Tangent::Full(Box::new(self.tangent_of(F)))
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn domain(&self) -> Domain {
        self.domain
    }
}
