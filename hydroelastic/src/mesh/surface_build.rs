//! Construction of a `TriMesh` from a triangle soup: checks and repairs in order.

use super::error::{Flaw, MeshError};
use super::names::{Names, Numbering};
use super::options::{Degenerate, SelfIntersections, SurfaceOptions, SurfaceUse, Weld, WeldWhen};
use super::orientation::orient_consistently;
use super::repair;
use super::report::{LoadReport, Severity};
use super::self_intersection::{SelfIntersection, find_self_intersection};
use super::shells::orient_outward;
use super::soup::Soup;
use super::topology::{edge_groups, sorted_half_edges};
use super::tri_mesh::{TriMesh, triangle_quality};
use super::vertex_checks::{check_counts, check_extent, check_finite, drop_unused_vertices, scale};
use super::weld::{coincident_count, representatives};
use nalgebra::Vector3;
use std::collections::HashMap;

/// Below this [`triangle_quality`] the normal is dominated by round-off: 2⁻⁴⁶, some digits above the rounding of the
/// coordinates.
const NO_AREA_QUALITY: f64 = 64.0 * f64::EPSILON;
/// Below this quality a triangle is reported: its normal has lost a third of its digits.
const NEEDLE_QUALITY: f64 = 1e-5;
impl TriMesh {
    /// Checks and builds a surface from arrays: `vertices` in m, `triangles` as vertex indices counted from 0.
    ///
    /// The mesh may differ from the arrays by the repairs that `options` allow; the report names them.
    ///
    /// # Errors
    /// Every variant of [`MeshError`] that does not concern files: non-finite coordinates, indices out of range,
    /// degenerate triangles, edges of more than two triangles, and for a solid open edges. Superfluous triangles of a solid, such as
    /// duplicates and fins, are dropped if only one choice of them leaves a closed surface.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::mesh::{MeshError, SurfaceOptions, SurfaceUse, TriMesh};
    ///
    /// // A triangle of 3 m and 4 m; one that refers to a vertex that is not there.
    /// let corners = vec![Vector3::zeros(), Vector3::x() * 3.0, Vector3::y() * 4.0];
    /// let build = |triangle| TriMesh::build(corners.clone(), vec![triangle], SurfaceUse::Cloth, &SurfaceOptions::default());
    /// let (mesh, report) = build([0, 1, 2])?;
    /// assert!((mesh.area() - 6.0).abs() < 1e-15 && report.entries.is_empty());
    /// assert!(matches!(build([0, 1, 3]), Err(MeshError::Index(_))));
    /// # Ok::<(), MeshError>(())
    /// ```
    pub fn build(
        vertices: Vec<Vector3<f64>>,
        triangles: Vec<[u32; 3]>,
        surface_use: SurfaceUse,
        options: &SurfaceOptions,
    ) -> Result<(Self, LoadReport), MeshError> {
        let names = Names::of_arrays("triangle mesh", "triangle", "triangles");
        for (triangle, t) in triangles.iter().zip(0_u32..) {
            if let Some(corner) = triangle
                .iter()
                .find(|corner| **corner as usize >= vertices.len())
            {
                return Err(MeshError::Index(Flaw::new(
                    names.element_location(t),
                    format!(
                        "triangle {t} refers to vertex {corner} of {}",
                        vertices.len()
                    ),
                    "Vertices are counted from 0",
                )));
            }
        }
        let element_of = (0..triangles.len() as u32).collect();
        build_surface(
            Soup {
                names,
                vertices,
                triangles,
                element_of,
            },
            surface_use,
            options,
            LoadReport::default(),
        )
    }
}

