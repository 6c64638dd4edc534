//! Solids of nested shells: a ball with a cavity, in which a smaller ball floats, whatever the orientation of the three surfaces.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::{
    FillSettings, SurfaceOptions, SurfaceUse, TriMesh, generate, tetrahedralise,
};

use super::test_world::Outcome;
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "cavities",
    about: "shells nest by parity: mass, inertia, signed distance and filling of a hollow ball with a core, in all orientations",
    kind: CaseKind::Function(run),
    needs: None,
};

/// The ball, its cavity and the core, m.
const RADII: [f64; 3] = [0.05, 0.03, 0.015];
/// Of a sphere of subdivided triangles.
const SUBDIVISIONS: u32 = 3;
const EDGE: f64 = 0.006;
/// Points in the core, the cavity, the wall and outside.
const DISTANCES: [f64; 4] = [0.005, 0.0225, 0.04, 0.06];

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let orientations = match length {
        CaseLength::Quick => 0..2,
        CaseLength::Full => 0..8,
    };
    let mut findings = Vec::new();
    for inward in orientations {
        check(inward, &mut findings)?;
    }
    Ok(findings)
}

/// Bit k of `inward` says that shell k is oriented inwards in the arrays.
fn shells(inward: u32) -> Outcome<TriMesh> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (k, radius) in RADII.into_iter().enumerate() {
        let sphere = generate::sphere(radius, SUBDIVISIONS)?;
        let offset = vertices.len() as u32;
        vertices.extend_from_slice(sphere.vertices());
        triangles.extend(sphere.raw_triangles().map(|[a, b, c]| {
            let corners = [a, b, c].map(|v| v + offset);
            match inward >> k & 1 {
                0 => corners,
                _ => [corners[0], corners[2], corners[1]],
            }
        }));
    }
    let options = SurfaceOptions::default();
    let (mesh, _) = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options)?;
    Ok(mesh)
}

/// R^n − r^n + c^n of the three radii.
fn alternating(power: i32) -> f64 {
    let [outer, cavity, core] = RADII.map(|radius| radius.powi(power));
    outer - cavity + core
}

fn check(inward: u32, findings: &mut Vec<Finding>) -> Outcome<()> {
    let of = format!("cavities, orientations {inward:03b}");
    let mesh = shells(inward)?;
    let unit = Shape::from_surface(&generate::sphere(1.0, SUBDIVISIONS)?)?.mass_properties(1.0)?;
    let shape = Shape::from_surface(&mesh)?;
    let properties = shape.mass_properties(1.0)?;
    let similar =
        "shells of one polyhedron: its volume times R³ − r³ + c³, its inertia times R⁵ − r⁵ + c⁵";
    findings.push(Finding::equals(
        format!("{of}: mass over that of the shells"),
        properties.mass / (unit.mass * alternating(3)),
        1.0,
        1e-9,
        similar,
    ));
    findings.push(Finding::equals(
        format!("{of}: inertia over that of the shells"),
        properties.inertia[(0, 0)] / (unit.inertia[(0, 0)] * alternating(5)),
        1.0,
        1e-9,
        similar,
    ));
    for radius in DISTANCES {
        let nearest = RADII.map(|shell| radius - shell);
        let [least, ..] = {
            let mut sorted = nearest;
            sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            sorted
        };
        let is_inside = nearest.iter().filter(|gap| **gap < 0.0).count() % 2 == 1;
        let expected = if is_inside { -least.abs() } else { least.abs() };
        let point = Point3::from(Vector3::new(0.6, 0.0, 0.8) * radius);
        findings.push(Finding::equals(
            format!("{of}: signed distance at {radius} m from the centre (m)"),
            shape.signed_distance(&point).value,
            expected,
            5e-4,
            "distance to the nearest sphere, positive in the cavity; facets are up to 0.5 mm off",
        ));
    }
    let (filled, _) = tetrahedralise(&mesh, &FillSettings::of_edge_length(EDGE))?;
    findings.push(Finding::equals(
        format!("{of}: volume of the filling over that of the shells"),
        filled.solid_moments().volume / properties.volume,
        1.0,
        0.02,
        "the filling follows the facets to a second order of its edge length",
    ));
    Ok(())
}
