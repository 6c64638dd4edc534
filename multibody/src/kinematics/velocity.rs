//! Twists of all bodies in world axes.

use nalgebra::Vector3;

use super::PositionKinematics;
use crate::joint::DofKind;
use crate::model::{LinkIdx, Model};
use crate::spatial::Twist;

/// Twists of all bodies at (q, v). [`update`](Self::update) does not allocate.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{PositionKinematics, VelocityKinematics};
///
/// // At 3 rad/s about y, the point at 1 m along x moves down at 3 m/s.
/// let (mut positions, mut velocities) = (PositionKinematics::new(&model), VelocityKinematics::new(&model));
/// positions.update(&model, &[0.0]);
/// velocities.update(&model, &positions, &[3.0]);
/// let twist = velocities.twist_at(&model, &positions, model.link_named("rod")?, &Vector3::x());
/// assert_eq!((twist.angular, twist.linear), (Vector3::new(0.0, 3.0, 0.0), Vector3::new(0.0, 0.0, -3.0)));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct VelocityKinematics {
    /// [ω; v] of each body frame, v at its origin.
    pub(crate) bodies: Vec<Twist>,
    /// Twist of each joint: of the body relative to its parent, at the body's origin.
    pub(crate) across_joint: Vec<Twist>,
}

impl VelocityKinematics {
    /// A workspace for `model`; call [`update`](Self::update) before reading it.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![Twist::zero(); model.n_bodies()],
            across_joint: vec![Twist::zero(); model.n_bodies()],
        }
    }

    /// Computes the twists at velocity `v`:
    ///
    /// ```text
    /// ω_B = ω_P + ω_J        v_B = v_P + ω_P × r + v_J
    /// ```
    ///
    /// with r from the parent's origin to the body's and (ω_J, v_J) the sum over the joint's degrees of freedom.
    ///
    /// # Panics
    /// If `v` does not have n_v entries.
    pub fn update(&mut self, model: &Model, positions: &PositionKinematics, v: &[f64]) {
        assert_eq!(v.len(), model.n_v(), "v must have n_v entries");
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let across = joint_motion(model, positions, body.v_start..body.v_end, v);
            let shifted = self.bodies[body.parent].shifted(&positions.bodies[i].from_parent);
            self.across_joint[i] = across;
            self.bodies[i] = Twist {
                angular: shifted.angular + across.angular,
                linear: shifted.linear + across.linear,
            };
        }
    }

    /// Twist of a link, rad/s and m/s, in world axes, with v that of the link's origin.
    pub fn link_twist(
        &self,
        model: &Model,
        positions: &PositionKinematics,
        link: LinkIdx,
    ) -> Twist {
        self.twist_at(
            model,
            positions,
            link,
            &positions.link_position(model, link),
        )
    }

    /// Twist of a link, rad/s and m/s, in world axes, with v that of the point of the link that is at `p_WQ` (world frame, m):
    /// v_Q = v_B + ω × (p_Q − p_B).
    pub fn twist_at(
        &self,
        model: &Model,
        positions: &PositionKinematics,
        link: LinkIdx,
        p_WQ: &Vector3<f64>,
    ) -> Twist {
        let body = model.links[link.0].body.0;
        self.bodies[body].shifted(&(p_WQ - positions.bodies[body].origin))
    }
}

/// Σ S_k v_k over the degrees of freedom of one joint.
#[inline]
pub(super) fn joint_motion(
    model: &Model,
    positions: &PositionKinematics,
    dofs: core::ops::Range<usize>,
    v: &[f64],
) -> Twist {
    let mut motion = Twist::zero();
    for k in dofs {
        match model.dof_kind[k] {
            DofKind::Angular => motion.angular += positions.axes[k] * v[k],
            DofKind::Linear => motion.linear += positions.axes[k] * v[k],
            DofKind::Screw { advance } => {
                motion.angular += positions.axes[k] * v[k];
                motion.linear += positions.axes[k] * (advance * v[k]);
            }
        }
    }
    motion
}
