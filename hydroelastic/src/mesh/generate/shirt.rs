//! A T-shirt: two panels of staggered rows, sewn at the sides, under and over the sleeves, and at the shoulders.

use nalgebra::Vector3;

use super::staggered::{row_distance, row_of, strip};
use super::{build, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::options::SurfaceUse;
use crate::mesh::tri_mesh::TriMesh;

/// Bound on the number of edges across, and on that of the rows.
const COUNT_MAX: u32 = 1024;
/// From a seam, the panels part with this slope, until they are a gap apart.
const SLOPE: f64 = 0.25;

/// Measures of a T-shirt, m. All are rounded to whole edges.
///
/// ```
/// use pliant_hydroelastic::mesh::generate::{Shirt, shirt};
///
/// let measures = Shirt { body: [0.5, 0.7], sleeve: [0.2, 0.2], neck: [0.2, 0.1], gap: 0.01, edge: 0.02 };
/// let mesh = shirt(&measures)?;
/// assert_eq!((mesh.component_count(), mesh.boundary_loops().len()), (1, 4)); // hem, two cuffs, neck
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shirt {
    /// Width of the body, and its length from hem to shoulder.
    pub body: [f64; 2],
    /// Length of a sleeve from the side of the body to its cuff, and its width.
    pub sleeve: [f64; 2],
    /// Width of the neck hole, and its depth in the front.
    pub neck: [f64; 2],
    /// Distance of the panels away from the seams.
    pub gap: f64,
    /// Bound on the edges of the flat panels.
    pub edge: f64,
}

/// A T-shirt that lies flat: x from sleeve to sleeve, y from hem to shoulder, the front at z = +gap/2, the back at z = -gap/2, the middle
/// of the body at the origin. It has four holes: hem, two cuffs and neck.
///
/// Edges that climb from a seam to a panel are 3% longer than `edge`.
///
/// # Errors
/// [`MeshError::Setting`] unless all measures are positive, at least four edges fit along each and at most 1024, the neck is narrower
/// than the body, and the sleeves and the neck are less deep than the body is long.
pub fn shirt(measures: &Shirt) -> Result<TriMesh, MeshError> {
    let outline = Outline::new(measures)?;
    let mut panels = Panels::default();
    let seams: Vec<Vector3<f64>> = outline
        .points()
        .filter(|p| outline.is_sewn(p))
        .map(|p| p.at)
        .collect();
    for side in [Side::Front, Side::Back] {
        let mut below: Vec<u32> = Vec::new();
        let mut half_below = 0.0;
        let mut sewn = 0;
        for row in 0..=outline.rows {
            let (mut above, half) = (Vec::new(), outline.half(row));
            for point in outline.row(row) {
                above.push(if outline.is_sewn(&point) {
                    sewn += 1;
                    panels.sewn(sewn - 1, point.at)
                } else {
                    panels.push(
                        point.at + Vector3::z() * (side.sign() * outline.height(&point.at, &seams)),
                    )
                });
            }
            let shared = |numbers: &[u32]| -> Vec<u32> {
                let inside = |v: &&u32| {
                    panels.vertices[**v as usize].x.abs() <= half.min(half_below) + outline.tiny()
                };
                numbers.iter().filter(inside).copied().collect()
            };
            let mut triangles = Vec::new();
            strip(
                &panels.vertices,
                &shared(&below),
                &shared(&above),
                &mut triangles,
            );
            panels.add(triangles, side, &outline);
            (below, half_below) = (above, half);
        }
    }
    panels.build()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Front,
    Back,
}

impl Side {
    fn sign(self) -> f64 {
        match self {
            Self::Front => 1.0,
            Self::Back => -1.0,
        }
    }
}

/// A point of both panels, in the plane.
struct PanelPoint {
    row: u32,
    at: Vector3<f64>,
}

/// The outline of both panels on staggered rows.
struct Outline {
    /// Distance of points in a row, m.
    length: f64,
    rows: u32,
    row_distance: f64,
    /// The row under the sleeves.
    sleeve_row: u32,
    /// Half of the width of the body, and of that with sleeves, m.
    halves: [f64; 2],
    neck: [f64; 2],
    gap: f64,
}

impl Outline {
    fn new(measures: &Shirt) -> Result<Self, MeshError> {
        let Shirt {
            body,
            sleeve,
            neck,
            gap,
            edge,
        } = *measures;
        positive("edge", edge)?;
        positive("gap", gap)?;
        let edges = |name: &str, size: f64, length: f64| {
            let count = (size / length).round().clamp(0.0, f64::from(u32::MAX)) as u32;
            within(name, count, 4, COUNT_MAX).map(|()| count)
        };
        let across = edges("edges across the body", body[0], edge)?;
        let length = edge.min(body[0] / f64::from(across));
        let distance = row_distance(edge, length);
        let rows = edges("rows of the body", body[1], distance)?;
        let sleeve_edges = edges("edges along a sleeve", sleeve[0], length)?;
        let sleeve_rows = edges("rows of a sleeve", sleeve[1], distance)?;
        within("rows of a sleeve", sleeve_rows, 4, rows.saturating_sub(4))?;
        edges("edges across the neck", neck[0], length)?;
        positive("depth of the neck", neck[1])?;
        positive("width of a shoulder", 0.5 * (body[0] - neck[0]))?;
        positive("length of the body below the neck", body[1] - neck[1])?;
        let half = 0.5 * f64::from(across) * length;
        Ok(Self {
            length,
            rows,
            row_distance: distance,
            // Points of even rows lie on the sides of the body.
            sleeve_row: (rows - sleeve_rows) / 2 * 2,
            halves: [half, half + f64::from(sleeve_edges) * length],
            neck: [0.5 * neck[0], neck[1]],
            gap,
        })
    }

    /// For comparisons of coordinates, m.
    fn tiny(&self) -> f64 {
        1e-6 * self.length
    }

    fn half(&self, row: u32) -> f64 {
        self.halves[usize::from(row >= self.sleeve_row)]
    }

    fn top(&self) -> f64 {
        0.5 * f64::from(self.rows) * self.row_distance
    }

    fn row(&self, row: u32) -> impl Iterator<Item = PanelPoint> + use<> {
        let y = f64::from(row) * self.row_distance - self.top();
        let along = row_of(row, self.half(row), self.length).into_iter();
        along.map(move |x| PanelPoint {
            row,
            at: Vector3::new(x, y, 0.0),
        })
    }

    fn points(&self) -> impl Iterator<Item = PanelPoint> + '_ {
        (0..=self.rows).flat_map(|row| self.row(row))
    }

    fn is_sewn(&self, point: &PanelPoint) -> bool {
        let x = point.at.x.abs() + self.tiny();
        let at_side = point.row <= self.sleeve_row && x >= self.halves[0];
        let at_shoulder = point.row == self.rows && x >= self.neck[0];
        at_side || at_shoulder
    }

    /// Distance of a panel from the plane of the seams, m.
    fn height(&self, at: &Vector3<f64>, seams: &[Vector3<f64>]) -> f64 {
        let nearest = seams
            .iter()
            .map(|seam| (seam - at).norm_squared())
            .fold(f64::INFINITY, f64::min);
        (SLOPE * nearest.sqrt()).min(0.5 * self.gap)
    }

    /// Whether a point of the front is cut out: an ellipse about the middle of the shoulder line.
    fn is_neck(&self, at: &Vector3<f64>) -> bool {
        let (x, y) = (at.x / self.neck[0], (self.top() - at.y) / self.neck[1]);
        x * x + y * y < 1.0
    }
}

