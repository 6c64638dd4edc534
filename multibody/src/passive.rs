//! Passive joint forces: implicit dampers and springs, dry friction, and reflected rotor inertia.

use crate::model::Model;

impl Model {
    /// The degrees of freedom with dry friction, and its bound, N or N·m.
    pub(crate) fn dry_friction(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let with_friction = self.joints.iter().filter(|j| j.passive.dry_friction > 0.0);
        with_friction.flat_map(|j| j.dofs().map(|k| (k, j.passive.dry_friction)))
    }

    /// Adds the reflected inertias of all joints (rotor inertia times gear ratio squared) to a diagonal of n_v entries, kg m²
    /// or kg.
    pub fn add_reflected_inertia(&self, diagonal: &mut [f64]) {
        for joint in &self.joints {
            for d in &mut diagonal[joint.dofs()] {
                *d += joint.drive.reflected_inertia();
            }
        }
    }

    /// The diagonal that implicit joint forces add to M(q), n_v entries, kg m² or kg: reflected inertia + `forces_s`·damping +
    /// `forces_s`·`positions_s`·stiffness.
    ///
    /// Dampers act at the velocity v0 + (v − v0)·`forces_s`/δt; springs at the position that follows from it. Both times are δt
    /// if forces are evaluated at the end of the step, and δt/2 for the midpoint rule. `forces_s` is 0 for explicit forces.
    pub fn implicit_diagonal(&self, forces_s: f64, positions_s: f64, diagonal: &mut [f64]) {
        for joint in &self.joints {
            let passive = &joint.passive;
            let sum = joint.drive.reflected_inertia()
                + forces_s * passive.damping
                + forces_s * positions_s * passive.spring_stiffness;
            diagonal[joint.dofs()].fill(sum);
        }
    }

    /// Adds the forces of dampers and springs to `tau`, consistently with [`implicit_diagonal`](Self::implicit_diagonal).
    ///
    /// With A = M + diag and `forces_s` = δt, the solution of A (v − v₀) = δt (τ + f − k) has dampers at v and springs at
    /// q₀ + δt v, for the forces f:
    ///
    /// ```text
    /// −d v₀ − k_s (q₀ + forces_s v₀ − q_rest)
    /// ```
    ///
    /// With `forces_s` = 0 these are the forces at (q₀, v₀). `q` has n_q entries, `v` and `tau` (N m or N) have n_v.
    pub fn add_passive_forces(&self, q: &[f64], v: &[f64], forces_s: f64, tau: &mut [f64]) {
        for joint in &self.joints {
            let passive = &joint.passive;
            for k in joint.dofs() {
                tau[k] -= passive.damping * v[k];
            }
            if passive.spring_stiffness > 0.0 {
                let (k, i) = (joint.v_start, joint.q_start);
                tau[k] -= passive.spring_stiffness * (q[i] + forces_s * v[k] - passive.spring_rest);
            }
        }
    }

    /// Potential energy Σ ½ k (q − q_rest)² of the joint springs, J.
    pub fn spring_energy(&self, q: &[f64]) -> f64 {
        let springs = self
            .joints
            .iter()
            .filter(|j| j.passive.spring_stiffness > 0.0);
        springs
            .map(|j| {
                0.5 * j.passive.spring_stiffness * (q[j.q_start] - j.passive.spring_rest).powi(2)
            })
            .sum()
    }
}