pub(crate) fn build_surface(
    mut soup: Soup,
    surface_use: SurfaceUse,
    options: &SurfaceOptions,
    mut report: LoadReport,
) -> Result<(TriMesh, LoadReport), MeshError> {
    options.validate()?;
    let solid = surface_use == SurfaceUse::Solid;
    check_counts(&soup.names, soup.vertices.len(), soup.triangles.len())?;
    check_finite(&soup.names, &soup.vertices)?;
    if scale(&mut soup.vertices, &options.scale) {
        soup.triangles
            .iter_mut()
            .for_each(|triangle| triangle.swap(1, 2));
    }
    check_extent(&soup.names, &soup.vertices, &mut report)?;

    let corner_soup = matches!(soup.names.vertices.numbering, Numbering::Corners);
    match (options.weld, options.weld_when) {
        (Weld::Never, _) if corner_soup => weld(&mut soup, Weld::Exact, &mut report),
        (chosen, WeldWhen::Always) => weld(&mut soup, chosen, &mut report),
        (chosen, WeldWhen::OpenSolid) if corner_soup => weld(&mut soup, chosen, &mut report),
        (_, WeldWhen::OpenSolid) => {}
    }
    clean(&mut soup, options.degenerate, &mut report)?;
    let coincident = coincident_count(soup.used_vertices().map(|v| &soup.vertices[v]));
    let could_join = match options.weld {
        Weld::Never => false,
        Weld::Exact => coincident > 0,
        Weld::Within { .. } => true,
    };
    if solid && could_join && !open_edges(&soup.triangles).is_empty() {
        weld(&mut soup, options.weld, &mut report);
        clean(&mut soup, options.degenerate, &mut report)?;
    } else if !solid && coincident > 0 {
        let text = format!(
            "{coincident} vertices coincide with others: the cloth is not connected there unless it is welded"
        );
        report.add(Severity::Suspicious, soup.names.whole(), text);
    }

    match surface_use {
        SurfaceUse::Solid => repair::close(&mut soup, &mut report),
        SurfaceUse::Cloth => repair::drop_copies(&mut soup, &mut report),
    }
    check_repeated(&soup)?;
    check_edges(&soup)?;
    if solid {
        check_closed(&soup)?;
    }
    orient_consistently(&mut soup, surface_use, options.orientation, &mut report)?;
    if solid {
        orient_outward(&mut soup, options.orientation, &mut report)?;
    }
    let vertex_names = drop_unused_vertices(
        &mut soup.vertices,
        &mut soup.triangles,
        &[],
        &soup.names,
        &mut report,
    );
    let mesh = TriMesh::assemble(soup.vertices.clone(), &soup.triangles, surface_use);
    if solid {
        check_volume(&soup.names, &mesh)?;
    }
    report_suspicious(&soup, &mesh, &vertex_names, options, &mut report);
    Ok((mesh, report))
}

fn weld(soup: &mut Soup, weld: Weld, report: &mut LoadReport) {
    let first = representatives(&soup.vertices, weld);
    let before = soup.used_vertices().count();
    for corner in soup.triangles.iter_mut().flatten() {
        *corner = first[*corner as usize];
    }
    let after = soup.used_vertices().count();
    if after < before {
        let corners = matches!(soup.names.vertices.numbering, Numbering::Corners);
        let word = if corners { "corners" } else { "vertices" };
        report.add(
            Severity::Repaired,
            soup.names.whole(),
            format!("{before} {word} were welded to {after} vertices"),
        );
    }
}

/// Drops or refuses triangles without area.
fn clean(
    soup: &mut Soup,
    degenerate: Degenerate,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let no_area = |t: u32| {
        let [a, b, c] = soup.triangles[t as usize];
        a == b || b == c || c == a || triangle_quality(soup.corners(t)) < NO_AREA_QUALITY
    };
    let bad: Vec<u32> = (0..soup.triangles.len() as u32)
        .filter(|t| no_area(*t))
        .collect();
    if let Some(&worst) = bad.first() {
        let element = soup.element_of[worst as usize];
        let corners = soup.triangles[worst as usize];
        let name = soup.names.elements.name(element);
        let vertices = soup.names.vertex_list(&corners);
        let what =
            if corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0] {
                format!("{name} (vertices {vertices}) has a repeated vertex")
            } else {
                format!("{name} (vertices {vertices}) has no area: its vertices are collinear")
            };
        let at = soup.names.element_location(element);
        if degenerate == Degenerate::Refuse || bad.len() == soup.triangles.len() {
            let remedy = if degenerate == Degenerate::Refuse {
                "Remove it, or load with Degenerate::Drop"
            } else {
                "No triangle with a positive area remains"
            };
            return Err(MeshError::Element(Flaw::new(at, what, remedy)));
        }
        let list = soup.names.element_list(&soup.elements(&bad));
        let text = if bad.len() == 1 {
            format!("{what}; it was dropped")
        } else {
            format!("{} triangles without area were dropped: {list}", bad.len())
        };
        report.add(Severity::Repaired, at, text);
        let mut keep = vec![true; soup.triangles.len()];
        bad.iter().for_each(|t| keep[*t as usize] = false);
        soup.keep_triangles(&keep);
    }
    Ok(())
}

/// Refuses triangles with the same vertices.
fn check_repeated(soup: &Soup) -> Result<(), MeshError> {
    let mut first_with = HashMap::with_capacity(soup.triangles.len());
    for (triangle, t) in soup.triangles.iter().zip(0_u32..) {
        let mut key = *triangle;
        key.sort_unstable();
        if let Some(first) = first_with.insert(key, t) {
            let [one, two] = [first, t].map(|t| soup.element_of[t as usize]);
            let names = &soup.names;
            return Err(MeshError::Element(Flaw::new(
                names.element_location(two),
                format!(
                    "{} {} and {} have the same vertices {}",
                    names.elements.plural,
                    names.elements.number(one),
                    names.elements.number(two),
                    names.vertex_list(triangle)
                ),
                "Remove one of them",
            )));
        }
    }
    Ok(())
}

