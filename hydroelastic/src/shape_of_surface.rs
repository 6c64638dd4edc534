//! Shapes of surface meshes.

use nalgebra::Point3;

use crate::mesh::TriMesh;
use crate::{GeometryError, Shape};

impl Shape {
    /// The solid enclosed by a surface mesh.
    ///
    /// # Errors
    /// [`GeometryError::OpenMesh`] or [`GeometryError::Volume`] unless it bounds a solid.
    pub fn from_surface(surface: &TriMesh) -> Result<Self, GeometryError> {
        let vertices: Vec<_> = surface
            .vertices()
            .iter()
            .map(|v| Point3::from(*v))
            .collect();
        let triangles: Vec<_> = surface.raw_triangles().collect();
        Self::mesh(&vertices, &triangles)
    }
}
