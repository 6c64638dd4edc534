//! Where a vertex on a straight path enters a surface whose vertices move on straight paths.
//!
//! A tree of the triangles' swept boxes gives the triangles that a path may meet, and the cubic of [`vertex_meets_triangle`] the time at which it does.
//! A hit is an entry where the vertex goes against the normal that the triangle has at that time. Solids are entered from the front alone, thin
//! surfaces from either side.

use nalgebra::{Point3, Vector3};
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};

use super::mesh_walk::{Facing, MeshPlace, WalkSurface};
use super::swept::{Path, vertex_meets_triangle};
use crate::aabb::Aabb;
use crate::parry;

/// From which sides a surface can be entered by a vertex.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Crossable, Facing, SweptSurface, WalkSurface};
///
/// // A vertex rises through a triangle that looks upwards: a sheet stops it, the surface of a solid lets it leave.
/// let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let surface = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let mut swept = SweptSurface::default();
/// swept.sweep(&surface, &vertices, &vertices);
/// let rising = [Point3::new(0.25, 0.25, -0.1), Point3::new(0.25, 0.25, 0.1)];
/// let hit = |crossable| swept.first_entry(&surface, crossable, &rising, |_| false);
/// assert_eq!(hit(Crossable::FromFront), None);
/// assert_eq!(hit(Crossable::FromBoth).map(|hit| hit.facing), Some(Facing::Back));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossable {
    /// From the front: the surface of a solid.
    FromFront,
    /// From both: a sheet.
    FromBoth,
}

/// Where a vertex enters a surface.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Crossable, Facing, SweptSurface, WalkSurface};
///
/// // A vertex falls from 0.3 m to −0.1 m through two sheets, at heights of 0 and 0.1 m: it meets the upper one, after half of its way.
/// let corners = |z: f64| [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]].map(Point3::from);
/// let vertices = [corners(0.0), corners(0.1)].concat();
/// let sheets = WalkSurface::new(&vertices, &[[0, 1, 2], [3, 4, 5]])?;
/// let mut swept = SweptSurface::default();
/// swept.sweep(&sheets, &vertices, &vertices);
/// let falling = [Point3::new(0.25, 0.5, 0.3), Point3::new(0.25, 0.5, -0.1)];
/// let hit = swept.first_entry(&sheets, Crossable::FromBoth, &falling, |_| false).expect("they meet");
/// assert!((hit.time - 0.5).abs() < 1e-12);
/// assert_eq!((hit.place.triangle, hit.facing), (1, Facing::Front));
/// assert!((hit.place.weights[2] - 0.5).abs() < 1e-12, "its weight is y");
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// Part of the motion, 0 to 1.
    pub time: f64,
    /// The place of the surface that it meets.
    pub place: MeshPlace,
    /// The side of the surface that it comes from, and on which it is to be kept.
    pub facing: Facing,
}

/// Parts of the motion by which entries at the same time may differ.
const AT_ONCE: f64 = 1e-9;

/// The triangles of a surface during a motion. Memory is reused.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Crossable, Facing, SweptSurface, WalkSurface};
///
/// // A triangle rises by 1 m, a vertex 0.5 m above it stays: they meet half-way, and the vertex comes from the front.
/// let start = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let end = start.map(|p| Point3::new(p.x, p.y, 1.0));
/// let surface = WalkSurface::new(&start, &[[0, 1, 2]])?;
/// let mut swept = SweptSurface::default();
/// swept.sweep(&surface, &start, &end);
/// let vertex = [Point3::new(0.25, 0.25, 0.5); 2];
/// let hit = swept.first_entry(&surface, Crossable::FromFront, &vertex, |_| false).expect("they meet");
/// assert!((hit.time - 0.5).abs() < 1e-12);
/// assert_eq!(hit.facing, Facing::Front);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Default)]
pub struct SweptSurface {
    start: Vec<Point3<f64>>,
    end: Vec<Point3<f64>>,
    tree: Bvh,
    workspace: BvhWorkspace,
    n_leaves: usize,
    bounds: Option<Aabb>,
}

impl SweptSurface {
    /// Takes the vertices of `surface` from `start` to `end` (m, one position a vertex), and rebuilds the tree of the swept triangles.
    ///
    /// # Panics
    /// If positions are missing.
    pub fn sweep(&mut self, surface: &WalkSurface, start: &[Point3<f64>], end: &[Point3<f64>]) {
        self.start.clear();
        self.start.extend_from_slice(start);
        self.end.clear();
        self.end.extend_from_slice(end);
        let boxes = surface.triangles().iter().map(|triangle| {
            let ends = triangle.map(|v| [start[v as usize], end[v as usize]]);
            Aabb::from_points(ends.iter().flatten())
        });
        let mut bounds = Aabb::EMPTY;
        let leaves = (0..).zip(boxes.inspect(|b| bounds = bounds.merged(b)));
        if surface.triangles().len() == self.n_leaves {
            for (triangle, bounds) in leaves {
                let bounds = parry::aabb(&bounds);
                self.tree.insert_or_update_partially(bounds, triangle, 0.0);
            }
            self.tree
                .rebuild(&mut self.workspace, BvhBuildStrategy::Binned);
        } else {
            self.n_leaves = surface.triangles().len();
            let leaves = leaves.map(|(triangle, bounds)| (triangle as usize, parry::aabb(&bounds)));
            self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
        }
        self.bounds = Some(bounds);
    }

