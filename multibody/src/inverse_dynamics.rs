//! Inverse dynamics by the recursive Newton-Euler algorithm: forces from motion, O(n).

use nalgebra::Vector3;

use crate::body_inertias::BodyInertias;
use crate::joint::DofKind;
use crate::kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
use crate::model::Model;
use crate::spatial::Wrench;

/// Newton-Euler equations of each body: the net wrench that its acceleration requires, minus the external one, about its
/// origin. With accelerations of a root accelerated by −gravity, this includes the force against weight. `external` has a
/// wrench for every body, or is empty.
pub(crate) fn body_wrenches(
    velocities: &VelocityKinematics,
    accelerations: &AccelerationKinematics,
    inertias: &BodyInertias,
    external: &[Wrench],
    wrenches: &mut [Wrench],
) {
    let n = wrenches.len();
    let inertias = &inertias.bodies[..n];
    let velocities = &velocities.bodies[..n];
    let accelerations = &accelerations.bodies[..n];
    for i in 1..n {
        wrenches[i] = inertias[i].newton_euler(&velocities[i].angular, &accelerations[i]);
    }
    if !external.is_empty() {
        for (wrench, applied) in wrenches.iter_mut().zip(external).skip(1) {
            wrench.torque -= applied.torque;
            wrench.force -= applied.force;
        }
    }
}

/// Sums wrenches from the tips to the root, so that `wrenches` become those transmitted by the joints, and projects them
/// on the degrees of freedom:
///
/// ```text
/// τ = M(q) v̇ + k(q, v) − Σ Jᵀ F_ext
/// ```
///
/// # Source
/// Featherstone, Rigid Body Dynamics Algorithms (2008), section 5.3; here with classical accelerations in world axes.
pub(crate) fn joint_forces(
    model: &Model,
    positions: &PositionKinematics,
    wrenches: &mut [Wrench],
    tau: &mut [f64],
) {
    assert_eq!(tau.len(), model.n_v(), "τ has n_v entries");
    for i in (1..model.bodies.len()).rev() {
        let body = &model.bodies[i];
        let wrench = wrenches[i];
        for k in body.v_start..body.v_end {
            tau[k] = along(model.dof_kind[k], &positions.axes[k], &wrench);
        }
        if body.parent != 0 {
            wrenches[body.parent] += wrench.shifted_back(&positions.bodies[i].from_parent);
        }
    }
}

/// Sᵀ F of one degree of freedom.
#[inline(always)]
pub(crate) fn along(kind: DofKind, axis: &Vector3<f64>, wrench: &Wrench) -> f64 {
    match kind {
        DofKind::Angular => axis.dot(&wrench.torque),
        DofKind::Linear => axis.dot(&wrench.force),
        DofKind::Screw { advance } => axis.dot(&wrench.torque) + advance * axis.dot(&wrench.force),
    }
}
