//! Contact shapes and drawn shapes, from the descriptions in scene and robot files.

use std::path::Path;
use std::sync::Arc;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::mesh::{
    DrawnPart, MeshError, SurfaceOptions, SurfaceUse, drawn_from_bytes, hull_from_bytes,
    read_drawn, surface_from_bytes,
};
use pliant_hydroelastic::{AnalyticShape, Shape};
use pliant_multibody::{Collision, CollisionMesh, GeometryDescription};

use crate::recording::VisualShape;
use crate::scene::{
    HeightFieldEntry, HeightRows, Heights, MeshUse, PlacedShape, Scene, SceneError, SceneFault,
    ShapeEntry, SourceLocation,
};

/// How an entry of the given shape is drawn; remarks of mesh files go to `notes`.
pub(super) fn entry_look(
    scene: &Scene,
    placed: &PlacedShape,
    own: &Shape,
    notes: &mut Vec<String>,
) -> Result<VisualShape, SceneError> {
    let Some(visual) = &placed.visual else {
        return Ok(look(own));
    };
    let ShapeEntry::Mesh {
        file, scale, used, ..
    } = visual
    else {
        let other = PlacedShape {
            shape: visual.clone(),
            ..placed.clone()
        };
        return shape(scene, &other, notes).map(|shape| look(&shape));
    };
    let (bytes, path) = scene.open(file)?;
    let scale = Vector3::repeat(*scale);
    let name = path.display().to_string();
    if *used == MeshUse::ConvexHull
        && let Ok((hull, _)) = hull_from_bytes(&bytes, &name, &scale)
    {
        return Ok(look(&Shape::ConvexHull(Arc::new(hull))));
    }
    // Points in a plane have no hull, but can be drawn.
    let drawn = drawn_from_bytes(&bytes, &name, &scale);
    let (parts, report) = drawn.map_err(|error| {
        scene
            .text
            .error(file.at, SceneFault::File(error.to_string()))
    })?;
    notes.extend(report.entries.iter().map(|entry| entry.to_string()));
    Ok(triangles(DrawnPart::joined(parts)))
}

/// The shape of an entry; remarks of mesh files go to `notes`.
pub(super) fn shape(
    scene: &Scene,
    placed: &PlacedShape,
    notes: &mut Vec<String>,
) -> Result<Shape, SceneError> {
    let fault = |text: String| scene.text.error(placed.at, SceneFault::File(text));
    let made = match &placed.shape {
        ShapeEntry::Analytic(shape) => Shape::try_from(shape),
        ShapeEntry::ConvexHull { points } => Shape::convex_hull(points),
        ShapeEntry::HeightField(field) => return height_field(scene, placed.at, field),
        ShapeEntry::Mesh { file, scale, used } => {
            let (bytes, path) = scene.open(file)?;
            return mesh(&bytes, &path, *scale, *used, notes).map_err(fault);
        }
    };
    made.map_err(|error| fault(error.to_string()))
}

/// The shape of a mesh file; remarks of its reader go to `notes`.
fn mesh(
    bytes: &[u8],
    path: &Path,
    scale: f64,
    used: MeshUse,
    notes: &mut Vec<String>,
) -> Result<Shape, String> {
    let name = path.display().to_string();
    let options = SurfaceOptions {
        scale: Vector3::repeat(scale),
        ..SurfaceOptions::default()
    };
    let (mesh, report) = match used {
        MeshUse::ConvexHull => {
            let read = hull_from_bytes(bytes, &name, &options.scale);
            let (hull, report) = read.map_err(|error| error.to_string())?;
            (CollisionMesh::Hull(Arc::new(hull)), report)
        }
        MeshUse::Surface => {
            let read = surface_from_bytes(bytes, &name, SurfaceUse::Solid, &options);
            // For meshes of robots the readers do so by themselves.
            let (surface, report) = read.map_err(|error| match error {
                MeshError::Topology(_) | MeshError::Element(_) => {
                    format!(
                        "{error}; `use = \"convex-hull\"` takes its hull, whatever the surface is"
                    )
                }
                _ => error.to_string(),
            })?;
            (CollisionMesh::Surface(Arc::new(surface)), report)
        }
    };
    let remarks = report.entries.iter();
    notes.extend(remarks.map(|entry| format!("{name}: {entry}")));
    mesh.shape().map_err(|error| format!("{name}: {error}"))
}

