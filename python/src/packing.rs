//! Numbers as native bytes, for `numpy.frombuffer`.

use pliant_coupling::ContactForce;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) fn floats<'py>(
    py: Python<'py>,
    values: impl IntoIterator<Item = f64>,
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_ne_bytes).collect();
    PyBytes::new(py, &bytes)
}

/// The fields of `CONTACT` in the Python part, in its order.
pub(crate) fn contacts<'py>(py: Python<'py>, contacts: &[ContactForce]) -> Bound<'py, PyBytes> {
    let mut bytes = Vec::with_capacity(contacts.len() * 96);
    for contact in contacts {
        for side in [contact.a, contact.b] {
            bytes.extend((side.0 as i64).to_ne_bytes());
        }
        let vectors = [contact.p_WCa.coords, contact.normal_W, contact.force_W];
        let numbers = vectors.iter().flat_map(|vector| vector.iter());
        for number in numbers.chain([&contact.signed_distance]) {
            bytes.extend(number.to_ne_bytes());
        }
    }
    PyBytes::new(py, &bytes)
}

/// The numbers of an array's bytes.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().map(|b| f64::from_ne_bytes(*b)).collect()
}
