//! Construction of a `TetMesh` from unchecked tetrahedra: checks and repairs in order.

use super::edge_nodes::{EdgeNode, checked_edge_nodes, renumbered};
use super::error::{Flaw, MeshError};
use super::faces::{FACES, Face, sorted_faces};
use super::moments::six_volumes;
use super::names::Names;
use super::options::{Orientation, TetOptions, Weld};
use super::quadratic::MID_EDGES;
use super::report::{LoadReport, Severity};
use super::soup::TetSoup;
use super::tet_mesh::{TetMesh, tet_quality};
use super::vertex_checks::{check_counts, check_extent, check_finite, drop_unused_vertices, scale};
use super::weld::{coincident_count, representatives};
use nalgebra::Vector3;
use std::collections::HashMap;

/// Below this |[`tet_quality`]| the sign of the volume is dominated by round-off: 2⁻⁴⁶.
pub(crate) const FLAT_QUALITY: f64 = 64.0 * f64::EPSILON;
/// Below this quality a tetrahedron is reported: its height is a thousandth of its width, and an explicit time step
/// would have to be reduced by that factor.
const SLIVER_QUALITY: f64 = 1e-3;

impl TetMesh {
    /// Checks and builds a mesh from arrays: `vertices` in m, `tets` as vertex indices counted from 0. The volume
    /// (b − a) × (c − a) · (d − a) / 6 of a tetrahedron `a b c d` should be positive.
    ///
    /// The mesh may differ from the arrays by the repairs that `options` allow; the report names them.
    ///
    /// # Errors
    /// Every variant of [`MeshError`] that does not concern files: non-finite coordinates, indices out of range, flat
    /// or duplicate tetrahedra, faces of more than two tetrahedra.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::mesh::{MeshError, TetMesh, TetOptions};
    ///
    /// // The corner tetrahedron of a cube of 1 m; a flat one.
    /// let build = |top| {
    ///     let corners = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), top];
    ///     TetMesh::build(corners, vec![[0, 1, 2, 3]], &TetOptions::default())
    /// };
    /// let (mesh, _) = build(Vector3::z())?;
    /// assert!((mesh.solid_moments().volume - 1.0 / 6.0).abs() < 1e-15);
    /// assert!(matches!(build(Vector3::new(0.5, 0.5, 0.0)), Err(MeshError::Element(_))));
    /// # Ok::<(), MeshError>(())
    /// ```
    pub fn build(
        vertices: Vec<Vector3<f64>>,
        tets: Vec<[u32; 4]>,
        options: &TetOptions,
    ) -> Result<(Self, LoadReport), MeshError> {
        let soup = soup_of_arrays(vertices, tets, Vec::new())?;
        build_tets(soup, options, LoadReport::default())
    }

    /// Checks and builds a mesh of ten-node tetrahedra from arrays: `nodes` in m; the nodes of an element are its four corners, then those on its
    /// edges in the order of [`MID_EDGES`]. Nodes on edges become [`TetMesh::edge_nodes`], the others vertices, in their order.
    ///
    /// # Errors
    /// As [`TetMesh::build`], and [`MeshError::Element`] for nodes that are farther than a third of an edge's length from its middle, or at
    /// two places on one edge.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::mesh::{MID_EDGES, TetMesh, TetOptions};
    ///
    /// // The corner of a cube of 1 m, its first edge bent outwards.
    /// let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    /// let mut nodes = corners.to_vec();
    /// nodes.extend(MID_EDGES.map(|[i, j]| (corners[i] + corners[j]) / 2.0));
    /// nodes[4] -= Vector3::new(0.0, 0.05, 0.05);
    /// let element = std::array::from_fn(|k| k as u32);
    /// let (mesh, _) = TetMesh::build_quadratic(nodes, vec![element], &TetOptions::default())?;
    /// assert_eq!((mesh.vertices().len(), mesh.edge_nodes().len()), (4, 6));
    /// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
    /// ```
    pub fn build_quadratic(
        nodes: Vec<Vector3<f64>>,
        elements: Vec<[u32; 10]>,
        options: &TetOptions,
    ) -> Result<(Self, LoadReport), MeshError> {
        let edge_nodes = elements.iter().zip(0_u32..).flat_map(|(element, tet)| {
            (0..6).map(move |k| EdgeNode {
                edge: MID_EDGES[k].map(|corner| element[corner]),
                node: element[4 + k],
                tet,
            })
        });
        let edge_nodes = edge_nodes.collect();
        let corners = |[a, b, c, d, ..]: &[u32; 10]| [*a, *b, *c, *d];
        let tets = elements.iter().map(corners).collect();
        let soup = soup_of_arrays(nodes, tets, edge_nodes)?;
        build_tets(soup, options, LoadReport::default())
    }
}