    /// Positions of the vertices at the start of the motion, m.
    #[must_use]
    pub fn start(&self) -> &[Point3<f64>] {
        &self.start
    }

    /// Positions of the vertices at the end of the motion, m.
    #[must_use]
    pub fn end(&self) -> &[Point3<f64>] {
        &self.end
    }

    /// Whether a path comes within `reach` (m) of the box around the whole motion.
    #[must_use]
    pub fn may_meet(&self, path: &Path, reach: f64) -> bool {
        let path = Aabb::from_points(path).inflated(reach);
        self.bounds.is_some_and(|bounds| bounds.intersects(&path))
    }

    /// Calls `visit` with every triangle whose box during the motion is within `reach` (m) of the box around `path`.
    pub fn triangles_near(&self, path: &Path, reach: f64, mut visit: impl FnMut(u32)) {
        let region = parry::aabb(&Aabb::from_points(path).inflated(reach));
        self.tree.intersect_aabb(&region).for_each(&mut visit);
    }

    /// The first entry of a vertex on `path`, apart from triangles that `skip` names. Of triangles entered at the same time, as at an edge, the one that
    /// the vertex approaches fastest: beside it the others are only brushed.
    pub fn first_entry(
        &self,
        surface: &WalkSurface,
        crossable: Crossable,
        path: &Path,
        skip: impl Fn(&[u32; 3]) -> bool,
    ) -> Option<SurfaceHit> {
        let mut first: Option<(SurfaceHit, f64)> = None;
        // Boxes of flat triangles have no thickness.
        let size = Aabb::from_points(path);
        let reach = 1e-9 * (size.max - size.min).norm();
        self.triangles_near(path, reach, |triangle| {
            let corners = surface.triangle(triangle);
            if skip(&corners) {
                return;
            }
            let paths = corners.map(|v| [self.start[v as usize], self.end[v as usize]]);
            let Some(hit) = vertex_meets_triangle(path, &paths) else {
                return;
            };
            let Some((facing, approach)) =
                entered_side(crossable, path, &paths, hit.time, &hit.weights)
            else {
                return;
            };
            let before = |(known, steepness): &(SurfaceHit, f64)| {
                let apart = hit.time - known.time;
                match apart.abs() <= AT_ONCE {
                    true => (-approach, triangle) < (-steepness, known.place.triangle),
                    false => apart < 0.0,
                }
            };
            if first.as_ref().is_none_or(before) {
                let weights = hit.weights;
                let found = SurfaceHit {
                    time: hit.time,
                    place: MeshPlace { triangle, weights },
                    facing,
                };
                first = Some((found, approach));
            }
        });
        first.map(|(found, _)| found)
    }

    /// The place of the surface at the start of the motion that is nearest to `p`, and its distance (m); `None` for a surface without triangles.
    #[must_use]
    pub fn nearest_at_start(
        &self,
        surface: &WalkSurface,
        p: &Point3<f64>,
    ) -> Option<(f64, MeshPlace)> {
        let query = parry::point(p);
        let found = self.tree.find_best(
            f64::MAX,
            |node: &BvhNode, _| {
                let outside = (node.mins() - query)
                    .max(query - node.maxs())
                    .max(parry::vector(&Vector3::zeros()));
                outside.length()
            },
            |triangle, _| Some(surface.nearest_on(&self.start, triangle, p)),
        );
        found.map(|(_, nearest)| nearest)
    }
}

/// The side from which a vertex that meets a triangle at `time` comes, if the surface can be entered from there, and how fast it approaches its plane, m per
/// motion.
fn entered_side(
    crossable: Crossable,
    vertex: &Path,
    triangle: &[Path; 3],
    time: f64,
    weights: &[f64; 3],
) -> Option<(Facing, f64)> {
    let [a, b, c] = triangle.each_ref().map(|[p, q]| p + (q - p) * time);
    let normal = (b - a).cross(&(c - a));
    let way = |path: &Path| path[1] - path[0];
    let carried: Vector3<f64> = triangle.iter().zip(weights).map(|(x, w)| way(x) * *w).sum();
    let approach = (way(vertex) - carried).dot(&normal);
    let facing = match crossable {
        _ if approach < 0.0 => Facing::Front,
        Crossable::FromBoth if approach > 0.0 => Facing::Back,
        _ => return None,
    };
    Some((facing, approach.abs() / normal.norm()))
}

#[cfg(test)]
mod tests;
