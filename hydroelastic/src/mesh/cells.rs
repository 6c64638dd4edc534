//! The common result of all readers: points and cells of mixed kinds, from which surfaces and tetrahedra are extracted.

use super::edge_nodes::EdgeNode;
use super::error::{Flaw, MeshError};
use super::names::Names;
use super::quadratic::MID_EDGES;
use super::report::{LoadReport, Severity};
use super::soup::{Soup, TetSoup};
use nalgebra::Vector3;

/// Kind of a cell, as far as meshes need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// Points and lines: ignored.
    Thin,
    Triangle,
    /// Triangle strip.
    Strip,
    /// Polygon of at least three corners, in order.
    Polygon,
    /// Axis-aligned rectangle with its corners in rows.
    Pixel,
    Tet,
    /// Tetrahedron with a node on each edge, in the order of [`MID_EDGES`].
    Tet10,
    /// Any other kind; the code is the file's.
    OtherSurface(u32),
    OtherVolume(u32),
}

/// Cells with their corners in compressed row storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    kinds: Vec<CellKind>,
    ends: Vec<usize>,
    corners: Vec<u32>,
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn push(&mut self, kind: CellKind, corners: impl IntoIterator<Item = u32>) {
        self.corners.extend(corners);
        self.kinds.push(kind);
        self.ends.push(self.corners.len());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (CellKind, &[u32])> {
        (0..self.len()).map(|c| {
            let start = if c == 0 { 0 } else { self.ends[c - 1] };
            (self.kinds[c], &self.corners[start..self.ends[c]])
        })
    }
}

/// The content of a file, with finite coordinates and indices in range.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) names: Names,
    pub(crate) points: Vec<Vector3<f64>>,
    pub(crate) cells: Cells,
    /// Name of a cell type in the file's format.
    pub(crate) kind_name: fn(u32) -> &'static str,
    pub(crate) report: LoadReport,
}

/// The elements requested from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedCells {
    Surface,
    Tets,
}

impl Grid {
    /// The triangles, and polygons cut into fans of triangles.
    pub(crate) fn into_soup(mut self) -> Result<(Soup, LoadReport), MeshError> {
        let mut triangles = Vec::with_capacity(self.cells.len());
        let mut element_of = Vec::with_capacity(self.cells.len());
        let mut ignored = Vec::new();
        let mut tets = 0;
        let mut bent = Vec::new();
        for ((kind, corners), c) in self.cells.iter().zip(0_u32..) {
            match kind {
                CellKind::Triangle => triangles.push([corners[0], corners[1], corners[2]]),
                CellKind::Pixel => {
                    let [a, b, c, d] = [corners[0], corners[1], corners[3], corners[2]];
                    triangles.extend([[a, b, c], [a, c, d]]);
                }
                CellKind::Polygon => {
                    if !cut_into_fan(&self.points, corners, &mut triangles) {
                        bent.push(c);
                    }
                }
                CellKind::Strip => {
                    triangles.extend(corners.windows(3).enumerate().map(|(k, triple)| {
                        if k % 2 == 0 {
                            [triple[0], triple[1], triple[2]]
                        } else {
                            [triple[1], triple[0], triple[2]]
                        }
                    }))
                }
                CellKind::OtherSurface(code) => {
                    return Err(self.unsupported(c, code, "triangles and polygons"));
                }
                CellKind::Tet | CellKind::Tet10 | CellKind::OtherVolume(_) => {
                    tets += 1;
                    ignored.push(c);
                }
                CellKind::Thin => ignored.push(c),
            }
            element_of.resize(triangles.len(), c);
        }
        if triangles.is_empty() && tets > 0 {
            return Err(MeshError::Unsupported(Flaw::new(
                self.names.whole(),
                format!("{tets} volume cells but no triangles, but a surface was requested"),
                "Read it as a tetrahedral mesh and take its boundary",
            )));
        }
        self.report_ignored(&ignored, "no surface cells");
        if let Some(&first) = bent.first() {
            let list = self.names.element_list(&bent);
            let text = format!(
                "{} polygons are not convex; split into fans, their triangles may overlap: {list}",
                bent.len()
            );
            self.report.add(
                Severity::Suspicious,
                self.names.element_location(first),
                text,
            );
        }
        Ok((
            Soup {
                names: self.names,
                vertices: self.points,
                triangles,
                element_of,
            },
            self.report,
        ))
    }

    /// The points that cells of any kind use; all points if there are no cells.
    pub(crate) fn into_used_points(self) -> (Names, Vec<Vector3<f64>>, LoadReport) {
        if self.cells.corners.is_empty() {
            return (self.names, self.points, self.report);
        }
        let mut used = vec![false; self.points.len()];
        for corner in &self.cells.corners {
            used[*corner as usize] = true;
        }
        let points = self.points.into_iter().zip(used);
        let points = points.filter_map(|(point, used)| used.then_some(point));
        (self.names, points.collect(), self.report)
    }