fn soup_of_arrays(
    vertices: Vec<Vector3<f64>>,
    tets: Vec<[u32; 4]>,
    edge_nodes: Vec<EdgeNode>,
) -> Result<TetSoup, MeshError> {
    let names = Names::of_arrays("tetrahedral mesh", "tetrahedron", "tetrahedra");
    let corners = tets.iter().zip(0_u32..);
    let corners = corners.flat_map(|(tet, t)| tet.map(|corner| (t, corner)));
    let nodes = edge_nodes.iter().map(|node| (node.tet, node.node));
    let mut all = corners.chain(nodes);
    if let Some((t, vertex)) = all.find(|(_, vertex)| *vertex as usize >= vertices.len()) {
        return Err(MeshError::Index(Flaw::new(
            names.element_location(t),
            format!(
                "tetrahedron {t} refers to vertex {vertex} of {}",
                vertices.len()
            ),
            "Vertices are counted from 0",
        )));
    }
    Ok(TetSoup {
        names,
        vertices,
        element_of: (0..tets.len() as u32).collect(),
        tets,
        edge_nodes,
    })
}

pub(crate) fn build_tets(
    mut soup: TetSoup,
    options: &TetOptions,
    mut report: LoadReport,
) -> Result<(TetMesh, LoadReport), MeshError> {
    options.validate()?;
    check_counts(&soup.names, soup.vertices.len(), soup.tets.len())?;
    check_finite(&soup.names, &soup.vertices)?;
    if scale(&mut soup.vertices, &options.scale) {
        soup.tets.iter_mut().for_each(|tet| tet.swap(2, 3));
    }
    check_extent(&soup.names, &soup.vertices, &mut report)?;
    weld(&mut soup, options.weld, &mut report);
    check_corners(&soup)?;
    orient(&mut soup, options.orientation, &mut report)?;
    check_repeated(&soup)?;
    check_faces(&soup, &mut report)?;
    report_slivers(&soup, &mut report);
    let on_edges = checked_edge_nodes(&soup)?;
    let known: Vec<u32> = soup.edge_nodes.iter().map(|node| node.node).collect();
    let old_index = drop_unused_vertices(
        &mut soup.vertices,
        &mut soup.tets,
        &known,
        &soup.names,
        &mut report,
    );
    let mut mesh = TetMesh::assemble(soup.vertices.clone(), &soup.tets);
    mesh.set_edge_nodes(renumbered(on_edges, &old_index));
    report_coincident(&soup, &mesh, &mut report);
    Ok((mesh, report))
}

fn weld(soup: &mut TetSoup, weld: Weld, report: &mut LoadReport) {
    let first = representatives(&soup.vertices, weld);
    let mut merged: Vec<u32> = Vec::new();
    for corner in soup.tets.iter_mut().flatten() {
        if first[*corner as usize] != *corner {
            merged.push(*corner);
            *corner = first[*corner as usize];
        }
    }
    for node in &mut soup.edge_nodes {
        node.edge = node.edge.map(|v| first[v as usize]);
    }
    merged.sort_unstable();
    merged.dedup();
    if !merged.is_empty() {
        let list = soup.names.list(&soup.names.vertices, &merged);
        let text = format!("{} vertices were welded to others: {list}", merged.len());
        report.add(
            Severity::Repaired,
            soup.names.vertex_location(merged[0]),
            text,
        );
    }
}

fn check_corners(soup: &TetSoup) -> Result<(), MeshError> {
    for (tet, t) in soup.tets.iter().zip(0_u32..) {
        if let Some(k) = (1..4).find(|k| tet[..*k].contains(&tet[*k])) {
            let vertex = soup.names.vertices.name(tet[k]);
            let what = format!("{} has {vertex} twice", soup.describe(t));
            return Err(soup.element_error(t, what, "Its volume is 0; remove it"));
        }
        let quality = tet_quality(soup.corners(t));
        if quality.abs() < FLAT_QUALITY {
            let what = format!("{} is flat: its volume is 0 to round-off", soup.describe(t));
            return Err(soup.element_error(
                t,
                what,
                "Remove it, or move one of its vertices out of the plane",
            ));
        }
    }
    Ok(())
}

fn orient(
    soup: &mut TetSoup,
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let negative = |t: &u32| tet_quality(soup.corners(*t)) < 0.0;
    let inverted: Vec<u32> = (0..soup.tets.len() as u32).filter(negative).collect();
    let Some(&first) = inverted.first() else {
        return Ok(());
    };
    let [a, b, c, d] = soup.corners(first);
    let volume = six_volumes(&a, &b, &c, &d) / 6.0;
    let what = format!(
        "{} has volume {volume:.6e} m3: the order of its vertices is inverted",
        soup.describe(first)
    );
    if orientation == Orientation::Refuse {
        return Err(soup.element_error(
            first,
            what,
            "Swap two of them, or load with Orientation::Reorder",
        ));
    }
    inverted
        .iter()
        .for_each(|t| soup.tets[*t as usize].swap(2, 3));
    let text = match inverted.len() {
        1 => format!("{what}; two were swapped"),
        n if n == soup.tets.len() => {
            format!("all {n} elements have negative volume; two vertices of each were swapped")
        }
        n => format!(
            "{n} elements of negative volume were reordered: {}",
            soup.names.element_list(&soup.elements(&inverted))
        ),
    };
    report.add(
        Severity::Repaired,
        soup.names.element_location(soup.element_of[first as usize]),
        text,
    );
    Ok(())
}

