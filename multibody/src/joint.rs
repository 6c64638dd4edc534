//! Joints: kinds, coordinates, limits, passive forces, and the integration of positions.
//!
//! Frames: P is the parent link's frame. J is the joint frame, fixed in P at `X_PJ`. The child link's frame coincides with
//! J at zero position. `axis` is given in J.
//!
//! | kind | q | v |
//! |---|---|---|
//! | fixed | | |
//! | revolute, continuous | angle about the axis, rad | its rate, rad/s |
//! | prismatic | displacement along the axis, m | its rate, m/s |
//! | screw | angle about the axis, rad; the displacement along it is lead/2π times that, m | its rate, rad/s |
//! | planar | x, y, θ in the plane normal to the axis | their rates |
//! | ball | unit quaternion w, x, y, z | angular velocity, J axes |
//! | floating | x, y, z (J axes), then w, x, y, z | [ω; v], J axes, v that of the child's origin |
//!
//! Velocities are expressed in J, which moves with the parent; for a floating root these are world axes. The x and y
//! directions of a planar joint are those of [`frame_with_axis`]: for the axis z they are those of J.

use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};

/// The kind of a joint: which relative motions it allows.
///
/// ```
/// use pliant_multibody::JointKind;
///
/// // A quaternion has one coordinate more than there are angular velocities.
/// assert_eq!((JointKind::Ball.n_q(), JointKind::Ball.n_v()), (4, 3));
/// assert_eq!((JointKind::Floating.n_q(), JointKind::Floating.n_v()), (7, 6));
/// assert!(JointKind::Planar.has_axis() && !JointKind::Ball.has_axis());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// No motion: child and parent are one rigid body.
    Fixed,
    /// A rotation about the axis, with limits.
    Revolute,
    /// A rotation about the axis without limits.
    Continuous,
    /// A translation along the axis.
    Prismatic,
    /// A rotation about the axis, and with it a translation along the axis.
    Screw {
        /// Translation in a full turn, m: positive for a right-handed thread.
        lead: f64,
    },
    /// Translation in the plane normal to the axis, and rotation about it.
    Planar,
    /// All rotations.
    Ball,
    /// All translations and rotations.
    Floating,
}

impl JointKind {
    /// Number of position coordinates: entries of q.
    pub fn n_q(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Continuous | Self::Prismatic | Self::Screw { .. } => 1,
            Self::Planar => 3,
            Self::Ball => 4,
            Self::Floating => 7,
        }
    }

    /// Number of degrees of freedom: entries of v.
    pub fn n_v(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Continuous | Self::Prismatic | Self::Screw { .. } => 1,
            Self::Planar | Self::Ball => 3,
            Self::Floating => 6,
        }
    }

    /// Kind of each degree of freedom; its direction is fixed in J.
    pub(crate) fn dof_kinds(self) -> Vec<DofKind> {
        use DofKind::{Angular, Linear, Screw};
        match self {
            Self::Fixed => Vec::new(),
            Self::Revolute | Self::Continuous => vec![Angular],
            Self::Prismatic => vec![Linear],
            Self::Screw { lead } => vec![Screw {
                advance: advance(lead),
            }],
            Self::Planar => vec![Linear, Linear, Angular],
            Self::Ball => vec![Angular, Angular, Angular],
            Self::Floating => vec![Angular, Angular, Angular, Linear, Linear, Linear],
        }
    }

    /// Whether the joint has an axis.
    pub fn has_axis(self) -> bool {
        matches!(
            self,
            Self::Revolute | Self::Continuous | Self::Prismatic | Self::Screw { .. } | Self::Planar
        )
    }
}

/// Whether a degree of freedom rotates about its direction, translates along it, or both.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_multibody::{DofIdx, DofKind, JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
///
/// // A puck on a table: two translations, m, and a rotation, rad.
/// let mut builder = ModelBuilder::new("table");
/// builder.link(LinkSpec::new("table", SpatialInertia::zero()));
/// builder.link(LinkSpec::new("puck", SpatialInertia::solid_cylinder(0.2, 0.03, 0.02)));
/// builder.joint(JointSpec::new("sliding", JointKind::Planar, "table", "puck").about(Vector3::z()));
/// let model = builder.build()?;
/// let kinds = [0, 1, 2].map(|k| model.dof_kind(DofIdx(k)));
/// assert_eq!(kinds, [DofKind::Linear, DofKind::Linear, DofKind::Angular]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DofKind {
    /// Rotation, rad.
    Angular,
    /// Translation, m.
    Linear,
    /// Rotation, rad, with a translation in proportion.
    Screw {
        /// Translation by the angle, m/rad.
        advance: f64,
    },
}

