//! Relaxation of an attachment between two edges that cross: a₀a₁ of one body and b₀b₁ of another.
//!
//! The attachment is a place α on the first edge and a place β on the second. With u, w along the edges, ν the unit vector across both towards the side
//! of the first, (α*, β*) the nearest points of the two lines, and a the distance at which the edges are kept,
//!
//! ```text
//! d = a + ν·(b₀ − a₀)                   depth;  apart where d ≤ 0
//! r = (β − β*) w − (α − α*) u           stays where |r| ≤ μ d, otherwise
//! α' = α* + s (α − α*),   β' = β* + s (β − β*),   s = μ d/|r|
//! f ∝ b(β') − a(α') + a ν = d ν + s r   on the first edge at α', its opposite on the second at β'
//! ```
//!
//! The cone holds exactly, and a second relaxation changes nothing. The edges are extended to lines: one that slides over the end of another is the
//! caller's to hand over or to drop. With ρ = δb(β*) − δa(α*), D = (ν·(b₀ − a₀)) ν, and u*, w* the dual basis of u, w in their plane,
//!
//! ```text
//! δd  = ν·ρ                              δν = −u* (ν·δu) − w* (ν·δw)
//! δα* =  u*·ρ + |u*|² D·δu + (u*·w*) D·δw
//! δβ* = −w*·ρ − (u*·w*) D·δu − |w*|² D·δw
//! ```
//!
//! Parallel edges have no ν. The force fades by m(sin²θ), m = y (2 − y) with y = sin²θ/[`FADING`], where the angle θ between the edges is small.

use nalgebra::{Matrix3, Point3, RowVector3, Vector3};

use super::friction::SlidingFriction;
use super::level_set::Branch;
use super::mesh_walk::Facing;

/// sin²θ below which the force fades.
const FADING: f64 = 0.01;
/// The lines are followed this far beyond the ends of the edges, in their lengths.
const BEYOND: f64 = 1.0;

/// A relaxed attachment between two edges, with its derivatives by a₀, a₁, b₀ and b₁ (in this order, the variables x).
///
/// The force on the first edge is the stiffness (N/m) times `fading` times `pull`, at the place α'; its opposite acts on the second edge
/// at β'. All positions and vectors are in one frame.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::{Branch, EdgesRelaxed, Facing, SlidingFriction};
///
/// // An edge along x has passed 10 mm below one along y, and the first has moved by 0.1 m since they met. It slides to μ · 10 mm.
/// let ends = [[-1.0, 0.0, -0.01], [1.0, 0.0, -0.01], [0.0, -1.0, 0.0], [0.0, 3.0, 0.0]].map(Point3::from);
/// let mut relaxed = EdgesRelaxed::default();
/// relaxed.relax(&ends, &SlidingFriction::coulomb(0.5), Facing::Front, [0.55, 0.25], 0.0);
/// assert_eq!(relaxed.branch, Branch::Slip);
/// assert!((relaxed.depth - 0.01).abs() < 1e-15);
/// assert!((relaxed.pull - Vector3::new(-0.005, 0.0, 0.01)).norm() < 1e-15, "up, and against the motion");
/// assert!((relaxed.at[0] - 0.5025).abs() < 1e-12, "5 mm of an edge of 2 m beyond the crossing");
/// ```
#[derive(Clone, Debug, Default)]
pub struct EdgesRelaxed {
    /// Whether the edges are apart, stick or slip.
    pub branch: Branch,
    /// α' and β': places on the first and on the second edge, 0 at the first end and 1 at the second; beyond that on its line.
    pub at: [f64; 2],
    /// ν: unit normal of both edges, towards the side of the first.
    pub normal: Vector3<f64>,
    /// d: depth, m; positive where the edges have passed each other, or are nearer than the distance at which they are kept.
    pub depth: f64,
    /// r, m: the offset of the old attachment from the nearest points, within the plane of both edges.
    pub offset: Vector3<f64>,
    /// d ν + s r = b(β') − a(α') + a ν, m: the direction of the force on the first edge.
    pub pull: Vector3<f64>,
    /// m in [0, 1]: 1 for edges that cross at more than some 6°, towards 0 for parallel ones.
    pub fading: f64,
    /// ∂(α', β')/∂x, 1/m, for each end.
    pub at_by: [[RowVector3<f64>; 2]; 4],
    /// ∂d/∂x for each end.
    pub depth_by: [RowVector3<f64>; 4],
    /// ∂(pull)/∂x for each end.
    pub pull_by: [Matrix3<f64>; 4],
    /// ∂m/∂x, 1/m, for each end.
    pub fading_by: [RowVector3<f64>; 4],
}

