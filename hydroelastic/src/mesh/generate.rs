//! Generated meshes: sphere, box, cylinder, capsule, torus, height field, sheet, disc and shirt as surfaces; box, cylinder, torus
//! and belt as tetrahedra.
//!
//! Curved surfaces are inscribed: their vertices lie on the true surface, so area and volume are too small, with an
//! error of second order in the edge length.

mod belt;
mod cuboid;
mod disc;
mod height_field;
mod revolved;
mod sheet;
mod shirt;
mod sphere;
mod staggered;
mod sweep;

use super::error::{FilePosition, Flaw, Location, MeshError};
use super::options::{SelfIntersections, SurfaceOptions, SurfaceUse, Weld};
use super::tri_mesh::TriMesh;
use nalgebra::Vector3;

pub use belt::tet_belt;
pub use cuboid::{cuboid, tet_cuboid};
pub use disc::disc;
pub use height_field::height_field;
pub use revolved::{capsule, cylinder, torus};
pub use sheet::sheet;
pub use shirt::{Shirt, shirt};
pub use sphere::sphere;
pub use staggered::staggered_sheet;
pub use sweep::{tet_cylinder, tet_torus};

fn closed(vertices: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Result<TriMesh, MeshError> {
    build(vertices, triangles, SurfaceUse::Solid)
}

fn build(
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    surface_use: SurfaceUse,
) -> Result<TriMesh, MeshError> {
    let options = SurfaceOptions {
        weld: Weld::Never,
        self_intersections: SelfIntersections::Skip, // true by construction
        ..SurfaceOptions::default()
    };
    Ok(TriMesh::build(vertices, triangles, surface_use, &options)?.0)
}

fn positive(name: &str, value: f64) -> Result<(), MeshError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let (at, what) = (
        Location::new("generated mesh", FilePosition::Whole),
        format!("{name} = {value} m"),
    );
    Err(MeshError::Setting(Flaw::new(
        at,
        what,
        "It must be positive and finite",
    )))
}

fn within(name: &str, value: u32, min: u32, max: u32) -> Result<(), MeshError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let (at, what) = (
        Location::new("generated mesh", FilePosition::Whole),
        format!("{name} = {value}"),
    );
    Err(MeshError::Setting(Flaw::new(
        at,
        what,
        format!("It must lie in {min}..={max}"),
    )))
}

#[cfg(test)]
mod tests;
