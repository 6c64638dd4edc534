//! Rotation of single bodies that nothing hinders, without bound on their speed.
//!
//! In body axes the angular momentum L = I ω changes by L̇ = L × ω. The explicit torque −ω × L of the start of a step grows with ω²:
//! where the angle per step exceeds a radian, the speed is squared from step to step. In its place the step uses the mean torque
//! (L* − L)/δt, with L* after δt of free rotation, from a splitting that is a sequence of rotations about principal axes:
//!
//! ```text
//! 1/I_i − 1/I_m    L_i²/2 of the smallest and the largest moment, I_m the middle one: half, whole, half
//! ```
//!
//! |L|²/(2 I_m) commutes with everything. |L| is thus conserved to rounding in body axes for any δt, ω is at most |L| over the least
//! moment, and bodies with two equal moments rotate exactly. The torque differs from the explicit one by O(δt).
//!
//! Source: Reich (1994), "Momentum conserving symplectic integrations"; Hairer, Lubich, Wanner (2006), VII.5.3.

use std::ops::Range;

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use crate::joint::JointKind;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::Model;

/// A single body on a floating or ball joint to the world.
pub(super) struct FreeRotation {
    body: usize,
    /// The rotational degrees of freedom.
    pub(super) dofs: Range<usize>,
    /// Principal axes in body axes, right-handed, by ascending moments, and these, kg m².
    axes: Matrix3<f64>,
    moments: Vector3<f64>,
    /// Whether none of `dofs` is held.
    pub(super) is_free: bool,
}

impl FreeRotation {
    /// All of a model.
    pub(super) fn all_of(model: &Model) -> Vec<Self> {
        let is_leaf = |b: usize| model.bodies.iter().skip(1).all(|other| other.parent != b);
        let of_body = |b: usize| {
            let body = &model.bodies[b];
            let inertia = &body.inertia_B;
            let second = inertia.second;
            let columns = [Vector3::x(), Vector3::y(), Vector3::z()].map(|e| second.times(&e));
            let about_origin = Matrix3::from_columns(&columns);
            let about_axis = match body.kind {
                JointKind::Floating if inertia.mass > 0.0 => {
                    let h = &inertia.moment;
                    let steiner = Matrix3::identity() * h.norm_squared() - h * h.transpose();
                    about_origin - steiner / inertia.mass
                }
                JointKind::Ball => about_origin,
                _ => return None,
            };
            Self::about(about_axis, b, body.v_start..body.v_start + 3)
        };
        let roots = (1..model.n_bodies()).filter(|&b| model.bodies[b].parent == 0);
        roots.filter(|&b| is_leaf(b)).filter_map(of_body).collect()
    }

    /// With the inertia about the point it rotates about; none if that is singular.
    fn about(inertia: Matrix3<f64>, body: usize, dofs: Range<usize>) -> Option<Self> {
        let eigen = SymmetricEigen::new(inertia);
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let moments = Vector3::from(order.map(|i| eigen.eigenvalues[i]));
        let [a, b] = [0, 1].map(|k| eigen.eigenvectors.column(order[k]).into_owned());
        let axes = [a, b, a.cross(&b)];
        (moments[0] > 1e-12 * moments[2]).then(|| Self {
            body,
            dofs,
            axes: Matrix3::from_columns(&axes),
            moments,
            is_free: true,
        })
    }

    /// Angular impulse in world axes to add to that of the explicit torque, N m s.
    pub(super) fn correction(
        &self,
        positions: &PositionKinematics,
        velocities: &VelocityKinematics,
        time_step_s: f64,
    ) -> Vector3<f64> {
        let to_world = positions.bodies[self.body].rotation * self.axes;
        let angular_velocity = to_world.tr_mul(&velocities.bodies[self.body].angular);
        let momentum = angular_velocity.component_mul(&self.moments);
        let change = self.rotated(&momentum, time_step_s) - momentum;
        to_world * (change + angular_velocity.cross(&momentum) * time_step_s)
    }

    /// L after free rotation, principal axes.
    fn rotated(&self, momentum: &Vector3<f64>, time_step_s: f64) -> Vector3<f64> {
        let mut l = *momentum;
        let mut rotate_about = |i: usize, time_s: f64| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let rate = l[i] * (1.0 / self.moments[i] - 1.0 / self.moments[1]);
            let (sin, cos) = (rate * time_s).sin_cos();
            (l[j], l[k]) = (cos * l[j] + sin * l[k], cos * l[k] - sin * l[j]);
        };
        rotate_about(0, 0.5 * time_step_s);
        rotate_about(2, time_step_s);
        rotate_about(0, 0.5 * time_step_s);
        l
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(moments: [f64; 3]) -> FreeRotation {
        let inertia = Matrix3::from_diagonal(&moments.into());
        FreeRotation::about(inertia, 1, 0..3).expect("a regular inertia")
    }

    #[test]
    fn two_equal_moments_rotate_exactly() {
        // L precesses about the axis of symmetry with L_z (1/I_z − 1/I_x), as in Euler's equations.
        let body = body([2.0, 2.0, 3.0]);
        let l = Vector3::new(1.0, 0.0, 5.0);
        let angle: f64 = 5.0 * (1.0 / 3.0 - 0.5) * 0.7;
        let expected = Vector3::new(angle.cos(), -angle.sin(), 5.0);
        let found = body.axes * body.rotated(&body.axes.tr_mul(&l), 0.7);
        assert!((found - expected).norm() < 1e-14, "{found}");
    }

    #[test]
    fn the_error_is_of_second_order_in_the_step() {
        // Descending along x, y, z: the axes are reordered.
        let moments = Vector3::new(2.5, 2.0, 1.0);
        let body = body(moments.into());
        let start = Vector3::new(1.0, -0.6, 0.8);
        let after = |n: i32| (0..n).fold(start, |l, _| body.rotated(&l, 1.0 / f64::from(n)));
        let exact = after(4096);
        let [coarse, fine] = [16, 32].map(|n| (after(n) - exact).norm());
        assert!((coarse / fine - 4.0).abs() < 0.1, "{coarse} {fine}");
        // Euler's equations in body axes: L̇ = L × ω.
        let h = 1e-6;
        let l = body.axes * start;
        let rate = body.axes * (body.rotated(&start, h) - start) / h;
        let expected = l.cross(&l.component_div(&moments));
        assert!((rate - expected).norm() < 1e-5);
    }

    #[test]
    fn steps_of_many_revolutions_keep_the_angular_momentum() {
        let body = body([0.3, 1.0, 1.1]);
        let start = Vector3::new(2.0, 1e3, -40.0);
        let mut l = start;
        for _ in 0..1000 {
            l = body.rotated(&l, 1.0);
        }
        assert!((l.norm() / start.norm() - 1.0).abs() < 1e-12);
    }
}
