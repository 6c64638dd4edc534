//! What joints do by themselves over a step: dampers and springs, implicitly, and the inertia of rotors.

use crate::model::Model;

impl Model {
    /// Adds every joint's reflected inertia (rotor inertia · gear ratio²) to a diagonal of n_v entries, kg m² or kg.
    pub fn add_reflected_inertia(&self, diagonal: &mut [f64]) {
        for joint in &self.joints {
            for d in &mut diagonal[joint.dofs()] {
                *d += joint.drive.reflected_inertia();
            }
        }
    }

    /// What a step of `time_step_s` adds to the diagonal of M(q): reflected inertia + δt·damping + δt²·stiffness.
    pub fn implicit_diagonal(&self, time_step_s: f64, diagonal: &mut [f64]) {
        for joint in &self.joints {
            let passive = &joint.passive;
            let sum = joint.drive.reflected_inertia()
                + time_step_s * passive.damping
                + time_step_s * time_step_s * passive.spring_stiffness;
            diagonal[joint.dofs()].fill(sum);
        }
    }

    /// Adds the forces of dampers and springs that belong to [`implicit_diagonal`](Self::implicit_diagonal) to `tau`.
    ///
    /// With A = M + diag, the solution of A (v − v₀) = δt (τ + this − k(q₀, v₀)) is the step in which dampers act at v
    /// and springs at q₀ + δt v:
    ///
    /// ```text
    /// −d v₀ − k_s (q₀ + δt v₀ − q_rest)
    /// ```
    ///
    /// With `time_step_s` = 0 these are the forces at (q₀, v₀).
    pub fn add_passive_forces(&self, q: &[f64], v: &[f64], time_step_s: f64, tau: &mut [f64]) {
        for joint in &self.joints {
            let passive = &joint.passive;
            for k in joint.dofs() {
                tau[k] -= passive.damping * v[k];
            }
            if passive.spring_stiffness > 0.0 {
                let (k, i) = (joint.v_start, joint.q_start);
                tau[k] -=
                    passive.spring_stiffness * (q[i] + time_step_s * v[k] - passive.spring_rest);
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
