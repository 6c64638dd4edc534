//! Where an attachment is pulled over a sharp edge: of a box, or the rim of a sheet.
//!
//! Beyond such an edge the particle is outside of the next face, so a walk on to it would end at once, and with it the whole force. The plane goes on
//! beyond the edge instead, and the force fades with the overhang o of Y, measured across the edge:
//!
//! ```text
//! Y = ω + s (w − ω) as on the triangle        f = m k (Y − Z),  m = 1 − o/d
//! ```
//!
//! f is continuous in Z: m = 1 where Y is on the edge, and 0 where the particle is beside the object by (1 + μ) d. What is kept for the next step is where
//! the slide crossed the edge. An edge is sharp where the next face turns down by more than 66°, more than those of finely divided round shapes and enough
//! for the particle to be outside of that face where m = 0. With h_i the height of corner i above the edge, G_i its gradient,
//!
//! ```text
//! o = −w'_i h_i        dm = (h_i dw'_i + w'_i dh_i)/d + o dd/d²        dh_i = e·(dx_i − (1 − ζ) dx_j − ζ dx_k),  e = h_i G_i
//! ```

use nalgebra::{RowVector3, Vector3};

use super::derivative::Variable;
use super::triangle::Crossing;
use super::{Moved, Next, Walk, WalkEnd};

/// Cosine of the angle between the normals at a sharp edge.
const SHARP: f64 = 0.4;

/// The part m of the force that is left beyond a sharp edge, and its derivatives.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Facing, MeshPlace, MeshRelaxed, SlidingFriction, Variable, WalkSurface};
///
/// // A particle 10 mm below a sheet whose rim is x = 0, and 4 mm beyond: without friction 0.4 of the depth takes 0.4 of the force.
/// let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let sheet = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let start = MeshPlace { triangle: 0, weights: [0.7, 0.0, 0.3] };
/// let particle = Point3::new(-0.004, 0.3, -0.01);
/// let mut relaxed = MeshRelaxed::default();
/// sheet.relax(&vertices, SlidingFriction::coulomb(0.0), Facing::Front, &start, &particle, &mut relaxed);
/// assert!((relaxed.share.value - 0.6).abs() < 1e-12);
/// assert!((relaxed.share.by(Variable::Particle)[0] - 100.0).abs() < 1e-9); // 1/d
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The part of the force that is left, 1 but for an attachment beyond a sharp edge.
    pub value: f64,
    /// ∂m/∂y, 1/m, for each variable that it depends on.
    pub by: Vec<(Variable, RowVector3<f64>)>,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            value: 1.0,
            by: Vec::new(),
        }
    }
}

impl Share {
    /// ∂m/∂y, 1/m; zero for a variable that it does not depend on.
    #[must_use]
    pub fn by(&self, variable: Variable) -> RowVector3<f64> {
        let found = self.by.iter().find(|(known, _)| *known == variable);
        found.map_or_else(RowVector3::zeros, |(_, row)| *row)
    }

    pub(super) fn reset(&mut self) {
        self.value = 1.0;
        self.by.clear();
    }
}

