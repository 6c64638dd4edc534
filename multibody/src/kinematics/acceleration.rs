//! Classical accelerations of all bodies in world axes.

use nalgebra::Vector3;

use super::velocity::joint_motion;
use super::{PositionKinematics, VelocityKinematics};
use crate::model::{LinkIdx, Model};
use crate::spatial::Twist;

/// Classical accelerations [α; a] of all bodies at (q, v, v̇), with a the second time derivative of the origin's position.
/// [`update`](Self::update) does not allocate.
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
/// use pliant_multibody::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
///
/// // An arm that turns at 3 rad/s: its point at 1 m is accelerated by ω² l towards the hinge.
/// let (mut positions, mut velocities) = (PositionKinematics::new(&model), VelocityKinematics::new(&model));
/// positions.update(&model, &[0.0]);
/// velocities.update(&model, &positions, &[3.0]);
/// let mut accelerations = AccelerationKinematics::new(&model);
/// accelerations.update(&model, &positions, &velocities, &[0.0], &Vector3::zeros());
/// let rod = model.link_named("rod")?;
/// let tip = accelerations.acceleration_at(&model, &positions, &velocities, rod, &Vector3::x());
/// assert!((tip.linear - Vector3::new(-9.0, 0.0, 0.0)).norm() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccelerationKinematics {
    pub(crate) bodies: Vec<Twist>,
}

impl AccelerationKinematics {
    /// A workspace for `model`; call [`update`](Self::update) before reading it.
    pub fn new(model: &Model) -> Self {
        Self {
            bodies: vec![Twist::zero(); model.n_bodies()],
        }
    }

    /// Computes the accelerations for `vdot`:
    ///
    /// ```text
    /// α_B = α_P + ω_P × ω_J + Σ S_ω v̇
    /// a_B = a_P + α_P × r + ω_P × (ω_P × r + 2 v_J) + Σ S_v v̇
    /// ```
    ///
    /// The directions S are fixed in the parent, which gives the terms with ω_P. `root_acceleration` is the acceleration of
    /// the world frame: zero, or −gravity to include weight in inertial forces.
    ///
    /// # Panics
    /// If `vdot` does not have n_v entries.
    pub fn update(
        &mut self,
        model: &Model,
        positions: &PositionKinematics,
        velocities: &VelocityKinematics,
        vdot: &[f64],
        root_acceleration: &Vector3<f64>,
    ) {
        assert_eq!(vdot.len(), model.n_v(), "v̇ must have n_v entries");
        self.bodies[0].linear = *root_acceleration;
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let mut acceleration = self.velocity_product(positions, velocities, i, body.parent);
            let joint = joint_motion(model, positions, body.v_start..body.v_end, vdot);
            acceleration.angular += joint.angular;
            acceleration.linear += joint.linear;
            self.bodies[i] = acceleration;
        }
    }

    /// Computes the bias accelerations J̇ v: those of [`update`](Self::update) for v̇ = 0.
    pub fn update_bias(
        &mut self,
        model: &Model,
        positions: &PositionKinematics,
        velocities: &VelocityKinematics,
        root_acceleration: &Vector3<f64>,
    ) {
        self.bodies[0].linear = *root_acceleration;
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            self.bodies[i] = self.velocity_product(positions, velocities, i, body.parent);
        }
    }

    /// The parent's acceleration shifted to body `i`, with the velocity-product terms.
    #[inline]
    fn velocity_product(
        &self,
        positions: &PositionKinematics,
        velocities: &VelocityKinematics,
        i: usize,
        parent: usize,
    ) -> Twist {
        let r = &positions.bodies[i].from_parent;
        let w = &velocities.bodies[parent].angular;
        let across = &velocities.across_joint[i];
        let shifted = self.bodies[parent].shifted(r);
        Twist {
            angular: shifted.angular + w.cross(&across.angular),
            linear: shifted.linear + w.cross(&(w.cross(r) + across.linear * 2.0)),
        }
    }

    /// Acceleration of a link, rad/s² and m/s², in world axes, with the linear part at the world point `p_WQ` fixed on the link:
    ///
    /// ```text
    /// a_Q = a_B + α × r + ω × (ω × r)        r = p_Q − p_B
    /// ```
    pub fn acceleration_at(
        &self,
        model: &Model,
        positions: &PositionKinematics,
        velocities: &VelocityKinematics,
        link: LinkIdx,
        p_WQ: &Vector3<f64>,
    ) -> Twist {
        let body = model.links[link.0].body.0;
        let r = p_WQ - positions.bodies[body].origin;
        let w = &velocities.bodies[body].angular;
        let mut acceleration = self.bodies[body].shifted(&r);
        acceleration.linear += w.cross(&w.cross(&r));
        acceleration
    }
}
