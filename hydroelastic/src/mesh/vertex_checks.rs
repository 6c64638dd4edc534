//! Checks of vertices common to all meshes: counts, finite coordinates, plausible size.

use super::error::{Flaw, MeshError};
use super::moments::Bounds;
use super::names::{Names, Numbering};
use super::report::{LoadReport, Severity};
use nalgebra::Vector3;
use std::ops::RangeInclusive;

/// Meshes for simulation extend over 10 µm to 100 km; other sizes probably have a wrong unit.
const USUAL_EXTENT: RangeInclusive<f64> = 1e-5..=1e5;
/// The inertia is of fifth order in the size: beyond these limits it would overflow or underflow in f64.
const COMPUTABLE_EXTENT: [f64; 2] = [1e-58, 1e58];
/// Half-edges are counted in u32.
const COUNT_MAX: usize = 1 << 30;

pub(crate) fn check_counts(
    names: &Names,
    n_vertices: usize,
    n_elements: usize,
) -> Result<(), MeshError> {
    let refuse = |what: String, remedy: &str| Err(Flaw::new(names.whole(), what, remedy));
    if n_vertices.max(n_elements) > COUNT_MAX {
        let what = format!(
            "{n_vertices} vertices and {n_elements} {}",
            names.elements.plural
        );
        return refuse(what, "At most 2^30 of each can be indexed; split the mesh")
            .map_err(MeshError::TooLarge);
    }
    if n_vertices == 0 {
        return refuse(
            "no vertices".into(),
            "A mesh needs vertices and elements between them",
        )
        .map_err(MeshError::Syntax);
    }
    if n_elements == 0 {
        let what = format!("{n_vertices} vertices but no {}", names.elements.plural);
        return refuse(what, "A mesh needs elements between its points").map_err(MeshError::Syntax);
    }
    Ok(())
}

pub(crate) fn check_finite(names: &Names, vertices: &[Vector3<f64>]) -> Result<(), MeshError> {
    for (vertex, v) in vertices.iter().zip(0_u32..) {
        if !vertex.iter().all(|x| x.is_finite()) {
            return Err(MeshError::Coordinate(Flaw::new(
                names.vertex_location(v),
                format!(
                    "{} is at ({}, {}, {})",
                    names.vertices.name(v),
                    vertex.x,
                    vertex.y,
                    vertex.z
                ),
                "Coordinates must be finite numbers",
            )));
        }
    }
    Ok(())
}

/// Scales in location; returns whether that mirrors the mesh.
pub(crate) fn scale(vertices: &mut [Vector3<f64>], factors: &Vector3<f64>) -> bool {
    vertices
        .iter_mut()
        .for_each(|vertex| vertex.component_mul_assign(factors));
    factors.iter().filter(|factor| **factor < 0.0).count() % 2 == 1
}

pub(crate) fn check_extent(
    names: &Names,
    vertices: &[Vector3<f64>],
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let Some(bounds) = Bounds::of(vertices) else {
        return Ok(());
    };
    let extent = bounds.extent().max();
    let reach = bounds.min.amax().max(bounds.max.amax());
    if !(extent >= COMPUTABLE_EXTENT[0] && reach <= COMPUTABLE_EXTENT[1]) {
        return Err(MeshError::Coordinate(Flaw::new(
            names.whole(),
            format!(
                "the mesh has an extent of {extent:e} m and reaches {reach:e} m from the origin"
            ),
            format!(
                "Its inertia can be computed for {:e} m to {:e} m only; set the scale option",
                COMPUTABLE_EXTENT[0], COMPUTABLE_EXTENT[1]
            ),
        )));
    }
    if !USUAL_EXTENT.contains(&extent) {
        let text = format!(
            "the longest side of the mesh is {extent:e} m; if its unit is not the metre, scale it"
        );
        report.add(Severity::Suspicious, names.whole(), text);
    }
    if reach * f64::EPSILON > 1e-6 * extent {
        let text = format!(
            "at {reach:e} m from the origin, round-off is significant for a mesh of {extent:e} m; move it closer"
        );
        report.add(Severity::Suspicious, names.whole(), text);
    }
    Ok(())
}

/// Drops unused vertices and renumbers the others; returns the old index of each. The `known` ones are dropped without a report.
pub(crate) fn drop_unused_vertices<const N: usize>(
    vertices: &mut Vec<Vector3<f64>>,
    elements: &mut [[u32; N]],
    known: &[u32],
    names: &Names,
    report: &mut LoadReport,
) -> Vec<u32> {
    let mut new_index = vec![u32::MAX; vertices.len()];
    elements
        .iter()
        .flatten()
        .for_each(|vertex| new_index[*vertex as usize] = 0);
    let mut is_known = vec![false; vertices.len()];
    known.iter().for_each(|v| is_known[*v as usize] = true);
    let unused: Vec<u32> = (0..vertices.len() as u32)
        .filter(|v| new_index[*v as usize] != 0 && !is_known[*v as usize])
        .collect();
    let old_index: Vec<u32> = (0..vertices.len() as u32)
        .filter(|v| new_index[*v as usize] == 0)
        .collect();
    for (old, new) in old_index.iter().zip(0_u32..) {
        new_index[*old as usize] = new;
        vertices[new as usize] = vertices[*old as usize];
    }
    vertices.truncate(old_index.len());
    for vertex in elements.iter_mut().flatten() {
        *vertex = new_index[*vertex as usize];
    }
    let corners = matches!(names.vertices.numbering, Numbering::Corners);
    if let Some(&first) = unused.first()
        && !corners
    {
        let list = names.list(&names.vertices, &unused);
        let verb = if unused.len() == 1 { "was" } else { "were" };
        let text = format!(
            "no {} uses {list}, which {verb} dropped",
            names.elements.word
        );
        report.add(Severity::Ignored, names.vertex_location(first), text);
    }
    old_index
}
