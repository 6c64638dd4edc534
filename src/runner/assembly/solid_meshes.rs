//! Tetrahedra of deformable bodies.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::mesh::{
    Crossings, FillSettings, LoadReport, MeshError, SelfIntersections, SurfaceOptions, SurfaceUse,
    TetMesh, TetOptions, TriMesh, generate, tetrahedralise, tets_from_bytes,
};
use pliant_hydroelastic::{AnalyticShape, RigidSurface};

use super::solids;
use crate::scene::{
    FilledPart, PlacedShape, Scene, SceneError, SceneFault, ShapeEntry, SolidMesh, Surface,
};

/// The tetrahedra of a body; `at` is the location in the scene, `name` the name in notes.
pub(super) fn solid_mesh(
    scene: &Scene,
    mesh: &SolidMesh,
    at: crate::scene::SourceLocation,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<TetMesh, SceneError> {
    let refused = |error: MeshError| scene.text.error(at, SceneFault::File(error.to_string()));
    let noted = |(mesh, report): (TetMesh, LoadReport)| {
        notes.extend(
            report
                .entries
                .iter()
                .map(|e| format!("soft body {name:?}: {e}")),
        );
        mesh
    };
    match mesh {
        SolidMesh::Box { size, cells } => generate::tet_cuboid(size / 2.0, *cells).map_err(refused),
        SolidMesh::Cylinder {
            radius,
            length,
            sides,
            rings,
            layers,
        } => {
            generate::tet_cylinder(*radius, length / 2.0, *sides, *rings, *layers).map_err(refused)
        }
        SolidMesh::Torus {
            major_radius,
            minor_radius,
            segments,
            sides,
            rings,
        } => generate::tet_torus(*major_radius, *minor_radius, *segments, *sides, *rings)
            .map_err(refused),
        SolidMesh::Belt {
            axles,
            radius,
            width,
            thickness,
            cells,
        } => generate::tet_belt(*axles, *radius, [*width, *thickness], *cells).map_err(refused),
        SolidMesh::Hexahedron(corners) => hexahedron(corners).map(noted).map_err(refused),
        SolidMesh::File { file, scale } => {
            let (bytes, path) = scene.open(file)?;
            let options = TetOptions {
                scale: Vector3::repeat(*scale),
                ..TetOptions::default()
            };
            tets_from_bytes(&bytes, &path.display().to_string(), &options)
                .map(noted)
                .map_err(|error| {
                    let remedy =
                        "; a closed surface is filled by `filled = { shape = { mesh = ... } }`";
                    let fault = SceneFault::File(format!("{error}{remedy}"));
                    scene.text.error(file.at, fault)
                })
        }
        SolidMesh::Filled { parts, edge_length } => {
            let surface = outline(scene, parts, *edge_length, notes)?;
            let settings = FillSettings {
                edge_length: *edge_length,
                crossings: match parts.len() {
                    1 => Crossings::Refuse,
                    _ => Crossings::Unite,
                },
            };
            let surface = surface.map_err(refused)?;
            let (mesh, report) = tetrahedralise(&surface, &settings).map_err(refused)?;
            // Parts may overlap.
            let entries = report.entries.into_iter();
            let entries = entries.filter(|e| {
                parts.len() == 1 || e.severity > pliant_hydroelastic::mesh::Severity::Repaired
            });
            notes.extend(entries.map(|e| format!("soft body {name:?}: {e}")));
            Ok(mesh)
        }
    }
}

/// Six tetrahedra about the diagonal from corner 0 to corner 7.
fn hexahedron(corners: &[Vector3<f64>; 8]) -> Result<(TetMesh, LoadReport), MeshError> {
    let around = [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]];
    let tets = around.map(|[a, b]| [0, a, b, 7]).to_vec();
    TetMesh::build(corners.to_vec(), tets, &TetOptions::default())
}

/// The surfaces of all parts in one mesh, with triangles suited to tetrahedra of `edge_length` m.
fn outline(
    scene: &Scene,
    parts: &[FilledPart],
    edge_length: f64,
    notes: &mut Vec<String>,
) -> Result<Result<TriMesh, MeshError>, SceneError> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for part in parts {
        let (points, corners) = surface(scene, part, edge_length, notes)?;
        let first = vertices.len() as u32;
        vertices.extend(points.iter().map(|v| (part.pose * Point3::from(*v)).coords));
        triangles.extend(corners.iter().map(|t: &[u32; 3]| t.map(|v| v + first)));
    }
    let options = SurfaceOptions {
        self_intersections: SelfIntersections::Skip, // what fills it looks
        ..SurfaceOptions::default()
    };
    Ok(TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options).map(|(mesh, _)| mesh))
}

type Triangles = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

fn surface(
    scene: &Scene,
    part: &FilledPart,
    edge_length: f64,
    notes: &mut Vec<String>,
) -> Result<Triangles, SceneError> {
    let placed = PlacedShape {
        shape: part.shape.clone(),
        at: part.at,
        pose: Isometry3::identity(),
        surface: Surface::default(),
        surface_velocity: Vector3::zeros(),
        visual: None,
        color: None,
        density: 0.0,
    };
    let shape = solids::shape(scene, &placed, notes)?;
    // Flat sides need no more triangles than they have; curved ones are finer than the tetrahedra.
    let fineness = match part.shape {
        ShapeEntry::Analytic(AnalyticShape::Box { .. })
        | ShapeEntry::ConvexHull { .. }
        | ShapeEntry::HeightField(_)
        | ShapeEntry::Mesh { .. } => 1.0,
        ShapeEntry::Analytic(_) => 0.5,
    };
    let surface = RigidSurface::of_shape(&shape, fineness * edge_length);
    let surface = surface.map_err(|error| {
        scene
            .text
            .error(part.at, SceneFault::File(error.to_string()))
    })?;
    Ok((surface.vertices().to_vec(), surface.triangles().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hexahedron_is_filled_without_gap_or_overlap() {
        let corners: [Vector3<f64>; 8] = std::array::from_fn(|k| {
            let x = if k & 1 == 1 { 1.2 } else { 0.0 };
            let y = if k & 2 == 2 { 0.7 } else { 0.0 };
            let z = if k & 4 == 4 { 0.5 + 0.1 * x } else { 0.0 };
            Vector3::new(x, y, z)
        });
        let (mesh, report) = hexahedron(&corners).unwrap();
        assert!(report.entries.is_empty(), "{report}");
        assert_eq!((mesh.tets().len(), mesh.component_count()), (6, 1));
        // A prism over a trapezium of heights 0.5 and 0.62.
        let volume = 1.2 * 0.7 * 0.56;
        assert!((mesh.solid_moments().volume - volume).abs() < 1e-14);
        assert_eq!(mesh.boundary().triangles.len(), 12);
    }
}