impl Walk<'_> {
    /// Whether edge k of a triangle is sharp, seen from the other side of the surface than the particle is on.
    pub(super) fn is_sharp(&self, triangle: u32, edge: usize) -> bool {
        let Some(neighbour) = self.surface.across(triangle, edge) else {
            return true;
        };
        let own = self.surface.area_normal(self.vertices, triangle);
        let other = self.surface.area_normal(self.vertices, neighbour);
        let corners = self.surface.triangle(triangle);
        let ends = [corners[edge], corners[(edge + 1) % 3]];
        let beyond = self.surface.triangle(neighbour);
        let Some(tip) = beyond.iter().find(|v| !ends.contains(v)) else {
            return false;
        };
        let at = |v: u32| self.vertices[v as usize];
        // Away from the particle.
        let outwards = -(self.particle - at(ends[0])).dot(&own).signum();
        let turns_down = (at(*tip) - at(ends[0])).dot(&own) * outwards < 0.0;
        turns_down && own.dot(&other) < SHARP * own.norm() * other.norm()
    }

    /// Ends beyond the sharp edges of the present triangle, of which that with the largest overhang counts.
    pub(super) fn over_edge(&mut self, crossing: &Crossing, s: f64) -> Next {
        let slid = crossing.slid(&self.weights, s);
        let heights = crossing.heights();
        let overhang = |i: usize| -slid[i] * heights[i];
        let sharp = |i: &usize| slid[*i] <= 0.0 && self.is_sharp(self.triangle, (i + 1) % 3);
        let corner = (0..3)
            .filter(sharp)
            .max_by(|i, j| overhang(*i).total_cmp(&overhang(*j)));
        let (opposite, t) = crossing.exit(&self.weights, &slid);
        self.kept = Some(match t > 0.0 {
            true => crossing.left(&self.weights, opposite, t),
            false => self.weights,
        });
        crossing.carry_slide(self, s);
        self.weights = slid;
        self.moved = Moved::Yes;
        if let Some(i) = corner {
            let depth = crossing.depth;
            let height = heights[i];
            self.share.value = 1.0 + slid[i] * height / depth;
            let own: Vec<(Variable, RowVector3<f64>, RowVector3<f64>)> =
                crossing.height_and_depth_by(i).collect();
            for (variable, by) in self.derivative.terms() {
                let mut row: RowVector3<f64> = by.row(i) * (height / depth);
                if let Some((_, height_by, depth_by)) = own.iter().find(|(v, ..)| v == variable) {
                    row += height_by * (slid[i] / depth);
                    row -= depth_by * (slid[i] * height / (depth * depth));
                }
                self.share.by.push((*variable, row));
            }
        }
        Next::End(WalkEnd::Overhang)
    }

    /// Triangles around a vertex that are joined to the present one by edges that are not sharp.
    pub(super) fn face_around(&self, vertex: u32) -> Vec<u32> {
        let mut face = vec![self.triangle];
        let mut next = 0;
        while next < face.len() {
            let triangle = face[next];
            next += 1;
            for edge in self.edges_at(triangle, vertex) {
                let neighbour = self.surface.across(triangle, edge);
                if let Some(neighbour) = neighbour.filter(|n| !face.contains(n))
                    && !self.is_sharp(triangle, edge)
                {
                    face.push(neighbour);
                }
            }
        }
        face
    }

    /// The edges of a triangle that end in one of its vertices.
    pub(super) fn edges_at(&self, triangle: u32, vertex: u32) -> impl Iterator<Item = usize> {
        let corners = self.surface.triangle(triangle);
        (0..3).filter(move |k| [corners[*k], corners[(k + 1) % 3]].contains(&vertex))
    }

    /// The triangle of a face around a vertex over whose sharp edges an attachment at the vertex is pulled farthest.
    pub(super) fn pulled_over(&mut self, face: &[u32], vertex: u32) -> Option<u32> {
        let before = (self.triangle, self.weights);
        let mut farthest: Option<(f64, u32)> = None;
        for triangle in face {
            let corners = self.surface.triangle(*triangle);
            self.triangle = *triangle;
            self.weights = corners.map(|v| if v == vertex { 1.0 } else { 0.0 });
            let crossing = Crossing::new(self);
            let slid = crossing.slid(&self.weights, crossing.slide(self.friction.sliding));
            let heights = crossing.heights();
            for edge in self.edges_at(*triangle, vertex) {
                let opposite = (edge + 2) % 3;
                let overhang = -slid[opposite] * heights[opposite];
                let counts = overhang > 0.0 && self.is_sharp(*triangle, edge);
                if counts && farthest.is_none_or(|(known, _)| overhang > known) {
                    farthest = Some((overhang, *triangle));
                }
            }
        }
        (self.triangle, self.weights) = before;
        farthest.map(|(_, triangle)| triangle)
    }
}

impl Crossing {
    /// h of each corner above the edge opposite.
    fn heights(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| 1.0 / self.gradient(i).norm())
    }

    /// ∂h_i/∂y and ∂d/∂y for the particle and the three vertices.
    fn height_and_depth_by(
        &self,
        i: usize,
    ) -> impl Iterator<Item = (Variable, RowVector3<f64>, RowVector3<f64>)> + '_ {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let [x_i, x_j, x_k] = [i, j, k].map(|c| self.corner(c));
        let along: Vector3<f64> = x_k - x_j;
        let zeta = (x_i - x_j).dot(&along) / along.norm_squared();
        let e = self.gradient(i).normalize().transpose();
        let of_corner = move |c: usize| match c {
            _ if c == i => 1.0,
            _ if c == j => zeta - 1.0,
            _ => -zeta,
        };
        self.depth_by()
            .enumerate()
            .map(move |(at, (variable, by))| {
                let height_by = match at {
                    0 => RowVector3::zeros(),
                    _ => e * of_corner(at - 1),
                };
                (variable, height_by, by)
            })
    }
}
