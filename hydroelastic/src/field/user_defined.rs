//! User-defined fields: a given pressure at each vertex of a mesh.

use super::{FieldMesh, PressureField, Tetrahedron};
use crate::GeometryError;
use crate::mesh::{TetIdx, TetMesh};

impl PressureField {
    /// A user-defined field: the pressure (Pa) at each vertex of `mesh`, linear in between.
    ///
    /// Negative pressures are allowed outside the intended surface; there, contact is speculative. A non-zero pressure
    /// on the surface makes the force start with a jump where flat faces touch.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::{PressureField, mesh::generate};
    ///
    /// // A pad of 2 cm thickness, bonded below: the pressure rises from its upper side downwards, slowly at first.
    /// let mesh = generate::tet_cuboid(Vector3::new(0.05, 0.05, 0.01), [4, 4, 8])?;
    /// let pressures: Vec<f64> = mesh.vertices().iter().map(|x| 1.0e6 * ((0.01 - x.z) / 0.02).powi(2)).collect();
    /// let pad = PressureField::from_vertex_pressures(&mesh, &pressures)?;
    /// let at = |z: f64| pad.pressure_at(&Vector3::new(0.012, 0.007, z));
    /// assert_eq!(at(0.01), Some(0.0));
    /// assert!(at(0.0).is_some_and(|p| (p - 2.5e5).abs() < 1.0));
    /// assert_eq!(at(0.011), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless there is one pressure per vertex, [`GeometryError::FieldValue`] for one that
    /// is not finite, [`GeometryError::FlatField`] if none is positive.
    pub fn from_vertex_pressures(mesh: &TetMesh, pressures: &[f64]) -> Result<Self, GeometryError> {
        if pressures.len() != mesh.vertices().len() {
            return Err(GeometryError::ArrayLength {
                geometry: "pressure field",
                what: "pressures",
                expected: mesh.vertices().len(),
                found: pressures.len(),
            });
        }
        if let Some(vertex) = pressures.iter().position(|p| !p.is_finite()) {
            return Err(GeometryError::FieldValue {
                vertex,
                value: pressures[vertex],
            });
        }
        let highest = pressures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest <= 0.0 {
            return Err(GeometryError::FlatField {
                vertices: pressures.len(),
            });
        }
        let steepest = (0..mesh.tets().len() as u32)
            .map(|t| {
                let p = mesh.tets()[t as usize].map(|v| pressures[v.index()]);
                Tetrahedron::new(&mesh.corners(TetIdx(t)), &p)
                    .pressure
                    .gradient
                    .norm()
            })
            .fold(0.0, f64::max);
        Self::assemble(FieldMesh {
            vertices: mesh.vertices().to_vec(),
            pressures: pressures.to_vec(),
            tets: mesh.tets().iter().map(|t| t.map(|v| v.0)).collect(),
            depth: highest / steepest,
            margin: 0.0,
        })
    }
}