fn open_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let halves = sorted_half_edges(triangles);
    edge_groups(&halves)
        .filter(|group| group.len() == 1)
        .map(|group| [group[0].low, group[0].high])
        .collect()
}

fn check_edges(soup: &Soup) -> Result<(), MeshError> {
    let halves = sorted_half_edges(&soup.triangles);
    let Some(group) = edge_groups(&halves).find(|group| group.len() > 2) else {
        return Ok(());
    };
    let triangles: Vec<u32> = group.iter().map(|half| half.triangle()).collect();
    let elements = soup.elements(&triangles);
    let names = &soup.names;
    let [one, two] = [group[0].low, group[0].high].map(|vertex| names.vertices.number(vertex));
    Err(MeshError::Topology(Flaw::new(
        names.element_location(*elements.last().expect("an edge has triangles")),
        format!(
            "the edge of vertices {one} and {two} is shared by {} triangles: {}",
            group.len(),
            names.element_list(&elements)
        ),
        "At most two triangles may share an edge; separate the sheets or remove the extra triangle",
    )))
}

fn check_closed(soup: &Soup) -> Result<(), MeshError> {
    const NAMED_MAX: usize = 6;
    let open = open_edges(&soup.triangles);
    if open.is_empty() {
        return Ok(());
    }
    let name = |edge: &[u32; 2]| {
        let [one, two] = edge.map(|vertex| soup.names.vertices.number(vertex));
        format!("{one}-{two}")
    };
    let mut list = open
        .iter()
        .take(NAMED_MAX)
        .map(name)
        .collect::<Vec<_>>()
        .join(", ");
    if open.len() > NAMED_MAX {
        list.push_str(&format!(" and {} more", open.len() - NAMED_MAX));
    }
    Err(MeshError::Topology(Flaw::new(
        soup.names.whole(),
        format!(
            "the surface is not closed: {} open edges (by vertices: {list})",
            open.len()
        ),
        "A solid must be closed: close the holes, or weld vertices that nearly coincide",
    )))
}

/// Refuses a closed surface without volume: mass and inside would be undefined.
fn check_volume(names: &Names, mesh: &TriMesh) -> Result<(), MeshError> {
    let volume = mesh.solid_moments().map_or(0.0, |moments| moments.volume);
    if volume > 64.0 * f64::EPSILON * mesh.area() * mesh.bounds().extent().norm() {
        return Ok(());
    }
    let what = format!("the closed surface encloses {volume:e} m3");
    Err(MeshError::Topology(Flaw::new(
        names.whole(),
        what,
        "A solid needs a positive volume: give it a thickness",
    )))
}

/// Reports suspicious features that are kept: touching points, needles, self-intersections.
fn report_suspicious(
    soup: &Soup,
    mesh: &TriMesh,
    vertex_names: &[u32],
    options: &SurfaceOptions,
    report: &mut LoadReport,
) {
    let names = &soup.names;
    let bowties: Vec<u32> = mesh
        .bowties()
        .iter()
        .map(|vertex| vertex_names[*vertex as usize])
        .collect();
    if let Some(&first) = bowties.first() {
        let text = format!(
            "the surface touches itself only in {}",
            names.list(&names.vertices, &bowties)
        );
        report.add(Severity::Suspicious, names.vertex_location(first), text);
    }
    let needle = |t: &u32| triangle_quality(soup.corners(*t)) < NEEDLE_QUALITY;
    let needles: Vec<u32> = (0..soup.triangles.len() as u32).filter(needle).collect();
    if let Some(&first) = needles.first() {
        let (worst, quality) = mesh.min_quality();
        let text = format!(
            "{} needle-like triangles: {}; the worst, {}, has quality {quality:.1e}",
            needles.len(),
            names.element_list(&soup.elements(&needles)),
            names.elements.name(soup.element_of[worst.index()])
        );
        report.add(
            Severity::Suspicious,
            names.element_location(soup.element_of[first as usize]),
            text,
        );
    }
    if mesh.surface_use() == SurfaceUse::Cloth
        || options.self_intersections == SelfIntersections::Skip
    {
        return;
    }
    match find_self_intersection(mesh) {
        SelfIntersection::None => {}
        SelfIntersection::Between(one, two) => {
            let [one, two] = [one, two].map(|t| soup.element_of[t.index()]);
            let text = format!(
                "the surface intersects itself: {} and {} intersect (and perhaps others); overlaps count twice",
                names.elements.name(one),
                names.elements.name(two)
            );
            report.add(Severity::Suspicious, names.element_location(one), text);
        }
        SelfIntersection::Unknown => {
            let text =
                "too many triangles are close together to test the surface for self-intersections";
            report.add(Severity::Suspicious, names.whole(), text);
        }
    }
}
