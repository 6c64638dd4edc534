//! The triangle mesh of a cloth: checked once against the grid, then immutable.

use std::collections::HashMap;

use nalgebra::{Matrix2, Vector3};
use pliant_hydroelastic::mesh::{
    Degenerate, Edge, FilePosition, LoadReport, Location, MeshError, Severity, SurfaceOptions,
    SurfaceUse, TriMesh,
};

use crate::error::{MpmError, positive};

/// Longest edge without a report, in grid spacings.
const ADVISED_EDGE: f64 = 0.7;
/// Vertices closer than this, in grid spacings, have the same velocity on the grid for ever.
const COINCIDENT: f64 = 1e-6;

/// A triangle mesh at rest, fit for a grid of a given spacing.
///
/// Holes, boundaries and several components are allowed. Every edge has one or two triangles, every triangle a positive
/// area, every vertex a position of its own, and no edge is longer than the grid spacing: across a longer edge the cloth
/// would leave grid cells without a particle, and other layers would pass through.
///
/// The sides of a triangle are equal: the order of its vertices fixes the direction in which its normal is drawn and nothing
/// else. Neighbours are reordered to agree; a Möbius strip is allowed and reported.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{ClothMesh, MpmError};
///
/// // 0.2 m × 0.1 m, edges up to 7.1 mm, grid spacing 1/64 m.
/// let sheet = generate::sheet([0.2, 0.1], [40, 20])?;
/// let (mesh, report) = ClothMesh::new("towel", sheet, 1.0 / 64.0)?;
/// assert_eq!(mesh.surface().triangles().len(), 1600);
/// assert!((mesh.areas().sum::<f64>() - 0.02).abs() < 1e-12);
/// assert!(report.entries.is_empty());
///
/// // The same mesh is too coarse for a grid of 5 mm.
/// let sheet = generate::sheet([0.2, 0.1], [40, 20])?;
/// assert!(matches!(ClothMesh::new("towel", sheet, 0.005), Err(MpmError::LongEdge { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClothMesh {
    surface: TriMesh,
    rest: Vec<RestTriangle>,
    /// Whether each triangle moves as one rigid body while it is held.
    clamped: Vec<bool>,
    spacing: f64,
}

/// Rest shape of a triangle in its own plane: the first axis along its first edge, the origin in its first vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RestTriangle {
    /// D_m⁻¹, 1/m; the columns of D_m are the edges from the first vertex to the second and third.
    pub(crate) inverse_edges: Matrix2<f64>,
    /// m².
    pub(crate) area: f64,
}

impl RestTriangle {
    fn of([a, b, c]: [Vector3<f64>; 3]) -> Self {
        let (first, second) = (b - a, c - a);
        let length = first.norm();
        let doubled_area = first.cross(&second).norm();
        let along = first.dot(&second) / length;
        let height = doubled_area / length;
        Self {
            inverse_edges: Matrix2::new(
                1.0 / length,
                -along / (length * height),
                0.0,
                1.0 / height,
            ),
            area: 0.5 * doubled_area,
        }
    }
}

impl ClothMesh {
    /// The rest shape `surface` for a grid of spacing `spacing` (m). `object` is named in errors and reports.
    ///
    /// Edges longer than 0.7 spacings are reported as suspicious: layers get through where the cloth is stretched.
    ///
    /// # Errors
    /// [`MpmError::LongEdge`] for an edge longer than the spacing, [`MpmError::CoincidentVertices`] for two vertices at one
    /// position, [`MpmError::Parameter`] for the spacing.
    pub fn new(
        object: &str,
        surface: TriMesh,
        spacing: f64,
    ) -> Result<(Self, LoadReport), MpmError> {
        positive(object, "grid spacing", spacing)?;
        let mut report = LoadReport::default();
        check_coincident(object, surface.vertices(), COINCIDENT * spacing)?;
        check_edges(object, &surface, spacing, &mut report)?;
        let rest: Vec<_> = (0_u32..surface.triangles().len() as u32)
            .map(|t| RestTriangle::of(surface.corners(t.into())))
            .collect();
        Ok((
            Self {
                surface,
                clamped: vec![false; rest.len()],
                rest,
                spacing,
            },
            report,
        ))
    }