    /// The tetrahedra.
    pub(crate) fn into_tet_soup(mut self) -> Result<(TetSoup, LoadReport), MeshError> {
        let mut tets = Vec::with_capacity(self.cells.len());
        let mut element_of = Vec::with_capacity(self.cells.len());
        let mut edge_nodes = Vec::new();
        let mut ignored = Vec::new();
        let mut surface_cells = 0;
        for ((kind, corners), c) in self.cells.iter().zip(0_u32..) {
            match kind {
                CellKind::Tet | CellKind::Tet10 => {
                    let tet = tets.len() as u32;
                    tets.push([corners[0], corners[1], corners[2], corners[3]]);
                    element_of.push(c);
                    // A tetrahedron of four nodes has no others.
                    let nodes = MID_EDGES.iter().zip(&corners[4..]);
                    edge_nodes.extend(nodes.map(|(edge, node)| EdgeNode {
                        edge: edge.map(|corner| corners[corner]),
                        node: *node,
                        tet,
                    }));
                }
                CellKind::OtherVolume(code) => {
                    let supported = "tetrahedra of 4 or 10 nodes";
                    return Err(self.unsupported(c, code, supported));
                }
                CellKind::Thin => ignored.push(c),
                _ => {
                    surface_cells += 1;
                    ignored.push(c);
                }
            }
        }
        if tets.is_empty() && surface_cells > 0 {
            return Err(MeshError::Unsupported(Flaw::new(
                self.names.whole(),
                format!(
                    "{surface_cells} surface cells but no tetrahedra, but a tetrahedral mesh was requested"
                ),
                "Fill it with a mesh generator, or read it as a surface",
            )));
        }
        self.report_ignored(&ignored, "no tetrahedra");
        Ok((
            TetSoup {
                names: self.names,
                vertices: self.points,
                tets,
                element_of,
                edge_nodes,
            },
            self.report,
        ))
    }

    fn report_ignored(&mut self, ignored: &[u32], why: &str) {
        if let Some(&first) = ignored.first() {
            let list = self.names.element_list(ignored);
            let text = format!("{} cells are {why}: {list}", ignored.len());
            self.report
                .add(Severity::Ignored, self.names.element_location(first), text);
        }
    }

    /// Reports the cell, its kind, and every other unsupported kind in the file.
    fn unsupported(&self, cell: u32, code: u32, supported: &str) -> MeshError {
        let mut others: Vec<u32> = self
            .cells
            .kinds
            .iter()
            .filter_map(|kind| match (kind, self.cells.kinds[cell as usize]) {
                (CellKind::OtherVolume(other), CellKind::OtherVolume(_))
                | (CellKind::OtherSurface(other), CellKind::OtherSurface(_)) => Some(*other),
                _ => None,
            })
            .filter(|other| *other != code)
            .collect();
        others.sort_unstable();
        others.dedup();
        let mut what = format!(
            "{} is a {} (type {code})",
            self.names.elements.name(cell),
            (self.kind_name)(code)
        );
        if !others.is_empty() {
            let list: Vec<String> = others
                .iter()
                .map(|o| format!("{} (type {o})", (self.kind_name)(*o)))
                .collect();
            what.push_str(&format!("; the file also has: {}", list.join(", ")));
        }
        MeshError::Unsupported(Flaw::new(
            self.names.element_location(cell),
            what,
            format!("Only {supported} are supported; convert it with a mesh tool"),
        ))
    }
}

/// Splits a polygon into a fan of triangles, from its first corner if that covers it, otherwise from one of the next
/// few (two of the four fans of a dart cover it). Returns whether a covering fan was found; if not, the first is used.
fn cut_into_fan(points: &[Vector3<f64>], corners: &[u32], triangles: &mut Vec<[u32; 3]>) -> bool {
    const TRIED_MAX: usize = 16;
    let n = corners.len();
    let fan = |first: usize| {
        let corner = move |k: usize| corners[(first + k) % n];
        (1..n - 1).map(move |k| [corner(0), corner(k), corner(k + 1)])
    };
    let fills = |first: &usize| !is_bent(points, fan(*first));
    let found = (0..n.min(TRIED_MAX)).find(fills);
    triangles.extend(fan(found.unwrap_or(0)));
    found.is_some()
}

/// Whether a triangle of the fan is oriented against the polygon.
fn is_bent(points: &[Vector3<f64>], fan: impl Iterator<Item = [u32; 3]> + Clone) -> bool {
    let area = |triangle: [u32; 3]| {
        let [a, b, c] = triangle.map(|corner| points[corner as usize]);
        (b - a).cross(&(c - a))
    };
    let total: Vector3<f64> = fan.clone().map(area).sum();
    fan.into_iter()
        .any(|triangle| area(triangle).dot(&total) < 0.0)
}
