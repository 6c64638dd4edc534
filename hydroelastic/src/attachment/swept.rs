//! When moving features meet: a vertex and a triangle, an edge and another.
//!
//! On straight paths a vertex p is in the plane of a triangle a, b, c, and two edges are coplanar, at roots of a cubic:
//!
//! ```text
//! ((b − a) × (c − a))·(p − a) = 0        ((q_1 − p_1) × (q_2 − p_2))·(p_2 − p_1) = 0        all linear in t
//! ```
//!
//! Roots are bracketed between the roots of the derivative; the features meet at the first root at which they overlap. Motions within one plane,
//! where the cubic vanishes, and rigid motions are advanced conservatively instead: by the distance over a bound of its rate, until the features are
//! within a small gap.
//!
//! Source: the cubic is Provot (1997); conservative advancement is Mirtich (1996).

mod advancement;
mod cubic;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

pub(super) use advancement::vertex_apart;
use advancement::{advance, edges_apart};
use cubic::Cubic;

/// Overlap is accepted up to this much outside, in barycentric coordinates: nearly tangential motion leaves the time of a root uncertain to the
/// square root of round-off.
const OUTSIDE: f64 = 1e-7;
/// Gap at which advanced features have met, relative to their size.
const GAP: f64 = 1e-9;

/// Positions (m) at the start and at the end of a straight path, which is followed at constant velocity.
pub type Path = [Point3<f64>; 2];

/// Where a vertex meets a triangle.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::vertex_meets_triangle;
///
/// // A vertex falls from 0.3 m to −0.1 m, a triangle at z = 0 stays: they meet after ¾ of the motion.
/// let still = |x: f64, y: f64| [Point3::new(x, y, 0.0); 2];
/// let triangle = [still(0.0, 0.0), still(1.0, 0.0), still(0.0, 1.0)];
/// let vertex = [Point3::new(0.25, 0.25, 0.3), Point3::new(0.25, 0.25, -0.1)];
/// let hit = vertex_meets_triangle(&vertex, &triangle).expect("they meet");
/// assert!((hit.time - 0.75).abs() < 1e-12);
/// assert!((hit.weights[0] - 0.5).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexHit {
    /// Part of the motion, 0 to 1.
    pub time: f64,
    /// Barycentric weights of the place on the triangle, not negative.
    pub weights: [f64; 3],
}

/// Where two edges meet.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::edge_meets_edge;
///
/// // An edge along x falls by 0.2 m through one along y, 0.1 m below it.
/// let falling = [-1.0, 1.0].map(|x| [Point3::new(x, 0.0, 0.1), Point3::new(x, 0.0, -0.1)]);
/// let still = [-1.0, 3.0].map(|y| [Point3::new(0.0, y, 0.0); 2]);
/// let hit = edge_meets_edge(&falling, &still).expect("they meet");
/// assert!((hit.time - 0.5).abs() < 1e-12);
/// assert!((hit.parameters[0] - 0.5).abs() < 1e-12 && (hit.parameters[1] - 0.25).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeHit {
    /// Part of the motion, 0 to 1.
    pub time: f64,
    /// Place on each edge, 0 at its first end and 1 at its second.
    pub parameters: [f64; 2],
}

/// A frame that moves with constant velocity of its origin and constant angular velocity.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::RigidPath;
///
/// // 1 m along x while it turns by 90° about z; half-way it has turned by 45°.
/// let turn = Vector3::z() * std::f64::consts::FRAC_PI_2;
/// let half = RigidPath::new(Isometry3::identity(), Vector3::x(), turn).at(0.5);
/// assert_eq!(half.translation.x, 0.5);
/// assert!((half.rotation.angle() - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidPath {
    start: Isometry3<f64>,
    shift: Vector3<f64>,
    turn: Vector3<f64>,
}

impl RigidPath {
    /// From a pose, by a displacement of the origin (m) and a rotation vector (rad), world axes.
    #[must_use]
    pub fn new(start: Isometry3<f64>, shift: Vector3<f64>, turn: Vector3<f64>) -> Self {
        Self { start, shift, turn }
    }

    /// The pose after part `time` of the motion.
    #[must_use]
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        let turn = UnitQuaternion::from_scaled_axis(self.turn * time);
        let shift = self.start.translation.vector + self.shift * time;
        Isometry3::from_parts(shift.into(), turn * self.start.rotation)
    }

    /// Bound of the way of a point of the frame.
    fn reach(&self, p: &Point3<f64>) -> f64 {
        self.shift.norm() + self.turn.norm() * p.coords.norm()
    }
}

/// When a vertex on a straight path first meets a triangle whose vertices move on straight paths; `None` if it does not.
#[must_use]
pub fn vertex_meets_triangle(vertex: &Path, triangle: &[Path; 3]) -> Option<VertexHit> {
    let relative = |path: &Path| [path[0] - triangle[0][0], path[1] - triangle[0][1]];
    let [b, c, p] = [&triangle[1], &triangle[2], vertex].map(relative);
    let hit = |time: f64| {
        let [b, c, p] = [b, c, p].map(|v| at(&v, time));
        let weights = barycentric(&b, &c, &p)?;
        weights.iter().all(|w| *w >= -OUTSIDE).then(|| VertexHit {
            time,
            weights: into_simplex(weights),
        })
    };
    match Cubic::coplanar(&b, &c, &p) {
        Some(cubic) => cubic.first_root(hit),
        None => {
            let positions = |time| {
                let moved = |path: &Path| path[0] + (path[1] - path[0]) * time;
                (moved(vertex), triangle.each_ref().map(moved))
            };
            let ways = [&triangle[0], &triangle[1], &triangle[2], vertex].map(way);
            let (a, others) = ways.split_at(3);
            let rate = a.iter().copied().fold(0.0, f64::max) + others[0];
            advance(rate, |time| vertex_apart(&positions(time)))
                .map(|(time, weights)| VertexHit { time, weights })
        }
    }
}