    /// From arrays: positions (m) and triangles as vertex numbers counted from 0.
    ///
    /// Vertices and triangles keep their numbers: nothing is dropped or merged, unlike in [`TriMesh::build`] with its default
    /// options. Triangles that are oriented against their neighbours are reordered and reported.
    ///
    /// # Errors
    /// Those of [`Self::new`]; [`MpmError::Mesh`] for non-finite coordinates, vertex numbers out of range, triangles without
    /// area or with the same vertices, edges of three and more triangles; [`MpmError::UnusedVertex`].
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_mpm::ClothMesh;
    ///
    /// let corners = [[0.0, 0.0], [0.01, 0.0], [0.01, 0.01], [0.0, 0.01]];
    /// let vertices = corners.map(|[x, y]| Vector3::new(x, y, 0.0)).to_vec();
    /// let (mesh, report) = ClothMesh::from_arrays("patch", vertices.clone(), vec![[0, 1, 2], [0, 2, 3]], 0.025)?;
    /// assert_eq!(mesh.surface().edges().len(), 5);
    /// assert!(report.entries.is_empty());
    ///
    /// let error = ClothMesh::from_arrays("patch", vertices, vec![[0, 1, 2]], 0.025).unwrap_err();
    /// assert_eq!(error.to_string(), "patch: vertex 3 belongs to no triangle; remove it, or add the missing triangle");
    /// # Ok::<(), pliant_mpm::MpmError>(())
    /// ```
    pub fn from_arrays(
        object: &str,
        vertices: Vec<Vector3<f64>>,
        triangles: Vec<[u32; 3]>,
        spacing: f64,
    ) -> Result<(Self, LoadReport), MpmError> {
        let options = SurfaceOptions {
            degenerate: Degenerate::Refuse,
            ..SurfaceOptions::default()
        };
        let unused = first_unused(vertices.len(), &triangles);
        let (surface, built) = TriMesh::build(vertices, triangles, SurfaceUse::Cloth, &options)
            .map_err(|error| mesh_error(object, &error))?;
        if let Some(vertex) = unused {
            return Err(MpmError::UnusedVertex {
                object: object.into(),
                vertex,
            });
        }
        let (mesh, mut report) = Self::new(object, surface, spacing)?;
        report.entries.splice(0..0, built.entries);
        Ok((mesh, report))
    }

    /// The same mesh with a clamp where all corners of a triangle are among `vertices` (ascending), which are held together.
    ///
    /// Such a triangle stays flat: the edges to its neighbours bend on one side only, twice as stiffly where both triangles are
    /// alike. They stay so while the vertices are free.
    ///
    /// ```
    /// use pliant_hydroelastic::mesh::generate;
    /// use pliant_mpm::{Cloth, ClothMaterial, ClothMesh, InPlaneLaw};
    ///
    /// // Two rows of vertices of a strip, 20 mm × 10 mm in squares of 5 mm, are clamped.
    /// let (strip, _) = ClothMesh::new("strip", generate::sheet([0.02, 0.01], [4, 2])?, 0.01)?;
    /// let x = |v: &u32| strip.surface().vertices()[*v as usize].x;
    /// let held: Vec<u32> = (0..15).filter(|v| x(v) < -0.004).collect();
    /// let clamped = strip.clone().clamped_at(&held);
    /// let sheet = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.0, 1000.0, 5e-4)?.with_bending_stiffness(1e-6)?;
    /// let stiffer = |mesh: &ClothMesh| Cloth::<f64>::new(mesh, &sheet).hinges().iter().map(|h| h.stiffness).sum::<f64>();
    /// // The two edges along the clamp.
    /// assert!((stiffer(&clamped) - stiffer(&strip) - 2e-6).abs() < 1e-18);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clamped_at(mut self, vertices: &[u32]) -> Self {
        let is_held = |v: &u32| vertices.binary_search(v).is_ok();
        let triangles = self.surface.raw_triangles();
        for (clamped, corners) in self.clamped.iter_mut().zip(triangles) {
            *clamped |= corners.iter().all(is_held);
        }
        self
    }

    /// Vertices, triangles, edges with their one or two triangles, boundary loops, components.
    #[must_use]
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// Grid spacing that the mesh was checked for, m.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Rest area of each triangle, m².
    pub fn areas(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.rest.iter().map(|triangle| triangle.area)
    }

    /// Rest shape of each triangle.
    pub(crate) fn rest(&self) -> &[RestTriangle] {
        &self.rest
    }

    /// Whether the triangle stays flat: see [`Self::clamped_at`].
    pub(crate) fn is_clamped(&self, triangle: u32) -> bool {
        self.clamped[triangle as usize]
    }

    /// The edges with two triangles.
    pub(crate) fn hinges(&self) -> impl Iterator<Item = HingeVertices> + '_ {
        self.surface
            .edges()
            .iter()
            .filter_map(|edge| self.hinge(edge))
    }

    fn hinge(&self, edge: &Edge) -> Option<HingeVertices> {
        let triangles = [edge.first, edge.second?];
        let opposite = |k: usize| {
            let corners = self.surface.triangles()[triangles[k].index()];
            let mut others = corners.iter().filter(|v| !edge.vertices.contains(v));
            others.next().map(|v| v.0)
        };
        // In the order of the first triangle, so that all angles of a surface have one sign.
        let mut ends = edge.vertices.map(u32::from);
        let corners = self.surface.triangles()[triangles[0].index()].map(u32::from);
        if !(0..3).any(|k| [corners[k], corners[(k + 1) % 3]] == ends) {
            ends.reverse();
        }
        let [from, to] = ends;
        let areas = triangles.map(|t| self.rest[t.index()].area);
        let bends = triangles.map(|t| !self.clamped[t.index()]);
        Some(HingeVertices {
            vertices: [from, to, opposite(0)?, opposite(1)?],
            triangles: triangles.map(|t| t.0),
            bent_area: match bends {
                [true, false] => areas[0],
                [false, true] => areas[1],
                _ => areas[0] + areas[1],
            },
        })
    }
}