fn check_repeated(soup: &TetSoup) -> Result<(), MeshError> {
    let mut first_with = HashMap::with_capacity(soup.tets.len());
    for (tet, t) in soup.tets.iter().zip(0_u32..) {
        let mut key = *tet;
        key.sort_unstable();
        if let Some(first) = first_with.insert(key, t) {
            let [one, two] =
                [first, t].map(|t| soup.names.elements.number(soup.element_of[t as usize]));
            let names = &soup.names;
            let what = format!(
                "{} {one} and {two} have the same vertices {}",
                names.elements.plural,
                names.vertex_list(tet)
            );
            return Err(soup.element_error(t, what, "Remove one of them"));
        }
    }
    Ok(())
}

/// Refuses faces of more than two tetrahedra; reports pairs of tetrahedra on the same side of their common face.
fn check_faces(soup: &TetSoup, report: &mut LoadReport) -> Result<(), MeshError> {
    let faces = sorted_faces(&soup.tets);
    let mut folded = Vec::new();
    for group in faces.chunk_by(|a, b| a.corners == b.corners) {
        let tets: Vec<u32> = group.iter().map(|face| face.tet() as u32).collect();
        if group.len() > 2 {
            let names = &soup.names;
            return Err(MeshError::Topology(Flaw::new(
                names.element_location(soup.element_of[tets[group.len() - 1] as usize]),
                format!(
                    "the face of {} {} belongs to {} elements: {}",
                    names.vertices.plural,
                    names.vertex_list(&group[0].corners),
                    group.len(),
                    names.element_list(&soup.elements(&tets))
                ),
                "A face may belong to at most two elements; remove the overlapping ones",
            )));
        }
        if let [one, two] = group
            && same_orientation(&soup.tets, *one, *two)
        {
            folded.extend(tets);
        }
    }
    folded.sort_unstable();
    folded.dedup();
    if let Some(&first) = folded.first() {
        let list = soup.names.element_list(&soup.elements(&folded));
        let text = format!("neighbours overlap, on the same side of their common face: {list}");
        report.add(
            Severity::Suspicious,
            soup.names.element_location(soup.element_of[first as usize]),
            text,
        );
    }
    Ok(())
}

/// Whether both tetrahedra traverse the face's corners in the same cyclic order; valid neighbours traverse them in
/// opposite orders.
fn same_orientation(tets: &[[u32; 4]], one: Face, two: Face) -> bool {
    let cycle = |face: Face| {
        let [a, b, c] = FACES[face.side()].map(|corner| tets[face.tet()][corner]);
        // An even permutation of an ascending triple has two ascents around the cycle, an odd one has one.
        [a < b, b < c, c < a]
            .iter()
            .filter(|climbs| **climbs)
            .count()
    };
    cycle(one) == cycle(two)
}

fn report_slivers(soup: &TetSoup, report: &mut LoadReport) {
    let n = soup.tets.len() as u32;
    let qualities: Vec<f64> = (0..n).map(|t| tet_quality(soup.corners(t))).collect();
    let mut slivers: Vec<u32> = (0..n)
        .filter(|t| qualities[*t as usize] < SLIVER_QUALITY)
        .collect();
    slivers.sort_by(|a, b| qualities[*a as usize].total_cmp(&qualities[*b as usize]));
    let Some(&worst) = slivers.first() else {
        return;
    };
    let element = soup.element_of[worst as usize];
    let text = format!(
        "{} of {n} elements are slivers (quality below {SLIVER_QUALITY:e}); the worst, {}, has quality {:.1e}",
        slivers.len(),
        soup.names.elements.name(element),
        qualities[worst as usize]
    );
    report.add(
        Severity::Suspicious,
        soup.names.element_location(element),
        text,
    );
}

fn report_coincident(soup: &TetSoup, mesh: &TetMesh, report: &mut LoadReport) {
    let coincident = coincident_count(mesh.vertices().iter());
    if coincident > 0 {
        let n = mesh.vertices().len();
        let text = format!(
            "{n} {} share {} positions, in {} separate bodies; to connect them, load with Weld::Exact",
            soup.names.vertices.plural,
            n - coincident,
            mesh.component_count()
        );
        report.add(Severity::Suspicious, soup.names.whole(), text);
    }
}
