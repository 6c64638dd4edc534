//! Loads on particles.

use nalgebra::Vector3;
use pliant_contact_sap::{BodyError, Load, MaterialPoint, Primitive};

/// Index among the sorted particles of a point, which is a particle. `sorted_index` has that of each particle of the state.
pub(crate) fn sorted_index_of(
    point: &MaterialPoint,
    sorted_index: &[u32],
) -> Result<usize, BodyError> {
    let index = match point.primitive {
        Primitive::Vertex(vertex) => sorted_index.get(vertex as usize),
        _ => None,
    };
    match index {
        Some(index) => Ok(*index as usize),
        None => Err(BodyError::NoSuchPoint {
            point: point.primitive,
            available: format!("{} particles, each a vertex", sorted_index.len()),
        }),
    }
}

/// Index among the sorted particles of the one that a load acts on, whose force must be finite.
pub(crate) fn sorted_index_of_load(load: &Load, sorted_index: &[u32]) -> Result<usize, BodyError> {
    if load.torque_W != Vector3::zeros() {
        return Err(BodyError::Unsupported {
            what: "torque on a particle",
        });
    }
    if let Some(value) = load.force_W.iter().find(|x| !x.is_finite()) {
        return Err(BodyError::NotFinite {
            location: format!("the load on {:?}", load.point.primitive),
            value: *value,
        });
    }
    sorted_index_of(&load.point, sorted_index)
}

/// Checks that all loads act on particles, of which there are `n`.
pub(crate) fn check_loads(loads: &[Load], n: usize) -> Result<(), BodyError> {
    let places: Vec<u32> = match loads.is_empty() {
        true => Vec::new(),
        false => (0..n as u32).collect(),
    };
    let mut each = loads.iter();
    each.try_for_each(|load| sorted_index_of_load(load, &places).map(|_| ()))
}