/// An edge between two triangles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HingeVertices {
    /// The two ends of the edge, then the third vertices of the two triangles.
    pub(crate) vertices: [u32; 4],
    pub(crate) triangles: [u32; 2],
    /// Area of the triangles that bend, m²: of both, or of the one that is not clamped.
    pub(crate) bent_area: f64,
}

fn mesh_error(object: &str, error: &MeshError) -> MpmError {
    MpmError::Mesh {
        object: object.into(),
        problem: error
            .flaw()
            .map_or_else(|| error.to_string(), ToString::to_string),
    }
}

fn first_unused(vertex_count: usize, triangles: &[[u32; 3]]) -> Option<usize> {
    let mut used = vec![false; vertex_count];
    for corner in triangles.iter().flatten() {
        if let Some(used) = used.get_mut(*corner as usize) {
            *used = true;
        }
    }
    used.iter().position(|used| !used)
}

/// Refuses vertices closer than `distance`, and those in one cell of a hashed grid of that size, which then has one in each.
fn check_coincident(
    object: &str,
    vertices: &[Vector3<f64>],
    distance: f64,
) -> Result<(), MpmError> {
    let cell = |x: &Vector3<f64>| [0, 1, 2].map(|k| (x[k] / distance).floor() as i64);
    let mut in_cell: HashMap<[i64; 3], usize> = HashMap::with_capacity(vertices.len());
    for (second, x) in vertices.iter().enumerate() {
        let own = cell(x);
        for n in 0..27 {
            let offset = [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1];
            let neighbour = [0, 1, 2].map(|k| own[k].saturating_add(offset[k]));
            if let Some(&first) = in_cell.get(&neighbour)
                && (neighbour == own || (vertices[first] - x).norm() < distance)
            {
                return Err(MpmError::CoincidentVertices {
                    object: object.into(),
                    vertices: [first, second],
                    position: (*x).into(),
                });
            }
        }
        in_cell.insert(own, second);
    }
    Ok(())
}

fn check_edges(
    object: &str,
    surface: &TriMesh,
    spacing: f64,
    report: &mut LoadReport,
) -> Result<(), MpmError> {
    let position = |vertex: u32| surface.vertices()[vertex as usize];
    let lengths = surface.edges().iter().map(|edge| {
        let ends = edge.vertices.map(u32::from);
        (ends, (position(ends[1]) - position(ends[0])).norm())
    });
    let advised = ADVISED_EDGE * spacing;
    let above = lengths
        .clone()
        .filter(|(_, length)| *length > advised)
        .count();
    let Some((vertices, longest)) = lengths.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Ok(());
    };
    if longest > spacing {
        return Err(MpmError::LongEdge {
            object: object.into(),
            vertices,
            length_m: longest,
            spacing_m: spacing,
            advised_spacing_m: longest / ADVISED_EDGE,
        });
    }
    // The comparison of equal numbers may go either way.
    if longest > advised * (1.0 + 1e-9) {
        let [from, to] = vertices;
        let text = format!(
            "{above} edges are longer than {ADVISED_EDGE} grid spacings, the longest from vertex {from} to {to} with \
             {longest} m of {spacing} m: layers may pass through where the cloth is stretched; a spacing of {} m would do",
            longest / ADVISED_EDGE
        );
        let at = Location::new(object, FilePosition::Whole);
        report.add(Severity::Suspicious, at, text);
    }
    Ok(())
}