impl DofKind {
    /// The rotation, rad, and the translation, m, of a unit of the degree of freedom: its twist is [angular d; linear d] for the
    /// direction d.
    pub(crate) fn shares(self) -> (f64, f64) {
        match self {
            Self::Angular => (1.0, 0.0),
            Self::Linear => (0.0, 1.0),
            Self::Screw { advance } => (1.0, advance),
        }
    }

    /// Whether it is a translation, in m rather than rad.
    pub fn is_linear(self) -> bool {
        self == Self::Linear
    }
}

/// Translation of a screw by its angle, m/rad.
pub(crate) fn advance(lead: f64) -> f64 {
    lead / std::f64::consts::TAU
}

/// Limits of a joint; infinite where there is none. Position limits apply to joints of one degree of freedom.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// use pliant_contact_sap::DeformableModel;
/// use pliant_multibody::{JointLimits, RigidTree};
///
/// // A hinge that opens from 0.2 rad to 1.5 rad starts at its limit, not at zero.
/// let mut hinge = JointSpec::new("hinge", JointKind::Revolute, "base", "rod");
/// hinge.limits = JointLimits { lower: 0.2, upper: 1.5, ..JointLimits::default() };
/// builder.joint(hinge);
/// let door = RigidTree::new(std::sync::Arc::new(builder.build()?));
/// assert_eq!(door.default_state().q, [0.2]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits {
    /// Smallest position, rad or m.
    pub lower: f64,
    /// Largest position, rad or m.
    pub upper: f64,
    /// Largest force or torque of the actuator, N or N m.
    pub effort: f64,
    /// Largest speed, rad/s or m/s.
    pub velocity: f64,
    /// Largest acceleration, rad/s² or m/s².
    pub acceleration: f64,
}

impl Default for JointLimits {
    /// No limits.
    fn default() -> Self {
        Self {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            effort: f64::INFINITY,
            velocity: f64::INFINITY,
            acceleration: f64::INFINITY,
        }
    }
}

/// Passive forces of a joint, on each of its degrees of freedom.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// use pliant_multibody::PassiveForces;
///
/// // A spring of 8 N·m/rad with its rest at 0.5 rad.
/// let mut hinge = JointSpec::new("hinge", JointKind::Continuous, "base", "rod");
/// hinge.passive = PassiveForces { spring_stiffness: 8.0, spring_rest: 0.5, ..PassiveForces::default() };
/// builder.joint(hinge);
/// let model = builder.build()?;
/// assert_eq!(model.spring_energy(&[1.0]), 1.0); // ½ k (q − q_0)²
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassiveForces {
    /// Viscous damping d, N m s/rad or N s/m: the force −d v.
    pub damping: f64,
    /// Largest dry (Coulomb) friction, N m or N, which does not depend on the load of the joint.
    pub dry_friction: f64,
    /// Spring stiffness k, N m/rad or N/m: the force −k (q − q_rest); only for joints of one degree of freedom.
    pub spring_stiffness: f64,
    /// Rest position q_rest of the spring, rad or m.
    pub spring_rest: f64,
}

/// A motor with a gear.
///
/// ```
/// use pliant_multibody::Drive;
///
/// // A rotor of 1e-5 kg·m² behind a gear of 100 : 1 counts as 0.1 kg·m² at the joint.
/// let motor = Drive { rotor_inertia: 1e-5, gear_ratio: 100.0, gains: None };
/// assert!((motor.reflected_inertia() - 0.1).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Inertia of the rotor about its axis, kg m².
    pub rotor_inertia: f64,
    /// Rotor speed over joint speed, dimensionless (rad/m for a prismatic joint).
    pub gear_ratio: f64,
    /// Gains of the drive's controller, if the model file has them. [`RigidTree`](crate::RigidTree) can use them; the dynamics
    /// algorithms do not.
    pub gains: Option<DriveGains>,
}

