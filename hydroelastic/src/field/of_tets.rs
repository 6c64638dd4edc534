//! The field of a given tetrahedral mesh: exact distance to its surface at every vertex.

use nalgebra::{Point3, Vector3};

use super::inflate::inflate;
use super::{Compliance, FieldMesh, PressureField};
use crate::GeometryError;
use crate::mesh::{MeshError, TetMesh};
use crate::shape::MeshShape;

impl PressureField {
    /// The field of a given tetrahedral mesh:
    ///
    /// ```text
    /// p = E d/H
    /// ```
    ///
    /// with E the hydroelastic modulus (Pa), d the exact distance (m) of each vertex to the mesh's own surface and H the largest of them;
    /// linear in between. A tetrahedron with all corners on the surface would have zero pressure; it is divided at its centroid.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::{Compliance, PressureField, mesh::generate};
    ///
    /// // A cube of 10 cm and 1 MPa: the modulus at its centre, half of it half-way to a face.
    /// let cube = generate::tet_cuboid(Vector3::repeat(0.05), [4, 4, 4])?;
    /// let field = PressureField::of_tets(&cube, &Compliance { hydroelastic_modulus: 1e6, ..Compliance::default() })?;
    /// let at = |z: f64| field.pressure_at(&Vector3::new(0.0, 0.0, z)).expect("inside");
    /// assert!((at(0.0) - 1e6).abs() < 1e-3 && (at(0.025) - 5e5).abs() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GeometryError::Material`] for parameters out of range, [`GeometryError::Meshing`] if the boundary of the mesh
    /// is not a manifold surface (components that touch in an edge).
    pub fn of_tets(mesh: &TetMesh, compliance: &Compliance) -> Result<Self, GeometryError> {
        compliance.validate()?;
        let meshing = |e: MeshError| GeometryError::Meshing {
            reason: e.to_string(),
        };
        let (surface, skin_vertices) = mesh.boundary_surface().map_err(meshing)?;
        let points: Vec<Point3<f64>> = surface
            .vertices()
            .iter()
            .map(|v| Point3::from(*v))
            .collect();
        let triangles: Vec<[u32; 3]> = surface.raw_triangles().collect();
        let skin = MeshShape::new(&points, &triangles)?;
        let mut vertices: Vec<Vector3<f64>> = mesh.vertices().to_vec();
        let mut on_surface = vec![false; vertices.len()];
        for v in &skin_vertices {
            on_surface[v.index()] = true;
        }
        let mut distances: Vec<f64> = vertices
            .iter()
            .zip(&on_surface)
            .map(|(x, &on)| {
                if on {
                    0.0
                } else {
                    skin.nearest(&Point3::from(*x)).2
                }
            })
            .collect();
        let mut tets = Vec::with_capacity(mesh.tets().len());
        for tet in mesh.tets() {
            let corners = tet.map(|v| v.0);
            if corners.iter().any(|&v| !on_surface[v as usize]) {
                tets.push(corners);
                continue;
            }
            let centroid = corners
                .iter()
                .map(|&v| vertices[v as usize])
                .sum::<Vector3<f64>>()
                / 4.0;
            let new = vertices.len() as u32;
            distances.push(skin.nearest(&Point3::from(centroid)).2);
            vertices.push(centroid);
            on_surface.push(false);
            for k in 0..4 {
                let mut part = corners;
                part[k] = new;
                tets.push(part);
            }
        }
        let depth = distances.iter().copied().fold(0.0, f64::max);
        let E = compliance.hydroelastic_modulus;
        let mut pressures: Vec<f64> = distances.iter().map(|d| E * d / depth).collect();
        let reached = inflate(
            &mut vertices,
            &tets,
            &skin,
            &skin_vertices,
            compliance.margin,
        );
        for (v, margin) in skin_vertices.iter().zip(&reached) {
            pressures[v.index()] = -E * margin / depth;
        }
        Self::assemble(FieldMesh {
            vertices,
            pressures,
            tets,
            depth,
            margin: compliance.margin,
        })
    }
}
