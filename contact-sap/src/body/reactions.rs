//! Reaction forces at joints and supports.

use nalgebra::{Point3, Vector3};

use super::material_point::MaterialPoint;

/// Reaction forces in a step with end velocities `v`, given all forces on the body other than those of its own control.
///
/// Offered by kinematic trees and capsule chains (joints), and by finite elements (supports). [`JointReaction`] and [`SupportReaction`] are what a
/// stepper reports.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{FrameWrench, JointReaction, Reactions};
///
/// /// A lamp at rest that hangs from the ceiling by a rigid joint at C, its centre of mass below C.
/// struct Lamp { mass: f64, p_WC: Point3<f64> }
/// impl Reactions for Lamp {
///     fn joint_reactions(&self, _: &[f64], external: &[FrameWrench], out: &mut Vec<JointReaction>) {
///         let moment = |w: &FrameWrench| w.torque_W + (w.p_WQ - self.p_WC).cross(&w.force_W);
///         let force: Vector3<f64> = external.iter().map(|w| w.force_W).sum();
///         let (p_WC, torque_W) = (self.p_WC, -external.iter().map(moment).sum::<Vector3<f64>>());
///         out.clear();
///         out.push(JointReaction { joint: 0, p_WC, force_W: -force + Vector3::z() * 9.81 * self.mass, torque_W });
///     }
/// }
/// // A pull of 5 N along x, half a metre below the joint.
/// let (p_WQ, force_W) = (Point3::new(0.0, 0.0, 1.5), Vector3::new(5.0, 0.0, 0.0));
/// let pull = FrameWrench { frame: 0, p_WQ, force_W, torque_W: Vector3::zeros() };
/// let mut joints = Vec::new();
/// Lamp { mass: 2.0, p_WC: Point3::new(0.0, 0.0, 2.0) }.joint_reactions(&[], &[pull], &mut joints);
/// assert_eq!(joints[0].force_W, Vector3::new(-5.0, 0.0, 19.62));
/// assert_eq!(joints[0].torque_W, Vector3::new(0.0, 2.5, 0.0));
/// ```
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
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::FrameWrench;
///
/// // A hand turns a valve by 0.2 N·m and pulls at 3 N on its spoke, 0.1 m from the axis.
/// let grip = FrameWrench {
///     frame: 4,
///     p_WQ: Point3::new(0.1, 0.0, 1.0),
///     force_W: Vector3::new(0.0, 3.0, 0.0),
///     torque_W: Vector3::new(0.0, 0.0, 0.2),
/// };
/// let axis = Point3::new(0.0, 0.0, 1.0);
/// let moment = grip.torque_W + (grip.p_WQ - axis).cross(&grip.force_W);
/// assert!((moment.z - 0.5).abs() < 1e-15); // N·m
/// ```
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
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{MaterialPoint, PointForce, Primitive};
///
/// // 4 N on the middle of an edge, as forces on its two vertices.
/// let middle = MaterialPoint { primitive: Primitive::Edge(7), weights: [0.5, 0.5, 0.0, 0.0], offset: Vector3::zeros() };
/// let push = PointForce { point: middle, force_W: Vector3::new(0.0, 4.0, 0.0) };
/// let on_vertices = push.point.weights.map(|weight| push.force_W * weight);
/// assert_eq!(on_vertices[..2], [Vector3::new(0.0, 2.0, 0.0); 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointForce {
    /// Where it acts.
    pub point: MaterialPoint,
    /// N, world axes.
    pub force_W: Vector3<f64>,
}

/// What the parent of a joint exerts on its child: bearings, drive, spring, damper, friction and limit together.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::JointReaction;
///
/// // What the hinge of a door transmits. Its screws are 50 mm above its origin: the torque about them differs.
/// let hinge = JointReaction {
///     joint: 0,
///     p_WC: Point3::new(0.0, 0.0, 1.0),
///     force_W: Vector3::new(120.0, 0.0, 80.0),
///     torque_W: Vector3::zeros(),
/// };
/// let p_WS = Point3::new(0.0, 0.0, 1.05);
/// let torque = hinge.torque_W + (hinge.p_WC - p_WS).cross(&hinge.force_W);
/// assert!((torque - Vector3::new(0.0, -6.0, 0.0)).norm() < 1e-12); // N·m
/// ```
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
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{PointForce, Reactions, SupportReaction};
///
/// /// A weight of 1 kg at rest on a massless string, of which vertex 0 is held.
/// struct Plumb { p_WV: Point3<f64> }
/// impl Reactions for Plumb {
///     fn support_reactions(&self, _: &[f64], external: &[PointForce], out: &mut Vec<SupportReaction>) {
///         let force: Vector3<f64> = external.iter().map(|load| load.force_W).sum();
///         out.clear();
///         out.push(SupportReaction { vertex: 0, p_WV: self.p_WV, force_W: Vector3::z() * 9.81 - force });
///     }
/// }
/// let (plumb, mut supports, mut joints) = (Plumb { p_WV: Point3::new(0.0, 0.0, 3.0) }, Vec::new(), Vec::new());
/// plumb.support_reactions(&[], &[], &mut supports);
/// assert_eq!((supports[0].vertex, supports[0].force_W.z), (0, 9.81)); // N, upwards on the body
/// plumb.joint_reactions(&[], &[], &mut joints);
/// assert!(joints.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportReaction {
    /// The vertex.
    pub vertex: u32,
    /// Its position at the start of the step, world frame.
    pub p_WV: Point3<f64>,
    /// On the body, N, world axes; zero along axes that are free.
    pub force_W: Vector3<f64>,
}