/// Gains of a PD controller on the position and velocity of a joint.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};
/// use pliant_multibody::{Drive, DriveGains};
///
/// // Gains that a file gives become an actuator on request; negative ones are refused.
/// let build = |proportional: f64| {
///     let mut builder = ModelBuilder::new("wheel");
///     builder.link(LinkSpec::new("axle", SpatialInertia::zero()));
///     builder.link(LinkSpec::new("wheel", SpatialInertia::solid_cylinder(1.0, 0.3, 0.05)));
///     let mut hub = JointSpec::new("hub", JointKind::Continuous, "axle", "wheel").about(Vector3::z());
///     hub.drive = Drive { gains: Some(DriveGains { proportional, derivative: 1.0 }), ..Drive::default() };
///     builder.joint(hub);
///     RigidTree::new(Arc::new(builder.build()?)).with_actuators_from_drives()
/// };
/// assert!(build(100.0).is_ok());
/// assert!(build(-1.0).unwrap_err().to_string().contains("proportional gain"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveGains {
    /// Proportional gain, N m/rad or N/m: force per error of the position.
    pub proportional: f64,
    /// Derivative gain, N m s/rad or N s/m: force per error of the velocity.
    pub derivative: f64,
}

impl Default for Drive {
    /// No rotor, no gear, no controller.
    fn default() -> Self {
        Self {
            rotor_inertia: 0.0,
            gear_ratio: 1.0,
            gains: None,
        }
    }
}

impl Drive {
    /// Reflected inertia: rotor inertia times the square of the gear ratio, kg m² (kg for a prismatic joint).
    pub fn reflected_inertia(&self) -> f64 {
        self.rotor_inertia * self.gear_ratio * self.gear_ratio
    }
}

/// The rotation whose third column is `axis` (a unit vector), with exact zeros and ones for the coordinate axes.
///
/// Columns: z → identity; x → (y, z, x); y → (z, x, y). A negative axis rotates the frame of the positive one by π about
/// its first column. For any other axis, the first column is normal to the coordinate axis least aligned with it.
pub fn frame_with_axis(axis: &Vector3<f64>) -> Matrix3<f64> {
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    for (along, first, second) in [(z, x, y), (x, y, z), (y, z, x)] {
        if *axis == along {
            return Matrix3::from_columns(&[first, second, along]);
        }
        if *axis == -along {
            return Matrix3::from_columns(&[first, -second, -along]);
        }
    }
    let first = axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize();
    Matrix3::from_columns(&[first, axis.cross(&first), *axis])
}

/// The rotation of the quaternion w, x, y, z after normalisation; a zero quaternion is the identity.
#[inline]
pub(crate) fn rotation_from_wxyz(quat_wxyz: &[f64]) -> UnitQuaternion<f64> {
    let q = Quaternion::new(quat_wxyz[0], quat_wxyz[1], quat_wxyz[2], quat_wxyz[3]);
    UnitQuaternion::try_new(q, 1e-150).unwrap_or_else(UnitQuaternion::identity)
}

pub(crate) fn write_wxyz(rotation: &UnitQuaternion<f64>, quat_wxyz: &mut [f64]) {
    quat_wxyz.copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
}

/// Writes a pose as a floating joint's position into the first seven entries of `q`: x, y, z (m), then the quaternion w, x, y, z.
///
/// # Panics
/// If `q` has fewer entries.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_multibody::joint::write_floating_position;
///
/// // Turned by 180° about z.
/// let mut q = [0.0; 7];
/// write_floating_position(&Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::z() * std::f64::consts::PI), &mut q);
/// assert_eq!(q[..3], [1.0, 2.0, 3.0]);
/// assert!(q[3].abs() < 1e-15 && (q[6] - 1.0).abs() < 1e-15);
/// ```
pub fn write_floating_position(X_JB: &Isometry3<f64>, q: &mut [f64]) {
    q[..3].copy_from_slice(X_JB.translation.vector.as_slice());
    write_wxyz(&X_JB.rotation, &mut q[3..7]);
}

impl JointKind {
    /// Writes the neutral position: zeros, and identity quaternions.
    pub(crate) fn write_neutral(self, q: &mut [f64]) {
        q.fill(0.0);
        match self {
            Self::Ball => q[0] = 1.0,
            Self::Floating => q[3] = 1.0,
            _ => {}
        }
    }

