//! Reaction forces at joints and supports.

use nalgebra::{Point3, Vector3};

use super::material_point::MaterialPoint;

/// Reaction forces in a step with end velocities `v`, given all forces on the body other than those of its own control.
///
/// Offered by kinematic trees and capsule chains (joints), and by finite elements (supports). [`JointReaction`] and [`SupportReaction`] are what a
/// stepper reports.
pub trait Reactions {
    /// What each joint transmits; `out` is overwritten. Empty for bodies without joints.
    fn joint_reactions(&self, v: &[f64], external: &[FrameWrench], out: &mut Vec<JointReaction>) {
        let _ = (v, external);
        out.clear();
    }
    /// The support force on each vertex whose velocity is prescribed; `out` is overwritten. Empty for bodies without such vertices.
    fn support_reactions(
        &self,
        v: &[f64],
        external: &[PointForce],
        out: &mut Vec<SupportReaction>,
    ) {
        let _ = (v, external);
        out.clear();
    }
}

/// An external force and torque on a frame of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameWrench {
    /// Index of the frame in the body's surface.
    pub frame: u32,
    /// Where the force acts, at the start of the step, world frame.
    pub p_WQ: Point3<f64>,
    /// N, world axes.
    pub force_W: Vector3<f64>,
    /// N·m, world axes, besides the force's own moment.
    pub torque_W: Vector3<f64>,
}

/// An external force on a material point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointForce {
    /// Where it acts.
    pub point: MaterialPoint,
    /// N, world axes.
    pub force_W: Vector3<f64>,
}

/// What the parent of a joint exerts on its child: bearings, drive, spring, damper, friction and limit together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointReaction {
    /// Index of the joint in its body.
    pub joint: u32,
    /// Where the force acts, at the start of the step, world frame: the origin of the child's frame.
    pub p_WC: Point3<f64>,
    /// N, world axes, on the child.
    pub force_W: Vector3<f64>,
    /// N·m about `p_WC`, world axes, on the child.
    pub torque_W: Vector3<f64>,
}

/// The support force on a vertex whose velocity is prescribed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportReaction {
    /// The vertex.
    pub vertex: u32,
    /// Its position at the start of the step, world frame.
    pub p_WV: Point3<f64>,
    /// On the body, N, world axes; zero along axes that are free.
    pub force_W: Vector3<f64>,
}
