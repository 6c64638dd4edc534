//! The angular momentum of a step, which internal forces must not change.

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{Dynamics, VertexFields, VertexStep};

use super::FemStep;
use crate::parts::Rotation;

impl FemStep {
    /// Adds the rigid motion that restores the angular momentum to the velocities of all vertices at the end of the step, if A and b are
    /// those of its balance.
    pub(super) fn keep_angular_momentum(
        &self,
        ends: &[Vector3<f64>],
        velocities: &mut [Vector3<f64>],
    ) {
        if self.motion.parts.rotation == Rotation::Lagged || !self.linearised {
            return;
        }
        let motion = &self.motion;
        let coasting = motion.time_step.length_s * (1.0 - motion.time_step.integration.theta_vq());
        let arms: Vec<Vector3<f64>> = (motion.q.iter().zip(&motion.v))
            .map(|(q, v)| q + v * coasting)
            .collect();
        let vertices = VertexStep {
            arms: &arms,
            ends,
            velocities,
            held: &self.held,
            rotational_inertia: Matrix3::zeros(),
            length_s: motion.time_step.length_s,
        };
        let missing = vertices.missing_motion(
            &mut VertexFields::default(),
            |x, y| motion.parts.mass_product(x, y),
            |impulses| {
                self.write_internal_impulses(velocities, impulses);
                Vector3::zeros()
            },
        );
        let Some(missing) = missing else {
            return;
        };
        for ((v, q), held) in velocities.iter_mut().zip(ends).zip(&self.held) {
            let change = missing.velocity_at(q);
            (0..3).filter(|k| !held[*k]).for_each(|k| v[k] += change[k]);
        }
    }

    /// Impulses of elastic and viscous forces on the free components, N s: M(v − v0) + δt(αM v^θ − f_ext) − (A v − b).
    fn write_internal_impulses(&self, v: &[Vector3<f64>], impulses: &mut [Vector3<f64>]) {
        let motion = &self.motion;
        let dt = motion.time_step.length_s;
        let drag = dt * motion.parts.damping.mass;
        let changes: Vec<Vector3<f64>> = (v.iter().enumerate())
            .map(|(i, v)| v - motion.v[i] + motion.force_velocity(i, v) * drag)
            .collect();
        let mut free = vec![0.0; motion.dofs.n_dofs()];
        motion.dofs.gather(v, &mut free);
        let mut balance = vec![0.0; free.len()];
        self.system.apply(&free, &mut balance);
        for (balance, b) in balance.iter_mut().zip(&self.system.right_hand_side) {
            *balance -= b;
        }
        let mut others = vec![Vector3::zeros(); v.len()];
        motion.dofs.scatter(&balance, &mut others);
        motion.parts.mass_product(&changes, impulses);
        for ((impulse, others), force) in impulses.iter_mut().zip(&others).zip(&self.external) {
            *impulse -= others + force * dt;
        }
    }
}
