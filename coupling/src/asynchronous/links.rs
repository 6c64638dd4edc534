//! The frames of rigid bodies that particles may touch: their motion in a step, and the forces on them.

use nalgebra::{DMatrix, DVector, Vector6};
use pliant_contact_sap::{Integration, Load, MaterialPoint};
use pliant_mpm::{LinkMotion, RigidLinks};
use serde::{Deserialize, Serialize};

use super::RigidVelocity;
use super::split::ParticleSplit;
use crate::error::StepError;
use crate::state::State;
use crate::strong_implicit::FrameResponse;
use crate::world::BodyIdx;

/// The mean force of particles on a frame in the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameForce {
    /// The body.
    pub body: BodyIdx,
    /// Its frame.
    pub frame: u32,
    /// Moment about the frame's origin (N·m) and force (N), world axes.
    pub wrench_W: Vector6<f64>,
}

/// The links of a step, and how the rigid problem responds to them.
pub(super) struct Frames {
    pub(super) links: RigidLinks,
    responding: Option<Responding>,
}

struct Responding {
    /// v̂.
    predicted: RigidVelocity,
    /// A_eff⁻¹J_rᵀ.
    columns: DMatrix<f64>,
    /// Γ of the last step.
    last: DVector<f64>,
}

impl Frames {
    /// Links with their velocities at the start of the step.
    pub(super) fn prescribed(
        split: &ParticleSplit,
        state: &State,
        integration: Integration,
        time_step_s: f64,
    ) -> Result<Self, StepError> {
        let world = &split.rigid.of;
        let motions =
            split
                .rigid
                .frame_motions(world, state, &split.frames, integration, time_step_s)?;
        let motions: Vec<LinkMotion> = motions
            .into_iter()
            .map(|motion| LinkMotion {
                X_WL: motion.X_WF,
                velocity: motion.velocity,
                change: Vector6::zeros(),
            })
            .collect();
        let n = 6 * motions.len();
        Ok(Self {
            links: RigidLinks::new(motions, DMatrix::zeros(n, n)),
            responding: None,
        })
    }

    /// Links with the response of the predicted rigid step, which had the loads `forces`.
    pub(super) fn responding(
        response: FrameResponse,
        frames: &[(BodyIdx, u32)],
        forces: &[FrameForce],
        time_step_s: f64,
    ) -> Self {
        let mut last = DVector::zeros(6 * frames.len());
        for (k, &(body, frame)) in frames.iter().enumerate() {
            let force = forces.iter().find(|f| (f.body, f.frame) == (body, frame));
            if let Some(force) = force {
                last.fixed_rows_mut::<6>(6 * k)
                    .copy_from(&(force.wrench_W * time_step_s));
            }
        }
        let by_last = &response.response * &last;
        let motions = (0..frames.len()).map(|k| LinkMotion {
            X_WL: response.poses[k],
            velocity: response.start[k],
            change: response.end[k] - response.start[k] - by_last.fixed_rows::<6>(6 * k),
        });
        Self {
            links: RigidLinks::new(motions.collect(), response.response),
            responding: Some(Responding {
                predicted: response.solution,
                columns: response.columns,
                last,
            }),
        }
    }

    /// The mean forces of the substeps, without those that are zero.
    pub(super) fn forces(&self, frames: &[(BodyIdx, u32)], time_step_s: f64) -> Vec<FrameForce> {
        let each = frames.iter().zip(self.links.impulses());
        let acting = each.filter(|(_, impulse)| impulse.total != Vector6::zeros());
        acting
            .map(|(&(body, frame), impulse)| FrameForce {
                body,
                frame,
                wrench_W: impulse.total / time_step_s,
            })
            .collect()
    }

    /// The velocity that moves the rigid bodies over the step: the mean over `substeps` substeps of v^k, and v^{n+1} − v^N of the
    /// correction; `None` with prescribed links. `velocities` are v^n and v^{n+1}.
    ///
    /// ```text
    /// v^k = v^n + (k/N)(v̂ − v^n − A_eff⁻¹Γ_last) + A_eff⁻¹ Γ_1..k        v^N = v̂ + A_eff⁻¹(Γ − Γ_last)
    /// ```
    pub(super) fn mean_velocity(
        &self,
        velocities: (&[f64], &[f64]),
        substeps: u32,
    ) -> Option<RigidVelocity> {
        let Responding {
            predicted,
            columns,
            last,
        } = self.responding.as_ref()?;
        let start = DVector::from_column_slice(velocities.0);
        let end = DVector::from_column_slice(velocities.1);
        let impulses = self.links.impulses();
        let stacked = |of: &dyn Fn(usize) -> Vector6<f64>| {
            let parts = (0..impulses.len()).flat_map(|k| of(k).iter().copied().collect::<Vec<_>>());
            DVector::from_iterator(6 * impulses.len(), parts)
        };
        let total = stacked(&|k| impulses[k].total);
        let mean = stacked(&|k| impulses[k].mean);
        let by_last = columns * last;
        let ramp = 0.5 * (1.0 + 1.0 / f64::from(substeps.max(1)));
        let mean_of_substeps = &start + (predicted - &start - &by_last) * ramp + columns * mean;
        let last_of_substeps = predicted + columns * total - by_last;
        Some(mean_of_substeps + end - last_of_substeps)
    }
}

/// Adds forces to the loads of a state.
pub(super) fn add_loads(forces: &[FrameForce], state: &mut State) {
    for force in forces {
        let wrench = &force.wrench_W;
        state.controls[force.body.0].loads.push(Load {
            point: MaterialPoint::on_frame(force.frame, nalgebra::Vector3::zeros()),
            force_W: wrench.fixed_rows::<3>(3).into_owned(),
            torque_W: wrench.fixed_rows::<3>(0).into_owned(),
        });
    }
}
