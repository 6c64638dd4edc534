//! Shapes that touch and shapes that are drawn, from what scenes and robot files say.

use std::path::Path;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, TriMesh, read_surface};
use pliant_hydroelastic::{GeometryError, Shape};
use pliant_multibody::{GeometryDescription, MeshHull};

use super::files;
use crate::recording::VisualShape;
use crate::scene::{MeshUse, PlacedShape, Scene, SceneError, SceneFault, ShapeEntry};

/// The shape of an entry; remarks of mesh files go to `notes`.
pub(super) fn shape(
    scene: &Scene,
    placed: &PlacedShape,
    notes: &mut Vec<String>,
) -> Result<Shape, SceneError> {
    let fault = |text: String| scene.text.error(placed.at, SceneFault::File(text));
    let made = match &placed.shape {
        ShapeEntry::HalfSpace => Ok(Shape::half_space()),
        ShapeEntry::Sphere { radius } => Shape::sphere(*radius),
        ShapeEntry::Box { size } => Shape::cuboid(*size),
        ShapeEntry::Cylinder { radius, length } => Shape::cylinder(*radius, *length),
        ShapeEntry::Capsule { radius, length } => Shape::capsule(*radius, *length),
        ShapeEntry::Ellipsoid { semi_axes } => Shape::ellipsoid(*semi_axes),
        ShapeEntry::Cone { radius, height } => Shape::cone(*radius, *height),
        ShapeEntry::ConvexHull { points } => Shape::convex_hull(points),
        ShapeEntry::Mesh { file, scale, used } => {
            let (_, path) = files::open(scene, file)?;
            let hull = match used {
                MeshUse::Surface => MeshHull::AsWritten,
                MeshUse::ConvexHull => MeshHull::Convex,
            };
            return mesh(&path, Vector3::repeat(*scale), hull, notes).map_err(fault);
        }
    };
    made.map_err(|error| fault(error.to_string()))
}

/// The shape of a robot's collision element.
pub(super) fn described(
    description: &GeometryDescription,
    notes: &mut Vec<String>,
) -> Result<Shape, String> {
    let made = match description {
        GeometryDescription::Box { size } => Shape::cuboid(*size),
        GeometryDescription::Sphere { radius } => Shape::sphere(*radius),
        GeometryDescription::Cylinder { radius, length } => Shape::cylinder(*radius, *length),
        GeometryDescription::Capsule { radius, length } => Shape::capsule(*radius, *length),
        GeometryDescription::Ellipsoid { radii } => Shape::ellipsoid(*radii),
        GeometryDescription::Mesh { path, scale, hull } => return mesh(path, *scale, *hull, notes),
    };
    made.map_err(|error| error.to_string())
}

fn mesh(
    path: &Path,
    scale: Vector3<f64>,
    hull: MeshHull,
    notes: &mut Vec<String>,
) -> Result<Shape, String> {
    let surface_use = match hull {
        MeshHull::AsWritten => SurfaceUse::Solid,
        MeshHull::Convex => SurfaceUse::Cloth,
    };
    let surface = surface(path, scale, surface_use, notes)?;
    let vertices: Vec<Point3<f64>> = surface
        .vertices()
        .iter()
        .map(|v| Point3::from(*v))
        .collect();
    let made: Result<Shape, GeometryError> = match hull {
        MeshHull::Convex => Shape::convex_hull(&vertices),
        MeshHull::AsWritten => {
            let triangles: Vec<[u32; 3]> = surface.raw_triangles().collect();
            Shape::mesh(&vertices, &triangles)
        }
    };
    made.map_err(|error| format!("{}: {error}", path.display()))
}

fn surface(
    path: &Path,
    scale: Vector3<f64>,
    surface_use: SurfaceUse,
    notes: &mut Vec<String>,
) -> Result<TriMesh, String> {
    let options = SurfaceOptions {
        scale,
        ..SurfaceOptions::default()
    };
    let (surface, report) =
        read_surface(path, surface_use, &options).map_err(|error| error.to_string())?;
    notes.extend(
        report
            .entries
            .iter()
            .map(|entry| format!("{}: {entry}", path.display())),
    );
    Ok(surface)
}

/// How a robot's visual element is drawn.
pub(super) fn drawn(
    description: &GeometryDescription,
    notes: &mut Vec<String>,
) -> Result<VisualShape, String> {
    match description {
        GeometryDescription::Mesh { path, scale, .. } => {
            let surface = surface(path, *scale, SurfaceUse::Cloth, notes)?;
            Ok(VisualShape::Mesh {
                vertices: surface
                    .vertices()
                    .iter()
                    .map(|v| Point3::from(*v))
                    .collect(),
                triangles: surface.raw_triangles().collect(),
            })
        }
        primitive => described(primitive, notes).map(|shape| look(&shape)),
    }
}

/// How a shape that touches is drawn.
pub(super) fn look(shape: &Shape) -> VisualShape {
    match shape {
        Shape::HalfSpace => VisualShape::HalfSpace,
        Shape::Sphere(s) => VisualShape::Sphere { radius: s.radius() },
        Shape::Box(s) => VisualShape::Box {
            half_extents: s.half_extents(),
        },
        Shape::Cylinder(s) => VisualShape::Cylinder {
            radius: s.radius(),
            length: 2.0 * s.half_length(),
        },
        Shape::Capsule(s) => VisualShape::Capsule {
            radius: s.radius(),
            length: 2.0 * s.half_length(),
        },
        Shape::Ellipsoid(s) => VisualShape::Ellipsoid {
            semi_axes: s.semi_axes(),
        },
        Shape::Cone(s) => VisualShape::Cone {
            radius: s.radius(),
            height: 2.0 * s.half_height(),
        },
        Shape::ConvexHull(s) => VisualShape::Mesh {
            vertices: s.vertices().to_vec(),
            triangles: s.triangles().collect(),
        },
        Shape::Mesh(s) => VisualShape::Mesh {
            vertices: s.vertices().to_vec(),
            triangles: s.triangles().to_vec(),
        },
        other => {
            // Shapes this program does not know yet are drawn as the box around them.
            let aabb = other.local_aabb();
            VisualShape::Box {
                half_extents: aabb.half_extents(),
            }
        }
    }
}