/// The ground of a height field; `at` is its location in the scene.
fn height_field(
    scene: &Scene,
    at: SourceLocation,
    field: &HeightFieldEntry,
) -> Result<Shape, SceneError> {
    let (surface, at, name) = match &field.heights {
        Heights::Written(rows) => (field.surface(rows), at, "height field".to_owned()),
        Heights::File(file) => {
            let (bytes, path) = scene.open(file)?;
            let rows = HeightRows::from_text(&String::from_utf8_lossy(&bytes));
            let surface = rows.and_then(|rows| field.surface(&rows));
            (surface, file.at, path.display().to_string())
        }
    };
    let fault = |reason: String| {
        scene
            .text
            .error(at, SceneFault::File(format!("{name}: {reason}")))
    };
    let surface = surface.map_err(fault)?;
    Shape::from_surface(&surface).map_err(|error| fault(error.to_string()))
}

/// The shape of a robot's collision element. The surface of a mesh was read with the robot.
pub(super) fn described(collision: &Collision) -> Result<Shape, String> {
    let shape = match (&collision.geometry, &collision.mesh) {
        (GeometryDescription::Analytic(shape), _) => Shape::try_from(shape),
        (_, Some(mesh)) => mesh.shape(),
        (GeometryDescription::Mesh { path, .. }, None) => {
            return Err(format!("{}: the mesh was not read", path.display()));
        }
        (GeometryDescription::HeightField { name }, None) => {
            return Err(format!("height field {name:?} has no surface"));
        }
    };
    shape.map_err(|error| match &collision.geometry {
        GeometryDescription::Mesh { path, .. } => format!("{}: {error}", path.display()),
        GeometryDescription::HeightField { name } => format!("height field {name:?}: {error}"),
        GeometryDescription::Analytic(_) => error.to_string(),
    })
}

/// How a robot's visual element is drawn: shapes with their colours. A mesh that cannot be drawn is noted, and has none.
pub(super) fn drawn(
    description: &GeometryDescription,
    notes: &mut Vec<String>,
) -> Vec<(VisualShape, Option<[f64; 4]>)> {
    let (path, scale) = match description {
        GeometryDescription::Analytic(shape) => match Shape::try_from(shape) {
            Ok(shape) => return vec![(look(&shape), None)],
            Err(error) => {
                notes.push(format!("{error}; not shown"));
                return Vec::new();
            }
        },
        GeometryDescription::Mesh { path, scale, .. } => (path, scale),
        // Its surface is drawn as a collision shape.
        GeometryDescription::HeightField { .. } => return Vec::new(),
    };
    let (parts, report) = match read_drawn(path, scale) {
        Ok(read) => read,
        Err(error) => {
            notes.push(format!("{error}; not shown"));
            return Vec::new();
        }
    };
    let remarks = report.entries.iter();
    notes.extend(remarks.map(|entry| entry.to_string()));
    let coloured = |part: DrawnPart| {
        let rgba = part.rgba;
        (triangles(part), rgba)
    };
    parts.into_iter().map(coloured).collect()
}

fn triangles(part: DrawnPart) -> VisualShape {
    VisualShape::Mesh {
        vertices: part.vertices.into_iter().map(Point3::from).collect(),
        triangles: part.triangles,
    }
}

/// How the shape of a geometry is drawn.
pub(super) fn look(shape: &Shape) -> VisualShape {
    if let Some(analytic) = shape.analytic() {
        return analytic.into();
    }
    match shape {
        Shape::ConvexHull(s) => VisualShape::Mesh {
            vertices: s.vertices().to_vec(),
            triangles: s.triangles().collect(),
        },
        Shape::Mesh(s) => VisualShape::Mesh {
            vertices: s.vertices().to_vec(),
            triangles: s.triangles().to_vec(),
        },
        // All others are drawn as their bounding boxes.
        other => AnalyticShape::Box {
            size: 2.0 * other.local_aabb().half_extents(),
        }
        .into(),
    }
}
