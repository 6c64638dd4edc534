//! `<inertial auto="true">`: the inertia of a link from its collision shapes and their densities.

use pliant_hydroelastic::Shape;

use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::{Collision, CollisionMesh, GeometryDescription};
use crate::inertia::SpatialInertia;
use crate::markup::{Element, Remarks};
use crate::mjcf::{MeshSolid, inertia_of_mesh, sum_of_inertias};

/// kg/m³ where the file gives none: the format's, the density of water.
const DENSITY: f64 = 1000.0;

/// Whether the inertia of a link is to be computed.
pub(super) fn is_auto(inertial: &Element) -> bool {
    let auto = inertial.attribute("auto").map(str::trim);
    matches!(auto, Some("1" | "true"))
}

/// The inertia of the collision shapes of `link`, which are those of `element` in its order. A `<density>` of a collision takes
/// precedence over the one of the `<inertial>`; a `<mass>` scales the sum.
pub(super) fn auto_inertia(
    (element, inertial): (&Element, &Element),
    link: &LinkSpec,
    subject: &str,
    remarks: &mut Remarks,
) -> Result<SpatialInertia, MultibodyError> {
    remarks.only_children(inertial, &["mass", "density"]);
    let usual = density_of(inertial, subject)?.unwrap_or(DENSITY);
    let written = element.children.iter().filter(|e| e.tag == "collision");
    let mut parts = Vec::new();
    for (written, collision) in written.zip(&link.collisions) {
        let density = density_of(written, subject)?.unwrap_or(usual);
        let part = inertia_of_collision(collision, density).map_err(|text| {
            let text = format!("collision \"{}\" {text}", collision.name);
            written.error(subject, text)
        })?;
        parts.push((part, collision.X_LG));
    }
    let mut inertia = sum_of_inertias(parts.into_iter());
    if inertia.mass == 0.0 {
        let text = "<inertial auto=\"true\"> needs a <collision> with a volume";
        return Err(inertial.error(subject, text));
    }
    if let Some(mass) = inertial.number_in("mass", subject)? {
        if !(mass > 0.0 && mass.is_finite()) {
            let text = format!("<mass> = {mass} kg must be positive");
            return Err(inertial.error(subject, text));
        }
        inertia.rotational *= mass / inertia.mass;
        inertia.mass = mass;
    }
    Ok(inertia)
}

fn density_of(element: &Element, subject: &str) -> Result<Option<f64>, MultibodyError> {
    let density = element.number_in("density", subject)?;
    match density {
        Some(rho) if !(rho > 0.0 && rho.is_finite()) => {
            let text = format!("<density> = {rho} kg/m³ must be positive");
            Err(element.error(subject, text))
        }
        density => Ok(density),
    }
}

/// The inertia of a collision shape at this density, in the frame of the shape.
///
/// # Errors
/// A message if it has no volume.
pub(crate) fn inertia_of_collision(
    collision: &Collision,
    density: f64,
) -> Result<SpatialInertia, String> {
    let properties = match (&collision.geometry, &collision.mesh) {
        (_, Some(CollisionMesh::Surface(surface))) => {
            let triangles: Vec<[u32; 3]> = surface.raw_triangles().collect();
            let unit = inertia_of_mesh(surface.vertices(), &triangles, MeshSolid::Exact)?;
            return Ok(SpatialInertia::new(
                unit.mass * density,
                unit.com,
                unit.rotational * density,
            ));
        }
        (_, Some(CollisionMesh::Hull(hull))) => {
            Shape::ConvexHull(hull.clone()).mass_properties(density)
        }
        (GeometryDescription::Analytic(shape), _) => {
            let shape = Shape::try_from(shape).map_err(|error| error.to_string())?;
            // A plane has no inertia.
            if matches!(shape, Shape::HalfSpace) {
                return Ok(SpatialInertia::zero());
            }
            shape.mass_properties(density)
        }
        (GeometryDescription::Mesh { .. } | GeometryDescription::HeightField { .. }, None) => {
            return Err("has no mesh".to_owned());
        }
    };
    let properties = properties.map_err(|error| error.to_string())?;
    Ok(SpatialInertia::new(
        properties.mass,
        properties.center.coords,
        properties.inertia,
    ))
}