/// The nearest points of the two lines through edges: of a₀ and a₁, along u, and of b₀ and b₁, along w.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_hydroelastic::EdgesCrossing;
///
/// // An edge along x, 10 mm below one along y.
/// let ends = [[-1.0, 0.0, -0.01], [1.0, 0.0, -0.01], [0.0, -1.0, 0.0], [0.0, 3.0, 0.0]].map(Point3::from);
/// let crossing = EdgesCrossing::of(&ends).expect("they are not parallel");
/// assert_eq!((crossing.at, crossing.normal), ([0.5, 0.25], Vector3::z()));
/// assert!((crossing.height - 0.01).abs() < 1e-15 && crossing.is_within());
/// // Two parallel edges have no normal.
/// let [a_0, a_1, ..] = ends;
/// assert!(EdgesCrossing::of(&[a_0, a_1, a_0 + Vector3::y(), a_1 + Vector3::y()]).is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EdgesCrossing {
    /// α* and β*: the places of the nearest points, 0 at the first end of an edge and 1 at its second.
    pub at: [f64; 2],
    /// Unit normal of both lines, (u × w)/|u × w|.
    pub normal: Vector3<f64>,
    /// Distance of the lines along the normal, normal·(b₀ − a₀), m; positive where the second is in front of the first.
    pub height: f64,
    /// sin²θ of the angle θ between the lines.
    pub sine_squared: f64,
}

impl EdgesCrossing {
    /// Of the lines through a₀, a₁ and b₀, b₁ (m); `None` if they are parallel.
    #[must_use]
    pub fn of([a_0, a_1, b_0, b_1]: &[Point3<f64>; 4]) -> Option<Self> {
        let (u, w, c) = (a_1 - a_0, b_1 - b_0, b_0 - a_0);
        let n = u.cross(&w);
        let square = n.norm_squared();
        let sine_squared = square / (u.norm_squared() * w.norm_squared());
        // Below that the direction of n is round-off.
        if sine_squared.is_nan() || sine_squared < 1e-20 {
            return None;
        }
        let normal = n / square.sqrt();
        Some(Self {
            at: [c.cross(&w).dot(&n) / square, c.cross(&u).dot(&n) / square],
            normal,
            height: normal.dot(&c),
            sine_squared,
        })
    }

    /// Places on both edges whose points differ by `offset` (m) along the edges, beyond the nearest points: those of the attachment with this r.
    #[must_use]
    pub fn at_offset(
        &self,
        [a_0, a_1, b_0, b_1]: &[Point3<f64>; 4],
        offset: &Vector3<f64>,
    ) -> [f64; 2] {
        let (u, w) = (a_1 - a_0, b_1 - b_0);
        let n = u.cross(&w);
        let along = |dual: Vector3<f64>| dual.dot(offset) / n.norm_squared();
        [
            self.at[0] - along(w.cross(&n)),
            self.at[1] + along(n.cross(&u)),
        ]
    }

    /// Whether the nearest points are on both edges.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.at.iter().all(|at| (0.0..=1.0).contains(at))
    }
}

