//! Tetrahedral meshing of a closed surface by isosurface stuffing on a body-centred cubic lattice.
//!
//! Where the surface cuts a lattice edge near one of its ends, that vertex is snapped onto the surface. The tetrahedra
//! that are still cut are divided there, and their inner parts are kept. No tetrahedron is a sliver, and every boundary
//! vertex lies on the surface. Finally, boundary vertices near sharp edges and corners of the surface are moved onto
//! them, as far as the quality of their tetrahedra permits.
//!
//! Features thinner than a tetrahedron are lost, and sharp edges are chamfered by less than an edge length; the report
//! states the difference in volume.
//!
//! # Source
//! Labelle and Shewchuk, Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles (2007).

mod cut;
mod features;
mod lattice;
mod solid;

use nalgebra::{Point3, Vector3};

pub use solid::Crossings;

use super::error::{FilePosition, Flaw, Location, MeshError};
use super::index::TriangleIdx;
use super::options::{Orientation, TetOptions, Weld};
use super::report::{LoadReport, Severity};
use super::self_intersection::{SelfIntersection, find_self_intersection};
use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use crate::shape::MeshShape;
use solid::Solid;

/// More lattice points are refused: the mesh would have ten times as many tetrahedra.
const POINTS_MAX: f64 = 4.0e6;

/// Settings of [`tetrahedralise`].
///
/// ```
/// use pliant_hydroelastic::mesh::{Crossings, FillSettings};
///
/// let settings = FillSettings::of_edge_length(0.01);
/// assert_eq!((settings.edge_length, settings.crossings), (0.01, Crossings::Refuse));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillSettings {
    /// Length of the longer kind of lattice edge, m; the shorter kind is 0.87 of it.
    pub edge_length: f64,
    /// Treatment of self-intersecting surfaces.
    pub crossings: Crossings,
}

impl FillSettings {
    /// Settings for this edge length (m); self-intersecting surfaces are refused.
    #[must_use]
    pub fn of_edge_length(edge_length: f64) -> Self {
        Self {
            edge_length,
            crossings: Crossings::Refuse,
        }
    }
}

/// Fills a closed surface with tetrahedra.
///
/// The report lists repairs, the relative difference in volume, and lost components.
///
/// # Errors
/// [`MeshError::Setting`] for an edge length that is not positive and finite, or so small that the lattice would have
/// more than four million points; [`MeshError::Topology`] for a surface that is open, intersects itself (unless united)
/// or contains no lattice point.
///
/// ```
/// use pliant_hydroelastic::mesh::{FillSettings, generate, tetrahedralise};
/// let (solid, report) = tetrahedralise(&generate::torus(0.3, 0.1, 48, 24)?, &FillSettings::of_edge_length(0.05))?;
/// assert!(solid.min_quality().1 > 0.1);
/// assert_eq!(report.entries.len(), 1, "the difference in volume");
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn tetrahedralise(
    surface: &TriMesh,
    settings: &FillSettings,
) -> Result<(TetMesh, LoadReport), MeshError> {
    let whole = || Location::new("surface to be filled", FilePosition::Whole);
    let edge = settings.edge_length;
    let extent = surface.bounds().extent();
    let points = extent.iter().map(|x| x / edge + 3.0).product::<f64>() * 2.0;
    if !(edge.is_finite() && edge > 0.0 && points <= POINTS_MAX) {
        return Err(MeshError::Setting(Flaw::new(
            whole(),
            format!(
                "edge_length = {edge} m for a surface of extent {} m",
                extent.max()
            ),
            "The edge length must be positive, finite, and large enough for at most four million lattice points",
        )));
    }
    let mut report = LoadReport::default();
    check_closed(surface)?;
    check_crossings(surface, settings.crossings, &mut report)?;
    let vertices: Vec<_> = surface
        .vertices()
        .iter()
        .map(|v| Point3::from(*v))
        .collect();
    let triangles: Vec<_> = surface.raw_triangles().collect();
    let shape = MeshShape::new(&vertices, &triangles).map_err(|e| {
        MeshError::Topology(Flaw::new(
            whole(),
            e.to_string(),
            "Build the surface as SurfaceUse::Solid",
        ))
    })?;
    let solid = Solid {
        shape,
        crossings: settings.crossings,
    };
    let mut lattice = lattice::Lattice::new(surface.bounds(), edge, &solid);
    let cuts = cut::snap(&mut lattice, &solid);
    let mut filled = cut::divide(&lattice, cuts);
    if filled.tets.is_empty() {
        return Err(MeshError::Topology(Flaw::new(
            whole(),
            format!("no lattice point lies inside at edge_length = {edge} m"),
            "Choose a smaller edge length",
        )));
    }
    features::keep(&mut filled, &solid.shape, edge);
    let options = TetOptions {
        weld: Weld::Never,
        orientation: Orientation::Reorder,
        ..TetOptions::default()
    };
    // Its entries concern unused lattice points outside and are dropped.
    let (mesh, _) = TetMesh::build(filled.vertices, filled.tets, &options)?;
    report_volume(surface, &mesh, settings, &mut report);
    Ok((mesh, report))
}

fn check_closed(surface: &TriMesh) -> Result<(), MeshError> {
    let Some(edge) = surface.boundary_edges().next() else {
        return Ok(());
    };
    let [a, b] = edge.vertices;
    Err(MeshError::Topology(Flaw::new(
        Location::new("surface to be filled", FilePosition::Whole),
        format!(
            "the edge of vertices {a} and {b} belongs to one triangle only ({})",
            edge.first
        ),
        "The surface must be closed; close it, or build it as SurfaceUse::Solid to weld its seams",
    )))
}

fn check_crossings(
    surface: &TriMesh,
    crossings: Crossings,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let SelfIntersection::Between(one, two) = find_self_intersection(surface) else {
        return Ok(());
    };
    let location = Location::new("surface to be filled", FilePosition::Whole);
    let at = |t: TriangleIdx| {
        let c = surface.corners(t).iter().sum::<Vector3<f64>>() / 3.0;
        format!("triangle {t} at ({:.4}, {:.4}, {:.4})", c.x, c.y, c.z)
    };
    let what = format!("the surface intersects itself: {} and {}", at(one), at(two));
    match crossings {
        Crossings::Refuse => Err(MeshError::Topology(Flaw::new(
            location,
            what,
            "Separate them, or use Crossings::Unite, which unites overlapping parts",
        ))),
        Crossings::Unite => {
            report.add(
                Severity::Repaired,
                location,
                format!("{what}; overlapping parts were united"),
            );
            Ok(())
        }
    }
}

fn report_volume(
    surface: &TriMesh,
    mesh: &TetMesh,
    settings: &FillSettings,
    report: &mut LoadReport,
) {
    let Some(surface_volume) = surface.solid_moments().map(|m| m.volume) else {
        return;
    };
    let volume = mesh.solid_moments().volume;
    let change = 100.0 * (volume / surface_volume - 1.0);
    let pieces = (mesh.component_count(), surface.component_count());
    let text = format!(
        "filled with {} tetrahedra in {} pieces (the surface has {}); volume {volume:.6e} m3, {change:+.2} % of the surface's",
        mesh.tets().len(),
        pieces.0,
        pieces.1
    );
    let suspicious =
        change.abs() > 5.0 || pieces.0 < pieces.1 && settings.crossings == Crossings::Refuse;
    let severity = if suspicious {
        Severity::Suspicious
    } else {
        Severity::Repaired
    };
    report.add(
        severity,
        Location::new("surface to be filled", FilePosition::Whole),
        text,
    );
}