/// The vertices and triangles of both panels.
#[derive(Default)]
struct Panels {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    seam: Vec<u32>,
}

impl Panels {
    fn push(&mut self, at: Vector3<f64>) -> u32 {
        self.vertices.push(at);
        self.vertices.len() as u32 - 1
    }

    /// The vertex of a point of the seams, which the panels share.
    fn sewn(&mut self, number: usize, at: Vector3<f64>) -> u32 {
        if let Some(vertex) = self.seam.get(number) {
            return *vertex;
        }
        let vertex = self.push(at);
        self.seam.push(vertex);
        vertex
    }

    fn add(&mut self, triangles: Vec<[u32; 3]>, side: Side, outline: &Outline) {
        for [a, b, c] in triangles {
            let middle = [a, b, c]
                .iter()
                .map(|v| self.vertices[*v as usize])
                .sum::<Vector3<f64>>()
                / 3.0;
            match side {
                Side::Front if outline.is_neck(&middle) => {}
                Side::Front => self.triangles.push([a, b, c]),
                Side::Back => self.triangles.push([a, c, b]),
            }
        }
    }

    /// The mesh of the vertices that have a triangle.
    fn build(self) -> Result<TriMesh, MeshError> {
        let mut numbers = vec![u32::MAX; self.vertices.len()];
        let mut vertices = Vec::new();
        let mut triangles = self.triangles;
        for vertex in triangles.iter_mut().flatten() {
            let number = &mut numbers[*vertex as usize];
            if *number == u32::MAX {
                *number = vertices.len() as u32;
                vertices.push(self.vertices[*vertex as usize]);
            }
            *vertex = *number;
        }
        build(vertices, triangles, SurfaceUse::Cloth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHILD: Shirt = Shirt {
        body: [0.26, 0.3],
        sleeve: [0.08, 0.1],
        neck: [0.11, 0.05],
        gap: 0.012,
        edge: 0.0075,
    };

    /// A surface like a sphere with four holes: hem, cuffs and neck.
    #[test]
    fn a_shirt_is_one_surface_with_four_holes() {
        let mesh = shirt(&CHILD).unwrap();
        assert_eq!(
            (mesh.component_count(), mesh.boundary_loops().len()),
            (1, 4)
        );
        assert_eq!(mesh.euler_number(), 2 - 4);
        let vertices = mesh.vertices();
        for edge in mesh.edges() {
            let [a, b] = edge.vertices.map(|v| vertices[v.index()]);
            assert!((a - b).norm() <= 1.04 * CHILD.edge, "{a} {b}");
        }
    }

    /// Twice the area of the outline, less the half ellipse of the neck.
    #[test]
    fn a_shirt_has_the_area_of_its_panels() {
        let Shirt {
            body, sleeve, neck, ..
        } = CHILD;
        let flat = 2.0 * (body[0] * body[1] + 2.0 * sleeve[0] * sleeve[1]);
        let hole = std::f64::consts::PI * 0.25 * neck[0] * neck[1];
        let area = shirt(&CHILD).unwrap().area();
        assert!((area / (flat - hole) - 1.0).abs() < 0.03, "{area}");
    }

    #[test]
    fn the_holes_are_as_wide_as_given() {
        let mesh = shirt(&CHILD).unwrap();
        let widths = mesh.boundary_loops().iter().map(|hole| {
            let x = hole.iter().map(|v| mesh.vertices()[v.index()].x);
            x.clone().fold(f64::MIN, f64::max) - x.fold(f64::MAX, f64::min)
        });
        let mut widths: Vec<f64> = widths.collect();
        widths.sort_by(f64::total_cmp);
        // Cuffs lie in planes across x.
        assert!(widths[0] < 1e-9 && widths[1] < 1e-9, "{widths:?}");
        assert!(
            (widths[2] - CHILD.neck[0]).abs() < 2.0 * CHILD.edge,
            "{widths:?}"
        );
        assert!((widths[3] - CHILD.body[0]).abs() < CHILD.edge, "{widths:?}");
    }

    #[test]
    fn impossible_measures_are_refused_by_name() {
        let base = CHILD;
        for (measures, name) in [
            (Shirt { edge: 0.0, ..base }, "edge"),
            (Shirt { edge: 0.2, ..base }, "edges across the body"),
            (
                Shirt {
                    neck: [0.3, 0.05],
                    ..base
                },
                "width of a shoulder",
            ),
            (
                Shirt {
                    sleeve: [0.08, 0.3],
                    ..base
                },
                "rows of a sleeve",
            ),
            (
                Shirt {
                    gap: f64::NAN,
                    ..base
                },
                "gap",
            ),
        ] {
            let error = shirt(&measures).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