/// When two edges whose ends move on straight paths first meet; `None` if they do not.
#[must_use]
pub fn edge_meets_edge(first: &[Path; 2], second: &[Path; 2]) -> Option<EdgeHit> {
    let relative = |path: &Path, from: &Path| [path[0] - from[0], path[1] - from[1]];
    let e_1 = relative(&first[1], &first[0]);
    let e_2 = relative(&second[1], &second[0]);
    let between = relative(&second[0], &first[0]);
    let hit = |time: f64| {
        let [e_1, e_2, between] = [e_1, e_2, between].map(|v| at(&v, time));
        let parameters = crossing(&e_1, &e_2, &between)?;
        let within = |s: f64| (-OUTSIDE..=1.0 + OUTSIDE).contains(&s);
        (within(parameters[0]) && within(parameters[1])).then(|| EdgeHit {
            time,
            parameters: parameters.map(|s| s.clamp(0.0, 1.0)),
        })
    };
    match Cubic::coplanar(&e_1, &e_2, &between) {
        Some(cubic) => cubic.first_root(hit),
        None => {
            let positions = |time| {
                let moved = |path: &Path| path[0] + (path[1] - path[0]) * time;
                (first.each_ref().map(moved), second.each_ref().map(moved))
            };
            let ways = [first, second].map(|edge| edge.iter().map(way).fold(0.0, f64::max));
            advance(ways[0] + ways[1], |time| edges_apart(&positions(time)))
                .map(|(time, parameters)| EdgeHit { time, parameters })
        }
    }
}

/// When a vertex fixed on one moving frame first comes within a billionth of the triangle's size of a triangle fixed on another; `None` if it does
/// not.
#[must_use]
pub fn vertex_meets_triangle_rigidly(
    vertex: (&Point3<f64>, &RigidPath),
    triangle: (&[Point3<f64>; 3], &RigidPath),
) -> Option<VertexHit> {
    let way = triangle
        .0
        .iter()
        .map(|p| triangle.1.reach(p))
        .fold(0.0, f64::max);
    advance(way + vertex.1.reach(vertex.0), |time| {
        let pose = triangle.1.at(time);
        vertex_apart(&(vertex.1.at(time) * vertex.0, triangle.0.map(|p| pose * p)))
    })
    .map(|(time, weights)| VertexHit { time, weights })
}

/// When an edge fixed on one moving frame first comes within a billionth of their size of an edge fixed on another; `None` if it does not.
#[must_use]
pub fn edge_meets_edge_rigidly(
    first: (&[Point3<f64>; 2], &RigidPath),
    second: (&[Point3<f64>; 2], &RigidPath),
) -> Option<EdgeHit> {
    let way = |(edge, path): (&[Point3<f64>; 2], &RigidPath)| {
        edge.iter().map(|p| path.reach(p)).fold(0.0, f64::max)
    };
    advance(way(first) + way(second), |time| {
        let [a, b] = [first, second].map(|(edge, path)| edge.map(|p| path.at(time) * p));
        edges_apart(&(a, b))
    })
    .map(|(time, parameters)| EdgeHit { time, parameters })
}

fn at(path: &[Vector3<f64>; 2], time: f64) -> Vector3<f64> {
    path[0] * (1.0 - time) + path[1] * time
}

fn way(path: &Path) -> f64 {
    (path[1] - path[0]).norm()
}

/// Barycentric coordinates of the projection of p on the plane of 0, b and c.
fn barycentric(b: &Vector3<f64>, c: &Vector3<f64>, p: &Vector3<f64>) -> Option<[f64; 3]> {
    let normal = b.cross(c);
    let square = normal.norm_squared();
    let w_b = p.cross(c).dot(&normal) / square;
    let w_c = b.cross(p).dot(&normal) / square;
    (square > 0.0).then_some([1.0 - w_b - w_c, w_b, w_c])
}

/// Places of the nearest points of two lines: from 0 along e₁, and from `between` along e₂.
fn crossing(e_1: &Vector3<f64>, e_2: &Vector3<f64>, between: &Vector3<f64>) -> Option<[f64; 2]> {
    let normal = e_1.cross(e_2);
    let square = normal.norm_squared();
    (square > 0.0).then(|| {
        [
            between.cross(e_2).dot(&normal) / square,
            between.cross(e_1).dot(&normal) / square,
        ]
    })
}

fn into_simplex(weights: [f64; 3]) -> [f64; 3] {
    let cut = weights.map(|w| w.max(0.0));
    let sum: f64 = cut.iter().sum();
    cut.map(|w| w / sum)
}

#[cfg(test)]
mod tests;