impl EdgesRelaxed {
    /// Relaxes the attachment `old` = (α, β) between the edges with ends `ends` = a₀, a₁, b₀, b₁, which are kept at `distance` (m). `facing` is the side
    /// of the second edge that the first is on: in front is that of u × w.
    ///
    /// Friction has one coefficient in all directions.
    pub fn relax(
        &mut self,
        ends: &[Point3<f64>; 4],
        friction: &SlidingFriction<f64>,
        facing: Facing,
        old: [f64; 2],
        distance: f64,
    ) {
        *self = Self {
            at: old,
            ..Self::default()
        };
        let Some(crossing) = EdgesCrossing::of(ends) else {
            return;
        };
        let nu = crossing.normal * facing.sign();
        let height = crossing.height * facing.sign();
        let [alpha, beta] = crossing.at;
        let (u, w) = (ends[1] - ends[0], ends[3] - ends[2]);
        let away = [old[0] - alpha, old[1] - beta];
        let r = w * away[1] - u * away[0];
        self.normal = nu;
        self.depth = distance + height;
        self.offset = r;
        let is_near = |at: &f64| (-BEYOND..=1.0 + BEYOND).contains(at);
        if self.depth <= 0.0 || !crossing.at.iter().all(is_near) {
            return;
        }
        let (l, d) = (r.norm(), self.depth);
        let sticks = friction.sticking > 0.0 && l <= friction.sticking * d;
        let s = match l > 0.0 {
            true => friction.sliding * d / l,
            false => 0.0,
        };
        (self.branch, self.at) = match sticks {
            true => (Branch::Stick, old),
            false => (Branch::Slip, [alpha + s * away[0], beta + s * away[1]]),
        };
        let reach = if sticks { 1.0 } else { s };
        self.pull = nu * d + r * reach;

        // Dual basis of u, w.
        let n = u.cross(&w);
        let square = n.norm_squared();
        let (u_dual, w_dual) = (w.cross(&n) / square, n.cross(&u) / square);
        let gap = nu * height;
        let both = u_dual.dot(&w_dual);
        let (u_fade, w_fade) = (
            (u_dual - u / u.norm_squared()) * (2.0 * crossing.sine_squared),
            (w_dual - w / w.norm_squared()) * (2.0 * crossing.sine_squared),
        );
        let y = crossing.sine_squared / FADING;
        let fading_slope = if y < 1.0 {
            (2.0 - 2.0 * y) / FADING
        } else {
            0.0
        };
        self.fading = if y < 1.0 { y * (2.0 - y) } else { 1.0 };
        for j in 0..4 {
            // δu, δw and ρ by this vertex.
            let in_u = [-1.0, 1.0, 0.0, 0.0][j];
            let in_w = [0.0, 0.0, -1.0, 1.0][j];
            let in_rho = [alpha - 1.0, -alpha, 1.0 - beta, beta][j];
            let gap_t = gap.transpose();
            let alpha_by =
                u_dual.transpose() * in_rho + gap_t * (u_dual.norm_squared() * in_u + both * in_w);
            let beta_by = w_dual.transpose() * (-in_rho)
                - gap_t * (both * in_u + w_dual.norm_squared() * in_w);
            let depth_by = nu.transpose() * in_rho;
            let nu_by = -(u_dual * in_u + w_dual * in_w) * nu.transpose();
            let r_by = Matrix3::from_diagonal_element(away[1] * in_w - away[0] * in_u)
                - w * beta_by
                + u * alpha_by;
            self.at_by[j] = match sticks {
                true => [RowVector3::zeros(); 2],
                false => {
                    let s_by = match l > 0.0 {
                        true => (depth_by * friction.sliding - r.transpose() * r_by * (s / l)) / l,
                        false => RowVector3::zeros(),
                    };
                    [
                        alpha_by * (1.0 - s) + s_by * away[0],
                        beta_by * (1.0 - s) + s_by * away[1],
                    ]
                }
            };
            let [at_a, at_b] = self.at;
            let carried = [at_a - 1.0, -at_a, 1.0 - at_b, at_b][j];
            self.pull_by[j] = Matrix3::from_diagonal_element(carried) + w * self.at_by[j][1]
                - u * self.at_by[j][0]
                + nu_by * distance;
            self.depth_by[j] = depth_by;
            self.fading_by[j] = (u_fade * in_u + w_fade * in_w).transpose() * fading_slope;
        }
    }
}

#[cfg(test)]
mod tests;
