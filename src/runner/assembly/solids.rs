//! Contact shapes and drawn shapes, from the descriptions in scene and robot files.

use std::path::Path;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::mesh::{
    DrawnPart, LoadReport, MeshError, SurfaceOptions, SurfaceUse, TriMesh, read_drawn,
    surface_from_bytes,
};
use pliant_hydroelastic::{AnalyticShape, GeometryError, Shape};
use pliant_multibody::{Collision, GeometryDescription, MeshHull};

use crate::recording::VisualShape;
use crate::scene::{MeshUse, PlacedShape, Scene, SceneError, SceneFault, ShapeEntry};

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
    let options = SurfaceOptions {
        scale: Vector3::repeat(*scale),
        ..SurfaceOptions::default()
    };
    let name = path.display().to_string();
    let read = surface_from_bytes(&bytes, &name, SurfaceUse::Cloth, &options);
    let drawn = noted(read, &path, notes).and_then(|surface| match used {
        MeshUse::Surface => Ok(triangles(&surface)),
        MeshUse::ConvexHull => mesh(&surface, &path, MeshHull::Convex).map(|hull| look(&hull)),
    });
    drawn.map_err(|text| scene.text.error(file.at, SceneFault::File(text)))
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
        ShapeEntry::Mesh { file, scale, used } => {
            let (bytes, path) = scene.open(file)?;
            let hull = match used {
                MeshUse::Surface => MeshHull::AsWritten,
                MeshUse::ConvexHull => MeshHull::Convex,
            };
            let options = SurfaceOptions {
                scale: Vector3::repeat(*scale),
                ..SurfaceOptions::default()
            };
            let name = path.display().to_string();
            let read = surface_from_bytes(&bytes, &name, use_for(hull), &options);
            // For meshes of robots the URDF reader does so by itself.
            let remedy = match (&read, hull) {
                (Err(MeshError::Topology(_)), MeshHull::AsWritten) => {
                    "; `use = \"convex-hull\"` takes its hull, whatever the surface is"
                }
                _ => "",
            };
            return noted(read, &path, notes)
                .and_then(|surface| mesh(&surface, &path, hull))
                .map_err(|text| fault(text + remedy));
        }
    };
    made.map_err(|error| fault(error.to_string()))
}

/// The shape of a robot's collision element. The surface of a mesh was read with the robot.
pub(super) fn described(collision: &Collision) -> Result<Shape, String> {
    match (&collision.geometry, &collision.surface) {
        (GeometryDescription::Analytic(shape), _) => {
            Shape::try_from(shape).map_err(|error| error.to_string())
        }
        (GeometryDescription::Mesh { path, hull, .. }, Some(surface)) => mesh(surface, path, *hull),
        (GeometryDescription::Mesh { path, .. }, None) => {
            Err(format!("{}: the surface was not read", path.display()))
        }
    }
}

fn use_for(hull: MeshHull) -> SurfaceUse {
    match hull {
        MeshHull::AsWritten => SurfaceUse::Solid,
        MeshHull::Convex => SurfaceUse::Cloth,
    }
}

fn mesh(surface: &TriMesh, path: &Path, hull: MeshHull) -> Result<Shape, String> {
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

/// The surface; remarks of the reader go to `notes`.
fn noted(
    read: Result<(TriMesh, LoadReport), MeshError>,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<TriMesh, String> {
    let (surface, report) = read.map_err(|error| error.to_string())?;
    let remarks = report.entries.iter();
    notes.extend(remarks.map(|entry| format!("{}: {entry}", path.display())));
    Ok(surface)
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
    let mesh = |part: DrawnPart| {
        let vertices = part.vertices.into_iter().map(Point3::from).collect();
        let triangles = part.triangles;
        let shape = VisualShape::Mesh {
            vertices,
            triangles,
        };
        (shape, part.rgba)
    };
    parts.into_iter().map(mesh).collect()
}

fn triangles(surface: &TriMesh) -> VisualShape {
    let vertices = surface.vertices().iter();
    VisualShape::Mesh {
        vertices: vertices.map(|v| Point3::from(*v)).collect(),
        triangles: surface.raw_triangles().collect(),
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
