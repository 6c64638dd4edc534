//! What joints do by themselves over a step: dampers and springs, implicitly, and the inertia of rotors.

use crate::model::Model;

impl Model {
    /// The degrees of freedom with dry friction, and the force it can bear, N or N·m.
    pub(crate) fn dry_friction(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let rough = self.joints.iter().filter(|j| j.passive.dry_friction > 0.0);
        rough.flat_map(|j| j.dofs().map(|k| (k, j.passive.dry_friction)))
    }

    /// Adds every joint's reflected inertia (rotor inertia · gear ratio²) to a diagonal of n_v entries, kg m² or kg.
    pub fn add_reflected_inertia(&self, diagonal: &mut [f64]) {
        for joint in &self.joints {
            for d in &mut diagonal[joint.dofs()] {
                *d += joint.drive.reflected_inertia();
            }
        }
    }

    /// What a step adds to the diagonal of M(q): reflected inertia + `forces_s`·damping + `forces_s`·`positions_s`·stiffness.
    ///
    /// Dampers act at v0 + (v − v0)·`forces_s`/δt; over that time springs are moved by `positions_s`/δt of the end velocity.
    /// Both are δt where forces are those of the step's end, both δt/2 at midpoint, and `forces_s` is 0 where forces are those
    /// of the start.
    pub fn implicit_diagonal(&self, forces_s: f64, positions_s: f64, diagonal: &mut [f64]) {
        for joint in &self.joints {
            let passive = &joint.passive;
            let sum = joint.drive.reflected_inertia()
                + forces_s * passive.damping
                + forces_s * positions_s * passive.spring_stiffness;
            diagonal[joint.dofs()].fill(sum);
        }
    }

    /// Adds the forces of dampers and springs that belong to [`implicit_diagonal`](Self::implicit_diagonal) to `tau`.
    ///
    /// With A = M + diag, the solution of A (v − v₀) = δt (τ + this − k) is for `forces_s` = δt the step in which dampers
    /// act at v and springs at q₀ + δt v:
    ///
    /// ```text
    /// −d v₀ − k_s (q₀ + forces_s v₀ − q_rest)
    /// ```
    ///
    /// With `forces_s` = 0 these are the forces at (q₀, v₀).
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

    /// Energy stored in the joints' springs, J.
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