    /// q ⊕ δt v by the exponential map: exact for constant velocity; quaternions keep unit length.
    ///
    /// Rotations: R ← exp(δt [ω]×) R, since ω is expressed in J.
    #[inline]
    pub(crate) fn integrate(self, q: &[f64], v: &[f64], time_step_s: f64, next: &mut [f64]) {
        match self {
            Self::Fixed => {}
            Self::Revolute | Self::Continuous | Self::Prismatic | Self::Screw { .. } => {
                next[0] = q[0] + time_step_s * v[0]
            }
            Self::Planar => {
                for k in 0..3 {
                    next[k] = q[k] + time_step_s * v[k];
                }
            }
            Self::Ball => integrate_rotation(q, v, time_step_s, next),
            Self::Floating => {
                for k in 0..3 {
                    next[k] = q[k] + time_step_s * v[3 + k];
                }
                integrate_rotation(&q[3..7], &v[..3], time_step_s, &mut next[3..7]);
            }
        }
    }

    /// The velocity from `q` to `to` in unit time, along the shortest rotation: `integrate(q, difference, 1) = to`, up to the
    /// sign of quaternions.
    pub(crate) fn difference(self, q: &[f64], to: &[f64], v: &mut [f64]) {
        match self {
            Self::Fixed => {}
            Self::Revolute | Self::Continuous | Self::Prismatic | Self::Screw { .. } => {
                v[0] = to[0] - q[0]
            }
            Self::Planar => {
                for k in 0..3 {
                    v[k] = to[k] - q[k];
                }
            }
            Self::Ball => v.copy_from_slice(rotation_between(q, to).as_slice()),
            Self::Floating => {
                v[..3].copy_from_slice(rotation_between(&q[3..7], &to[3..7]).as_slice());
                for k in 0..3 {
                    v[3 + k] = to[k] - q[k];
                }
            }
        }
    }
}

fn integrate_rotation(quat_wxyz: &[f64], angular: &[f64], time_step_s: f64, next: &mut [f64]) {
    let increment = UnitQuaternion::from_scaled_axis(
        Vector3::new(angular[0], angular[1], angular[2]) * time_step_s,
    );
    let rotation = increment * rotation_from_wxyz(quat_wxyz);
    write_wxyz(&UnitQuaternion::new_normalize(rotation.into_inner()), next);
}

fn rotation_between(from_wxyz: &[f64], to_wxyz: &[f64]) -> Vector3<f64> {
    (rotation_from_wxyz(to_wxyz) * rotation_from_wxyz(from_wxyz).inverse()).scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_with_an_axis_are_rotations_with_it_as_third_column() {
        let slanted = Vector3::new(0.3, -0.8, 0.2).normalize();
        for axis in [
            Vector3::x(),
            Vector3::y(),
            Vector3::z(),
            -Vector3::x(),
            -Vector3::y(),
            -Vector3::z(),
            slanted,
            -slanted,
        ] {
            let r = frame_with_axis(&axis);
            assert!((r.column(2) - axis).norm() < 1e-15);
            assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-15);
            assert!((r.determinant() - 1.0).abs() < 1e-15);
        }
        assert_eq!(frame_with_axis(&Vector3::z()), Matrix3::identity());
    }

    #[test]
    fn difference_inverts_integration_even_near_a_rotation_by_pi() {
        for omega in [
            Vector3::new(0.0, 0.0, 0.0),
            Vector3::new(1e-9, 0.0, -1e-9),
            Vector3::new(0.4, -0.7, 1.1),
            Vector3::new(0.0, 3.1, 0.0),
        ] {
            let q = [0.1, -0.2, 0.3, 0.5, -0.5, 0.5, 0.5];
            let v = [omega.x, omega.y, omega.z, 0.7, -0.3, 0.2];
            let (mut next, mut back) = ([0.0; 7], [0.0; 6]);
            JointKind::Floating.integrate(&q, &v, 1.0, &mut next);
            assert!(
                (next[3..].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 4.0 * f64::EPSILON
            );
            JointKind::Floating.difference(&q, &next, &mut back);
            for k in 0..6 {
                assert!((v[k] - back[k]).abs() < 1e-13, "{v:?} {back:?}");
            }
        }
    }

    #[test]
    fn two_half_steps_at_constant_velocity_are_one_step() {
        let q = [0.5, 0.5, -0.5, 0.5];
        let v = [0.8, -1.7, 0.4];
        let (mut half, mut two, mut one) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        JointKind::Ball.integrate(&q, &v, 0.05, &mut half);
        JointKind::Ball.integrate(&half, &v, 0.05, &mut two);
        JointKind::Ball.integrate(&q, &v, 0.1, &mut one);
        for k in 0..4 {
            assert!((one[k] - two[k]).abs() < 1e-15);
        }
    }
}
