//! Reference frames: time-parallel transport along each edge, and the continuous reference twist at each joint.
//!
//! Each edge stores its reference frame (t0, d1₀) at the last accepted state. At any other position its reference director
//! is d1 = P(t0, t) d1₀, which has no angular velocity about t. The rate of the material angle γ is therefore the angular
//! velocity of the section about the tangent.
//!
//! # Source
//! Bergou et al. 2010, "Discrete viscous threads" (time-parallel frames); Bergou et al. 2008 (reference twist).

use std::f64::consts::TAU;

use nalgebra::Vector3;

/// Parallel transport P(t0, t) v: the smallest rotation that takes unit t0 to unit t, t ≠ −t0, applied to v.
///
/// ```text
/// P v = c v + w × v + w (w·v)/(1 + c),   w = t0 × t,  c = t0·t
/// ```
/// There is no branch at t = t0, and no loss of accuracy.
#[inline(always)]
pub(crate) fn transport(t_0: &Vector3<f64>, t: &Vector3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    let (w, c) = (t_0.cross(t), t_0.dot(t));
    v * c + w.cross(v) + w * (w.dot(v) / (1.0 + c))
}

/// A unit vector normal to `t`: the coordinate axis least aligned with it, orthonormalised.
pub(crate) fn any_director(t: &Vector3<f64>) -> Vector3<f64> {
    let axis = t.iamin();
    let mut e = Vector3::zeros();
    e[axis] = 1.0;
    (e - t * t[axis]).normalize()
}

/// Tangent and first reference director of an edge at the last accepted state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReferenceFrame {
    pub(crate) tangent: Vector3<f64>,
    pub(crate) director: Vector3<f64>,
}

impl ReferenceFrame {
    /// The frame transported to `tangent`, orthonormalised.
    pub(crate) fn transported_to(&self, tangent: &Vector3<f64>) -> Self {
        let director = transport(&self.tangent, tangent, &self.director);
        let across = director - tangent * tangent.dot(&director);
        Self {
            tangent: *tangent,
            director: across.normalize(),
        }
    }
}

/// Reference twist: the signed angle about u from P(t, u) d1ᵃ to d1ᵇ, on the branch nearest to `near`.
#[inline(always)]
pub(crate) fn reference_twist(
    (t, d_a): (&Vector3<f64>, &Vector3<f64>),
    (u, d_b): (&Vector3<f64>, &Vector3<f64>),
    near: f64,
) -> f64 {
    let carried = transport(t, u, d_a);
    let angle = u.dot(&carried.cross(d_b)).atan2(carried.dot(d_b));
    nearest_branch(angle, near)
}

/// angle + 2πk, k such that it is nearest to `near`.
#[inline(always)]
pub(crate) fn nearest_branch(angle: f64, near: f64) -> f64 {
    angle + TAU * ((near - angle) / TAU).round()
}

/// Material directors: m1 = cos γ d1 + sin γ d2, m2 = −sin γ d1 + cos γ d2, d2 = t × d1.
#[inline(always)]
pub(crate) fn material_directors(
    t: &Vector3<f64>,
    d_1: &Vector3<f64>,
    gamma: f64,
) -> (Vector3<f64>, Vector3<f64>) {
    let d_2 = t.cross(d_1);
    let (sin, cos) = gamma.sin_cos();
    (d_1 * cos + d_2 * sin, d_2 * cos - d_1 * sin)
}

/// Layout of the history in a rod's state: time, then (t0, d1₀) of each edge, then β of each joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryLayout {
    pub(crate) n_edges: usize,
    pub(crate) n_joints: usize,
}

impl HistoryLayout {
    pub(crate) fn len(&self) -> usize {
        1 + 6 * self.n_edges + self.n_joints
    }

    /// Resizes `out` to the length of a history.
    pub(crate) fn resize(&self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.len(), 0.0);
    }

    pub(crate) fn set_time_s(&self, history: &mut [f64], time_s: f64) {
        history[0] = time_s;
    }

    pub(crate) fn set_frame(&self, history: &mut [f64], edge: usize, frame: &ReferenceFrame) {
        let values = &mut history[1 + 6 * edge..7 + 6 * edge];
        values[..3].copy_from_slice(frame.tangent.as_slice());
        values[3..].copy_from_slice(frame.director.as_slice());
    }

    pub(crate) fn twists_mut<'a>(&self, history: &'a mut [f64]) -> &'a mut [f64] {
        &mut history[1 + 6 * self.n_edges..]
    }

    pub(crate) fn time_s(&self, history: &[f64]) -> f64 {
        history[0]
    }

    pub(crate) fn frame(&self, history: &[f64], edge: usize) -> ReferenceFrame {
        let values = &history[1 + 6 * edge..7 + 6 * edge];
        ReferenceFrame {
            tangent: Vector3::from_column_slice(&values[..3]),
            director: Vector3::from_column_slice(&values[3..]),
        }
    }

    pub(crate) fn twists<'a>(&self, history: &'a [f64]) -> &'a [f64] {
        &history[1 + 6 * self.n_edges..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Unit};

    #[test]
    fn transport_is_the_smallest_rotation() {
        let pairs = [
            (Vector3::new(0.3, -0.5, 0.8), Vector3::new(-0.2, 0.9, 0.1)),
            (Vector3::x(), Vector3::new(-0.99, 0.1, 0.0)),
            (Vector3::z(), Vector3::z()),
            (Vector3::z(), Vector3::new(1e-9, 0.0, 1.0)),
        ];
        let v = Vector3::new(0.4, 0.7, -0.2);
        for (a, b) in pairs {
            let (a, b) = (a.normalize(), b.normalize());
            let moved = transport(&a, &b, &v);
            let axis = Unit::try_new(a.cross(&b), 1e-20);
            let expected = axis.map_or(v, |axis| {
                Rotation3::from_axis_angle(&axis, a.cross(&b).norm().atan2(a.dot(&b))) * v
            });
            assert!((moved - expected).norm() < 1e-14, "{a:?} to {b:?}");
        }
    }

    #[test]
    fn the_reference_twist_is_continuous_over_many_turns() {
        let (t, u) = (Vector3::x(), Vector3::new(1.0, 0.4, 0.2).normalize());
        let d_a = any_director(&t);
        let d_b = transport(&t, &u, &d_a);
        let mut beta = 0.0;
        for k in 1..=1000 {
            let angle = 0.1 * f64::from(k);
            let rotated = Rotation3::from_axis_angle(&Unit::new_unchecked(u), angle) * d_b;
            beta = reference_twist((&t, &d_a), (&u, &rotated), beta);
            assert!((beta - angle).abs() < 1e-12);
        }
    }
}
